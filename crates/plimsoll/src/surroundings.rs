//! What the process was started in, as far as settings can come from it: read once, then passed down.

use std::{ffi::OsString, fs, io, path::Path};

/// The environment and the files.
pub(crate) struct Surroundings<'a> {
    /// Names and values of the environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Reads a text file; relative paths are relative to the working directory.
    pub(crate) read_file: &'a dyn Fn(&Path) -> io::Result<String>,
}

impl Surroundings<'_> {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        Self {
            environment: std::env::vars_os().collect(),
            read_file: &|path| fs::read_to_string(path),
        }
    }

    /// A variable that is set; `None` also when it is empty or no text.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let (_, value) = self.environment.iter().find(|(known, _)| known == name)?;
        value.to_str().filter(|value| !value.is_empty())
    }
}
