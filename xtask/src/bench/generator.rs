//! `plimsoll bench … --format json` as its own process, and the figures of its report.

use std::{
    path::Path,
    process::{Command, ExitStatus, Stdio},
};

use serde_json::{Value, json};

use super::Error;
use crate::command;

/// Longer than the longest run takes, and short enough that a run that hangs is noticed.
const TIME_LIMIT_S: u32 = 300;

/// The report of one finished run.
pub(super) struct Report {
    /// As a person would type it.
    command: String,
    json: Value,
}

/// The load client's exit code for a run that was done and found faults of the target.
const FAULTY: i32 = 3;

/// Runs the load client and reads its report. A run that lost messages or connections is an error, as in the product.
pub(super) fn run(binary: &Path, arguments: &[&str]) -> Result<Report, Error> {
    run_until(binary, arguments, |status| status.success())
}

/// The same for benchmarks whose figures include the faults.
pub(super) fn run_with_faults(binary: &Path, arguments: &[&str]) -> Result<Report, Error> {
    run_until(binary, arguments, |status| {
        status.success() || status.code() == Some(FAULTY)
    })
}

fn run_until(
    binary: &Path,
    arguments: &[&str],
    is_done: impl FnOnce(ExitStatus) -> bool,
) -> Result<Report, Error> {
    let mut generator = Command::new("timeout");
    generator
        .args(["--signal=KILL", &TIME_LIMIT_S.to_string()])
        .arg(binary)
        .arg("bench")
        .args(arguments);
    generator.args(["--format", "json"]);
    let line = command::line(&generator);
    let output = generator
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| Error::Start {
            program: line.clone(),
            source,
        })?;
    if !is_done(output.status) {
        return Err(Error::Generator {
            line,
            status: output.status,
        });
    }
    Ok(Report {
        command: format!("plimsoll bench {}", arguments.join(" ")),
        json: serde_json::from_slice(&output.stdout)?,
    })
}

/// The number at a JSON pointer (RFC 6901) of a report.
pub(super) fn number(report: &Value, pointer: &str) -> Result<f64, Error> {
    let number = report.pointer(pointer).and_then(Value::as_f64);
    number.ok_or_else(|| Error::Report {
        pointer: pointer.into(),
    })
}

impl Report {
    /// The number at a JSON pointer.
    pub(super) fn number(&self, pointer: &str) -> Result<f64, Error> {
        number(&self.json, pointer)
    }

    /// The last number of the list at a JSON pointer; nulls are left out.
    pub(super) fn last_number(&self, pointer: &str) -> Result<f64, Error> {
        let list = self.json.pointer(pointer).and_then(Value::as_array);
        let last = list.and_then(|list| list.iter().rev().find_map(Value::as_f64));
        last.ok_or_else(|| Error::Report {
            pointer: pointer.into(),
        })
    }

    /// The command and everything that it reported, to be kept with the result.
    pub(super) fn into_json(self) -> Value {
        json!({ "command": self.command, "report": self.json })
    }

    /// The sum over all steps of the number at a JSON pointer inside each step.
    pub(super) fn sum(&self, pointer: &str) -> Result<f64, Error> {
        let n_steps = self
            .json
            .pointer("/steps")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        (0..n_steps)
            .map(|step| self.number(&format!("/steps/{step}{pointer}")))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_pointer() {
        let report = Report {
            command: String::new(),
            json: json!({ "steps": [{ "clients": 3 }, { "clients": 6 }], "series": [1, 2, null] }),
        };
        assert!((report.last_number("/series").unwrap() - 2.0).abs() < 1e-9);
        assert!((report.number("/steps/1/clients").unwrap() - 6.0).abs() < 1e-9);
        assert!((report.sum("/clients").unwrap() - 9.0).abs() < 1e-9);
        let error = report.number("/steps/0/n_lost").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the load client's report has no number at /steps/0/n_lost"
        );
    }
}
