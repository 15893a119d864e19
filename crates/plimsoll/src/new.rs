//! `plimsoll new`: a load test to start from.

mod types;

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Parser, ValueHint};

use crate::{
    exit::{Failure, Status},
    run,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll new                            script.js: ten users who request a page
  plimsoll new chat.js --template cable   users of a chat over Action Cable
  plimsoll new api.js --template protocol scenarios, thresholds, setup and teardown
  plimsoll new --ts                       script.ts, with types for the editor and tsconfig.json
  plimsoll new --types                    only the types: plimsoll.d.ts and tsconfig.json
  plimsoll new --template artillery       test.yml: questions and answers over a WebSocket
  plimsoll new --template wsdirector      test.yml: who speaks, and what the others must hear
  plimsoll new mine.js --template ours.js a copy of a script of your own";

/// Write a load test as a starting point.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// File to write [default: script.js, script.ts, test.yml].
    #[arg(value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// Template: minimal, protocol, cable, artillery, wsdirector, or a file of your own.
    #[arg(long, default_value = "minimal", value_name = "NAME|FILE")]
    template: String,
    /// Write TypeScript, and beside it types for the editor and tsconfig.json.
    #[arg(long, visible_alias = "typescript")]
    ts: bool,
    /// Write only the types, plimsoll.d.ts, and tsconfig.json, for scripts that exist.
    #[arg(long, conflicts_with_all = ["ts", "template"])]
    types: bool,
    /// Overwrite an existing file. An existing tsconfig.json always stays.
    #[arg(long, short)]
    force: bool,
    /// Project in k6's cloud; not supported.
    #[arg(long, hide = true)]
    project_id: Option<String>,
}

/// A file that comes with the program.
struct Template {
    name: &'static str,
    text: &'static str,
    file: &'static str,
    /// The text in TypeScript, if it is a script.
    typescript: Option<&'static str>,
    /// The flags that `plimsoll run` needs in addition to the file.
    flags: &'static str,
}

impl Template {
    const fn script(name: &'static str, text: &'static str, typescript: &'static str) -> Self {
        Self {
            name,
            text,
            file: "script.js",
            typescript: Some(typescript),
            flags: "",
        }
    }

    /// Refuses a name by which `plimsoll run` would take the file for something else.
    fn check_name(&self, path: &Path, is_typescript: bool) -> Result<(), Failure> {
        let (is_wrong, what, file) = if is_typescript {
            let is_typescript = path.extension().is_some_and(|extension| extension == "ts");
            (!is_typescript, "a script in TypeScript", TYPESCRIPT_FILE)
        } else if run::is_script(Path::new(self.file)) {
            (run::is_document(path), "a script", self.file)
        } else {
            (run::is_script(path), "a file in YAML", self.file)
        };
        if is_wrong {
            Err(Failure::Usage(format!(
                "{}: the template {} is {what}; expected a name such as {file}, or another --template",
                path.display(),
                self.name,
            )))
        } else {
            Ok(())
        }
    }
}

/// The name of a script in TypeScript, unless the user chooses one.
const TYPESCRIPT_FILE: &str = "script.ts";

const TEMPLATES: [Template; 5] = [
    Template::script(
        "minimal",
        include_str!("new/minimal.js"),
        include_str!("new/minimal.ts"),
    ),
    Template::script(
        "protocol",
        include_str!("new/protocol.js"),
        include_str!("new/protocol.ts"),
    ),
    Template::script(
        "cable",
        include_str!("new/cable.js"),
        include_str!("new/cable.ts"),
    ),
    Template {
        name: "artillery",
        text: include_str!("new/artillery.yml"),
        file: "test.yml",
        typescript: None,
        flags: "",
    },
    Template {
        name: "wsdirector",
        text: include_str!("new/wsdirector.yml"),
        file: "test.yml",
        typescript: None,
        flags: " --url ws://localhost:8080/cable --scale 10",
    },
];

impl Options {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        if self.project_id.is_some() {
            return Err(Failure::Usage(
                "--project-id is for k6's cloud, which is not supported; remove it".to_owned(),
            ));
        }
        if self.types {
            let folder = self.file.as_deref().unwrap_or(Path::new(""));
            let written = types::write(folder, self.force)?;
            writeln!(io::stderr(), "{}.", written.sentence())?;
            return Ok(Status::Success);
        }
        let known = TEMPLATES.iter().find(|known| known.name == self.template);
        let text = match known {
            Some(known) if self.ts => known
                .typescript
                .map(str::to_owned)
                .ok_or_else(|| no_typescript(known))?,
            Some(known) => known.text.to_owned(),
            None => self.copy()?,
        };
        let (default, flags) = known.map_or(("script.js", ""), |known| (known.file, known.flags));
        let default = if self.ts { TYPESCRIPT_FILE } else { default };
        let path = self.file.as_deref().unwrap_or(Path::new(default));
        if let Some(known) = known {
            known.check_name(path, self.ts)?;
        }
        let mut file = open(path, self.force).map_err(|error| refusal(path, &error))?;
        file.write_all(text.as_bytes())?;
        let folder = path.parent().filter(|_| self.ts);
        let beside = match folder {
            Some(folder) => format!(" {}.", types::write(folder, self.force)?.sentence()),
            None => String::new(),
        };
        let path = path.display();
        writeln!(
            io::stderr(),
            "Wrote {path}.{beside} Run it with: plimsoll run {path}{flags}"
        )?;
        Ok(Status::Success)
    }

    /// The content of the user's own file.
    fn copy(&self) -> Result<String, Failure> {
        let wanted = self.template.as_str();
        let names = TEMPLATES.map(|known| known.name).join(", ");
        let problem = match wanted {
            "browser" => "k6/browser is not supported, so there is no such template".to_owned(),
            _ => match std::fs::read_to_string(wanted) {
                Ok(script) => return Ok(script),
                Err(error) => format!("it is not a template, and it cannot be read as a file: {error}"),
            },
        };
        Err(Failure::Usage(format!(
            "--template {wanted}: {problem}; expected {names}, or a file to copy"
        )))
    }
}

fn no_typescript(template: &Template) -> Failure {
    let scripts = TEMPLATES.iter().filter(|known| known.typescript.is_some());
    let names: Vec<_> = scripts.map(|known| known.name).collect();
    Failure::Usage(format!(
        "--ts: the template {} is not a script; expected --template {}, or no --ts",
        template.name,
        names.join(", ")
    ))
}

/// Why a file cannot be written.
pub(crate) fn refusal(path: &Path, error: &io::Error) -> Failure {
    let parent = path.parent().filter(|folder| *folder != Path::new(""));
    let path = path.display();
    Failure::Usage(match error.kind() {
        io::ErrorKind::AlreadyExists => {
            format!("{path} already exists; choose another name, or overwrite it with --force")
        }
        _ => match parent.filter(|folder| !folder.is_dir()) {
            Some(folder) => {
                let folder = folder.display();
                format!("{path}: there is no folder {folder}; create it first: mkdir -p {folder}")
            }
            None => format!("cannot write {path}: {error}"),
        },
    })
}

/// A file that is not there, or with `force` an empty one.
pub(crate) fn open(path: &Path, force: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    if force {
        options.write(true).create(true).truncate(true)
    } else {
        options.write(true).create_new(true)
    };
    options.open(path)
}
