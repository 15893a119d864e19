//! `plimsoll runs rm`: the only way in which runs are forgotten.

use std::{
    collections::BTreeSet,
    io::{self, BufRead, IsTerminal, Write},
    time::Duration,
};

use clap::Parser;
use plimsoll_history::{Filter, History, Run};
use plimsoll_load::plan::parse_duration;

use super::{
    list::{ago, table},
    lookup::history,
};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll runs rm latest
  plimsoll runs rm --older-than 30d        runs of the last 30 days and runs with tags stay
  plimsoll runs rm --keep 100 --yes        the newest 100 runs and runs with tags stay; do not ask";

/// Delete saved runs.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    /// Runs: beginnings of ids, latest, or tags, which stand for all runs with the tag.
    #[arg(value_name = "RUN", required_unless_present_any = ["older_than", "keep"], conflicts_with_all = ["older_than", "keep"])]
    runs: Vec<String>,
    /// Delete runs without tags that started longer ago than this, for example 30d or 12h.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    older_than: Option<Duration>,
    /// Delete runs without tags, except this number of the newest runs.
    #[arg(long, value_name = "N")]
    keep: Option<u32>,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
}

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let mut history = history(surroundings)?;
        let doomed = if self.runs.is_empty() {
            self.outdated(&history)?
        } else {
            self.named(&history)?
        };
        if doomed.is_empty() {
            writeln!(io::stderr(), "No runs to delete.")?;
            return Ok(Status::Success);
        }
        if !self.yes && !is_confirmed(&doomed)? {
            writeln!(io::stderr(), "Nothing was changed.")?;
            return Ok(Status::Success);
        }
        let ids: Vec<_> = doomed.into_iter().map(|run| run.id).collect();
        history.remove(&ids)?;
        writeln!(io::stderr(), "Deleted {}.", runs(ids.len()))?;
        Ok(Status::Success)
    }

    /// Each once, however often it was named.
    fn named(&self, history: &History) -> Result<Vec<Run>, Failure> {
        let (mut known, mut named) = (BTreeSet::new(), Vec::new());
        for reference in &self.runs {
            let found = history.find(reference)?;
            named.extend(found.into_iter().filter(|run| known.insert(run.id.clone())));
        }
        Ok(named)
    }

    /// The runs to delete under both limits, if both are given.
    fn outdated(&self, history: &History) -> Result<Vec<Run>, Failure> {
        let all = history.list(&Filter::default())?;
        let newest = self.keep.map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX));
        let oldest_kept = self.older_than.map(ago);
        let is_old = |run: &Run| oldest_kept.as_ref().is_none_or(|moment| run.started_at < *moment);
        let doomed = all.into_iter().skip(newest);
        Ok(doomed.filter(|run| is_old(run) && run.tags.is_empty()).collect())
    }
}

fn runs(n: usize) -> String {
    match n {
        1 => "1 run".to_owned(),
        n => format!("{n} runs"),
    }
}

/// Shows the runs and waits for a word.
fn is_confirmed(doomed: &[Run]) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::Usage(format!(
            "{} would be deleted, but there is no terminal to ask for confirmation: add --yes",
            runs(doomed.len())
        )));
    }
    let mut talk = io::stderr();
    write!(talk, "{}Delete {}? [y/N] ", table(doomed), runs(doomed.len()))?;
    talk.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
