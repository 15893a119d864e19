//! Expectations as files have them.

use std::fmt;

use super::{Expectation, Expectations};
use crate::{Pattern, Verdict};

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Counted from 1.
    pub line: usize,
    /// In bytes, counted from 1.
    pub column: usize,
    /// What is wrong, and what was expected.
    pub problem: String,
}

/// Everything that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mistakes {
    name: String,
    mistakes: Vec<Mistake>,
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (
            at,
            Mistake {
                line,
                column,
                problem,
            },
        ) in self.mistakes.iter().enumerate()
        {
            let line_end = if at == 0 { "" } else { "\n" };
            write!(f, "{line_end}{}:{line}:{column}: {problem}", self.name)?;
        }
        Ok(())
    }
}

const EXAMPLE: &str = "for example `6.4.1 non-strict fails at the end of the message only`";

impl Expectations {
    /// Reads a file; `name` is the file's, for error texts.
    ///
    /// # Errors
    /// All lines that cannot be understood.
    pub fn read(name: &str, text: &str) -> Result<Self, Mistakes> {
        let mut read = Self::default();
        let mut mistakes = Vec::new();
        let mut lines: Vec<(&str, usize)> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let trimmed = line.trim();
            if trimmed.starts_with('#') && read.entries.is_empty() {
                read.header.push(trimmed.to_owned());
            }
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            match entry(line) {
                Ok(entry) => read.entries.push(entry),
                Err((column, problem)) => mistakes.push(Mistake {
                    line: number,
                    column,
                    problem,
                }),
            }
            let pattern = trimmed.split_whitespace().next().unwrap_or(trimmed);
            lines.push((pattern, number));
        }
        mistakes.extend(repeated(lines));
        mistakes.sort_by_key(|mistake| mistake.line);
        match mistakes.as_slice() {
            [] => Ok(read),
            _ => Err(Mistakes {
                name: name.to_owned(),
                mistakes,
            }),
        }
    }
}

/// What a line says; otherwise, in which column it is wrong, and how.
fn entry(line: &str) -> Result<Expectation, (usize, String)> {
    let column = |part: &str| part.as_ptr() as usize - line.as_ptr() as usize + 1;
    let (pattern, rest) = word(line);
    let (verdicts, reason) = word(rest);
    if verdicts.is_empty() {
        let end = line.trim_end().len() + 1;
        return Err((end, format!("a case needs a verdict, {EXAMPLE}")));
    }
    let (verdict, closing) = verdicts.split_once('/').unwrap_or((verdicts, "pass"));
    let known = |word: &str| {
        Verdict::of_word(word).ok_or_else(|| {
            let all = Verdict::ALL.map(Verdict::word).join(", ");
            (
                column(verdicts),
                format!("`{word}` is not a verdict; expected one of {all}"),
            )
        })
    };
    let (verdict, closing) = (known(verdict)?, known(closing)?);
    let reason = reason.trim();
    if reason.is_empty() && (verdict, closing) != (Verdict::Pass, Verdict::Pass) {
        let problem = format!("`{verdicts}` needs a sentence with the reason, {EXAMPLE}");
        return Err((column(verdicts), problem));
    }
    Ok(Expectation {
        pattern: Pattern::new(pattern),
        verdict,
        closing,
        reason: reason.to_owned(),
    })
}

/// The first word and the rest.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// Patterns that are there twice: one of the lines has no effect.
fn repeated(mut lines: Vec<(&str, usize)>) -> Vec<Mistake> {
    lines.sort();
    let pairs = lines.windows(2).filter_map(|pair| match pair {
        [(first, line), (second, again)] if first == second => Some(Mistake {
            line: *again,
            column: 1,
            problem: format!("`{second}` is already in line {line}; remove one of the two"),
        }),
        _ => None,
    });
    pairs.collect()
}
