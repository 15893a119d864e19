//! Reading a summary that was written before.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, error::Category};

use super::{Summary, VERSION, Values};
use crate::{Distribution, timeline::MAX_INTERVALS};

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
        "is truncated: it ends at line {line}, column {column}, in the middle of a document; write it again"
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
        /// The mistake and its position.
        problem: serde_json::Error,
    },
    /// The text is JSON, but not a summary.
    #[error(
        "is not a summary of a run: it has no whole number `version`; expected a summary, which `plimsoll run \
         --report FILE.json` and `--format json` write"
    )]
    NotASummary,
    /// A newer program wrote it.
    #[error(
        "is a summary of version {found}, but this program reads version {VERSION}; use a newer plimsoll"
    )]
    Newer {
        /// The version in the text.
        found: u64,
    },
    /// An older program wrote it.
    #[error(
        "is a summary of version {found}, which has no timeline, but this program reads version {VERSION}; run the \
         test again"
    )]
    Older {
        /// The version in the text.
        found: u64,
    },
    /// The text claims to be a summary and is invalid.
    #[error("is a damaged summary: {problem}")]
    Damaged {
        /// The mistake and its position.
        problem: serde_json::Error,
    },
    /// Its numbers contradict each other, as in a file that was edited.
    #[error("is a damaged summary: {problem}")]
    Inconsistent {
        /// The contradiction.
        problem: String,
    },
}

/// The fields that are read before the rest.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
    /// Rejects a list, which would otherwise be accepted for the object's fields.
    #[serde(flatten)]
    _rest: IgnoredAny,
}

impl Summary {
    /// Reads the output of `--format json` and `--report FILE.json`. Its [`Breakdown`](super::Breakdown) is empty.
    ///
    /// # Errors
    /// The text is empty, truncated, of another version, or not a summary. The error's text begins with a verb, so that
    /// the file's name can precede it.
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
            _ => {
                let summary: Self =
                    serde_json::from_str(text).map_err(|problem| ReadError::Damaged { problem })?;
                let value = serde_json::from_str(text).map_err(|problem| ReadError::Damaged { problem })?;
                check_sizes(&value)
                    .and_then(|()| summary.check())
                    .map_err(|problem| ReadError::Inconsistent { problem })?;
                Ok(summary)
            }
        }
    }

    /// Whether reports can rely on the numbers.
    fn check(&self) -> Result<(), String> {
        let n_intervals = self.timeline.n_intervals;
        if n_intervals > MAX_INTERVALS {
            return Err(format!(
                "its timeline has {n_intervals} intervals; expected at most {MAX_INTERVALS}"
            ));
        }
        for (name, metric) in &self.metrics {
            let Values::Trend(distribution) = &metric.values else {
                continue;
            };
            check_order(distribution).map_err(|problem| format!("metric `{name}`: {problem}"))?;
            let n_samples = metric.samples().ok().flatten().map(|histogram| histogram.count());
            if let Some(n_samples) = n_samples.filter(|n_samples| *n_samples != distribution.count) {
                return Err(format!(
                    "metric `{name}`: it has {} samples, but its histogram has {n_samples}",
                    distribution.count
                ));
            }
        }
        Ok(())
    }
}

/// Checks that counts and sizes of a run are small enough for their sums and for numbers of JavaScript. Limits of the
/// machine are exempt.
fn check_sizes(summary: &Value) -> Result<(), String> {
    let parts = summary.as_object().into_iter().flatten();
    for (name, part) in parts.filter(|(name, _)| *name != "environment") {
        if let Some(number) = too_large(part) {
            return Err(format!(
                "`{name}` has the number {number}; expected at most {MAX_NUMBER}"
            ));
        }
    }
    Ok(())
}

/// Beyond it not every whole number has a form in 64-bit floating point.
const MAX_NUMBER: u64 = 1 << 53;

fn too_large(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().filter(|number| *number > MAX_NUMBER),
        Value::Array(elements) => elements.iter().find_map(too_large),
        Value::Object(entries) => entries.values().find_map(too_large),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// Checks that no percentile exceeds a higher one.
fn check_order(distribution: &Distribution) -> Result<(), String> {
    let figures = [
        ("min", distribution.min),
        ("p50", distribution.p50),
        ("p90", distribution.p90),
        ("p95", distribution.p95),
        ("p99", distribution.p99),
        ("p99_9", distribution.p99_9),
        ("max", distribution.max),
    ];
    let wrong = figures.windows(2).find(|pair| pair[0].1 > pair[1].1);
    wrong.map_or(Ok(()), |pair| {
        let ((lower, less), (upper, more)) = (pair[0], pair[1]);
        Err(format!("its {lower} is {less}, and its {upper} only {more}"))
    })
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
                "is truncated: it ends at line ",
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
                "is not a summary of a run: it has no whole number `version`",
            ),
            (r#"{"name": "package"}"#.to_owned(), "is not a summary of a run"),
            (
                with("\"version\": 2", "\"version\": 9"),
                "is a summary of version 9, but this program reads version 2; use a newer plimsoll",
            ),
            (
                with("\"version\": 2", "\"version\": 1"),
                "is a summary of version 1, which has no timeline, but this program reads version 2",
            ),
            (
                with("\"thresholds\": []", "\"thresholds\": 7"),
                "is a damaged summary: invalid type: integer `7`, expected a sequence at line ",
            ),
            (
                with("\"max\": 365", "\"max\": 3"),
                "is a damaged summary: metric `",
            ),
            (
                with("\"n_intervals\": ", "\"n_intervals\": 4000000000"),
                "is a damaged summary: its timeline has 4000000000",
            ),
        ] {
            let found = Summary::read(&text).unwrap_err().to_string();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
