//! Programs that a task starts: shown before they run, judged by their exit code.

use std::{
    io,
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
    fn output_is_trimmed() {
        assert_eq!(read(Command::new("echo").arg("  a b ")).unwrap(), "a b");
    }
}
