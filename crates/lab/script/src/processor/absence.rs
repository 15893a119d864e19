//! Functions that fail because a package needs something of Node's that does not exist here. Sources of the processor itself
//! are checked before the run; what a package needs is only known when it asks for it. Such a run would end well although
//! its users do not do what they do under Artillery, so it ends.

use rquickjs::{Ctx, Value};

use crate::{error::ScriptError, host::Host, loading::NO_MODULE};

/// What an engine says of a call of a name that does not exist.
const CALLS_OF_NOTHING: [&str; 2] = ["TypeError: not a function", "TypeError: not a constructor"];

/// Why the run cannot go on; `None` for all other failures.
pub(super) fn cause(ctx: &Ctx<'_>, thrown: &Value<'_>) -> Option<String> {
    let host = Host::of(ctx);
    let error = ScriptError::of_value(thrown, &host.program);
    let code = thrown.as_object()?.get::<_, Option<String>>("code");
    // A getter may have thrown.
    drop(ctx.catch());
    if code.is_ok_and(|code| code.as_deref() == Some(NO_MODULE)) {
        return Some(error.reason());
    }
    let is_of_package = || {
        let place = error.excerpt.as_ref().map(|excerpt| &excerpt.location.file);
        place.is_some_and(|file| file.contains("node_modules/"))
    };
    let names = host.absent_of_node();
    if names.is_empty() || !CALLS_OF_NOTHING.contains(&error.message.as_str()) || !is_of_package() {
        return None;
    }
    Some(format!(
        "{}; names of Node that do not exist here: {}",
        error.reason(),
        names.join(", ")
    ))
}
