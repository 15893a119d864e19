//! Whether the command line of `run` names a script or a file of another tool. Each tool has its own flags, some with
//! the same letters, so this is decided before the flags are read.

use std::{ffi::OsString, path::Path};

use plimsoll_scenario::dialect::Dialect;

use crate::{exit::Failure, surroundings::Surroundings};

/// Extensions of scripts, and of files in YAML or JSON.
const SCRIPTS: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "cts"];
const DOCUMENTS: [&str; 3] = ["yml", "yaml", "json"];

/// The dialect of the file that the arguments of `run` name; `None` when it is a script. `--as` decides, or else the shape
/// of the file.
pub(super) fn of_arguments(
    arguments: &[OsString],
    surroundings: &Surroundings<'_>,
) -> Result<Option<Dialect>, Failure> {
    let arguments: Vec<_> = arguments.iter().filter_map(|it| it.to_str()).collect();
    if let Some(name) = named(&arguments) {
        return of_name(name);
    }
    // wsdirector's scenario in the command line itself.
    if arguments
        .iter()
        .any(|it| *it == "--include" || it.starts_with("--include="))
    {
        return Ok(Some(Dialect::Wsdirector));
    }
    let has = |argument: &str, extensions: &[&str]| has_extension(Path::new(argument), extensions);
    // A script may stand beside JSON files that are values of its flags.
    if arguments.iter().any(|argument| has(argument, &SCRIPTS)) {
        return Ok(None);
    }
    // A flag may have names of files for values, too: of a report, say, that is there from the last run or not yet.
    let mut documents = arguments.iter().filter(|argument| has(argument, &DOCUMENTS));
    Ok(documents.find_map(|file| {
        let text = (surroundings.read_file)(Path::new(file)).ok()?;
        Dialect::of_text(&text)
    }))
}

/// The dialect of a file; `named` is the value of `--as`.
pub(super) fn of_file(
    file: &Path,
    named: Option<&str>,
    surroundings: &Surroundings<'_>,
) -> Result<Dialect, Failure> {
    let path = file.display();
    let dialect = match named {
        Some(name) => of_name(name)?,
        None => {
            let text = (surroundings.read_file)(file).map_err(|error| Failure::unreadable(file, &error))?;
            if text.trim().is_empty() {
                return Err(Failure::Usage(format!("{path} is empty")));
            }
            Dialect::of_text(&text)
        }
    };
    dialect.ok_or_else(|| {
        Failure::Usage(format!(
            "{path} is not a file of Artillery or wsdirector: expected a map with config and scenarios, or a list of \
             steps or clients; choose the format with --as artillery, wsdirector or k6"
        ))
    })
}

/// Refuses a file whose name says YAML or JSON and whose content belongs to no dialect.
///
/// # Errors
/// When it cannot be read, is empty, or is something else.
pub(super) fn check_name(file: &Path, surroundings: &Surroundings<'_>) -> Result<(), Failure> {
    if is_document(file) {
        of_file(file, None, surroundings).map(|_| ())
    } else {
        Ok(())
    }
}

/// Whether a file is in YAML or JSON by its name.
pub(crate) fn is_document(file: &Path) -> bool {
    has_extension(file, &DOCUMENTS)
}

/// Whether a file is a script by its name.
pub(crate) fn is_script(file: &Path) -> bool {
    has_extension(file, &SCRIPTS)
}

fn has_extension(file: &Path, extensions: &[&str]) -> bool {
    let extension = file.extension().and_then(|it| it.to_str());
    extension.is_some_and(|extension| extensions.contains(&extension))
}

/// The dialect of a name; `None` stands for scripts.
fn of_name(name: &str) -> Result<Option<Dialect>, Failure> {
    match name {
        "k6" => Ok(None),
        "artillery" => Ok(Some(Dialect::Artillery)),
        "wsdirector" => Ok(Some(Dialect::Wsdirector)),
        _ => Err(Failure::Usage(format!(
            "--as {name}: expected k6, artillery or wsdirector"
        ))),
    }
}

/// The arguments without `--as` and its value, which a dialect's own flags do not have.
pub(super) fn without_as(arguments: &[OsString]) -> Vec<OsString> {
    let mut is_value = false;
    let others = arguments.iter().filter(|argument| {
        let is_flag = *argument == "--as";
        let belongs = is_flag || is_value || argument.as_encoded_bytes().starts_with(b"--as=");
        is_value = is_flag;
        !belongs
    });
    others.cloned().collect()
}

/// The value of `--as`.
fn named<'a>(arguments: &[&'a str]) -> Option<&'a str> {
    let position = arguments
        .iter()
        .position(|argument| *argument == "--as" || argument.starts_with("--as="))?;
    match arguments[position].split_once('=') {
        Some((_, name)) => Some(name),
        None => Some(arguments.get(position + 1).copied().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn check(command: &str, expected: Option<Dialect>) {
        let arguments: Vec<_> = command.split(' ').map(OsString::from).collect();
        let surroundings = Surroundings {
            environment: Vec::new(),
            read_file: &|path| match path.to_str() {
                Some("steps.yml") => Ok("- send: {data: hi}".to_owned()),
                Some("load.json") => Ok("{\"scenarios\": []}".to_owned()),
                Some("other.yml") => Ok("services: {}".to_owned()),
                _ => Err(io::ErrorKind::NotFound.into()),
            },
        };
        let found = of_arguments(&arguments, &surroundings);
        assert_eq!(found.unwrap(), expected, "{command}");
    }

    #[test]
    fn the_file_or_the_flag_tells() {
        check("steps.yml --url ws://localhost", Some(Dialect::Wsdirector));
        check("-u localhost steps.yml", Some(Dialect::Wsdirector));
        check("--include []", Some(Dialect::Wsdirector));
        check("load.json", Some(Dialect::Artillery));
        check("--as wsdirector load.json", Some(Dialect::Wsdirector));
        check("--as=artillery steps.yml", Some(Dialect::Artillery));
        check("--as k6 steps.yml", None);
        check("-o absent.json load.json", Some(Dialect::Artillery));
        check("-o other.yml load.json", Some(Dialect::Artillery));
        check("other.yml", None);
        check("absent.yml", None);
        check("chat.js --config load.json", None);
        check("-", None);
        let with = ["--as", "k6", "a.yml", "--as=k6", "-u", "x"].map(OsString::from);
        assert_eq!(without_as(&with), ["a.yml", "-u", "x"]);
        let wrong = of_arguments(&["--as", "ab"].map(OsString::from), &Surroundings::of_process());
        assert!(matches!(wrong, Err(Failure::Usage(message)) if message.contains("expected k6")));
    }
}
