//! `k6/secrets`: secrets from sources that the command line names.

use rquickjs::{Ctx, Exception, Function, Object, Persistent, Promise, Result};

use super::module::{Module, differs};
use crate::{
    events::Callback,
    host::{Host, Stage},
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
    let (promise, resolve, reject) = ctx.promise()?;
    let host = Host::of(ctx);
    match host.program.secrets.get(source, key) {
        Ok(Found::Here(secret)) => settle(ctx, Ok(secret), &resolve, &reject)?,
        Err(text) => settle(ctx, Err(text), &resolve, &reject)?,
        // Nothing else runs in the init context, which cannot wait.
        Ok(Found::Later(secret, wait)) if host.stage() == Stage::Init => {
            settle(ctx, wait(secret), &resolve, &reject)?;
        }
        Ok(Found::Later(secret, _)) => {
            let held = (Persistent::save(ctx, resolve), Persistent::save(ctx, reject));
            let done = async move {
                let secret = secret.await;
                Box::new(move |ctx: &Ctx<'_>| {
                    settle(ctx, secret, &held.0.restore(ctx)?, &held.1.restore(ctx)?)
                }) as Callback
            };
            host.event(ctx, done)?;
        }
    }
    Ok(promise)
}

fn settle<'js>(
    ctx: &Ctx<'js>,
    secret: std::result::Result<String, String>,
    resolve: &Function<'js>,
    reject: &Function<'js>,
) -> Result<()> {
    match secret {
        Ok(secret) => resolve.call((secret,)),
        Err(text) => reject.call((Exception::from_message(ctx.clone(), &text)?,)),
    }
}
