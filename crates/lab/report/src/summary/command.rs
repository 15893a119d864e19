//! Commands that ran beside the load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command of `--at`, which does something to the target during the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimedCommand {
    /// The command, as a shell reads it.
    pub command: String,
    /// Seconds from the start of the first virtual user to the command's own.
    pub at_seconds: f64,
    /// Seconds that it took.
    pub seconds: f64,
    /// Its exit code. `None`: a signal ended it, or it could not be started.
    pub exit_code: Option<i32>,
    /// The end of what it printed, on both outputs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

impl TimedCommand {
    /// What became of it, in a sentence.
    pub fn sentence(&self) -> String {
        let Self {
            command,
            at_seconds,
            seconds,
            exit_code,
            output,
        } = self;
        let end = match exit_code {
            Some(0) => String::new(),
            Some(code) => format!(" and ended with exit code {code}"),
            None => " and did not end by itself".to_owned(),
        };
        let said = match output.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(line) if *exit_code != Some(0) => format!(": {}", line.trim()),
            _ => String::new(),
        };
        format!("at {at_seconds:.1} s `{command}` ran for {seconds:.1} s{end}{said}")
    }

    pub(super) fn texts(&mut self) -> [&mut String; 2] {
        [&mut self.command, &mut self.output]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_sentence() {
        for (exit_code, output, expected) in [
            (Some(0), "done\n", "at 5.0 s `pkill redis` ran for 0.2 s"),
            (
                Some(1),
                "no such\nprocess\n\n",
                "at 5.0 s `pkill redis` ran for 0.2 s and ended with exit code 1: process",
            ),
            (
                None,
                "",
                "at 5.0 s `pkill redis` ran for 0.2 s and did not end by itself",
            ),
        ] {
            let command = TimedCommand {
                command: "pkill redis".to_owned(),
                at_seconds: 5.012,
                seconds: 0.16,
                exit_code,
                output: output.to_owned(),
            };
            assert_eq!(command.sentence(), expected);
        }
    }
}
