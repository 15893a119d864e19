//! Results as JSON: written whole, and read with care, since files come from anywhere.

use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::error::Category;

use super::Results;
use crate::Verdict;

/// The version of the form, which is the value of the key `conformance`. It grows when a reader of the version before
/// would misread it.
pub const VERSION: u64 = 1;

/// The longest text that is read, in bytes. Reason: all cases of a suite failing with full logs come to a third of it.
const MOST_BYTES: usize = 128 << 20;

/// Why a text holds no results that this program can read. The words begin with a verb, so that the file's name can
/// stand before them.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file is longer than any results.
    #[error(
        "is longer than {} MiB, which is too long for results; expected a file that `plimsoll conform … --report \
         FILE.json` writes",
        MOST_BYTES >> 20
    )]
    TooLong,
    /// The text ends in the middle of a document.
    #[error(
        "is truncated: it ends at line {line}, column {column}, in the middle of a document; write it again"
    )]
    Truncated {
        /// The line of the end.
        line: usize,
        /// The column of the end.
        column: usize,
    },
    /// The text is not JSON.
    #[error("is not JSON: {problem}; expected a file that `plimsoll conform … --report FILE.json` writes")]
    NotJson {
        /// The error with its place.
        problem: serde_json::Error,
    },
    /// The file is JSON, but has no results.
    #[error(
        "has no results of a conformance suite: it has no whole number `conformance`; expected a file that `plimsoll \
         conform … --report FILE.json` writes"
    )]
    NotResults,
    /// Another version wrote it.
    #[error("has results of version {found}, but this program reads version {VERSION}; use {}", other(*found))]
    OtherVersion {
        /// The version that it says.
        found: u64,
    },
    /// The file has damaged results.
    #[error("has damaged results: {problem}")]
    Damaged {
        /// The error with its place.
        problem: serde_json::Error,
    },
}

/// The part that is read first, to check the version.
#[derive(Deserialize)]
struct Versioned {
    conformance: u64,
    /// The other keys. They make sure that a list is not accepted as an object.
    #[serde(flatten)]
    _rest: IgnoredAny,
}

#[derive(Serialize)]
struct Document<'a> {
    conformance: u64,
    #[serde(flatten)]
    results: &'a Results,
}

impl Results {
    /// All of it as JSON, with the wire logs of cases that did not pass.
    ///
    /// # Errors
    /// None that can be: everything in it has a form in JSON.
    pub fn json(&self) -> serde_json::Result<String> {
        let mut results = self.clone();
        for outcome in &mut results.outcomes {
            if outcome.worst() == Verdict::Pass {
                outcome.wire = Default::default();
            }
        }
        plimsoll_report::json(&Document {
            conformance: VERSION,
            results: &results,
        })
    }

    /// Reads what [`json`](Self::json) wrote.
    ///
    /// # Errors
    /// When the text is too long, truncated, of another version, or nothing of the kind.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        if text.len() > MOST_BYTES {
            return Err(ReadError::TooLong);
        }
        let version: Versioned = serde_json::from_str(text).map_err(|problem| match problem.classify() {
            Category::Eof => ReadError::Truncated {
                line: problem.line(),
                column: problem.column(),
            },
            Category::Data => ReadError::NotResults,
            Category::Syntax | Category::Io => ReadError::NotJson { problem },
        })?;
        match version.conformance {
            VERSION => serde_json::from_str(text).map_err(|problem| ReadError::Damaged { problem }),
            found => Err(ReadError::OtherVersion { found }),
        }
    }
}

fn other(found: u64) -> &'static str {
    if found > VERSION {
        "a newer plimsoll"
    } else {
        "the plimsoll that wrote it"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::sample;

    #[test]
    fn results_are_read_back() {
        let mut expected = sample();
        let read = Results::read(&expected.json().unwrap()).unwrap();
        // Logs of what passed are not written.
        for passed in [0, 7] {
            expected.outcomes[passed].wire = Default::default();
        }
        assert_eq!(read, expected);
    }

    #[test]
    fn what_holds_no_results_is_said_clearly() {
        let good = sample().json().unwrap();
        let with = |from: &str, to: &str| {
            assert!(good.contains(from), "{from}");
            good.replacen(from, to, 1)
        };
        for (text, expected) in [
            (
                good[..good.len() / 2].to_owned(),
                "is truncated: it ends at line ",
            ),
            (String::new(), "is truncated: it ends at line 1, column 0"),
            (
                "<html>".to_owned(),
                "is not JSON: expected value at line 1 column 1",
            ),
            ("[1]".to_owned(), "has no results of a conformance suite"),
            (
                r#"{"version": 2}"#.to_owned(),
                "has no results of a conformance suite",
            ),
            (
                with("\"conformance\": 1", "\"conformance\": 2"),
                "has results of version 2, but this program reads version 1; use a newer plimsoll",
            ),
            (
                with("\"conformance\": 1", "\"conformance\": 0"),
                "has results of version 0, but this program reads version 1; use the plimsoll that wrote it",
            ),
            (
                with("\"non-strict\"", "\"so-so\""),
                "has damaged results: unknown variant `so-so`, expected one of `pass`, ",
            ),
            (" ".repeat(MOST_BYTES + 1), "is longer than 128 MiB"),
        ] {
            let found = Results::read(&text).unwrap_err().to_string();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
