//! `native`: the host's part of Node's modules. Only they see it.

use rquickjs::{Ctx, Object, Result};

use super::{ciphers, digests, encodings, exchange, files, keys, machine, waiting};

/// The object; once per runtime.
pub(crate) fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    ciphers::install(ctx, &native)?;
    digests::install(ctx, &native)?;
    encodings::install(ctx, &native)?;
    exchange::install(ctx, &native)?;
    files::install(ctx, &native)?;
    keys::install(ctx, &native)?;
    machine::install(ctx, &native)?;
    waiting::install(ctx, &native)?;
    Ok(native)
}
