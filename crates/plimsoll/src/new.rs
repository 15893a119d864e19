//! `plimsoll new`: a script to start from.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Parser, ValueHint};

use crate::exit::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  plimsoll new                            script.js: ten users who request a page
  plimsoll new chat.js --template cable   users of a chat over Action Cable
  plimsoll new api.js --template protocol scenarios, thresholds, setup and teardown
  plimsoll new mine.js --template ours.js a copy of a script of your own";

/// Write a script to start from.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Where to write it.
    #[arg(default_value = "script.js", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// What to start from: minimal, protocol, cable, or a file of your own.
    #[arg(long, default_value = "minimal", value_name = "NAME|FILE")]
    template: String,
    /// Write over a file that exists.
    #[arg(long, short)]
    force: bool,
    /// k6 names a project of its cloud with it.
    #[arg(long, hide = true)]
    project_id: Option<String>,
}

/// The templates that come with the program.
const TEMPLATES: [(&str, &str); 3] = [
    ("minimal", include_str!("new/minimal.js")),
    ("protocol", include_str!("new/protocol.js")),
    ("cable", include_str!("new/cable.js")),
];

impl Options {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        if self.project_id.is_some() {
            return Err(Failure::Usage(
                "--project-id is for k6's cloud, which is not built; leave it out".to_owned(),
            ));
        }
        let script = self.script()?;
        let mut file = open(&self.file, self.force).map_err(|error| self.refusal(&error))?;
        file.write_all(script.as_bytes())?;
        let file = self.file.display();
        writeln!(io::stderr(), "Wrote {file}. Run it with: plimsoll run {file}")?;
        Ok(Status::Success)
    }

    fn script(&self) -> Result<String, Failure> {
        let wanted = self.template.as_str();
        if let Some((_, script)) = TEMPLATES.iter().find(|(name, _)| *name == wanted) {
            return Ok((*script).to_owned());
        }
        let names = TEMPLATES.map(|(name, _)| name).join(", ");
        let problem = match wanted {
            "browser" => "there is no k6/browser here, so there is no such template".to_owned(),
            _ => match std::fs::read_to_string(wanted) {
                Ok(script) => return Ok(script),
                Err(error) => format!("it is no template, and as a file: {error}"),
            },
        };
        Err(Failure::Usage(format!(
            "--template {wanted}: {problem}; expected {names}, or a script to copy"
        )))
    }

    fn refusal(&self, error: &io::Error) -> Failure {
        let file = self.file.display();
        Failure::Usage(match error.kind() {
            io::ErrorKind::AlreadyExists => {
                format!("{file} exists; choose another name, or write over it with --force")
            }
            _ => format!("cannot write {file}: {error}"),
        })
    }
}

/// A file that is not there, or with `force` an empty one.
fn open(path: &Path, force: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match force {
        true => options.write(true).create(true).truncate(true),
        false => options.write(true).create_new(true),
    };
    options.open(path)
}
