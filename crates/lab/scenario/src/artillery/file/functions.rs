//! `config.processor`, and all places that call its functions (docs/reference/artillery.md, Functions).

use std::{collections::BTreeMap, sync::Arc};

use plimsoll_load::nearest::nearest;
use serde_json::Value;

use super::{
    config::one_or_more,
    reader::{Reader, json_of},
};
use crate::{
    artillery::{
        http::{Guard, RequestHooks},
        processor::{FunctionName, Processor},
    },
    document::{Fields, Part},
};

/// The functions of a file.
#[derive(Debug, Default)]
pub(super) enum Functions {
    #[default]
    None,
    /// The module cannot be used, which was reported already.
    Unknown,
    Known(Arc<dyn Processor>),
}

impl<'a> Reader<'a> {
    /// Loads the module that `config.processor` names.
    pub(super) fn read_processor(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) {
        let path = part.text().and_then(|_| self.config_text(part, variables));
        let functions = match path {
            None => Functions::Unknown,
            Some(path) => {
                let path = self.surroundings.resolve_processor(&path);
                match (self.surroundings.load_processor)(&path) {
                    Ok(processor) => Functions::Known(processor),
                    Err(problem) => {
                        part.mistake(format!("cannot use {}: {problem}", path.display()));
                        Functions::Unknown
                    }
                }
            }
        };
        self.functions.replace(functions);
    }

    /// The module of functions.
    pub(super) fn processor(&self) -> Option<Arc<dyn Processor>> {
        match &*self.functions.borrow() {
            Functions::Known(processor) => Some(Arc::clone(processor)),
            Functions::None | Functions::Unknown => None,
        }
    }

    /// Whether functions may use a name.
    pub(super) fn may_be_of_functions(&self, name: &str) -> bool {
        match &*self.functions.borrow() {
            Functions::None => false,
            Functions::Unknown => true,
            Functions::Known(processor) => processor.mentions(name),
        }
    }

    /// The name of a function that is there.
    pub(super) fn function(&self, part: &Part<'a>) -> Option<FunctionName> {
        let name = part.text()?;
        match &*self.functions.borrow() {
            Functions::Unknown => {}
            Functions::None => {
                part.mistake(format!(
                    "`{name}` needs a module of functions; name the module in `config`, for example processor: \
                     ./functions.js"
                ));
                return None;
            }
            Functions::Known(processor) => {
                let known = processor.functions();
                if !known.contains(&name) {
                    let hint = match nearest(name, known.iter().copied()) {
                        Some(nearest) => format!("did you mean `{nearest}`?"),
                        None => format!("it exports {}", known.join(", ")),
                    };
                    part.mistake(format!("the processor exports no function `{name}`; {hint}"));
                    return None;
                }
            }
        }
        Some(name.into())
    }

    /// One function or a list of them.
    pub(super) fn functions(&self, part: Option<Part<'a>>) -> Vec<FunctionName> {
        let parts = part.map(|part| one_or_more(&part)).unwrap_or_default();
        parts.iter().filter_map(|part| self.function(part)).collect()
    }

    /// Functions around requests; `outer` are those of the scenario.
    pub(super) fn request_hooks(&self, fields: &mut Fields<'a>, outer: &RequestHooks) -> RequestHooks {
        let mut hooks = outer.clone();
        hooks.before.extend(self.functions(fields.get("beforeRequest")));
        hooks.after.extend(self.functions(fields.get("afterResponse")));
        hooks
    }

    /// `ifTrue`: a function, or a condition over the user's variables.
    pub(super) fn guard(&self, part: &Part<'a>) -> Option<Guard> {
        if self.is_function(part) {
            self.function(part).map(Guard::Function)
        } else {
            self.condition(part).map(Guard::Condition)
        }
    }

    /// Whether the text is the name of a function.
    pub(super) fn is_function(&self, part: &Part<'a>) -> bool {
        let processor = self.processor();
        let functions = processor.as_ref().map(|processor| processor.functions());
        let name = json_of(part);
        functions.is_some_and(|functions| name.as_str().is_some_and(|name| functions.contains(&name)))
    }

    /// A part as it was written, for functions.
    pub(super) fn written(part: &Part<'a>, is_needed: bool) -> Value {
        if is_needed { json_of(part) } else { Value::Null }
    }
}
