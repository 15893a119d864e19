//! msgpack (its specification of 2013), including the types that JSON lacks: see [`super`].

mod read;
mod timestamp;
mod write;

pub use self::read::MsgpackError;
pub(super) use self::{
    read::{map_to_json, value_to_json},
    write::from_json,
};

#[cfg(test)]
mod tests;
