//! `plimsoll runs list`.

use std::{
    io::{self, Write},
    time::{Duration, SystemTime},
};

use clap::{Parser, ValueEnum};
use plimsoll_history::{Filter, History, Run};
use plimsoll_load::plan::parse_duration;
use plimsoll_report::Verdict;
use serde_json::{Value, json};

use super::{columns::aligned, imported::IMPORTED, lookup::LINE, place};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
};

/// List runs, the newest first.
#[derive(Debug, Parser)]
pub(super) struct Options {
    /// Largest number of runs to list.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Only runs with this tag.
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only runs with this text in their name.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Only runs of this kind.
    #[arg(long, value_name = "KIND", value_parser = KINDS)]
    kind: Option<String>,
    /// Only runs with this verdict.
    #[arg(long, value_name = "RESULT", value_parser = VERDICTS)]
    verdict: Option<String>,
    /// Only runs of this recent period, for example 7d or 12h.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    since: Option<Duration>,
    /// How to print them.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
}

/// The names of the kinds of runs.
const KINDS: [&str; 7] = ["k6", "artillery", "wsdirector", "demo", "bench", LINE, IMPORTED];
/// The verdicts of runs and searches.
const VERDICTS: [&str; 5] = [
    Verdict::Pass.name(),
    Verdict::Fail.name(),
    Verdict::Doubtful.name(),
    Verdict::Incomplete.name(),
    plimsoll_line::verdict::Verdict::Inconclusive.name(),
];

/// Forms of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table.
    Text,
    /// An array of objects.
    Json,
}

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let filter = Filter {
            tag: self.tag,
            name: self.name,
            kind: self.kind,
            verdict: self.verdict,
            since: self.since.map(ago),
            before: None,
            limit: Some(self.limit),
        };
        let history = History::open_existing(&place::folder(surroundings)?)?;
        let runs = match history {
            Some(history) => history.list(&filter)?,
            None => Vec::new(),
        };
        let mut stdout = io::stdout();
        match self.format {
            Format::Json => {
                let runs: Vec<_> = runs.iter().map(object).collect();
                writeln!(stdout, "{:#}", Value::Array(runs))?;
            }
            Format::Text if runs.is_empty() => writeln!(io::stderr(), "No runs.")?,
            Format::Text => stdout.write_all(table(&runs).as_bytes())?,
        }
        Ok(Status::Success)
    }
}

/// The time that long before now, at the earliest the beginning of 1970.
pub(crate) fn ago(duration: Duration) -> String {
    let moment = SystemTime::now().checked_sub(duration);
    plimsoll_report::rfc3339(moment.unwrap_or(SystemTime::UNIX_EPOCH))
}

/// All data of a run except its summary.
pub(crate) fn object(run: &Run) -> Value {
    json!({
        "id": run.id,
        "started_at": run.started_at,
        "name": run.name,
        "kind": run.kind,
        "command": run.command,
        "duration_seconds": run.duration_seconds,
        "vus_max": run.users(),
        "verdict": run.verdict,
        "doubtful": run.doubtful,
        "figures": run.figures,
        "note": run.note,
        "tags": run.tags,
    })
}

const HEADLINES: [&str; 7] = ["ID", "KIND", "NAME", "USERS", "TIME", "RESULT", "FIGURES"];

/// Characters of an id in the table. Reason: the time of the start, UTC; a run in the same millisecond is rare, and `find`
/// says so.
const ID_LENGTH: usize = 20;

/// Characters of a name in the table.
const NAME_LENGTH: usize = 32;

/// The table; tags and notes stand behind the figures.
pub(super) fn table(runs: &[Run]) -> String {
    let headlines = HEADLINES.map(str::to_owned);
    let rows: Vec<_> = [headlines].into_iter().chain(runs.iter().map(cells)).collect();
    aligned(&rows)
}

fn cells(run: &Run) -> [String; 7] {
    let marks = run.tags.iter().map(|tag| format!("[{tag}]"));
    let after = marks.chain(run.note.clone()).collect::<Vec<_>>();
    let figures = [run.figures.clone()].into_iter().chain(after).collect::<Vec<_>>();
    [
        run.id.chars().take(ID_LENGTH).collect(),
        run.kind.clone(),
        shortened(&run.name),
        run.users()
            .map_or_else(|| "–".to_owned(), |users| users.to_string()),
        plimsoll_report::quantity::duration(
            Duration::from_secs(run.duration_seconds.round().max(0.0) as u64),
        ),
        run.verdict.clone(),
        figures.join("  "),
    ]
    .map(|cell| cell.replace(char::is_control, " "))
}

/// The end of a long name says more than its beginning.
fn shortened(name: &str) -> String {
    let n_characters = name.chars().count();
    if n_characters > NAME_LENGTH {
        format!(
            "…{}",
            name.chars()
                .skip(n_characters - NAME_LENGTH + 1)
                .collect::<String>()
        )
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn runs_stand_in_a_table() {
        let run = |id: &str, name: &str, tags: &[&str]| Run {
            id: id.to_owned(),
            started_at: "2026-11-22T10:03:04.123Z".to_owned(),
            name: name.to_owned(),
            kind: "k6".to_owned(),
            command: format!("plimsoll run {name}"),
            duration_seconds: 20.2,
            vus_max: 100,
            verdict: "pass".to_owned(),
            doubtful: false,
            figures: "http_req_duration p95=12.3ms, 934/s".to_owned(),
            note: (!tags.is_empty()).then(|| "before\nthe change".to_owned()),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        };
        let runs = [
            run("20261122T100304.123Z-00c0ffee", "chat.js", &["main", "fast"]),
            Run {
                verdict: "doubtful".to_owned(),
                doubtful: true,
                ..run(
                    "20261122T100304.124Z-c0ffee00",
                    "load-tests/of-the-whole/application/chat.js",
                    &[],
                )
            },
        ];
        expect![[r#"
            ID                    KIND  NAME                              USERS  TIME  RESULT    FIGURES
            20261122T100304.123Z  k6    chat.js                           100    20s   pass      http_req_duration p95=12.3ms, 934/s  [main]  [fast]  before the change
            20261122T100304.124Z  k6    …f-the-whole/application/chat.js  100    20s   doubtful  http_req_duration p95=12.3ms, 934/s
        "#]].assert_eq(&table(&runs));
    }
}
