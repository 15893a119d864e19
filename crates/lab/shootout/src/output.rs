//! Writing results for people and for machines.

mod console;
mod json;
mod text;

pub(crate) use self::{console::Console, text::thresholds};
