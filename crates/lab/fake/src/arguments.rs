//! The arguments of a call, which come from scripts: texts, or lists of texts, as in xk6-faker.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use crate::parameter::{Parameter, Presence};

/// The longest text that an argument may ask for, in characters. Reason: a mistake must not take all memory.
pub const MOST_LETTERS: usize = 1 << 20;

/// The most items of a list.
pub const MOST_ITEMS: usize = 100_000;

/// How much of a wrong argument an error shows, in characters.
const MOST_SHOWN: usize = 40;

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// It is not there, so the default counts.
    Missing,
    /// A text; numbers and truth values are texts, too.
    Text(String),
    /// A list.
    List(Vec<String>),
}

/// An argument that the function cannot use, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

/// The arguments of one call.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    function: &'static str,
    parameters: &'static [Parameter],
    given: &'a [Argument],
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl<'a> Arguments<'a> {
    pub(crate) fn new(
        function: &'static str,
        parameters: &'static [Parameter],
        given: &'a [Argument],
    ) -> Self {
        Self {
            function,
            parameters,
            given,
        }
    }

    /// The texts of an argument, or those of its default. `None` if it is optional and not there.
    fn found(&self, position: usize, expected: &str) -> Result<Option<Vec<&str>>, Refusal> {
        match self.given.get(position) {
            Some(Argument::Text(text)) => Ok(Some(vec![text.as_str()])),
            Some(Argument::List(items)) => Ok(Some(items.iter().map(String::as_str).collect())),
            Some(Argument::Missing) | None => match self.parameters[position].presence {
                Presence::Default(text) => Ok(Some(vec![text])),
                Presence::Optional => Ok(None),
                Presence::Required => Err(self.refusal(position, "is missing", expected)),
            },
        }
    }

    /// What is wrong with an argument, and what it should be.
    pub(crate) fn refusal(&self, position: usize, problem: &str, expected: &str) -> Refusal {
        let (function, parameter) = (self.function, self.parameters[position].name);
        Refusal(format!(
            "{function}(): `{parameter}` {problem}; expected {expected}"
        ))
    }

    /// As `refusal`, for a text that is not what it should be.
    pub(crate) fn wrong(&self, position: usize, found: &str, expected: &str) -> Refusal {
        let mut shown: String = found.chars().take(MOST_SHOWN).collect();
        if shown.len() < found.len() {
            shown.push('…');
        }
        self.refusal(position, &format!("is {shown:?}"), expected)
    }

    fn single(&self, position: usize, expected: &str) -> Result<&str, Refusal> {
        match self.found(position, expected)?.as_deref() {
            Some([one]) => Ok(*one),
            Some(items) => {
                let problem = format!("is a list of {} items", items.len());
                Err(self.refusal(position, &problem, expected))
            }
            None => Ok(""),
        }
    }

    fn parsed<T: FromStr>(&self, position: usize, expected: &str) -> Result<T, Refusal> {
        let text = self.single(position, expected)?;
        text.parse().map_err(|_| self.wrong(position, text, expected))
    }

    /// A list of up to [`MOST_ITEMS`] items. A single text is a list of one.
    fn items(&self, position: usize, expected: &str) -> Result<Vec<&str>, Refusal> {
        let items = self.found(position, expected)?.unwrap_or_default();
        if items.len() > MOST_ITEMS {
            let problem = format!("has {} items", items.len());
            return Err(self.refusal(position, &problem, &format!("at most {MOST_ITEMS}")));
        }
        Ok(items)
    }

    fn parsed_items<T: FromStr>(&self, position: usize, expected: &str) -> Result<Vec<T>, Refusal> {
        let items = self.items(position, expected)?.into_iter();
        let parse = |item: &str| item.parse().map_err(|_| self.wrong(position, item, expected));
        items.map(parse).collect()
    }

    pub(crate) fn integer(&self, position: usize) -> Result<i64, Refusal> {
        self.parsed(position, "an integer")
    }

    pub(crate) fn unsigned(&self, position: usize) -> Result<u64, Refusal> {
        self.parsed(position, "an integer from 0")
    }

    /// A number of something, in a range.
    pub(crate) fn count(&self, position: usize, range: RangeInclusive<usize>) -> Result<usize, Refusal> {
        let expected = format!("an integer from {} to {}", range.start(), range.end());
        let count = self.parsed(position, &expected)?;
        if range.contains(&count) {
            return Ok(count);
        }
        Err(self.wrong(position, &count.to_string(), &expected))
    }

    pub(crate) fn float(&self, position: usize) -> Result<f64, Refusal> {
        let number: f64 = self.parsed(position, "a number")?;
        if number.is_finite() {
            return Ok(number);
        }
        Err(self.wrong(position, &number.to_string(), "a finite number"))
    }

    /// A truth value in the forms that Go has for it.
    pub(crate) fn boolean(&self, position: usize) -> Result<bool, Refusal> {
        match self.single(position, "true or false")? {
            "true" | "True" | "TRUE" | "t" | "T" | "1" => Ok(true),
            "false" | "False" | "FALSE" | "f" | "F" | "0" => Ok(false),
            other => Err(self.wrong(position, other, "true or false")),
        }
    }

    /// A text of up to `most` bytes.
    pub(crate) fn text(&self, position: usize, most: usize) -> Result<&str, Refusal> {
        let text = self.single(position, "a text")?;
        if text.len() <= most {
            return Ok(text);
        }
        let problem = format!("has {} bytes", text.len());
        Err(self.refusal(position, &problem, &format!("a text of at most {most} bytes")))
    }

    /// As `text`; `None` if it is not there.
    pub(crate) fn optional_text(&self, position: usize, most: usize) -> Result<Option<&str>, Refusal> {
        match self.given.get(position) {
            None | Some(Argument::Missing) => Ok(None),
            Some(_) => self.text(position, most).map(Some),
        }
    }

    pub(crate) fn texts(&self, position: usize) -> Result<Vec<&str>, Refusal> {
        self.items(position, "a list of texts, for example [\"a\", \"b\"]")
    }

    /// As `texts`, with at least one.
    pub(crate) fn some_texts(&self, position: usize) -> Result<Vec<&str>, Refusal> {
        let items = self.texts(position)?;
        self.not_empty(position, &items)?;
        Ok(items)
    }

    pub(crate) fn integers(&self, position: usize) -> Result<Vec<i64>, Refusal> {
        self.parsed_items(position, "a list of integers, for example [1, 2]")
    }

    pub(crate) fn unsigneds(&self, position: usize) -> Result<Vec<u64>, Refusal> {
        self.parsed_items(position, "a list of integers from 0, for example [1, 2]")
    }

    /// Refuses an empty list.
    pub(crate) fn not_empty<T>(&self, position: usize, items: &[T]) -> Result<(), Refusal> {
        if items.is_empty() {
            return Err(self.refusal(position, "is an empty list", "at least one item"));
        }
        Ok(())
    }
}
