//! Protobuf without generated code: definitions from files, and messages as JSON in both directions, as k6 has it
//! (`protojson` of protobuf's library for Go, with the words of its errors). Knows no engine.

mod cursor;
mod definitions;
mod invalid;
mod messages;
mod reader;
mod reading;
mod scalars;
mod types;
mod well_known;
mod writing;

pub(crate) use self::{
    definitions::{Definitions, Source},
    messages::{Health, HealthAnswer, Reflection, ReflectionAnswer, StatusDetails},
    reading::read,
    types::Types,
    writing::{write, write_any},
};

#[cfg(test)]
mod tests;
