//! `cargo xtask fuzz`: runs every target under `fuzz/` for a while.
//!
//! Part of `cargo xtask test` only with `--long`: libFuzzer's instrumentation needs a nightly toolchain, and a fuzz run is only worth
//! its time when it may take minutes per target.

use std::{fs, io, process::Command};

use crate::{command, repository};

/// Seconds per target. Reason: after a minute from committed seeds, little that is new is found in the next one.
const A_MINUTE: u32 = 60;

/// What to fuzz, and for how long.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Seconds per target.
    #[arg(long, default_value_t = A_MINUTE, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,
    /// Run these targets only; all when none is named.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
}

impl Default for Options {
    /// All targets for a minute.
    fn default() -> Self {
        Self {
            seconds: A_MINUTE,
            targets: Vec::new(),
        }
    }
}

/// Why fuzzing ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("fuzzing needs a nightly toolchain: run `rustup toolchain install nightly`")]
    NoNightly,
    #[error("no fuzz target `{name}`; there are: {known}")]
    UnknownTarget { name: String, known: String },
    #[error("there are no fuzz targets under fuzz/")]
    NoTargets,
    #[error("cannot create the folders for inputs")]
    Folders(#[from] io::Error),
    #[error(transparent)]
    Command(#[from] command::Error),
}

/// Compiles every target without libFuzzer's instrumentation, which needs no nightly toolchain: a target that still names a
/// type that has moved is found with each change, not with the next fuzz run. The lock file must be up to date.
pub(crate) fn check() -> Result<(), command::Error> {
    let manifest = [
        "check",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--bins",
        "--locked",
    ];
    command::run(
        repository::cargo()
            .args(manifest)
            .args(["--target-dir", "target"]),
    )
}

/// Runs the targets one after the other and stops at the first that finds a crash.
pub(crate) fn run(options: &Options) -> Result<(), Error> {
    if !command::succeeds("rustup", &["run", "nightly", "cargo", "--version"]) {
        return Err(Error::NoNightly);
    }
    if !command::succeeds("cargo-fuzz", &["--version"]) {
        command::run(repository::cargo().args(["install", "cargo-fuzz", "--locked"]))?;
    }
    let targets = chosen(&options.targets, &known_targets()?)?;
    for target in &targets {
        println!("\n== fuzz {target} for {} s", options.seconds);
        fuzz(target, options.seconds)?;
    }
    println!(
        "\nxtask fuzz: {} targets, nothing found: {}",
        targets.len(),
        targets.join(", ")
    );
    Ok(())
}

/// New inputs go to the corpus, which is not committed; the committed seeds are only read.
fn fuzz(target: &str, seconds: u32) -> Result<(), Error> {
    let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
    for folder in [&corpus, &seeds] {
        fs::create_dir_all(repository::root().join(folder))?;
    }
    let limit = format!("-max_total_time={seconds}");
    command::run(&mut cargo_fuzz(&["run", target, &corpus, &seeds, "--", &limit]))?;
    Ok(())
}

fn known_targets() -> Result<Vec<String>, Error> {
    let known: Vec<String> = command::read(&mut cargo_fuzz(&["list"]))?
        .lines()
        .map(str::to_owned)
        .collect();
    if known.is_empty() {
        Err(Error::NoTargets)
    } else {
        Ok(known)
    }
}

fn chosen(named: &[String], known: &[String]) -> Result<Vec<String>, Error> {
    if let Some(name) = named.iter().find(|name| !known.contains(name)) {
        return Err(Error::UnknownTarget {
            name: name.clone(),
            known: known.join(", "),
        });
    }
    Ok(if named.is_empty() {
        known.to_vec()
    } else {
        named.to_vec()
    })
}

/// `cargo fuzz …` under nightly. The pinned toolchain of this process must not leak into it.
fn cargo_fuzz(arguments: &[&str]) -> Command {
    let mut command = repository::command("rustup");
    command.args(["run", "nightly", "cargo", "fuzz"]).args(arguments);
    command::without_cargos_variables(&mut command);
    for variable in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTDOC"] {
        command.env_remove(variable);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_chosen_by_name() {
        let known = ["frames".to_owned(), "cable".to_owned()];
        assert_eq!(chosen(&[], &known).unwrap(), known);
        assert_eq!(chosen(&["cable".into()], &known).unwrap(), ["cable"]);
        let error = chosen(&["yaml".into()], &known).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no fuzz target `yaml`; there are: frames, cable"
        );
    }
}
