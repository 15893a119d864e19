//! Writing results for people, for machines, and for plots.

mod json;
mod percentiles;
mod tables;
mod text;

pub use self::text::Layout;
pub(crate) use self::{
    json::document as json,
    tables::{csv, gnuplot},
    text::text,
};
