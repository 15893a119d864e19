//! `plimsoll agents`: who is there.

use std::{
    io::{self, Write},
    time::Duration,
};

use clap::{Parser, ValueHint};
use plimsoll_fleet::{FleetAddress, Link, Profile, profiles};
use plimsoll_load::plan::parse_duration;

use crate::{
    exit::{Failure, Status},
    runtime::run_local,
    session::Format,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll agents --fleet nats://localhost:4222
  plimsoll agents --fleet nats://localhost:4222 --format json";

/// List the agents of a fleet.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The NATS server where the fleet meets; a path names the fleet.
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    fleet: FleetAddress,
    /// How long to wait for their answers.
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = parse_duration)]
    timeout: Duration,
    /// How to print them.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
}

impl Options {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        let found = run_local(async {
            let link = Link::connect(&self.fleet).await?;
            Ok(profiles(&link, self.timeout, |_| false).await?)
        })?;
        let text = match self.format {
            Format::Json => format!("{}\n", serde_json::to_string_pretty(&found)?),
            Format::Text if found.is_empty() => format!(
                "No agents in the fleet `{}` at {}. Start one with: plimsoll agent --fleet {}\n",
                self.fleet.name(),
                self.fleet,
                self.fleet
            ),
            Format::Text => table(&found),
        };
        io::stdout().write_all(text.as_bytes())?;
        Ok(Status::Success)
    }
}

/// The agents as a table.
fn table(found: &[Profile]) -> String {
    const HEAD: [&str; 6] = ["NAME", "VERSION", "CORES", "MEMORY", "FILES", "STATE"];
    let rows = found.iter().map(|profile| {
        let memory = profile
            .memory_bytes
            .map(|bytes| format!("{:.1} GB", bytes as f64 / 1e9));
        let unknown = || "–".to_owned();
        [
            profile.name.clone(),
            profile.version.clone(),
            profile.cores.to_string(),
            memory.unwrap_or_else(unknown),
            profile.open_files.map_or_else(unknown, |n| n.to_string()),
            state(profile),
        ]
    });
    let rows: Vec<_> = std::iter::once(HEAD.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<_> = (0..HEAD.len()).map(width).collect();
    let line = |row: &[String; HEAD.len()]| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// What an agent does.
fn state(
    Profile {
        busy_with, watches, ..
    }: &Profile,
) -> String {
    match (busy_with, watches.as_slice()) {
        (None, []) => "free".to_owned(),
        (Some(run), []) => format!("works for run {run}"),
        (None, watches) => format!("watches {}", watches.join(", ")),
        (Some(run), watches) => format!("watches {} for run {run}", watches.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn agents_stand_in_a_table() {
        let profile = |name: &str, busy_with: Option<&str>, memory_bytes| Profile {
            id: "7".to_owned(),
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            protocol: 1,
            cores: 2,
            memory_bytes,
            open_files: memory_bytes.map(|_| 20_000),
            busy_with: busy_with.map(str::to_owned),
            watches: Vec::new(),
            is_private: true,
        };
        let watching = |profile: Profile| Profile {
            watches: vec![":8080".to_owned(), "redis".to_owned()],
            ..profile
        };
        let found = [
            profile("a", None, Some(25_000_000_000)),
            watching(profile("b", None, None)),
            watching(profile("c", Some("r2"), None)),
            profile("zurich-1", Some("r1"), None),
        ];
        expect![[r#"
            NAME      VERSION  CORES  MEMORY   FILES  STATE
            a         0.1.0    2      25.0 GB  20000  free
            b         0.1.0    2      –        –      watches :8080, redis
            c         0.1.0    2      –        –      watches :8080, redis for run r2
            zurich-1  0.1.0    2      –        –      works for run r1
        "#]]
        .assert_eq(&table(&found));
    }
}
