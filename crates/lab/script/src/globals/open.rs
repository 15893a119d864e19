//! `open`: files that a script reads before the run.

use rquickjs::{ArrayBuffer, Ctx, Exception, Function, IntoJs as _, Result, Value, function::Opt};

use crate::{
    arguments::Text,
    host::{Host, Stage},
    loading,
};

/// The function.
pub(crate) fn build<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    Function::new(ctx.clone(), open)
}

/// `open(path, mode)`: text, or with mode `b` an ArrayBuffer.
fn open<'js>(ctx: Ctx<'js>, Text(path): Text, mode: Opt<Text>) -> Result<Value<'js>> {
    let host = Host::of(&ctx);
    if host.stage() != Stage::Init {
        let text = "open() works only in the init context, outside of functions; the files of a script are read \
            before the run";
        return Err(Exception::throw_message(&ctx, text));
    }
    let module = loading::module_in_evaluation(&ctx);
    let content = host
        .program
        .file(module.as_deref(), &path)
        .map_err(|error| Exception::throw_message(&ctx, &error.to_string()))?;
    if mode.0.is_some_and(|mode| mode.0 == "b") {
        return ArrayBuffer::new_copy(ctx.clone(), &*content)?.into_js(&ctx);
    }
    String::from_utf8_lossy(&content).as_ref().into_js(&ctx)
}
