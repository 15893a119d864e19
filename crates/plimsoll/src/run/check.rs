//! Checks of the input files of `run`. The dialect decides how a file is read.

mod of_script;

use std::{
    io,
    path::{Path, PathBuf},
};

use plimsoll_scenario::{
    dialect::Dialect,
    document::{Mistake, Mistakes},
};

use self::of_script::ScriptCheck;
use super::{artillery, dialect, wsdirector};
use crate::{
    exit::{Failure, TestFailure},
    surroundings::{Surroundings, read_text},
};

/// The flags of `check` for an Artillery file.
pub(crate) use super::artillery::{LayerFlags, TestFlags as ArtilleryFlags};

/// A file to check, and the flags of its run.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    /// `-` is standard input.
    pub(crate) file: &'a Path,
    /// Files that lie over it, if it is Artillery's.
    pub(crate) more: &'a [PathBuf],
    /// The dialect that the user chose; `None` to detect it.
    pub(crate) tool: Option<&'a str>,
    /// The scale of wsdirector files.
    pub(crate) scale: u32,
    /// The flags of Artillery files.
    pub(crate) artillery: ArtilleryFlags,
}

/// The result of a check.
#[derive(Debug)]
pub(crate) struct Findings {
    /// The dialect of the file.
    pub(crate) tool: &'static str,
    /// The warnings of a run.
    pub(crate) warnings: Vec<String>,
    /// The failure with which a run would end before its start.
    pub(crate) failure: Option<Failure>,
    /// The mistakes with known places.
    pub(crate) mistakes: Vec<Located>,
}

/// A mistake with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    /// The file: the checked one, or a file that it imports.
    pub(crate) file: String,
    /// The mistake.
    pub(crate) mistake: Mistake,
}

impl Findings {
    fn new(tool: &'static str, outcome: Result<Vec<String>, Failure>) -> Self {
        let (warnings, failure) = match outcome {
            Ok(warnings) => (warnings, None),
            Err(failure) => (Vec::new(), Some(failure)),
        };
        Self {
            tool,
            warnings,
            failure,
            mistakes: Vec::new(),
        }
    }

    fn with(mut self, mistakes: Option<&Mistakes>) -> Self {
        let located = |mistakes: &Mistakes, mistake: &Mistake| Located {
            file: mistakes.file(mistake.place).to_owned(),
            mistake: mistake.clone(),
        };
        self.mistakes = mistakes
            .into_iter()
            .flat_map(|mistakes| mistakes.iter().map(|mistake| located(mistakes, mistake)))
            .collect();
        self
    }
}

/// Reads a file and runs nothing.
///
/// # Errors
/// When the file does not exist, or no dialect recognises it.
pub(crate) fn check(input: &Input<'_>, surroundings: &Surroundings<'_>) -> Result<Findings, Failure> {
    // A script is read from there by its own reader.
    if input.file != "-" || input.tool == Some("k6") {
        return check_file(input, surroundings);
    }
    let text = read_text(io::stdin()).map_err(|error| Failure::unreadable(input.file, &error))?;
    let read_file = |path: &Path| {
        if path == "-" {
            Ok(text.clone())
        } else {
            (surroundings.read_file)(path)
        }
    };
    let surroundings = Surroundings {
        environment: surroundings.environment.clone(),
        read_file: &read_file,
    };
    check_file(input, &surroundings)
}

fn check_file(input: &Input<'_>, surroundings: &Surroundings<'_>) -> Result<Findings, Failure> {
    let file = input.file;
    let is_alone = |tool: &str| match input.more.first() {
        None => Ok(()),
        Some(more) => Err(Failure::Usage(format!(
            "{} is a second file, and {} is {tool}: only files of Artillery lie over each other; check one at a time",
            more.display(),
            file.display()
        ))),
    };
    let is_script = match input.tool {
        Some(tool) => tool == "k6",
        None => dialect::is_script(file),
    };
    if is_script {
        is_alone("a script")?;
        return Ok(of_script(file, surroundings));
    }
    Ok(match dialect::of_file(file, input.tool, surroundings)? {
        Dialect::Wsdirector => {
            is_alone("a wsdirector file")?;
            let outcome = wsdirector::check(file, input.scale, surroundings)?;
            let failure = |mistakes: &Mistakes| TestFailure::InvalidOptions.because(mistakes);
            let warnings = outcome.as_ref().map(|()| Vec::new()).map_err(failure);
            Findings::new("wsdirector", warnings).with(outcome.as_ref().err())
        }
        Dialect::Artillery => {
            let files: Vec<_> = [file.to_owned()]
                .into_iter()
                .chain(input.more.iter().cloned())
                .collect();
            let outcome = artillery::check(&files, &input.artillery, surroundings);
            let cause = outcome.as_ref().err().and_then(|failure| match failure {
                Failure::Runtime(error) => error.downcast_ref::<Mistakes>().cloned(),
                _ => None,
            });
            Findings::new("artillery", outcome).with(cause.as_ref())
        }
    })
}

fn of_script(file: &Path, surroundings: &Surroundings<'_>) -> Findings {
    let mut check = ScriptCheck::new(file);
    let failure = check.examine(surroundings).err();
    let ScriptCheck {
        warnings, mistakes, ..
    } = check;
    let located = |(file, mistake)| Located { file, mistake };
    Findings {
        tool: "k6",
        warnings,
        failure,
        mistakes: mistakes.into_iter().map(located).collect(),
    }
}
