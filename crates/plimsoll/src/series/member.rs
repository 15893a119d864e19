//! One run of a series, in its own process: where its summary goes, and which target it has.
//!
//! The leading process tells it in a variable of the environment, because the arguments of all runs are the same.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use plimsoll_report::Summary;
use serde::{Deserialize, Serialize};

use crate::{exit::Failure, surroundings::Surroundings};

/// The variable that makes a process a member of a series.
pub(super) const VARIABLE: &str = "PLIMSOLL_SERIES_MEMBER";

/// A run of a series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    /// A new file for the summary.
    summary: PathBuf,
    /// The target in place of the one in the arguments.
    pub(super) target: Option<String>,
}

impl Member {
    pub(super) fn new(summary: PathBuf, target: Option<String>) -> Self {
        Self { summary, target }
    }

    /// The member that this process is; `None` for a command on its own.
    ///
    /// # Errors
    /// The value is not from a leading process.
    pub(crate) fn of(surroundings: &Surroundings<'_>) -> Result<Option<Self>, Failure> {
        let Some(text) = surroundings.variable(VARIABLE) else {
            return Ok(None);
        };
        let member = serde_json::from_str(text);
        member.map(Some).map_err(|error| {
            Failure::Usage(format!(
                "the variable {VARIABLE} is for the runs of --repeat, and its value is not one of theirs ({error}); unset it"
            ))
        })
    }

    /// Hands the summary to the leading process.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn hand_over(&self, summary: &Summary) -> Result<(), Failure> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&self.summary)?;
        file.write_all(plimsoll_report::json(summary)?.as_bytes())?;
        Ok(())
    }

    pub(super) fn summary(&self) -> &Path {
        &self.summary
    }

    pub(super) fn variable(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

/// The folder for the summaries of a series. It goes with this value.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// A new folder that only this user can read.
    ///
    /// # Errors
    /// The folder for temporary files cannot be written to.
    pub(super) fn new() -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;

        let name = format!("plimsoll-series-{:032x}", fastrand::u128(..));
        let path = std::env::temp_dir().join(name);
        // Fails if it exists, so no other user can have prepared it.
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    /// The file of the run with this number.
    pub(super) fn file(&self, n: usize) -> PathBuf {
        self.0.join(format!("{n}.json"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _it_is_temporary = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_knows_itself_from_its_variable() {
        let of = |value: &str| {
            let surroundings = Surroundings::of_variables(&[(VARIABLE, value)]);
            Member::of(&surroundings).map_err(|failure| failure.message())
        };
        let member = Member::new("/tmp/1.json".into(), Some("ws://b/".to_owned()));
        assert_eq!(of(&member.variable().unwrap()), Ok(Some(member)));
        assert_eq!(of(""), Ok(None));
        let error = of("yes").unwrap_err();
        assert!(
            error.contains("PLIMSOLL_SERIES_MEMBER") && error.ends_with("unset it"),
            "{error}"
        );
    }
}
