//! The module of functions that an Artillery file names as its `processor`.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use plimsoll_script::{
    PROCESSOR_MODULES, Processor, Program, modules, node_modules,
    source::{self, Builtins, Entry},
};

/// Reads and evaluates the module at `path`. `system` are the variables that it finds in `process.env`.
///
/// # Errors
/// For people, with the place in the source.
pub(super) fn load(path: &Path, system: &BTreeMap<String, String>) -> Result<Arc<Processor>, String> {
    let absent: Vec<_> = modules::ids()
        .filter(|id| !PROCESSOR_MODULES.contains(id))
        .map(|id| {
            (
                id,
                "it is for scripts; functions of a processor cannot send or wait",
            )
        })
        .collect();
    let builtins = Builtins {
        present: PROCESSOR_MODULES,
        absent: &absent,
        node: Some(&node_modules()),
    };
    let sources = source::load_files(Entry::File(path.to_owned()), builtins);
    let sources = sources.map_err(|error| error.to_string())?;
    let folder = std::env::current_dir().map_err(|error| error.to_string())?;
    let program = Program::from_sources(sources, system.clone(), folder);
    let processor = Processor::read(program).map_err(|error| error.to_string())?;
    Ok(Arc::new(processor))
}
