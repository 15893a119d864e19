//! Comparisons on the command line: their terms as flags, the names of runs, and the exit code.

use std::path::PathBuf;

use clap::Args;
use plimsoll_report::{
    Summary,
    comparison::{self, Comparison, MARGIN, NoRuns, Runs, TOLERANCE, Terms, Verdict},
};

use crate::exit::{Failure, Status};

/// The terms of a comparison.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct TermsFlags {
    /// Smallest change that counts as better or worse, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = TOLERANCE * 100.0, value_parser = percent)]
    tolerance: f64,
    /// Largest change that still means equal, in percent: the whole interval for the true change must lie within it.
    #[arg(long, value_name = "PERCENT", default_value_t = MARGIN * 100.0, value_parser = percent)]
    margin: f64,
}

impl TermsFlags {
    /// The terms.
    ///
    /// # Errors
    /// A margin below the tolerance.
    pub(crate) fn terms(self) -> Result<Terms, Failure> {
        let terms = Terms::new(self.tolerance / 100.0, self.margin / 100.0);
        terms.map_err(|error| Failure::Usage(format!("--margin: {error}")))
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|percent| (0.0..=1000.0).contains(percent));
    number.ok_or_else(|| "expected percent from 0 to 1000, for example 5".to_owned())
}

/// Each run but the first with the first, under these names.
///
/// # Errors
/// Never: every side has one run.
pub(crate) fn with_the_first(
    labels: &[String],
    summaries: &[&Summary],
    terms: Terms,
) -> Result<Vec<Comparison>, NoRuns> {
    let mut sides = labels.iter().zip(summaries).map(|(label, summary)| Runs {
        label,
        summaries: std::slice::from_ref(summary),
    });
    let Some(baseline) = sides.next() else {
        return Ok(Vec::new());
    };
    sides
        .map(|candidate| Comparison::new(baseline, candidate, terms))
        .collect()
}

/// The names of files for the heads of columns: without their folders, unless files of several folders have one name.
pub(crate) fn names_of_files(paths: &[PathBuf]) -> Vec<String> {
    let short = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.display().to_string());
        name.unwrap_or_else(|| path.display().to_string())
    };
    let name = |path: &PathBuf| {
        let is_shared = |other: &PathBuf| other != path && short(other) == short(path);
        if paths.iter().any(is_shared) {
            path.display().to_string()
        } else {
            short(path)
        }
    };
    comparison::distinct(&paths.iter().map(name).collect::<Vec<_>>())
}

/// The names of saved runs: the test and the start of each.
pub(crate) fn names_of_runs(summaries: &[&Summary]) -> Vec<String> {
    let name = |summary: &&Summary| {
        let metadata = &summary.metadata;
        // To the second: 2026-11-22T10:03:04.
        let start = metadata.started_at.get(..19).unwrap_or(&metadata.started_at);
        format!("{} {}", metadata.name, start.replacen('T', " ", 1))
    };
    comparison::distinct(&summaries.iter().map(name).collect::<Vec<_>>())
}

/// The status of several comparisons: the worst verdict decides.
pub(crate) fn status(comparisons: &[Comparison]) -> Status {
    let has = |verdict| comparisons.iter().any(|comparison| comparison.verdict == verdict);
    if has(Verdict::Worse) {
        Status::BadResult
    } else if has(Verdict::Inconclusive) {
        Status::CannotTell
    } else if has(Verdict::Better) {
        Status::Better
    } else {
        Status::Success
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_their_folders_only_if_names_are_shared() {
        let names = |paths: &[&str]| {
            let paths: Vec<_> = paths.iter().map(PathBuf::from).collect();
            names_of_files(&paths).join(" ")
        };
        for (paths, expected) in [
            (
                &["out/before.json", "out/after.json"][..],
                "before.json after.json",
            ),
            (
                &["a/run.json", "b/run.json", "c.json"],
                "a/run.json b/run.json c.json",
            ),
            (&["run.json", "run.json"], "run.json (1) run.json (2)"),
            (&["/"], "/"),
        ] {
            assert_eq!(names(paths), expected);
        }
    }
}
