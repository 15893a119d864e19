//! The one time that is in the files of a release. The clock is in none of them, so that two calls make the same files.

use std::{
    env, fmt,
    time::{Duration, SystemTime},
};

use super::Error;
use crate::{command, repository};

/// The variable from which tools that make packages take the time (reproducible-builds.org).
pub(super) const VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// Seconds since 1970; gzip has 32 bits for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Epoch(u32);

impl Epoch {
    /// The time in the variable, or else that of the commit.
    pub(super) fn of_release() -> Result<Self, Error> {
        match env::var(VARIABLE) {
            Ok(text) if !text.is_empty() => Self::parse(VARIABLE, &text),
            _ => {
                let log = ["log", "-1", "--format=%ct"];
                Self::parse(
                    "the date of the commit",
                    &command::read(repository::command("git").args(log))?,
                )
            }
        }
    }

    /// `what` is this text.
    fn parse(what: &'static str, text: &str) -> Result<Self, Error> {
        let seconds = text.parse();
        seconds.map(Self).map_err(|_| Error::Time {
            what,
            found: text.to_owned(),
        })
    }

    /// The time of files.
    pub(super) fn of_files(self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.0.into())
    }

    /// `2026-11-29T10:00:00Z`
    pub(super) fn rfc3339(self) -> Result<String, Error> {
        let mut date = repository::command("date");
        date.args(["--utc", &format!("--date=@{self}"), "+%Y-%m-%dT%H:%M:%SZ"]);
        Ok(command::read(&mut date)?)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_and_are_written_in_utc() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let found = Epoch::parse(VARIABLE, text).and_then(Epoch::rfc3339);
            let found = found.map_err(|error| error.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
        };
        check("0", Ok("1970-01-01T00:00:00Z"));
        check("4294967295", Ok("2106-02-07T06:28:15Z"));
        check("1795946400", Ok("2026-11-29T10:00:00Z"));
        for text in ["yesterday", "-1", "4294967296"] {
            let error = format!("SOURCE_DATE_EPOCH is `{text}`: expected seconds since 1970, below 2^32");
            check(text, Err(&error));
        }
    }
}
