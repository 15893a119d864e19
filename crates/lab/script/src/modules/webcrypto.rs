//! `k6/experimental/webcrypto`: the global `crypto` under the name that k6 had for it before.

use rquickjs::{Ctx, Object, Result, Value};

use super::module::{Module, beyond};

pub(super) const MODULE: Module = Module {
    id: "k6/experimental/webcrypto",
    build,
    api: &[beyond(
        "crypto",
        "the global of this name; k6 has removed the module",
    )],
};

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    exports.set("crypto", ctx.globals().get::<_, Value<'js>>("crypto")?)?;
    Ok(exports)
}
