//! `k6/experimental/streams`: readable streams. They are made of promises alone, so they are written in JavaScript.

use rquickjs::{Ctx, Object, Result};

use super::module::{Module, differs, same};

pub(super) const MODULE: Module = Module {
    id: "k6/experimental/streams",
    build,
    api: &[
        same("CountQueuingStrategy"),
        differs(
            "ReadableStream",
            "source.type and getReader({ mode }) are refused; k6 takes and ignores \"bytes\"",
        ),
        same("ReadableStreamDefaultReader"),
    ],
};

const SOURCE: &str = include_str!("streams.js");

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    ctx.eval(SOURCE)
}
