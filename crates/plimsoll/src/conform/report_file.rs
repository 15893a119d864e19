//! Results as a file, whose name decides the form.

use std::{
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use clap::builder::{OsStringValueParser, TypedValueParser};
use plimsoll_conformance::{Results, matrix};

use crate::exit::Failure;

/// A file that results are to be written to.
#[derive(Clone, Debug)]
pub(super) struct ReportFile {
    path: PathBuf,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Html,
    Json,
    Junit,
}

/// A name that says no form.
#[derive(Debug, thiserror::Error)]
#[error(
    "the name of a report must end in .html (a page), .json (data) or .xml (JUnit), for example results.html"
)]
pub(super) struct NoForm;

impl ReportFile {
    fn new(path: impl Into<PathBuf>) -> Result<Self, NoForm> {
        let path = path.into();
        let extension = path.extension().and_then(|extension| extension.to_str());
        let form = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => Form::Html,
            Some("json") => Form::Json,
            Some("xml") => Form::Junit,
            _ => return Err(NoForm),
        };
        Ok(Self { path, form })
    }

    /// The parser of flags with a report file.
    pub(super) fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().try_map(|name: OsString| Self::new(name))
    }

    /// Refuses before a run a file that could not be written after it.
    ///
    /// # Errors
    /// Wrong usage.
    pub(super) fn check(&self) -> Result<(), Failure> {
        check_writable(&self.path).map_err(|problem| Failure::Usage(format!("--report {problem}")))
    }

    /// Writes results of one run.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write(&self, results: &Results) -> Result<(), Failure> {
        let text = match self.form {
            Form::Html => matrix(std::slice::from_ref(results)),
            Form::Json => format!("{}\n", results.json()?),
            Form::Junit => results.junit(),
        };
        write(&self.path, &text)
    }
}

impl fmt::Display for ReportFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

/// # Errors
/// In words for people, beginning with the name.
pub(super) fn check_writable(path: &Path) -> Result<(), String> {
    let name = path.display();
    if path.is_dir() {
        return Err(format!("{name} is a folder; expected a file in it"));
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            let folder = folder.display();
            Err(format!(
                "{name}: there is no folder {folder}; create it first: mkdir -p {folder}"
            ))
        }
        _ => Ok(()),
    }
}

/// # Errors
/// When the file cannot be written; its name is said.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_says_the_form() {
        for (name, is_known) in [
            ("results.html", true),
            ("out/RESULTS.JSON", true),
            ("junit.xml", true),
            ("results.md", false),
            ("results", false),
        ] {
            assert_eq!(ReportFile::new(name).is_ok(), is_known, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_said_before_the_run() {
        assert_eq!(
            check_writable("no/such/results.xml".as_ref()),
            Err(
                "no/such/results.xml: there is no folder no/such; create it first: mkdir -p no/such"
                    .to_owned()
            )
        );
        assert_eq!(check_writable("results.xml".as_ref()), Ok(()));
        assert_eq!(
            check_writable("/".as_ref()),
            Err("/ is a folder; expected a file in it".to_owned())
        );
    }
}
