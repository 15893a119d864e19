//! The check of a k6 script: its text, one evaluation as before a run, and its options.

use std::{
    env, fmt,
    path::{Path, PathBuf, absolute},
};

use plimsoll_scenario::document::{Mistake, Place};
use plimsoll_script::{
    Finding, Redaction, Review, Script, ScriptError,
    source::{Excerpt, Location, SourceError},
};

use crate::{
    exit::{Failure, TestFailure},
    run::{
        config_file::ConfigFile,
        flags::OptionFlags,
        layers::{Consolidated, Layers},
        mistake,
        options::ReadingFlags,
        script,
    },
    runtime::run_local,
    surroundings::Surroundings,
};

/// A check and its result so far.
pub(super) struct ScriptCheck<'p> {
    /// The script as the user named it.
    path: &'p Path,
    /// The working directory.
    folder: PathBuf,
    pub(super) warnings: Vec<String>,
    /// The mistakes with known places, each with its file.
    pub(super) mistakes: Vec<(String, Mistake)>,
    /// The mistakes for people, each with its place if that is known.
    texts: Vec<String>,
}

impl<'p> ScriptCheck<'p> {
    pub(super) fn new(path: &'p Path) -> Self {
        Self {
            path,
            folder: env::current_dir().unwrap_or_default(),
            warnings: Vec::new(),
            mistakes: Vec::new(),
            texts: Vec::new(),
        }
    }

    /// Reads a script and its options, and runs nothing.
    ///
    /// # Errors
    /// The failure with all mistakes.
    pub(super) fn examine(&mut self, surroundings: &Surroundings<'_>) -> Result<(), Failure> {
        let file = ConfigFile::find(None, surroundings).map_err(invalid)?;
        let layers = Layers::read(file, surroundings, &OptionFlags::default()).map_err(invalid)?;
        let (redaction, flags) = (Redaction::default(), ReadingFlags::default());
        let sources = run_local(async {
            let sources = script::sources(self.path, &flags, surroundings).await;
            sources.map_err(|error| self.unreadable(error))
        })?;
        let review = Review::read(&sources).map_err(|error| TestFailure::ScriptFailed.because(error))?;
        let findings = review.findings();
        let is_found = |error: &ScriptError| {
            let excerpt = error.excerpt.as_deref();
            excerpt.is_some_and(|excerpt| self.has(&findings, &excerpt.location))
        };
        let script = match script::evaluate(sources.clone(), &flags, true, surroundings, &redaction)? {
            Ok(script) => Some(script),
            Err(error) if is_found(&error) => None,
            Err(error) if findings.iter().all(|finding| finding.is_warning) => {
                self.add_findings(&findings);
                return Err(self.threw(&error, &redaction));
            }
            Err(error) => {
                self.threw(&error, &redaction);
                None
            }
        };
        self.add_findings(&findings);
        let has_invalid_names = !self.texts.is_empty();
        if let Some(script) = script {
            self.options(&script, &layers, &review)?;
        }
        if self.texts.is_empty() {
            return Ok(());
        }
        let failure = if has_invalid_names {
            TestFailure::ScriptFailed
        } else {
            TestFailure::InvalidOptions
        };
        Err(failure.because(self.texts.join("\n")))
    }

    /// Checks the options, and the functions of the scenarios.
    fn options(&mut self, script: &Script, layers: &Layers, review: &Review<'_>) -> Result<(), Failure> {
        let name = self.path.display().to_string();
        let of_script = script::options(script).map_err(invalid)?;
        let Consolidated { plan, warnings, .. } = match layers.consolidate(&name, &of_script) {
            Ok(consolidated) => consolidated,
            Err(mistake) => {
                self.option(&mistake, review);
                return Ok(());
            }
        };
        for warning in warnings {
            let place = warning.option().and_then(|option| review.option(option));
            self.warnings.push(match place {
                Some(place) => format!("{}: {}", self.shown(&place), warning.problem()),
                None => warning.to_string(),
            });
        }
        for mistake in script::missing_functions(script, &name, &plan) {
            self.option(&mistake, review);
        }
        let called: Vec<_> = plan
            .scenarios
            .iter()
            .map(|scenario| scenario.exec.as_str())
            .collect();
        self.add_findings(&review.idle_functions(&called));
        Ok(())
    }

    /// Adds a mistake in the options: at its place, if the script's text has it.
    fn option(&mut self, mistake: &mistake::Mistake, review: &Review<'_>) {
        let place = mistake.option().and_then(|option| review.option(option));
        match place {
            Some(place) => self.add(&place, "", mistake.problem()),
            None => self.texts.push(mistake.to_string()),
        }
    }

    fn add_findings(&mut self, findings: &[Finding]) {
        for finding in findings {
            let Finding {
                location,
                name,
                problem,
                is_warning,
            } = finding;
            if *is_warning {
                let place = self.shown(location);
                self.warnings.push(format!("{place}: {name}: {problem}"));
            } else {
                self.add(location, name, problem);
            }
        }
    }

    fn add(&mut self, location: &Location, name: &str, problem: &str) {
        let colon = if name.is_empty() { "" } else { ": " };
        let place = self.shown(location);
        self.texts.push(format!("{place}: {name}{colon}{problem}"));
        let file = self.file(location);
        self.mistakes.push((file, located(location, name, problem)));
    }

    fn unreadable(&mut self, error: SourceError) -> Failure {
        self.keep(error.excerpt.as_deref(), &error.problem);
        script::unreadable(error)
    }

    /// The failure of the evaluation, with the line of the source and the calls that led there.
    fn threw(&mut self, error: &ScriptError, redaction: &Redaction) -> Failure {
        let failure = script::failed(self.path, error, redaction);
        self.keep(error.excerpt.as_deref(), &redaction.redact(&error.message));
        self.texts.push(failure.message());
        failure
    }

    fn keep(&mut self, excerpt: Option<&Excerpt>, problem: &dyn fmt::Display) {
        if let Some(Excerpt { location, .. }) = excerpt {
            let file = self.file(location);
            self.mistakes
                .push((file, located(location, "", &problem.to_string())));
        }
    }

    /// Whether a finding has this line.
    fn has(&self, findings: &[Finding], location: &Location) -> bool {
        let line = |of: &Location| (self.file(of), of.line);
        findings
            .iter()
            .any(|finding| !finding.is_warning && line(&finding.location) == line(location))
    }

    fn shown(&self, location: &Location) -> String {
        format!("{}:{}:{}", self.file(location), location.line, location.column)
    }

    /// A file as the user named it, or relative to the working directory.
    fn file(&self, location: &Location) -> String {
        let path = self.folder.join(&location.file);
        if absolute(self.path).is_ok_and(|own| own == path) {
            return self.path.display().to_string();
        }
        match path.strip_prefix(&self.folder) {
            Ok(relative) => relative.display().to_string(),
            Err(_) => location.file.clone(),
        }
    }
}

fn located(location: &Location, path: &str, problem: &str) -> Mistake {
    let number = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    Mistake {
        place: Place {
            file: 0,
            line: number(location.line),
            column: number(location.column),
        },
        path: path.to_owned(),
        problem: problem.to_owned(),
    }
}

fn invalid(reason: impl fmt::Display) -> Failure {
    TestFailure::InvalidOptions.because(reason)
}
