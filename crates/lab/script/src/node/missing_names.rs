//! Names that a source takes from Node's modules and that these do not have here, found before anything calls them.

use plimsoll_load::nearest::nearest;
use rquickjs::{Ctx, Object};

use crate::{error::ScriptError, loading, program::Program, source::Excerpt};

/// Refuses the first name without which the source fails. One that it may only test for is a warning.
///
/// # Errors
/// That name, with its place.
pub(crate) fn check(ctx: &Ctx<'_>, program: &Program) -> Result<(), ScriptError> {
    for taken in &program.taken_of_node {
        let caught = |error| ScriptError::caught(ctx, &error, program);
        let exports = loading::exports_of(ctx, &taken.module).map_err(caught)?;
        let Some(exports) = exports.as_object() else {
            continue;
        };
        if exports.contains_key(taken.name.as_str()).map_err(caught)? {
            continue;
        }
        let mut place: Excerpt = taken.place.clone();
        place.location.file = program.displayed(&format!("file://{}", place.location.file));
        let error = ScriptError {
            excerpt: Some(Box::new(place)),
            ..ScriptError::new(format!(
                "{}: {}",
                taken.written,
                described(&taken.module, &taken.name, exports)
            ))
        };
        if taken.is_certain {
            return Err(error);
        }
        tracing::warn!("{error}");
    }
    Ok(())
}

fn described(module: &str, name: &str, exports: &Object<'_>) -> String {
    let names: Vec<String> = exports.keys::<String>().flatten().collect();
    let hint = match nearest(name, &names) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("it has: {}", names.join(", ")),
    };
    format!("Node's module `{module}` has no `{name}` here; {hint}")
}
