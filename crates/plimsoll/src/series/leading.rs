//! The process that leads a series: it starts the runs one after the other, and compares them at the end.

mod child;

use std::{
    io::{self, Write},
    process::ExitStatus,
};

use plimsoll_report::{
    Summary,
    comparison::{Comparison, Runs, Terms, distinct},
};

use self::child::{Ended, RunOutput, run};
use super::{
    flags::SeriesFlags,
    member::{Folder, Member},
};
use crate::{
    comparing,
    exit::{Failure, Status, TestFailure},
    runtime::run_local,
    surroundings::{Surroundings, read_text},
    terminal,
};

/// A load command whose target can be replaced.
pub(crate) trait Targeted {
    /// The flags that decide about a series.
    fn series(&self) -> SeriesFlags<'_>;

    /// The reason why several runs are impossible with the command's own flags, in words for people.
    fn refuse_series(&self) -> Result<(), &'static str> {
        Ok(())
    }

    /// The target as the user named it, or the test if it names its target itself.
    fn target(&self) -> String;

    /// Replaces the target.
    ///
    /// # Errors
    /// The command does not know its target, or the target is not one for it.
    fn point_at(&mut self, url: &str) -> Result<(), Failure>;
}

/// Runs the series that the flags ask for. `None` if this process is to run the test itself: then the test is pointed at
/// the target of its run.
pub(crate) fn lead(
    test: &mut impl Targeted,
    surroundings: &Surroundings<'_>,
) -> Option<Result<Status, Failure>> {
    match Member::of(surroundings) {
        Err(failure) => Some(Err(failure)),
        Ok(Some(member)) => member.target.and_then(|url| test.point_at(&url).err()).map(Err),
        Ok(None) if test.series().repeat.is_series() => Some(conduct(test)),
        Ok(None) => None,
    }
}

fn conduct(test: &mut impl Targeted) -> Result<Status, Failure> {
    let own = test.target();
    let flags = test.series();
    let terms = flags.repeat.terms.terms()?;
    flags.report.check()?;
    if flags.lingers {
        let message = "--linger would wait for a signal after each run; remove --linger or --repeat";
        return Err(Failure::Usage(message.to_owned()));
    }
    test.refuse_series()
        .map_err(|reason| Failure::Usage(reason.to_owned()))?;
    let against = flags.repeat.against.clone();
    if let Some(url) = &against {
        // Better now than after the first run.
        test.point_at(url)?;
    }
    let flags = test.series();
    let Some(other) = against else {
        return repeat(flags);
    };
    let series = Contest {
        labels: distinct(
            &[other.clone(), own].map(|url| plimsoll_redacted::url_with_query(&url).into_owned()),
        ),
        other,
        terms,
    };
    series.conduct(flags)
}

/// Runs one target several times.
fn repeat(flags: SeriesFlags<'_>) -> Result<Status, Failure> {
    let n_runs = usize::from(flags.repeat.repeat);
    let folder = Folder::new()?;
    let mut results = Vec::new();
    for n in 1..=n_runs {
        announce(flags, &format!("Run {n} of {n_runs}."));
        let member = Member::new(folder.file(n), None);
        results.push(result(&member, RunOutput::Shown, (n, n_runs))?);
    }
    let summaries: Vec<_> = results.iter().map(|result| &result.summary).collect();
    flags.report.write_each(&summaries);
    let ids: Vec<_> = summaries.iter().map(|run| run.metadata.id.as_str()).collect();
    announce(
        flags,
        &format!(
            "{n_runs} runs. Compare them with others: plimsoll runs compare BASELINE {}",
            ids.join(",")
        ),
    );
    match results.iter().find(|result| !result.status.success()) {
        Some(bad) => Err(Failure::Run {
            code: code(bad.status),
            message: format!("{} did not end well", bad.summary.metadata.id),
        }),
        None => Ok(Status::Success),
    }
}

/// Two targets in turn.
struct Contest {
    /// The names of the baseline and of the candidate.
    labels: Vec<String>,
    /// The target of the baseline.
    other: String,
    terms: Terms,
}

impl Contest {
    fn conduct(self, flags: SeriesFlags<'_>) -> Result<Status, Failure> {
        let n_each = usize::from(flags.repeat.repeat);
        let n_runs = 2 * n_each;
        let folder = Folder::new()?;
        let output = if flags.is_quiet {
            RunOutput::Dropped
        } else {
            RunOutput::Shown
        };
        let mut sides = [Vec::new(), Vec::new()];
        for n in 1..=n_runs {
            let side = side_of(n);
            let target = (side == 0).then(|| self.other.clone());
            announce(flags, &format!("Run {n} of {n_runs}: {}.", self.labels[side]));
            let member = Member::new(folder.file(n), target);
            let result = result(&member, output, (n, n_runs))?;
            if !result.status.success() {
                announce(
                    flags,
                    &format!(
                        "Run {n} did not end well (exit code {}); its figures are compared all the same.",
                        code(result.status)
                    ),
                );
            }
            sides[side].push(result.summary);
        }
        let [baseline, candidate] = sides.each_ref().map(|side| side.iter().collect::<Vec<_>>());
        let [before, after] = [(0, &baseline), (1, &candidate)].map(|(at, summaries)| Runs {
            label: &self.labels[at],
            summaries,
        });
        let comparison = [Comparison::new(before, after, self.terms)?];
        print(&comparison, flags)?;
        let all: Vec<_> = baseline.iter().chain(&candidate).copied().collect();
        flags.report.write_comparison(&all, &comparison);
        Ok(comparing::status(&comparison))
    }
}

/// The side of a run, from 1: baseline (0) and candidate (1) in turn. Each second pair is the other way round, so that
/// neither side always runs after the other.
fn side_of(n: usize) -> usize {
    let (pair, place) = ((n - 1) / 2, (n - 1) % 2);
    (pair + place) % 2
}

/// A run that has ended.
struct Outcome {
    summary: Summary,
    status: ExitStatus,
}

/// Makes one run.
fn result(member: &Member, output: RunOutput, (n, n_runs): (usize, usize)) -> Result<Outcome, Failure> {
    let Ended { status, is_stopped } = run_local(run(member, output))?;
    if is_stopped || status.code() == Some(i32::from(TestFailure::Interrupted as u8)) {
        let message = format!("the series was interrupted in run {n} of {n_runs}, so nothing is compared");
        return Err(TestFailure::Interrupted.because(message));
    }
    let text = std::fs::File::open(member.summary()).and_then(read_text);
    let summary = text.ok().and_then(|text| Summary::read(&text).ok());
    match summary {
        Some(summary) => Ok(Outcome { summary, status }),
        None => Err(Failure::Run {
            code: code(status),
            message: format!("run {n} of {n_runs} has no result, so the series ends"),
        }),
    }
}

/// The exit code of a run; that of shells if a signal killed it. A run without a result did not end well, whatever it
/// says.
fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;

    let of_signal = || status.signal().map(|signal| 128 + signal);
    let code = status
        .code()
        .or_else(of_signal)
        .and_then(|code| u8::try_from(code).ok());
    code.filter(|code| *code != 0).unwrap_or(1)
}

fn announce(flags: SeriesFlags<'_>, line: &str) {
    if !flags.is_quiet {
        // A closed stderr has no reader, so the error is ignored.
        let _nobody_reads = writeln!(io::stderr(), "\n{line}");
    }
}

fn print(comparisons: &[Comparison; 1], flags: SeriesFlags<'_>) -> Result<(), Failure> {
    let mut stdout = io::stdout();
    if flags.is_json {
        writeln!(stdout, "{}", plimsoll_report::json(comparisons)?)?;
    } else {
        let mut style = terminal::style(&stdout);
        style.color &= !flags.no_color;
        for comparison in comparisons {
            let text = if flags.is_quiet {
                comparison.verdict_line(style)
            } else {
                comparison.text(style)
            };
            stdout.write_all(text.as_bytes())?;
        }
    }
    stdout.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn sides_take_turns_and_neither_is_always_second() {
        let sides: Vec<_> = (1..=8).map(side_of).collect();
        assert_eq!(sides, [0, 1, 1, 0, 0, 1, 1, 0]);
    }

    #[test]
    fn a_run_without_a_result_never_ends_well() {
        for (raw, expected) in [(0, 1), (99 << 8, 99), (9, 137), (15, 143)] {
            assert_eq!(code(ExitStatus::from_raw(raw)), expected, "{raw}");
        }
    }
}
