//! The results of evaluating a module on its stack.

use std::{cell::RefCell, collections::BTreeSet, rc::Rc};

use crate::{error::ScriptError, events::Events};

/// The results of the evaluation.
#[derive(Default)]
pub(super) struct Evaluated {
    pub(super) functions: RefCell<Option<Result<BTreeSet<String>, ScriptError>>>,
    pub(super) events: RefCell<Option<Rc<Events>>>,
}
