//! The results of the checks, for people and programs.

use std::io::{self, Write as _};

use plimsoll_report::{Style, wrap};
use serde::Serialize;

use crate::{
    exit::{Failure, Status},
    session::Format,
    terminal,
};

/// The width of a name with its dots.
const NAME_WIDTH: usize = 20;

/// All checks.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Diagnosis {
    pub(crate) checks: Vec<Check>,
}

/// One check.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) state: State,
    /// What was found.
    pub(crate) finding: String,
    /// A command, or an instruction. None if nothing has to be done.
    pub(crate) fix: Option<String>,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Ok,
    /// The server works, with a limit that may matter.
    Warning,
    /// The server does not work as its settings say, or not with that number of clients.
    Problem,
}

impl Check {
    pub(crate) fn ok(name: &'static str, finding: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Ok,
            finding: finding.into(),
            fix: None,
        }
    }

    pub(crate) fn warning(name: &'static str, finding: impl Into<String>, fix: Option<String>) -> Self {
        Self {
            state: State::Warning,
            fix,
            ..Self::ok(name, finding)
        }
    }

    pub(crate) fn problem(name: &'static str, finding: impl Into<String>, fix: Option<String>) -> Self {
        Self {
            state: State::Problem,
            fix,
            ..Self::ok(name, finding)
        }
    }
}

impl Diagnosis {
    /// Prints the result and ends the command with it.
    pub(crate) fn print(&self, format: Format) -> Result<Status, Failure> {
        let text = match format {
            Format::Text => self.draw(terminal::style(&io::stdout())),
            Format::Json => format!("{:#}\n", serde_json::to_value(self)?),
        };
        io::stdout().write_all(text.as_bytes())?;
        Ok(if self.count(State::Problem) == 0 {
            Status::Success
        } else {
            Status::BadResult
        })
    }

    fn count(&self, state: State) -> usize {
        self.checks.iter().filter(|check| check.state == state).count()
    }

    fn draw(&self, style: Style) -> String {
        let mut text = format!("{}\n\n", style.strong(&self.headline()));
        for check in &self.checks {
            let mark = match check.state {
                State::Ok => "✓",
                State::Warning => "!",
                State::Problem => "✗",
            };
            let dots = ".".repeat(NAME_WIDTH.saturating_sub(check.name.len()));
            let rest = " ".repeat(NAME_WIDTH + 4);
            let first = format!("{mark} {}{dots}: ", check.name);
            let lines = wrap(&check.finding, &first, &rest, style.width).join("\n");
            text.push_str(&match check.state {
                State::Ok => lines,
                State::Warning => style.strong(&lines),
                State::Problem => style.bad(&lines),
            });
            text.push('\n');
            if let Some(fix) = &check.fix {
                // One line, so that it can be copied.
                text.push_str(&format!("    {fix}\n"));
            }
        }
        text
    }

    fn headline(&self) -> String {
        let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        let warnings = count(self.count(State::Warning), "warning");
        match (self.count(State::Problem), self.count(State::Warning)) {
            (0, 0) => "No problem found.".to_owned(),
            (0, _) => format!("No problem found, {warnings}."),
            (n, 0) => format!("{}.", count(n, "problem")),
            (n, _) => format!("{}, {warnings}.", count(n, "problem")),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_fix_stands_below_its_finding() {
        let diagnosis = Diagnosis {
            checks: vec![
                Check::ok("port", "localhost:8080 is free"),
                Check::warning("memory", "a finding", None),
                Check::problem("redis", "connection refused", Some("redis-server".to_owned())),
            ],
        };
        expect![[r#"
            1 problem, 1 warning.

            ✓ port................: localhost:8080 is free
            ! memory..............: a finding
            ✗ redis...............: connection refused
                redis-server
        "#]]
        .assert_eq(&diagnosis.draw(Style::PLAIN));
    }
}
