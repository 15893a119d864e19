//! `plimsoll runs trend`: how p95, losses and load lines developed over runs of one test. The page of `plimsoll ui` shows the same.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::Duration,
};

use clap::Parser;
use plimsoll_history::{Filter, History, HistoryError, Run};
use plimsoll_line::report::{Kept, Unit};
use plimsoll_load::plan::parse_duration;
use plimsoll_report::{
    Distribution, Highlights, Summary,
    readable::{count, share},
    summary::Values,
};
use serde::Serialize;

use super::{
    columns::aligned,
    imported::{IMPORTED, Imported},
    list::ago,
    lookup::{LINE, history},
};
use crate::{
    exit::{Failure, Status},
    session::Format,
    surroundings::Surroundings,
};

/// The most runs that are looked at. Reason: each summary is read, which takes about a millisecond.
pub(crate) const MOST_RUNS: u32 = 500;

const EXAMPLES: &str = "\
Examples:
  plimsoll runs trend                    all tests that have two runs
  plimsoll runs trend chat.js --since 7d
  plimsoll runs trend --tag main --format json

A change from run to run is no verdict: plimsoll runs compare judges.";

/// Show how p95, losses and load lines developed over the runs of a test.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    /// Only tests with this text in their name.
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Only runs with this tag.
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only runs of this recent period, for example 7d or 12h.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    since: Option<Duration>,
    /// Largest number of runs to look at, the newest.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=i64::from(MOST_RUNS)))]
    limit: u32,
    /// How to print them.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
}

/// The runs of one test, oldest first.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Trend {
    name: String,
    kind: String,
    /// The trend of durations whose p95 is shown: that which the report of the newest run shows first. `None` without any.
    latency: Option<String>,
    /// The unit of the lines. `None` for other tests than searches.
    unit: Option<Unit>,
    runs: Vec<Point>,
}

/// What one run found.
#[derive(Debug, PartialEq, Serialize)]
struct Point {
    id: String,
    started_at: String,
    verdict: String,
    /// Whether the figures do not describe the target alone.
    doubtful: bool,
    users: Option<u32>,
    /// In microseconds. `None` if this run did not measure it.
    p95_us: Option<u64>,
    /// Whether some messages were lost and the p95 is a lower bound.
    is_lower_bound: bool,
    /// The share of iterations that failed. `None` without iterations.
    failed: Option<f64>,
    /// Lost messages. `None` where they are not counted.
    lost: Option<u64>,
    /// The load line of a search, and its interval. `None` where none was found.
    line: Option<u64>,
    low: Option<u64>,
    high: Option<u64>,
    tags: Vec<String>,
    note: Option<String>,
}

/// The result of a run, read from what is kept of it.
enum Found {
    Run(Box<Summary>),
    Search(Kept),
    Imported(Imported),
}

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let history = history(surroundings)?;
        let filter = Filter {
            tag: self.tag,
            name: self.name,
            since: self.since.map(ago),
            limit: Some(self.limit),
            ..Filter::default()
        };
        let (trends, n_unreadable) = trends(&history, &filter)?;
        if n_unreadable > 0 {
            writeln!(
                io::stderr(),
                "warning: {n_unreadable} summaries cannot be read, perhaps because a newer plimsoll wrote them"
            )?;
        }
        let mut stdout = io::stdout();
        match self.format {
            Format::Json => writeln!(stdout, "{:#}", serde_json::to_value(&trends)?)?,
            Format::Text if trends.is_empty() => {
                writeln!(
                    io::stderr(),
                    "No test has two such runs. plimsoll runs list shows what there is."
                )?;
            }
            Format::Text => stdout.write_all(text(&trends).as_bytes())?,
        }
        Ok(Status::Success)
    }
}

/// The trends of all tests that have at least two runs among those that a filter leaves, the newest test first; and how
/// many results cannot be read.
///
/// # Errors
/// The history cannot be read.
pub(crate) fn trends(history: &History, filter: &Filter) -> Result<(Vec<Trend>, usize), HistoryError> {
    let mut order = Vec::new();
    let mut tests: BTreeMap<(String, String), Vec<Run>> = BTreeMap::new();
    for run in history.list(filter)? {
        let test = (run.kind.clone(), run.name.clone());
        let runs = tests.entry(test.clone()).or_default();
        if runs.is_empty() {
            order.push(test);
        }
        runs.push(run);
    }
    let mut n_unreadable = 0;
    let mut trends = Vec::new();
    for test in order {
        let runs = tests.remove(&test).unwrap_or_default();
        let mut found = Vec::new();
        for run in runs.into_iter().rev() {
            match result(&run, &history.document(&run.id)?) {
                Some(result) => found.push((run, result)),
                None => n_unreadable += 1,
            }
        }
        trends.extend(Some(Trend::of(test, &found)).filter(|trend| trend.runs.len() > 1));
    }
    Ok((trends, n_unreadable))
}

fn result(run: &Run, document: &str) -> Option<Found> {
    match run.kind.as_str() {
        LINE => Kept::read(document).ok().map(Found::Search),
        IMPORTED => Imported::read(document).map(Found::Imported),
        _ => Summary::read(document)
            .ok()
            .map(|summary| Found::Run(Box::new(summary))),
    }
}

impl Trend {
    /// `runs` are those of one test, oldest first.
    fn of((kind, name): (String, String), runs: &[(Run, Found)]) -> Self {
        let newest = runs.last().map(|(_, result)| result);
        let latency = match newest {
            Some(Found::Run(summary)) => Highlights::of(summary).latency,
            Some(Found::Imported(imported)) => imported.latency().map(str::to_owned),
            _ => None,
        };
        let unit = match newest {
            Some(Found::Search(search)) => Some(search.unit()),
            _ => None,
        };
        let points = runs
            .iter()
            .map(|(run, result)| Point::of(run, result, latency.as_deref()));
        Self {
            runs: points.collect(),
            name,
            kind,
            latency,
            unit,
        }
    }
}

impl Point {
    fn of(run: &Run, result: &Found, latency: Option<&str>) -> Self {
        let point = Self {
            id: run.id.clone(),
            started_at: run.started_at.clone(),
            verdict: run.verdict.clone(),
            doubtful: run.doubtful,
            users: run.users(),
            p95_us: None,
            is_lower_bound: false,
            failed: None,
            lost: None,
            line: None,
            low: None,
            high: None,
            tags: run.tags.clone(),
            note: run.note.clone(),
        };
        match result {
            Found::Run(summary) => {
                let measured = latency.and_then(|name| distribution(summary, name));
                let iterations = &summary.iterations;
                Self {
                    p95_us: measured.map(|it| it.p95),
                    is_lower_bound: measured.is_some_and(|it| it.is_lower_bound(it.p95)),
                    failed: (iterations.complete > 0)
                        .then(|| iterations.failed as f64 / iterations.complete as f64),
                    lost: summary.losses.as_ref().map(|losses| losses.lost),
                    ..point
                }
            }
            Found::Imported(imported) => Self {
                p95_us: latency.and_then(|name| imported.p95_us(name)),
                failed: imported.failed(),
                ..point
            },
            Found::Search(search) => {
                let interval = search.interval();
                Self {
                    line: search.line(),
                    low: interval.map(|(low, _)| low),
                    high: interval.and_then(|(_, high)| high),
                    ..point
                }
            }
        }
    }
}

fn distribution<'a>(summary: &'a Summary, name: &str) -> Option<&'a Distribution> {
    match &summary.metrics.get(name)?.values {
        Values::Trend(distribution) if distribution.count > 0 => Some(distribution),
        _ => None,
    }
}

/// A table for each test.
fn text(trends: &[Trend]) -> String {
    let tables: Vec<_> = trends.iter().map(Trend::text).collect();
    let hint =
        "\nA change from run to run is no verdict: equal runs differ, too. `plimsoll runs compare` judges.\n";
    format!("{}{hint}", tables.join("\n"))
}

impl Trend {
    fn text(&self) -> String {
        let what = match (&self.latency, self.unit) {
            (Some(latency), _) => format!(", p95 of {latency}"),
            (None, Some(unit)) => format!(", lines in {}", unit.title()),
            (None, None) => String::new(),
        };
        let head = if self.unit.is_some() {
            vec!["STARTED (UTC)", "RESULT", "LINE", "CHANGE", "INTERVAL", ""]
        } else {
            vec![
                "STARTED (UTC)",
                "USERS",
                "RESULT",
                "P95",
                "CHANGE",
                "LOST",
                "FAILED",
                "",
            ]
        };
        let head: Vec<String> = head.into_iter().map(str::to_owned).collect();
        let before = [None].into_iter().chain(self.runs.iter().map(Some));
        let rows = self
            .runs
            .iter()
            .zip(before)
            .map(|(run, before)| self.row(run, before));
        let rows: Vec<Vec<String>> = [head].into_iter().chain(rows).collect();
        format!(
            "{} ({}), {} runs{what}\n{}",
            self.name,
            self.kind,
            self.runs.len(),
            aligned(&rows)
        )
    }

    fn row(&self, run: &Point, before: Option<&Point>) -> Vec<String> {
        let started = run
            .started_at
            .get(..16)
            .unwrap_or(&run.started_at)
            .replace('T', " ");
        let marks = run
            .tags
            .iter()
            .map(|tag| format!("[{tag}]"))
            .chain(run.note.clone());
        let marks = marks.collect::<Vec<_>>().join(" ");
        let shown = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
        if self.unit.is_some() {
            let interval = run.low.map(|low| match run.high {
                Some(high) => format!("{} to {}", count(low), count(high)),
                None => format!("at least {}", count(low)),
            });
            let before = before.and_then(|before| before.line);
            return vec![
                started,
                run.verdict.clone(),
                shown(run.line.map(count)),
                change(run.line, before),
                shown(interval),
                marks,
            ];
        }
        let bound = if run.is_lower_bound { "> " } else { "" };
        let p95 = run.p95_us.map(|p95| {
            let p95 = plimsoll_report::quantity::duration(Duration::from_micros(p95));
            format!("{bound}{p95}")
        });
        vec![
            started,
            shown(run.users.map(|users| count(users.into()))),
            run.verdict.clone(),
            shown(p95),
            change(run.p95_us, before.and_then(|before| before.p95_us)),
            shown(run.lost.map(count)),
            shown(run.failed.map(share)),
            marks,
        ]
    }
}

/// The relative difference from the run before.
fn change(now: Option<u64>, before: Option<u64>) -> String {
    match (now, before) {
        (Some(now), Some(before)) if before > 0 => {
            let percent = (now as f64 / before as f64 - 1.0) * 100.0;
            format!("{percent:+.0} %")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn point(p95_us: Option<u64>, lost: Option<u64>) -> Point {
        Point {
            id: "1".to_owned(),
            started_at: "2026-11-22T10:03:04.123Z".to_owned(),
            verdict: "pass".to_owned(),
            doubtful: false,
            users: Some(1200),
            p95_us,
            is_lower_bound: false,
            failed: Some(0.0),
            lost,
            line: None,
            low: None,
            high: None,
            tags: Vec::new(),
            note: None,
        }
    }

    fn check(trend: Trend, expected: &Expect) {
        expected.assert_eq(&text(&[trend]));
    }

    #[test]
    fn runs_of_a_test_are_told_one_by_one() {
        check(
            Trend {
                name: "chat.js".to_owned(),
                kind: "k6".to_owned(),
                latency: Some("rtt".to_owned()),
                unit: None,
                runs: vec![
                    point(Some(2630), Some(0)),
                    Point {
                        is_lower_bound: true,
                        tags: vec!["main".to_owned()],
                        note: Some("new server".to_owned()),
                        ..point(Some(3000), Some(12))
                    },
                    point(None, None),
                ],
            },
            &expect![[r#"
                chat.js (k6), 3 runs, p95 of rtt
                STARTED (UTC)     USERS  RESULT  P95     CHANGE  LOST  FAILED
                2026-11-22 10:03  1,200  pass    2.63ms          0     0 %
                2026-11-22 10:03  1,200  pass    > 3ms   +14 %   12    0 %     [main] new server
                2026-11-22 10:03  1,200  pass    –               –     0 %

                A change from run to run is no verdict: equal runs differ, too. `plimsoll runs compare` judges.
            "#]],
        );
    }

    #[test]
    fn searches_are_told_with_their_intervals() {
        let search = |line, low, high| Point {
            line,
            low,
            high,
            ..point(None, None)
        };
        check(
            Trend {
                name: "chat.js".to_owned(),
                kind: "line".to_owned(),
                latency: None,
                unit: Some(Unit::Users),
                runs: vec![
                    search(Some(1240), Some(1200), Some(1290)),
                    search(Some(1300), Some(1290), None),
                    search(None, None, None),
                ],
            },
            &expect![[r#"
                chat.js (line), 3 runs, lines in users
                STARTED (UTC)     RESULT  LINE   CHANGE  INTERVAL
                2026-11-22 10:03  pass    1,240          1,200 to 1,290
                2026-11-22 10:03  pass    1,300  +5 %    at least 1,290
                2026-11-22 10:03  pass    –              –

                A change from run to run is no verdict: equal runs differ, too. `plimsoll runs compare` judges.
            "#]],
        );
    }
}
