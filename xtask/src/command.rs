//! Programs that a task starts: shown before they run, judged by their exit code.

use std::{
    env, io,
    path::Path,
    process::{Command, ExitStatus, Stdio},
};

/// Why a program did not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The program could not be started, mostly because it is not installed.
    #[error("cannot start `{line}`")]
    Start { line: String, source: io::Error },
    /// The program ran and said no; what it printed is above.
    #[error("`{line}` failed ({status})")]
    Failed { line: String, status: ExitStatus },
}

/// Prints the command line, runs it with our own stdin, stdout and stderr, and waits for it.
pub(crate) fn run(command: &mut Command) -> Result<(), Error> {
    let line = line(command);
    println!("$ {line}");
    let status = command.status().map_err(|source| Error::Start {
        line: line.clone(),
        source,
    })?;
    judge(line, status)
}

/// Runs a command silently and returns what it wrote to stdout, trimmed. Its stderr stays visible.
pub(crate) fn read(command: &mut Command) -> Result<String, Error> {
    let line = line(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| Error::Start {
            line: line.clone(),
            source,
        })?;
    judge(line, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether `program` with `arguments` can be started and exits with 0. For probing what is installed.
pub(crate) fn succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Keeps from a program what Cargo has set for this one.
///
/// Build scripts are run again when such a variable changes that they have read: `ring`'s reads the name of its package.
/// What this program starts and what a developer starts would then take turns in compiling `ring`, and everything that
/// needs it, again.
pub(crate) fn without_cargos_variables(command: &mut Command) -> &mut Command {
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_cargos)) {
        command.env_remove(name);
    }
    command
}

/// Whether Cargo sets this variable for a program that it runs (Cargo's reference, "Environment variables Cargo sets for
/// crates"), unlike those with which people tell Cargo something, such as `CARGO_TARGET_DIR`. `CARGO` stays: it says which
/// Cargo, and Cargo sets it for whatever it runs, the same each time.
fn is_cargos(name: &str) -> bool {
    const NAMES: [&str; 8] = [
        "CARGO_BIN_NAME",
        "CARGO_CRATE_NAME",
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_LINKS",
        "CARGO_MANIFEST_PATH",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_TARGET_TMPDIR",
        "OUT_DIR",
    ];
    const PREFIXES: [&str; 2] = ["CARGO_BIN_EXE_", "CARGO_PKG_"];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The command as a person would type it: without the folder of its program. Enough for reading, not for a shell.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    std::iter::once(program.file_name().unwrap_or(program.as_os_str()))
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

fn judge(line: String, status: ExitStatus) -> Result<(), Error> {
    if status.success() {
        Ok(())
    } else {
        Err(Error::Failed { line, status })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_its_status() {
        let error = read(Command::new("false").arg("--why")).unwrap_err();
        assert_eq!(error.to_string(), "`false --why` failed (exit status: 1)");
    }

    #[test]
    fn a_missing_program_is_told_from_a_failing_one() {
        let error = read(&mut Command::new("plimsoll-no-such-program")).unwrap_err();
        assert!(matches!(error, Error::Start { .. }), "{error}");
        assert!(!succeeds("plimsoll-no-such-program", &[]));
    }

    #[test]
    fn what_people_set_for_cargo_stays() {
        for (name, expected) in [
            ("CARGO_PKG_NAME", true),
            ("CARGO_PKG_VERSION_PRE", true),
            ("CARGO_MANIFEST_DIR", true),
            ("CARGO_MANIFEST_PATH", true),
            ("CARGO_MANIFEST_LINKS", true),
            ("CARGO_BIN_NAME", true),
            ("CARGO_BIN_EXE_xtask", true),
            ("OUT_DIR", true),
            ("CARGO", false),
            ("CARGO_HOME", false),
            ("CARGO_TARGET_DIR", false),
            ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", false),
            ("CARGO_BUILD_JOBS", false),
            ("CARGO_INCREMENTAL", false),
            ("CARGO_NET_OFFLINE", false),
            ("CARGO_PROFILE_DEV_DEBUG", false),
            ("RUSTFLAGS", false),
            ("RUSTUP_TOOLCHAIN", false),
            ("PATH", false),
        ] {
            assert_eq!(is_cargos(name), expected, "{name}");
        }
    }

    #[test]
    fn a_program_does_not_hear_for_whom_cargo_runs_this_one() {
        // Cargo runs tests with the variables of their package.
        assert_eq!(env::var("CARGO_PKG_NAME").as_deref(), Ok("xtask"));
        let mut program = Command::new("env");
        let heard = read(without_cargos_variables(&mut program)).unwrap();
        assert!(!heard.contains("CARGO_PKG_"), "{heard}");
        assert!(heard.contains("PATH="), "{heard}");
    }

    #[test]
    fn output_is_trimmed() {
        assert_eq!(read(Command::new("echo").arg("  a b ")).unwrap(), "a b");
    }
}
