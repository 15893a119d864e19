//! Writing results for people and for machines.

mod json;
mod text;

pub(crate) use self::{json::document as json, text::text};
