//! A report as a file, whose name decides the form.

use std::{
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use clap::builder::{OsStringValueParser, TypedValueParser};
use plimsoll_report::{Summary, comparison::Comparison, html, json, markdown};

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A page with charts.
    Html,
    /// Everything that is known, for programs; `plimsoll report` reads it.
    Json,
    /// A table for a pull request.
    Markdown,
}

/// A file that a report is to be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportFile {
    path: PathBuf,
    form: Form,
}

/// A name that says no form.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of a report must end in .html (a page), .json (data) or .md (a table), for example report.html"
)]
pub(crate) struct NoForm;

impl Form {
    /// The form that the extension means.
    fn of(path: &Path) -> Result<Self, NoForm> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => Ok(Self::Html),
            Some("json") => Ok(Self::Json),
            Some("md" | "markdown") => Ok(Self::Markdown),
            _ => Err(NoForm),
        }
    }

    /// The extension of a new file.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Json => "json",
            Self::Markdown => "md",
        }
    }

    /// The report of one run, or of several runs side by side. `comparisons` compare each further run with the first
    /// one.
    pub(super) fn of_runs(
        self,
        summaries: &[&Summary],
        comparisons: &[Comparison],
    ) -> serde_json::Result<String> {
        Ok(match (self, summaries) {
            (Self::Html, _) => html::page(summaries, comparisons),
            (Self::Json, [summary]) => format!("{}\n", json(summary)?),
            (Self::Json, _) => format!("{}\n", json(&comparisons)?),
            (Self::Markdown, [summary]) => markdown::page(summary),
            (Self::Markdown, _) => {
                let tables: Vec<_> = comparisons.iter().map(Comparison::markdown).collect();
                tables.join("\n")
            }
        })
    }
}

impl ReportFile {
    /// # Errors
    /// When the extension is none of a report's.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Result<Self, NoForm> {
        let path = path.into();
        Ok(Self {
            form: Form::of(&path)?,
            path,
        })
    }

    /// The file beside this one for the run with this number: report-2.html for report.html.
    pub(super) fn numbered(&self, n: usize) -> Self {
        let stem = self.path.file_stem().unwrap_or_default().display();
        let extension = self.path.extension().unwrap_or_default().display();
        Self {
            path: self.path.with_file_name(format!("{stem}-{n}.{extension}")),
            form: self.form,
        }
    }

    /// The parser of flags with a report file.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().try_map(|name: OsString| Self::new(name))
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Refuses before a run a file that could not be written after it.
    ///
    /// # Errors
    /// In words for people, beginning with the name.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.path.is_dir() {
            return Err(format!(
                "{self} is a folder; expected a file in it, for example {self}/report.html"
            ));
        }
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => Err(format!(
                "{self}: there is no folder {}; create it first: mkdir -p {}",
                folder.display(),
                folder.display()
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn write(&self, text: &str) -> io::Result<()> {
        fs::write(&self.path, text)
    }
}

impl fmt::Display for ReportFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_says_the_form() {
        for (name, expected) in [
            ("report.html", Ok(Form::Html)),
            ("out/REPORT.HTM", Ok(Form::Html)),
            ("run.json", Ok(Form::Json)),
            ("run.v2.md", Ok(Form::Markdown)),
            ("report.pdf", Err(NoForm)),
            ("report", Err(NoForm)),
            (".html", Err(NoForm)),
            ("", Err(NoForm)),
        ] {
            assert_eq!(ReportFile::new(name).map(|file| file.form()), expected, "{name}");
        }
    }

    #[test]
    fn reports_of_several_runs_have_numbers() {
        for (name, expected) in [("out/run.json", "out/run-2.json"), ("a.b.html", "a.b-2.html")] {
            let file = ReportFile::new(name).unwrap();
            assert_eq!(file.numbered(2), ReportFile::new(expected).unwrap());
        }
    }

    #[test]
    fn what_cannot_be_written_is_said_before_the_run() {
        let problem = |name: &str| ReportFile::new(name).unwrap().check().unwrap_err();
        assert_eq!(
            problem("no/such/report.html"),
            "no/such/report.html: there is no folder no/such; create it first: mkdir -p no/such"
        );
        assert_eq!(ReportFile::new("report.html").unwrap().check(), Ok(()));
    }
}
