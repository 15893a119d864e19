//! Members of k6's objects that are absent here. A script that reads one ends its run with the reason: without that, a run
//! would end well although its iterations did something else than in k6.

use rquickjs::{Ctx, Exception, Object, Result, Value, object::Accessor};

use super::module::{Api, K6};
use crate::host::Host;

/// Defines the absent members of a class on its prototype, unless they are there.
pub(super) fn define_absent<'js>(prototype: &Object<'js>, class: &str, api: &[Api]) -> Result<()> {
    let absent = api.iter().filter_map(|entry| {
        let (of, member) = entry.name.split_once('.')?;
        match entry.k6 {
            K6::Absent(instead) if of == class => Some((entry.name, member, instead)),
            _ => None,
        }
    });
    for (name, member, instead) in absent {
        if !prototype.contains_key(member)? {
            let read = move |ctx: Ctx<'js>| -> Result<Value<'js>> { Err(stop(&ctx, name, instead)) };
            prototype.prop(member, Accessor::new_get(read).configurable())?;
        }
    }
    Ok(())
}

/// Ends the run.
fn stop(ctx: &Ctx<'_>, name: &str, instead: &str) -> rquickjs::Error {
    let text = format!("{name} is not supported: {instead}");
    let host = Host::of(ctx);
    match host.work(ctx, name, |work| work.run.abort(text.clone())) {
        Ok(()) => {}
        // Outside of a run the exception alone is the error.
        Err(_) => drop(ctx.catch()),
    }
    host.abort(text.clone());
    Exception::throw_message(ctx, &text)
}
