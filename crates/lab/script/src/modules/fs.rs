//! `k6/experimental/fs`: files that are in memory once, and that each user reads at a position of its own.

use std::{cell::Cell, path::Path, sync::Arc};

use rquickjs::{
    Class, Ctx, Function, JsLifetime, Object, Promise, Result, TypedArray, Value,
    class::Trace,
    function::{Opt, This},
};

use super::module::{Module, differs, same};
use crate::{
    arguments::Text,
    host::{Host, Stage},
    promises::{rejected, resolved},
};

pub(super) const MODULE: Module = Module {
    id: "k6/experimental/fs",
    build,
    api: &[
        same("open"),
        same("SeekMode"),
        same("File.path"),
        differs(
            "File.read",
            "fills a part of a buffer from the part's own beginning",
        ),
        same("File.seek"),
        same("File.stat"),
    ],
};

/// The modes of [`File::seek`]: where an offset begins.
const MODES: [(&str, i32); 3] = [("Start", 0), ("Current", 1), ("End", 2)];

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    let modes = Object::new(ctx.clone())?;
    for (name, mode) in MODES {
        modes.set(name, mode)?;
    }
    exports.set("SeekMode", modes)?;
    exports.set("open", Function::new(ctx.clone(), open)?.with_name("open")?)?;
    Ok(exports)
}

fn open<'js>(ctx: Ctx<'js>, path: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let host = Host::of(&ctx);
    if host.stage() != Stage::Init {
        let text = "open() works only in the init context, outside of functions; the files of a script are read \
            before the run";
        return rejected(&ctx, "ForbiddenError", text);
    }
    let path = path.0.map(|path| path.get::<Text>()).transpose()?;
    let path = path.map(|path| path.0).unwrap_or_default();
    if path.is_empty() {
        return rejected(&ctx, "TypeError", "open() needs the path of a file");
    }
    let place = match host.program.path(None, &path) {
        Ok(place) => place,
        Err(error) => return rejected(&ctx, "NotFoundError", &error),
    };
    if place.is_dir() {
        let text = format!("cannot open `{}`: it is a folder", place.display());
        return rejected(&ctx, "InvalidResourceError", &text);
    }
    match host.program.file(None, &path) {
        Ok(content) => {
            let file = File {
                path: place.display().to_string(),
                content,
                position: Cell::new(0),
            };
            resolved(&ctx, Class::instance(ctx.clone(), file)?)
        }
        Err(error) => rejected(&ctx, "NotFoundError", &error),
    }
}

/// An open file.
#[derive(Trace, JsLifetime)]
#[rquickjs::class]
pub(super) struct File {
    path: String,
    #[qjs(skip_trace)]
    content: Arc<[u8]>,
    #[qjs(skip_trace)]
    position: Cell<usize>,
}

#[rquickjs::methods]
impl File {
    #[qjs(get, enumerable)]
    fn path(&self) -> &str {
        &self.path
    }

    fn stat<'js>(&self, ctx: Ctx<'js>) -> Result<Promise<'js>> {
        let name = Path::new(&self.path).file_name().unwrap_or_default();
        let info = Object::new(ctx.clone())?;
        info.set("name", name.to_string_lossy().as_ref())?;
        info.set("size", self.content.len())?;
        resolved(&ctx, info)
    }

    /// Reads into a Uint8Array; the promise has the number of bytes, or null at the end of the file.
    fn read<'js>(&self, ctx: Ctx<'js>, into: Opt<Value<'js>>) -> Result<Promise<'js>> {
        let into = into.0.as_ref().and_then(Value::as_object);
        let target = into
            .cloned()
            .and_then(|into| TypedArray::<u8>::from_object(into).ok());
        let Some(target) = target else {
            return rejected(&ctx, "TypeError", "read() needs a Uint8Array to read into");
        };
        let rest = &self.content[self.position.get()..];
        if rest.is_empty() {
            return resolved(&ctx, Value::new_null(ctx.clone()));
        }
        let part = &rest[..rest.len().min(target.len())];
        let set: Function<'js> = target.as_object().get("set")?;
        let source = TypedArray::<u8>::new_copy(ctx.clone(), part)?;
        set.call::<_, ()>((This(target.as_object().clone()), source))?;
        self.position.set(self.position.get() + part.len());
        resolved(&ctx, part.len())
    }

    /// Moves the position; the promise has the new one.
    fn seek<'js>(
        &self,
        ctx: Ctx<'js>,
        offset: Opt<Value<'js>>,
        whence: Opt<Value<'js>>,
    ) -> Result<Promise<'js>> {
        let number = |value: &Opt<Value<'js>>| value.0.as_ref().and_then(whole);
        let (Some(offset), Some(whence)) = (number(&offset), number(&whence)) else {
            let text =
                "seek() needs an offset and a mode, both whole numbers, for example seek(0, SeekMode.Start)";
            return rejected(&ctx, "TypeError", text);
        };
        let size = self.content.len() as i64;
        let base = match whence {
            0 if offset >= 0 => 0,
            1 => self.position.get() as i64,
            // As in k6, where the end is the last byte.
            2 if offset <= 0 => size - 1,
            0 => {
                return rejected(
                    &ctx,
                    "TypeError",
                    "the offset of SeekMode.Start must not be negative",
                );
            }
            2 => {
                return rejected(
                    &ctx,
                    "TypeError",
                    "the offset of SeekMode.End must not be positive",
                );
            }
            other => {
                let text = format!("{other} is not a mode of seek(); expected one of SeekMode");
                return rejected(&ctx, "TypeError", &text);
            }
        };
        let position = base.saturating_add(offset);
        match usize::try_from(position).ok().filter(|_| position <= size) {
            Some(position) => {
                self.position.set(position);
                resolved(&ctx, position)
            }
            None => {
                let text = format!("seek() to {position} is outside of the file, which has {size} bytes");
                rejected(&ctx, "TypeError", &text)
            }
        }
    }
}

impl File {
    /// The path, for names.
    pub(super) fn place(&self) -> &str {
        &self.path
    }

    /// The content and the position; afterwards the position is the end.
    pub(super) fn take(&self) -> (Arc<[u8]>, usize) {
        (
            Arc::clone(&self.content),
            self.position.replace(self.content.len()),
        )
    }
}

/// A whole number that a double holds exactly.
fn whole(value: &Value<'_>) -> Option<i64> {
    let number = value.as_number()?;
    (number.fract() == 0.0 && number.abs() < (1_i64 << 53) as f64).then_some(number as i64)
}
