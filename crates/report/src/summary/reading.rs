//! Reading a summary that was written before.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::error::Category;

use super::{Summary, VERSION};

/// Why a text is not a summary that this program can read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no text.
    #[error(
        "is empty; expected a summary, which `plimsoll run --report FILE.json` and `--format json` write"
    )]
    Empty,
    /// The text ends in the middle of a document.
    #[error(
        "is truncated: it ends in line {line}, column {column}, in the middle of a document; write it again"
    )]
    Truncated {
        /// Where it ends.
        line: usize,
        /// Where it ends.
        column: usize,
    },
    /// The text is not JSON.
    #[error(
        "is not JSON: {problem}; expected a summary, which `plimsoll run --report FILE.json` and `--format json` write"
    )]
    NotJson {
        /// What is wrong, and where.
        problem: serde_json::Error,
    },
    /// It is JSON, and something else.
    #[error(
        "is not a summary of a run: it has no `version` that is a whole number; expected what `plimsoll run --report \
         FILE.json` and `--format json` write"
    )]
    NotASummary,
    /// A newer program wrote it.
    #[error(
        "is a summary of version {found}, and this program reads version {VERSION}; use a newer plimsoll"
    )]
    Newer {
        /// The version that it says.
        found: u64,
    },
    /// An older program wrote it.
    #[error(
        "is a summary of version {found}, which has no timeline, and this program reads version {VERSION}; run the test \
         again"
    )]
    Older {
        /// The version that it says.
        found: u64,
    },
    /// It says that it is a summary, and is none.
    #[error("is a damaged summary: {problem}")]
    Damaged {
        /// What is wrong, and where.
        problem: serde_json::Error,
    },
}

/// All that has to be known before the rest is read.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
    /// With it, a list is not taken for an object without names.
    #[serde(flatten)]
    _rest: IgnoredAny,
}

impl Summary {
    /// Reads what `--format json` and `--report FILE.json` write. Its [`Breakdown`](super::Breakdown) is empty.
    ///
    /// # Errors
    /// When the text is empty, truncated, of another version, or no summary at all; the error's text begins with a verb, so
    /// that the file's name can stand before it.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        if text.trim_ascii().is_empty() {
            return Err(ReadError::Empty);
        }
        let Versioned { version, .. } =
            serde_json::from_str(text).map_err(|problem| match problem.classify() {
                Category::Eof => ReadError::Truncated {
                    line: problem.line(),
                    column: problem.column(),
                },
                Category::Data => ReadError::NotASummary,
                Category::Syntax | Category::Io => ReadError::NotJson { problem },
            })?;
        match version {
            found if found > u64::from(VERSION) => Err(ReadError::Newer { found }),
            found if found < u64::from(VERSION) => Err(ReadError::Older { found }),
            _ => serde_json::from_str(text).map_err(|problem| ReadError::Damaged { problem }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{run, summary};

    #[test]
    fn what_is_no_summary_is_said_clearly() {
        let good = crate::json(&summary(&run())).unwrap();
        let with = |from: &str, to: &str| good.replacen(from, to, 1);
        for (text, expected) in [
            (
                good[..good.len() / 2].to_owned(),
                "is truncated: it ends in line ",
            ),
            (
                String::new(),
                "is empty; expected a summary, which `plimsoll run --report FILE.json` and `--format json` write",
            ),
            ("\n".to_owned(), "is empty; expected a summary"),
            (
                "<html>".to_owned(),
                "is not JSON: expected value at line 1 column 1; expected a summary, which",
            ),
            (
                "[1, 2]".to_owned(),
                "is not a summary of a run: it has no `version` that is a whole number",
            ),
            (r#"{"name": "package"}"#.to_owned(), "is not a summary of a run"),
            (
                with("\"version\": 2", "\"version\": 9"),
                "is a summary of version 9, and this program reads version 2; use a newer plimsoll",
            ),
            (
                with("\"version\": 2", "\"version\": 1"),
                "is a summary of version 1, which has no timeline, and this program reads version 2",
            ),
            (
                with("\"thresholds\": []", "\"thresholds\": 7"),
                "is a damaged summary: invalid type: integer `7`, expected a sequence at line ",
            ),
        ] {
            let found = Summary::read(&text).unwrap_err().to_string();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
