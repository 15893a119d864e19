//! `plimsoll check`: reports the mistakes in the input of a run, without running it.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{Parser, ValueEnum, ValueHint};
use serde_json::{Value, json};

use crate::{
    exit::{Failure, Status},
    run::{self, ArtilleryFlags, Findings, Input, LayerFlags, Located},
    surroundings::Surroundings,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll check broadcast.yml
  plimsoll check broadcast.yml --scale 1000   its expressions are worked out at this scale
  plimsoll check load.yml -t ws://localhost   with a target that is not in the file
  plimsoll check chat.js                      a k6 script: its names, options and functions
  plimsoll check broadcast.yml --format json  for programs

All mistakes are reported at once, each with its line, column and keys. The exit code is that of the run.";

/// Check a wsdirector file, an Artillery file or a k6 script without running it.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The file, YAML, JSON or a script; - is standard input. Further files of Artillery are laid over it.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// File format: k6, artillery or wsdirector. Default: detected.
    #[arg(long = "as", value_name = "TOOL")]
    dialect: Option<String>,
    /// Value of :scale in a wsdirector file.
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    scale: u32,
    /// Target that replaces the target of an Artillery file.
    #[arg(long, short, value_name = "URL")]
    target: Option<String>,
    /// The environment of an Artillery file.
    #[arg(long, short, value_name = "NAME")]
    environment: Option<String>,
    /// Variables of an Artillery file, as JSON.
    #[arg(long, short, value_name = "JSON")]
    variables: Option<String>,
    #[command(flatten)]
    layers: LayerFlags,
    /// How to print the mistakes.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
}

/// Forms of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// One JSON object on stdout.
    Json,
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let Some((file, more)) = self.files.split_first() else {
            return Err(Failure::Usage("there is no file".to_owned()));
        };
        let input = Input {
            file,
            more,
            tool: self.dialect.as_deref(),
            scale: self.scale,
            artillery: ArtilleryFlags {
                target: self.target.clone(),
                environment: self.environment.clone(),
                variables: self.variables.clone(),
                layers: self.layers.clone(),
                ..ArtilleryFlags::default()
            },
        };
        let findings = run::check(&input, surroundings)?;
        match self.format {
            Format::Text => tell(file, findings),
            Format::Json => print(file, findings),
        }
    }
}

fn tell(file: &Path, findings: Findings) -> Result<Status, Failure> {
    for warning in &findings.warnings {
        writeln!(io::stderr(), "warning: {warning}")?;
    }
    if let Some(failure) = findings.failure {
        return Err(failure);
    }
    let (file, kind) = (file.display(), kind(findings.tool));
    writeln!(
        io::stdout(),
        "{file}: no mistakes in this {} {kind}",
        findings.tool
    )?;
    Ok(Status::Success)
}

fn print(file: &Path, findings: Findings) -> Result<Status, Failure> {
    let mistakes: Vec<Value> = match (&findings.failure, findings.mistakes.as_slice()) {
        (Some(failure), []) => vec![json!({ "problem": failure.message() })],
        (_, mistakes) => mistakes
            .iter()
            .map(|Located { file, mistake }| {
                json!({
                    "file": file,
                    "line": mistake.place.line,
                    "column": mistake.place.column,
                    "path": mistake.path,
                    "problem": mistake.problem,
                })
            })
            .collect(),
    };
    let file = file.display().to_string();
    let n_mistakes = mistakes.len();
    let document = json!({
        "file": file,
        "tool": findings.tool,
        "mistakes": mistakes,
        "warnings": findings.warnings,
    });
    writeln!(io::stdout(), "{document:#}")?;
    match findings.failure {
        None => Ok(Status::Success),
        Some(failure) => {
            let mistakes = if n_mistakes == 1 { "mistake" } else { "mistakes" };
            Err(failure.in_words(|_| format!("{file} has {n_mistakes} {mistakes}")))
        }
    }
}

/// The name of a tool's kind of input.
fn kind(tool: &str) -> &'static str {
    match tool {
        "k6" => "script",
        _ => "file",
    }
}
