//! The engine throws for each call that is called a mistake.

use std::{collections::BTreeMap, path::PathBuf};

use super::REQUIRED;
use crate::{
    Program, Script, modules,
    source::{self, Builtins, Entry},
};

/// Evaluates a call in the engine: the message of its exception, or `none`.
fn thrown(module: &str, function: &str, n_arguments: usize) -> String {
    let arguments = ["'ws://localhost'", "{}", "() => {}"][..n_arguments].join(", ");
    let text = format!(
        "import * as all from {module:?};
         const call = () => {{
           try {{ all.{function}({arguments}); return 'none' }} catch (error) {{ return `${{error.name}}: ${{error.message}}` }}
         }};
         export const options = call();
         export default () => {{}};"
    );
    let present: Vec<_> = modules::ids().collect();
    let builtins = Builtins {
        present: &present,
        absent: modules::ABSENT,
        node: None,
    };
    let path = PathBuf::from("/call.js");
    let sources = source::load_files(Entry::Text { path, text }, builtins).unwrap();
    let script = Script::read(Program::from_sources(sources, BTreeMap::new(), "/".into())).unwrap();
    script.options().unwrap().as_str().unwrap().to_owned()
}

#[test]
fn the_engine_refuses_fewer_arguments() {
    for required in REQUIRED {
        let error = thrown(required.module, required.function, required.n_arguments - 1);
        // Not its refusal to work outside of an iteration, which more arguments would not change.
        let function = format!("{}: {}", required.module, required.function);
        assert!(
            error.starts_with("TypeError: ") && error.contains("argument(s)"),
            "{function}: {error}"
        );
    }
}
