//! `open`: files that a script reads before the run.

use std::path::{Path, PathBuf};

use rquickjs::{ArrayBuffer, Ctx, Exception, Function, IntoJs as _, Result, Value, function::Opt};

use crate::host::{Host, Stage};

/// The function.
pub(crate) fn build<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    Function::new(ctx.clone(), open)
}

/// `open(path, mode)`: text, or with mode `b` an ArrayBuffer.
fn open<'js>(ctx: Ctx<'js>, path: String, mode: Opt<String>) -> Result<Value<'js>> {
    let host = Host::of(&ctx);
    if host.stage() != Stage::Init {
        let text = "open() works in the init context only, outside of functions: the files of a script are read before the run";
        return Err(Exception::throw_message(&ctx, text));
    }
    let path = absolute(&ctx, &path, &host.program.directory);
    let content = host.program.file(&path).map_err(|error| {
        let text = format!(
            "cannot open {}: {error}; paths are relative to the file that calls open()",
            path.display()
        );
        Exception::throw_message(&ctx, &text)
    })?;
    if mode.0.as_deref() == Some("b") {
        return ArrayBuffer::new_copy(ctx.clone(), &*content)?.into_js(&ctx);
    }
    String::from_utf8_lossy(&content).as_ref().into_js(&ctx)
}

/// A path relative to the module that asks.
fn absolute(ctx: &Ctx<'_>, path: &str, directory: &Path) -> PathBuf {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let module = ctx
        .script_or_module_name(1)
        .and_then(|name| name.to_string().ok())
        .unwrap_or_default();
    let base = module
        .strip_prefix("file://")
        .and_then(|file| Path::new(file).parent());
    base.unwrap_or(directory).join(path)
}
