//! `k6/experimental/streams`: readable and writable streams. They are made of promises alone, so they are written in
//! JavaScript.

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
        differs("WritableStream", SINCE),
        differs("WritableStreamDefaultWriter", SINCE),
    ],
};

const SINCE: &str = "k6 has it since version 2.2";

const SOURCE: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("streams/parts.js"),
    include_str!("streams/readable.js"),
    include_str!("streams/writable.js"),
    "return { CountQueuingStrategy, ReadableStream, ReadableStreamDefaultReader, WritableStream, \
     WritableStreamDefaultWriter };\n})()"
);

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    ctx.eval(SOURCE)
}
