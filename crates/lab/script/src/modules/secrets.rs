//! `k6/secrets`: secrets from sources that the command line names.

use rquickjs::{Ctx, Exception, Function, Object, Promise, Result, Value};

use super::module::{Module, differs};
use crate::host::Host;

pub(super) const MODULE: Module = Module {
    id: "k6/secrets",
    build,
    api: &[
        differs("get", "a missing key rejects with an Error that lists the keys"),
        differs(
            "source",
            "sources are `mock` and `file`; secrets are also removed from the summary and from the exit message, but \
             not from the result of handleSummary()",
        ),
    ],
};

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = of_source(ctx, None)?;
    let source = |ctx: Ctx<'js>, name: String| of_source(&ctx, Some(name));
    exports.set("source", Function::new(ctx.clone(), source)?)?;
    Ok(exports)
}

/// An object whose `get` reads the source of this name, or the default one. Whether there is one shows when it reads.
fn of_source<'js>(ctx: &Ctx<'js>, name: Option<String>) -> Result<Object<'js>> {
    let source = Object::new(ctx.clone())?;
    let get = move |ctx: Ctx<'js>, key: String| promise(&ctx, name.as_deref(), &key);
    source.set("get", Function::new(ctx.clone(), get)?)?;
    Ok(source)
}

/// A promise that is settled already: sources were read before the run.
fn promise<'js>(ctx: &Ctx<'js>, source: Option<&str>, key: &str) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = ctx.promise()?;
    match Host::of(ctx).program.secrets.get(source, key) {
        Ok(secret) => resolve.call::<_, Value<'js>>((secret,))?,
        Err(text) => reject.call((Exception::from_message(ctx.clone(), &text)?,))?,
    };
    Ok(promise)
}
