//! What the stack of a module gives out.

use std::{cell::RefCell, collections::BTreeSet, rc::Rc};

use crate::{error::ScriptError, events::Events};

/// What the stack gives out.
#[derive(Default)]
pub(super) struct Evaluated {
    pub(super) functions: RefCell<Option<Result<BTreeSet<String>, ScriptError>>>,
    pub(super) events: RefCell<Option<Rc<Events>>>,
}
