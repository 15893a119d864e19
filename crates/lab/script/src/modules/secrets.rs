//! `k6/secrets`: secrets from sources that the command line names.

use rquickjs::{Ctx, Exception, Function, IntoJs as _, Object, Promise, Result, Value};

use super::module::{Module, differs};
use crate::{
    host::{Host, Stage},
    promises,
    secrets::Found,
};

pub(super) const MODULE: Module = Module {
    id: "k6/secrets",
    build,
    api: &[
        differs("get", "a missing key rejects with an Error that lists the keys"),
        differs(
            "source",
            "sources are `mock`, `file` and `url`; secrets are also removed from the summary and from the exit message, but \
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

/// The promise of a secret.
fn promise<'js>(ctx: &Ctx<'js>, source: Option<&str>, key: &str) -> Result<Promise<'js>> {
    let host = Host::of(ctx);
    let secret = match host.program.secrets.get(source, key) {
        Ok(Found::Here(secret)) => Ok(secret),
        // Nothing else runs in the init context, which cannot wait.
        Ok(Found::Later(secret, wait)) if host.stage() == Stage::Init => wait(secret),
        Ok(Found::Later(secret, _)) => return promises::later(ctx, secret, value),
        Err(text) => Err(text),
    };
    promises::settled(ctx, value(ctx, secret))
}

fn value<'js>(ctx: &Ctx<'js>, secret: std::result::Result<String, String>) -> Result<Value<'js>> {
    match secret {
        Ok(secret) => secret.into_js(ctx),
        Err(text) => Err(Exception::throw_message(ctx, &text)),
    }
}
