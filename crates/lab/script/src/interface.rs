//! The names that scripts find: globals, and members of our modules. The engine itself is asked for them, so that a check
//! cannot know other names than a run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::PathBuf,
};

use serde::Deserialize;

use crate::{
    error::ScriptError,
    modules,
    program::Program,
    script::Script,
    source::{self, Builtins, Entry},
};

/// The names of a runtime.
#[derive(Debug, Deserialize)]
pub struct Interface {
    /// The names of the global object.
    pub globals: BTreeSet<String>,
    /// Our modules by the name in an import.
    pub modules: BTreeMap<String, Members>,
}

/// The members of a module.
#[derive(Debug, Deserialize)]
pub struct Members {
    /// The exports, `default` among them.
    pub exports: BTreeSet<String>,
    /// The properties of the default export, with those that it inherits.
    pub of_default: BTreeSet<String>,
    /// The properties of objects in the default export, by the name of the object, for modules where these names are fixed.
    pub of_objects: BTreeMap<String, BTreeSet<String>>,
}

/// A global that exists from the first iteration on.
const FROM_FIRST_ITERATION: &str = "__ITER";

/// The part of the script that lists names.
const LISTING: &str = "
const properties = (of) => {
  const names = [];
  for (let at = of; at; at = Object.getPrototypeOf(at)) names.push(...Object.getOwnPropertyNames(at));
  return names;
};
const objects = (of) => {
  const found = Object.entries(of).filter(([, value]) => typeof value === 'object' && value);
  return Object.fromEntries(found.map(([name, value]) => [name, properties(value)]));
};
const members = (all, areObjectsFixed) => ({
  exports: Object.keys(all),
  of_default: properties(Object(all.default)),
  of_objects: areObjectsFixed ? objects(all.default) : {},
});
export default () => {};
";

impl Interface {
    /// Starts a runtime and lists its names.
    ///
    /// # Errors
    /// When there is no memory for a runtime.
    pub fn read() -> Result<Self, ScriptError> {
        let path = PathBuf::from("/interface.js");
        let text = script();
        let present: Vec<_> = modules::ids().collect();
        let builtins = Builtins {
            present: &present,
            absent: modules::ABSENT,
            node: None,
        };
        let failed = |error: &dyn std::error::Error| ScriptError::new(error.to_string());
        let sources =
            source::load_files(Entry::Text { path, text }, builtins).map_err(|error| failed(&error))?;
        let program = Program::from_sources(sources, BTreeMap::new(), PathBuf::from("/"));
        let names = Script::read(program)?.options().map_err(|error| failed(&error))?;
        let mut interface: Self = serde_json::from_value(names).map_err(|error| failed(&error))?;
        interface.globals.insert(FROM_FIRST_ITERATION.to_owned());
        Ok(interface)
    }
}

/// A script whose options are its names.
fn script() -> String {
    let mut imports = String::new();
    let mut entries = String::new();
    for (index, id) in modules::ids().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(imports, "import * as m{index} from {id:?};");
        let are_objects_fixed = modules::class_of_default(id).is_some();
        let _ = write!(entries, "{id:?}: members(m{index}, {are_objects_fixed}), ");
    }
    format!(
        "{imports}{LISTING}export const options = {{ globals: Object.getOwnPropertyNames(globalThis), modules: {{ \
         {entries} }} }};"
    )
}
