//! Invented values: names, addresses, texts, numbers and dates. Scripts draw them with `k6/x/faker`, templates of
//! Artillery's files with the plugin `fake-data`.
//!
//! [`catalog`] has a table per category; each row is a function with its parameters and the kind of its result. The words
//! are our own. Hosts, and with them addresses of mail, end in `.example`, which no one owns (RFC 2606, section 2).

mod arguments;
pub mod catalog;
mod check_digit;
mod date_format;
mod function;
mod generator;
mod parameter;
mod prose;
mod value;
mod words;

pub use self::{
    arguments::{Argument, MOST_ITEMS, MOST_LETTERS, Refusal},
    function::Function,
    generator::{Generator, LETTERS, LETTERS_AND_DIGITS},
    parameter::{Kind, Parameter, Presence},
    value::Value,
    words::Words,
};

#[cfg(test)]
mod tests;
