//! Functions of an Artillery file's `processor` (docs/reference/artillery.md, Functions).
//!
//! Such a function never blocks: it ends with a call of `next` or with its promise. So the users of a thread share one
//! runtime, as those of a worker of Artillery's do, and the state of the module with it.

use std::{collections::BTreeSet, rc::Rc, sync::Arc};

use plimsoll_scenario::artillery::hooks;

use crate::{error::ScriptError, program::Program};

mod absence;
mod arguments;
mod evaluated;
mod events;
mod guest;
mod instance;
mod orders;
mod packed;
mod returned;
mod workshop;

use self::instance::Instance;
pub use self::packed::PackedProcessor;

/// The modules of k6 that a processor may use: those that need no time and no iteration.
pub const PROCESSOR_MODULES: &[&str] = &["k6/crypto", "k6/encoding", "k6/html", "k6/timers"];

/// A module of functions.
#[derive(Debug)]
pub struct Processor {
    program: Arc<Program>,
    functions: BTreeSet<String>,
}

impl Processor {
    /// Compiles and evaluates a module once.
    ///
    /// # Errors
    /// What it throws, a syntax error, or that it exports no function.
    pub fn read(program: Program) -> Result<Self, ScriptError> {
        let program = Arc::new(program.for_node());
        let functions = instance::functions_of(&program)?;
        if functions.is_empty() {
            return Err(ScriptError::new(
                "the module exports no function; expected something like module.exports = { login }, or export \
                 function login(context, events, next) { … }",
            ));
        }
        // Functions create metrics while they run, so there are no metrics to register here.
        drop(program.finish_reading());
        Ok(Self { program, functions })
    }
}

impl hooks::Processor for Processor {
    fn functions(&self) -> Vec<&str> {
        self.functions.iter().map(String::as_str).collect()
    }

    fn mentions(&self, word: &str) -> bool {
        // Packages know nothing of the file's variables.
        let own = self
            .program
            .modules
            .iter()
            .filter(|(name, _)| !name.contains("/node_modules/"));
        own.map(|(_, module)| module)
            .any(|module| module.original.contains(word))
    }

    fn instance(&self) -> Result<Rc<dyn hooks::Instance>, String> {
        let instance = Instance::start(&self.program).map_err(|error| error.to_string())?;
        Ok(Rc::new(instance))
    }
}

#[cfg(test)]
mod tests;
