//! Globals of scripts: `__ENV`, `__VU`, `console`, `open`, `require`, timers, and of the web `TextEncoder`,
//! `TextDecoder`, `URL`, `URLSearchParams`, `crypto` and `performance`.

use std::rc::Rc;

use rquickjs::{Ctx, Object, Result};

use crate::{host::Host, loading, modules::timers, program::Program};

mod console;
mod crypto;
pub(crate) mod deferred;
mod encoding;
mod environment;
mod open;
mod reachable;
mod url;

pub(crate) use self::reachable::Reachable;

/// Installs them; once, before any module is evaluated.
pub(crate) fn install(ctx: &Ctx<'_>, host: &Rc<Host>) -> Result<()> {
    let globals = ctx.globals();
    let reachable = &host.program.reachable;
    if reachable.has("__ENV") {
        globals.set("__ENV", environment::build(ctx)?)?;
    }
    globals.set("__VU", host.vu)?;
    globals.set("global", globals.clone())?;
    if reachable.has("console") {
        console::table().define(&globals)?;
    }
    if reachable.has("open") {
        globals.set("open", open::build(ctx)?)?;
    }
    if reachable.has("require") {
        globals.set("require", loading::require(ctx)?)?;
    }
    if reachable.has("crypto") {
        deferred::define(&globals, "crypto", crypto::build)?;
    }
    encoding::install(&globals, reachable)?;
    url::install(&globals, reachable)?;
    for (name, members) in timers::tables() {
        if reachable.has(name) {
            members.define(&globals)?;
        }
    }
    Ok(())
}

impl Program {
    /// Sets the values that differ between iterations: `__ITER`, and the environment of the scenario.
    pub(crate) fn prepare_iteration(&self, ctx: &Ctx<'_>, host: &Host) -> Result<()> {
        let iteration = host.work(ctx, "an iteration", |work| work.iteration.clone())?;
        let Some(iteration) = iteration else {
            return Ok(());
        };
        let globals = ctx.globals();
        globals.set("__ITER", iteration.iteration)?;
        let env = &iteration.scenario.env;
        if iteration.iteration_in_scenario == 0 && !env.is_empty() && self.reachable.has("__ENV") {
            let object: Object<'_> = globals.get("__ENV")?;
            for (name, value) in env {
                object.set(name.as_str(), value.as_str())?;
            }
        }
        Ok(())
    }
}
