//! What scripts find without importing it: `__ENV`, `__VU`, `console`, `open`, `require`, timers,
//! and of the web `TextEncoder`, `TextDecoder`, `URL`, `URLSearchParams`, `crypto` and `performance`.

use std::rc::Rc;

use rquickjs::{Ctx, Object, Result};

use crate::{host::Host, loading, modules::timers, program::Program};

mod console;
mod crypto;
mod deferred;
mod encoding;
mod open;
mod url;

/// Installs them; once, before any module is evaluated.
pub(crate) fn install(ctx: &Ctx<'_>, host: &Rc<Host>) -> Result<()> {
    let globals = ctx.globals();
    let env = Object::new(ctx.clone())?;
    for (name, value) in &host.program.env {
        env.set(name.as_str(), value.as_str())?;
    }
    globals.set("__ENV", env)?;
    globals.set("__VU", host.vu)?;
    globals.set("global", globals.clone())?;
    globals.set("console", console::build(ctx)?)?;
    globals.set("open", open::build(ctx)?)?;
    globals.set("require", loading::require_from(ctx, &host.program.entry)?)?;
    globals.set("crypto", crypto::build(ctx)?)?;
    encoding::install(&globals)?;
    url::install(&globals)?;
    timers::install(ctx, &globals)
}

impl Program {
    /// Sets what differs from iteration to iteration: `__ITER`, and the environment of the scenario.
    pub(crate) fn prepare_iteration(&self, ctx: &Ctx<'_>, host: &Host) -> Result<()> {
        let iteration = host.work(ctx, "an iteration", |work| work.iteration.clone())?;
        let Some(iteration) = iteration else {
            return Ok(());
        };
        let globals = ctx.globals();
        globals.set("__ITER", iteration.iteration)?;
        if iteration.iteration_in_scenario == 0 && !iteration.scenario.env.is_empty() {
            let env: Object<'_> = globals.get("__ENV")?;
            for (name, value) in &iteration.scenario.env {
                env.set(name.as_str(), value.as_str())?;
            }
        }
        Ok(())
    }
}
