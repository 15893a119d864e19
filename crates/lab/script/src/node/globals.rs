//! Node's globals: each is made when a module first reads it.

use rquickjs::{Ctx, Object, Result, Value};

use super::library;
use crate::{globals::deferred, loading};

/// Globals with the module that has them. `process` and `console` are modules themselves.
const OF_MODULES: &[(&str, &str)] = &[
    ("AbortController", "internal/dom"),
    ("AbortSignal", "internal/dom"),
    ("Blob", "internal/dom"),
    ("Buffer", "buffer"),
    ("CustomEvent", "internal/dom"),
    ("DOMException", "internal/dom"),
    ("Event", "internal/dom"),
    ("EventTarget", "internal/dom"),
    ("File", "internal/dom"),
    ("FormData", "internal/fetch"),
    ("Headers", "internal/fetch"),
    ("Request", "internal/fetch"),
    ("Response", "internal/fetch"),
    ("atob", "buffer"),
    ("btoa", "buffer"),
    ("clearImmediate", "timers"),
    ("clearInterval", "timers"),
    ("clearTimeout", "timers"),
    ("fetch", "internal/fetch"),
    ("setImmediate", "timers"),
    ("setInterval", "timers"),
    ("setTimeout", "timers"),
];

const MODULES: &[(&str, &str)] = &[
    ("console", "console"),
    ("process", "process"),
    ("structuredClone", "internal/clone"),
];

/// Installs them over those of k6.
pub(crate) fn install<'js>(ctx: &Ctx<'js>) -> Result<()> {
    let globals = ctx.globals();
    for &(name, module) in OF_MODULES {
        deferred::define(&globals, name, move |ctx: &Ctx<'js>| {
            let exports: Object<'js> = loading::exports_of(ctx, &library::internal_id(module))?.get()?;
            exports.get::<_, Value<'js>>(name)
        })?;
    }
    for &(name, module) in MODULES {
        deferred::define(&globals, name, move |ctx: &Ctx<'js>| {
            loading::exports_of(ctx, &library::internal_id(module))
        })?;
    }
    Ok(())
}
