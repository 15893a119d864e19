//! Flags that all suites have.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum, ValueHint};
use plimsoll_conformance::{Pattern, Selection};

use super::report_file::ReportFile;

/// Which cases run, how they run, and the output of their results.
#[derive(Clone, Debug, Args)]
pub(crate) struct Flags {
    /// Run these cases only: ids (`6.4.1`, `6.4`), patterns of ids (`1.*`) or words of ids; separated by commas, or given
    /// several times.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<String>,
    /// Skip these cases, named as for --only.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    except: Vec<String>,
    /// Print the cases without running them.
    #[arg(long)]
    pub(super) list: bool,
    /// Number of cases that run at the same time. Cases that would disturb others always run alone.
    #[arg(long, value_name = "N", default_value = "4")]
    pub(super) parallel: NonZeroUsize,
    /// Time limit of a case in seconds. Some cases allow themselves more.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    timeout: f64,
    /// Name of the target in results. Default: its address.
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// How to print results.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(super) format: Format,
    /// Write results: a page (.html), data (.json) or JUnit's XML (.xml); may be given several times.
    #[arg(
        long = "report",
        value_name = "FILE",
        value_parser = ReportFile::parser(),
        value_hint = ValueHint::FilePath
    )]
    pub(super) reports: Vec<ReportFile>,
    /// Compare the verdicts with those in this file; the exit code then shows whether any verdict has changed, for
    /// better or worse.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) expect: Option<PathBuf>,
    /// Write the verdicts to this file, for --expect. The sentences of unchanged verdicts stay as they are.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) write_expectations: Option<PathBuf>,
}

/// Forms that are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A table, and failures with all bytes that went over the wire.
    Text,
    /// For programs, and for `plimsoll conform matrix`.
    Json,
    /// JUnit's XML, for CI systems.
    Junit,
}

impl Flags {
    pub(super) fn selection(&self) -> Selection {
        let patterns = |texts: &[String]| texts.iter().map(|text| Pattern::new(text.trim())).collect();
        Selection {
            only: patterns(&self.only),
            except: patterns(&self.except),
        }
    }

    pub(super) fn deadline(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }
}

/// Reason for the largest value, a day: no case needs longer.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("expected seconds, more than 0 and at most 86400, for example 2.5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_seconds() {
        for (text, expected) in [
            ("2.5", Some(2.5)),
            ("86400", Some(86_400.0)),
            ("0", None),
            ("-1", None),
            ("NaN", None),
            ("inf", None),
            ("1s", None),
        ] {
            assert_eq!(seconds(text).ok(), expected, "{text}");
        }
    }
}
