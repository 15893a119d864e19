//! `cargo xtask mutants`: breaks a crate in one place at a time and counts how many of the breaks its tests notice.
//!
//! No part of `cargo xtask test`: one crate takes minutes to an hour. Changes that mean the same as the original, so that no
//! test can notice them, stand in `.cargo/mutants.toml`, each with its reason.

use std::{fs, io, path::Path};

use serde_json::Value;

use crate::{command, repository};

/// The crates whose tests are held against mutants, and the files when it is not the whole crate.
const CRATES: [(&str, &[&str]); 6] = [
    ("hub", &[]),
    (
        "report",
        &[
            "crates/lab/report/src/comparison.rs",
            "crates/lab/report/src/comparison/**",
        ],
    ),
    ("telemetry", &[]),
    ("cable", &[]),
    ("line", &[]),
    ("websocket", &[]),
];

/// The share of mutants, in percent, that tests of a crate have to notice.
const LEAST_PERCENT: f64 = 95.0;

/// Seconds that the tests of a mutant may take. Reason: all tests of these crates take a few seconds; a mutant that loops
/// forever counts as noticed after this time.
const MAX_SECONDS: u32 = 60;

/// Cases of a property test. Reason: what breaks a property nearly always does so within a few; they are most of the time.
const CASES: &str = "64";

/// Settings of the tests, beside the number of cases. Reason: a mutant that is noticed needs no explanation, and to look for
/// the smallest failing input, or to name the functions of a backtrace, takes longer than the tests.
const QUIET: [(&str, &str); 2] = [("PROPTEST_MAX_SHRINK_ITERS", "0"), ("RUST_BACKTRACE", "0")];

/// Exit codes of cargo-mutants that leave results: some mutants were missed, or took too long.
const WITH_RESULTS: [i32; 2] = [2, 3];

/// Which crates to test.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Crates, by the names of their folders; all that are set up for it when none is named.
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
    /// Test every n-th mutant only, as `k/n`: a first look at a large crate.
    #[arg(long, value_name = "K/N")]
    shard: Option<String>,
    /// Mutants at the same time, each with a copy of the tree and a build of its own.
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: u32,
}

/// Why there is no score, or none that is high enough.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cargo-mutants is not installed: run `cargo install cargo-mutants --locked`")]
    NotInstalled,
    #[error("unknown crate `{name}`; mutants are set up for: {known}")]
    UnknownCrate { name: String, known: String },
    #[error("cannot read the results of cargo-mutants in {path}")]
    Unreadable { path: String, source: io::Error },
    #[error("the results of cargo-mutants have no counts: {path}")]
    NoCounts { path: String },
    #[error("fewer than {LEAST_PERCENT} % of the mutants were noticed in: {crates}")]
    Weak { crates: String },
    #[error(transparent)]
    Command(#[from] command::Error),
}

/// Tests the crates one after the other and prints their scores.
pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let chosen = chosen(&options.crates)?;
    if !command::succeeds("cargo-mutants", &["mutants", "--version"]) {
        return Err(Error::NotInstalled);
    }
    let mut scores = Vec::new();
    for (name, files) in chosen {
        println!("\n== mutants of {name}");
        scores.push((name, test(name, files, options)?));
    }
    println!();
    for (name, score) in &scores {
        println!("{name}: {score}");
    }
    let weak = scores.iter().filter(|(_, score)| score.percent() < LEAST_PERCENT);
    match weak.map(|(name, _)| *name).collect::<Vec<_>>().as_slice() {
        [] => Ok(()),
        weak => Err(Error::Weak {
            crates: weak.join(", "),
        }),
    }
}

/// Runs cargo-mutants on one crate, with the tests of that crate alone.
fn test(name: &str, files: &[&str], options: &Options) -> Result<Score, Error> {
    let output = format!("target/mutants/{name}");
    let folder = repository::root().join(&output);
    fs::create_dir_all(&folder).map_err(|source| unreadable(&folder, source))?;
    let mut cargo = repository::cargo();
    let package = format!("plimsoll-{name}");
    cargo.args([
        "mutants",
        "--package",
        &package,
        "--test-workspace=false",
        "--no-shuffle",
    ]);
    cargo.args(["--output", &output, "--timeout", &MAX_SECONDS.to_string()]);
    for file in files {
        cargo.args(["--file", file]);
    }
    cargo.args(["--jobs", &options.jobs.to_string()]);
    if let Some(shard) = &options.shard {
        cargo.args(["--shard", shard]);
    }
    cargo.env("PROPTEST_CASES", CASES).envs(QUIET);
    match command::run(&mut cargo) {
        Err(command::Error::Failed { status, .. })
            if status.code().is_some_and(|code| WITH_RESULTS.contains(&code)) => {}
        result => result?,
    }
    let results = folder.join("mutants.out/outcomes.json");
    let text = fs::read_to_string(&results).map_err(|source| unreadable(&results, source))?;
    Score::parse(&text).ok_or_else(|| Error::NoCounts {
        path: results.display().to_string(),
    })
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::Unreadable {
        path: path.display().to_string(),
        source,
    }
}

fn chosen(named: &[String]) -> Result<Vec<(&'static str, &'static [&'static str])>, Error> {
    if named.is_empty() {
        return Ok(CRATES.into());
    }
    let find = |name: &String| {
        let mut known = CRATES.into_iter();
        known
            .find(|(known, _)| known == name)
            .ok_or_else(|| Error::UnknownCrate {
                name: name.clone(),
                known: CRATES.map(|(name, _)| name).join(", "),
            })
    };
    named.iter().map(find).collect()
}

/// How many mutants of a crate its tests noticed. Mutants that do not compile do not count.
#[derive(Debug, PartialEq, Eq)]
struct Score {
    n_noticed: u64,
    n_missed: u64,
}

impl Score {
    /// Reads cargo-mutants' `outcomes.json`.
    fn parse(json: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(json).ok()?;
        let count = |name: &str| json.get(name)?.as_u64();
        Some(Self {
            n_noticed: count("caught")? + count("timeout")?,
            n_missed: count("missed")?,
        })
    }

    /// A crate without mutants has nothing that a test could miss.
    fn percent(&self) -> f64 {
        match self.n_noticed + self.n_missed {
            0 => 100.0,
            n => self.n_noticed as f64 / n as f64 * 100.0,
        }
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n = self.n_noticed + self.n_missed;
        write!(
            f,
            "{} of {n} mutants noticed ({:.1} %)",
            self.n_noticed,
            self.percent()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_chosen_by_name() {
        let names = |named: &[&str]| {
            let named: Vec<_> = named.iter().map(ToString::to_string).collect();
            let chosen = chosen(&named).map_err(|error| error.to_string())?;
            Ok::<_, String>(chosen.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap(), CRATES.map(|(name, _)| name));
        assert_eq!(names(&["cable", "hub"]).unwrap(), ["cable", "hub"]);
        assert_eq!(
            names(&["plimsoll"]).unwrap_err(),
            "unknown crate `plimsoll`; mutants are set up for: hub, report, telemetry, cable, line, websocket"
        );
    }

    #[test]
    fn crates_and_files_exist() {
        let root = repository::root();
        let groups: Vec<_> = fs::read_dir(root.join("crates"))
            .unwrap()
            .map(|group| group.unwrap().path())
            .collect();
        for (name, files) in CRATES {
            assert!(groups.iter().any(|group| group.join(name).is_dir()), "{name}");
            for file in files {
                let path = file.trim_end_matches("/**");
                assert!(root.join(path).exists(), "{file}");
            }
        }
    }

    #[test]
    fn a_score_is_the_share_of_mutants_that_were_noticed() {
        for (json, expected) in [
            (
                r#"{"total_mutants":13,"missed":1,"caught":8,"timeout":1,"unviable":3}"#,
                Some("9 of 10 mutants noticed (90.0 %)"),
            ),
            (
                r#"{"missed":0,"caught":0,"timeout":0}"#,
                Some("0 of 0 mutants noticed (100.0 %)"),
            ),
            (r#"{"missed":0}"#, None),
            ("", None),
        ] {
            let score = Score::parse(json).map(|score| score.to_string());
            assert_eq!(score.as_deref(), expected, "{json}");
        }
    }
}
