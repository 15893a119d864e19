//! The program under the name `k6`: its commands and its manners. A symbolic link with this name makes scripts, images and
//! operators that call `k6` run this program.
//!
//! Everything is a rewriting of the command line: the commands are those of `plimsoll`, with k6's defaults.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Write},
    net::TcpListener,
    path::Path,
};

use crate::exit::{Failure, Status};

/// The version of k6 whose behaviour is tested (`tests/foreign/k6`).
const VERSION: &str = "1.8.1";

/// The commands of k6 that are there.
pub(crate) const COMMANDS: [&str; 11] = [
    "run",
    "inspect",
    "archive",
    "new",
    "pause",
    "resume",
    "scale",
    "stats",
    "status",
    "version",
    "completion",
];

/// The address of k6's REST interface.
const ADDRESS: &str = "localhost:6565";

/// What the process was called to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// The command line for `plimsoll`.
    Arguments(Vec<OsString>),
    /// Print the version.
    Version,
    /// k6 has no such command, or its command is not there.
    Unknown(String),
}

/// Whether the program was called as `k6`.
pub(crate) fn is_name(program: Option<&OsString>) -> bool {
    let name = program.map(Path::new).and_then(Path::file_name);
    name == Some(OsStr::new("k6"))
}

impl Call {
    /// The meaning of a command line of k6. `is_free` says whether an address can be listened on.
    pub(crate) fn of(arguments: &[OsString], is_free: impl Fn(&str) -> bool) -> Self {
        let words: Vec<_> = arguments
            .iter()
            .skip(1)
            .filter_map(|word| word.to_str())
            .collect();
        // Flags of all commands may stand before the command.
        let command = words.iter().find(|word| !word.starts_with('-'));
        match command.copied() {
            None if words.contains(&"--version") => Self::Version,
            None => Self::Arguments(arguments.to_vec()),
            Some("version") => Self::Version,
            Some("run") => Self::Arguments(with_manners(arguments, &words, is_free)),
            Some(known) if COMMANDS.contains(&known) => Self::Arguments(arguments.to_vec()),
            Some(other) => Self::Unknown(match crate::run::unsupported(other) {
                Some(refusal) => refusal,
                None => format!(
                    "unknown command {other:?} for \"k6\"; expected one of {}",
                    COMMANDS.join(", ")
                ),
            }),
        }
    }

    /// Carries out what needs no further command.
    ///
    /// # Errors
    /// The command is not there.
    pub(crate) fn finish(self) -> Result<Result<Status, Vec<OsString>>, Failure> {
        match self {
            Self::Arguments(arguments) => Ok(Err(arguments)),
            Self::Version => {
                let own = env!("CARGO_PKG_VERSION");
                let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
                writeln!(
                    io::stdout(),
                    "k6 v{VERSION} (plimsoll v{own}, {system}/{machine})"
                )?;
                Ok(Ok(Status::Success))
            }
            Self::Unknown(problem) => Err(Failure::Usage(problem)),
        }
    }
}

/// Whether a program can listen at an address now.
pub(crate) fn is_free(address: &str) -> bool {
    TcpListener::bind(address).is_ok()
}

/// The command line of `run` with k6's defaults: failures of requests do not fail the run, nothing is kept, every file is
/// a script, and the REST interface answers at its usual place unless another program has that.
fn with_manners(arguments: &[OsString], words: &[&str], is_free: impl Fn(&str) -> bool) -> Vec<OsString> {
    let has = |flag: &str| words.iter().any(|word| word.split('=').next() == Some(flag));
    let mut manners: Vec<OsString> = vec!["--no-save".into(), "--as=k6".into()];
    if !has("--fail-on-errors") {
        manners.push("--fail-on-errors=never".into());
    }
    let has_address = has("--address")
        || words
            .iter()
            .any(|word| word.starts_with("-a") && !word.starts_with("--"));
    if !has_address && is_free(ADDRESS) {
        manners.push(format!("--address={ADDRESS}").into());
    }
    let command = arguments
        .iter()
        .position(|argument| argument == "run")
        .unwrap_or(1);
    let (front, rest) = arguments.split_at(command);
    let (run, rest) = rest.split_at(1.min(rest.len()));
    // The command first: other parts of this program look for it there.
    let program = front.iter().take(1);
    let flags = front.iter().skip(1);
    program
        .chain(run)
        .chain(&manners)
        .chain(flags)
        .chain(rest)
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(command: &str, is_free: bool) -> Call {
        let arguments: Vec<_> = command.split(' ').map(OsString::from).collect();
        Call::of(&arguments, |_| is_free)
    }

    fn text(command: &str, is_free: bool) -> String {
        match call(command, is_free) {
            Call::Arguments(arguments) => {
                let words: Vec<_> = arguments.iter().map(|word| word.to_str().unwrap()).collect();
                words.join(" ")
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_run_has_k6s_manners() {
        const MANNERS: &str = "--no-save --as=k6 --fail-on-errors=never";
        assert_eq!(text("k6 run a.js", false), format!("k6 run {MANNERS} a.js"));
        assert_eq!(
            text("k6 run a.js", true),
            format!("k6 run {MANNERS} --address=localhost:6565 a.js")
        );
        assert_eq!(
            text("k6 --quiet run -a :1 a.js", true),
            format!("k6 run {MANNERS} --quiet -a :1 a.js")
        );
        assert_eq!(
            text("k6 run --fail-on-errors=any --address=h:1 a.js", true),
            "k6 run --no-save --as=k6 --fail-on-errors=any --address=h:1 a.js"
        );
        assert_eq!(text("k6 inspect a.js", true), "k6 inspect a.js");
    }

    #[test]
    fn other_commands_are_named() {
        assert_eq!(call("k6 version", true), Call::Version);
        assert_eq!(call("k6 --version", true), Call::Version);
        assert!(text("k6 cloud", true).contains("k6's command `cloud` is not supported"));
        assert!(text("k6 serve", true).contains("unknown command"));
        for (program, expected) in [
            ("/usr/bin/k6", true),
            ("k6", true),
            ("plimsoll", false),
            ("k6x", false),
        ] {
            assert_eq!(is_name(Some(&program.into())), expected, "{program}");
        }
        assert!(!is_name(None));
    }
}
