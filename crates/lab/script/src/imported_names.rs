//! Names that a script takes from modules that do not have them, told with their place: those of k6's modules before
//! anything runs, so that no call is found missing in the tenth minute.

use plimsoll_load::nearest::nearest;
use rquickjs::{Ctx, Object, Value};

use crate::{
    error::ScriptError,
    loading, modules,
    program::Program,
    source::{Excerpt, Location},
    source_module::{Named, SourceModule},
};

/// Refuses imports that cannot be linked. A name that the script may only test for, such as `if (http.file)`, is a
/// warning.
pub(crate) fn check(ctx: &Ctx<'_>, program: &Program) -> Result<(), ScriptError> {
    let mut missing = Vec::new();
    for source in program.modules.values() {
        for named in &source.named {
            let exports = exports(ctx, &named.module);
            let exports = exports.map_err(|error| ScriptError::caught(ctx, &error, program))?;
            if exports.is_some_and(|exports| !has(&exports, named)) {
                missing.push((source, named));
            }
        }
    }
    missing.sort_by_key(|(_, named)| {
        let Location { file, line, column } = &named.name.location;
        (file, line, column)
    });
    for (source, named) in missing {
        let error = ScriptError {
            excerpt: Some(Box::new(excerpt(program, source, named))),
            ..ScriptError::new(describe(ctx, named))
        };
        if !named.name.is_property {
            return Err(error);
        }
        tracing::warn!("{error}");
    }
    Ok(())
}

/// Gives an error of the linker, which has no place, that of the import.
pub(crate) fn locate(error: ScriptError, program: &Program) -> ScriptError {
    let parts = || {
        let rest = error
            .message
            .strip_prefix("SyntaxError: Could not find export '")?;
        rest.strip_suffix('\'')?.split_once("' in module '")
    };
    let Some((name, module)) = parts().filter(|_| error.excerpt.is_none()) else {
        return error;
    };
    let found = program.modules.values().find_map(|source| {
        let is_it = |named: &&Named| named.module == module && named.name.name == name;
        Some((source, source.named.iter().find(is_it)?))
    });
    let Some((source, named)) = found else {
        return error;
    };
    ScriptError {
        message: format!("{} does not export `{name}`", program.displayed(module)),
        excerpt: Some(Box::new(excerpt(program, source, named))),
        ..error
    }
}

/// The exports of a module of the host; `None` for other modules.
fn exports<'js>(ctx: &Ctx<'js>, module: &str) -> rquickjs::Result<Option<Object<'js>>> {
    match modules::find(module) {
        Some(_) => Ok(loading::exports_of(ctx, module)?.into_object()),
        None => Ok(None),
    }
}

fn has(exports: &Object<'_>, named: &Named) -> bool {
    let name = named.name.name.as_str();
    let has = |object: &Object<'_>| object.contains_key(name).unwrap_or(true);
    let of_default = || {
        let default = exports.get::<_, Value<'_>>("default").ok()?;
        Some(has(default.as_object()?))
    };
    // A namespace always has its default.
    name == "default" || has(exports) || named.name.is_property && of_default().unwrap_or(false)
}

fn describe(ctx: &Ctx<'_>, named: &Named) -> String {
    let Named { module, name } = named;
    let exports = exports(ctx, module).ok().flatten();
    let names = exports
        .iter()
        .flat_map(|exports| exports.keys::<String>().flatten());
    let hint = nearest(&name.name, names).map(|name| format!("; did you mean `{name}`?"));
    format!("{module} has no `{}`{}", name.name, hint.unwrap_or_default())
}

fn excerpt(program: &Program, source: &SourceModule, named: &Named) -> Excerpt {
    let location = &named.name.location;
    let location = Location {
        file: program.displayed(&format!("file://{}", location.file)),
        ..location.clone()
    };
    Excerpt::new(location, &source.original)
}
