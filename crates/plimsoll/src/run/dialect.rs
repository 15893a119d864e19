//! Whether the command line names a script or a file of another tool.

use std::{ffi::OsString, path::Path};

use plimsoll_scenario::{dialect::Dialect, document::Document};

use crate::surroundings::Surroundings;

/// The dialect of the file that the arguments name; `None` when it is a script.
pub(super) fn of_arguments(arguments: &[OsString], surroundings: &Surroundings<'_>) -> Option<Dialect> {
    let has_extension = |argument: &&OsString, extensions: &[&str]| {
        let extension = Path::new(argument)
            .extension()
            .and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extensions.contains(&extension))
    };
    let mut arguments_after_command = arguments.iter().skip(2);
    // A script may stand beside JSON files that are values of its flags.
    if arguments_after_command
        .clone()
        .any(|argument| has_extension(&argument, &["js", "ts", "mjs", "cjs"]))
    {
        return None;
    }
    let file = arguments_after_command.find(|argument| has_extension(argument, &["yml", "yaml", "json"]))?;
    let text = (surroundings.read_file)(Path::new(file)).ok()?;
    // What is no YAML is told by the front end; by its name it is none of the scripts.
    match Document::read("", &text) {
        Ok(document) => Dialect::of(&document),
        Err(_) => Some(Dialect::Artillery),
    }
}
