//! The steps of `cargo xtask test`.

use std::{fmt, path::PathBuf};

use clap::ValueEnum;

use super::{Options, foreign, setup, web};
use crate::{BoxedError, command, fuzz, repository, tidy};

/// One step, declared in the order in which the steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Step {
    /// Install the Debian and npm packages that the later steps need.
    Setup,
    /// Formatting.
    Fmt,
    /// Lints, with warnings denied.
    Clippy,
    /// The rules of `cargo xtask tidy`.
    Tidy,
    /// The pages in TypeScript: types, unit tests, and whether the embedded files are theirs.
    Web,
    /// Whether all fuzz targets compile. They are a workspace of their own, which no other step builds.
    FuzzTargets,
    /// Unit and integration tests of all crates.
    Unit,
    /// The binary for the end-to-end tests.
    Build,
    /// The binary against foreign clients and servers.
    E2e,
    /// Every fuzz target for a minute; only with `--long`, or when it is named.
    Fuzz,
}

impl Step {
    /// All steps in their order. Set-up comes first because it fails fast and everything else takes minutes.
    pub(super) const ALL: [Self; 10] = [
        Self::Setup,
        Self::Fmt,
        Self::Clippy,
        Self::Tidy,
        Self::Web,
        Self::FuzzTargets,
        Self::Unit,
        Self::Build,
        Self::E2e,
        Self::Fuzz,
    ];

    /// The steps of `--quick`, which find most mistakes in the least time.
    pub(super) const QUICK: [Self; 4] = [Self::Fmt, Self::Clippy, Self::Tidy, Self::Unit];

    /// Whether the step needs more time and tools than a change may take.
    pub(super) fn is_long(self) -> bool {
        self == Self::Fuzz
    }

    /// One line for people.
    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Setup => "Debian and npm packages",
            Self::Fmt => "formatting",
            Self::Clippy => "lints, warnings denied",
            Self::Tidy => "the rules that neither rustfmt nor clippy knows",
            Self::Web => "the embedded pages: types, unit tests, committed files",
            Self::FuzzTargets => "the fuzz targets compile",
            Self::Unit => "unit and integration tests",
            Self::Build => "the binary for the end-to-end tests",
            Self::E2e => "the binary against foreign clients and servers",
            Self::Fuzz => "every fuzz target for a minute",
        }
    }

    /// Runs the step; what it does is printed as it happens.
    pub(super) fn run(self, options: &Options) -> Result<(), BoxedError> {
        match self {
            Self::Setup => setup::run()?,
            Self::Fmt => cargo(&["fmt", "--all", "--check"])?,
            Self::Clippy => cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?,
            Self::Tidy => tidy::run()?,
            Self::Web => web::run()?,
            Self::FuzzTargets => fuzz::check()?,
            Self::Unit => cargo(&["test", "--workspace"])?,
            Self::Build => {
                build(options)?;
            }
            Self::E2e => {
                setup::run()?;
                foreign::run(&build(options)?, &options.files)?;
            }
            Self::Fuzz => fuzz::run(&fuzz::Options::default())?,
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self
            .to_possible_value()
            .expect("no step is hidden from the command line");
        f.write_str(value.get_name())
    }
}

fn cargo(arguments: &[&str]) -> Result<(), command::Error> {
    command::run(repository::cargo().args(arguments))
}

/// Builds the binary that the end-to-end tests start, and returns its path.
fn build(options: &Options) -> Result<PathBuf, command::Error> {
    if options.release {
        repository::build_release("plimsoll")
    } else {
        repository::build_with_tests("plimsoll")
    }
}
