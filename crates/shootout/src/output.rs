//! Writing results for people and for machines.

mod console;
mod json;
mod text;
mod timestamp;

pub(crate) use self::console::Console;
