//! Files and folders, for reading. Paths are relative to the working directory, as in Node.
//!
//! Functions that came from another machine have the files that their module read while it was loaded there.

use std::{
    fs,
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::PathBuf,
};

use rquickjs::{Array, Ctx, Exception, Function, Object, Result, Value};

use super::{
    shelf::Place,
    system_error::{build, of_file},
};
use crate::{bytes, host::Host, source::MAX_OPENED_BYTES};

/// The most entries of a folder.
const MAX_ENTRIES: usize = 1_000_000;

pub(super) fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("readFile", Function::new(ctx.clone(), read_file)?)?;
    native.set("stat", Function::new(ctx.clone(), stat)?)?;
    native.set("readFolder", Function::new(ctx.clone(), read_folder)?)?;
    native.set("access", Function::new(ctx.clone(), access)?)?;
    native.set("realPath", Function::new(ctx.clone(), real_path)?)?;
    native.set("readLink", Function::new(ctx.clone(), read_link)?)
}

fn located(ctx: &Ctx<'_>, path: &str) -> PathBuf {
    Host::of(ctx).program.directory.join(path)
}

/// What came with the module at this path. `None`: the files are those of this machine.
fn packed(ctx: &Ctx<'_>, path: &str) -> Option<Place> {
    let program = &Host::of(ctx).program;
    program.shelf.packed(&program.directory.join(path))
}

/// A path is there. Those that a module finds while it is loaded go with it to other machines.
fn found(ctx: &Ctx<'_>, path: &str) {
    let program = &Host::of(ctx).program;
    if program.is_new() {
        program.shelf.found(&program.directory.join(path));
    }
}

/// Throws that a path did not come with the module.
fn not_sent(ctx: &Ctx<'_>, syscall: &str, path: &str) -> rquickjs::Error {
    let text = format!(
        "ENOENT: no such file or directory, {syscall} '{path}' (agents of a fleet have the files that the module reads \
         while it is loaded, and no others)"
    );
    match build(ctx, &text, "ENOENT", Some(syscall)) {
        Ok(error) => ctx.throw(error.into_value()),
        Err(error) => error,
    }
}

/// Refuses a question about files of this machine to functions from another one.
fn refuse_packed(ctx: &Ctx<'_>, syscall: &str, path: &str) -> Result<()> {
    packed(ctx, path).map_or(Ok(()), |_| Err(not_sent(ctx, syscall, path)))
}

fn read_file(ctx: Ctx<'_>, path: String) -> Result<Value<'_>> {
    match packed(&ctx, &path) {
        Some(Place::File(content)) => return bytes::buffer(&ctx, &content),
        Some(_) => return Err(not_sent(&ctx, "open", &path)),
        None => {}
    }
    let failed = |error: io::Error, syscall: &str| of_file(&ctx, &error, syscall, &path);
    let file = fs::File::open(located(&ctx, &path)).map_err(|error| failed(error, "open"))?;
    let mut content = Vec::new();
    file.take(MAX_OPENED_BYTES as u64 + 1)
        .read_to_end(&mut content)
        .map_err(|error| failed(error, "read"))?;
    if content.len() > MAX_OPENED_BYTES {
        let text = format!("{path} has more than {MAX_OPENED_BYTES} bytes, the most that is read");
        return Err(Exception::throw_range(&ctx, &text));
    }
    found(&ctx, &path);
    bytes::buffer(&ctx, &content)
}

fn stat(ctx: Ctx<'_>, path: String, follows: bool) -> Result<Object<'_>> {
    refuse_packed(&ctx, "stat", &path)?;
    let place = located(&ctx, &path);
    let (found, syscall) = if follows {
        (fs::metadata(place), "stat")
    } else {
        (fs::symlink_metadata(place), "lstat")
    };
    let found = found.map_err(|error| of_file(&ctx, &error, syscall, &path))?;
    let facts = Object::new(ctx)?;
    let milliseconds =
        |seconds: i64, nanoseconds: i64| seconds as f64 * 1_000.0 + nanoseconds as f64 / 1_000_000.0;
    for (name, value) in [
        ("dev", found.dev() as f64),
        ("mode", f64::from(found.mode())),
        ("nlink", found.nlink() as f64),
        ("uid", f64::from(found.uid())),
        ("gid", f64::from(found.gid())),
        ("rdev", found.rdev() as f64),
        ("blksize", found.blksize() as f64),
        ("ino", found.ino() as f64),
        ("size", found.size() as f64),
        ("blocks", found.blocks() as f64),
        ("atimeMs", milliseconds(found.atime(), found.atime_nsec())),
        ("mtimeMs", milliseconds(found.mtime(), found.mtime_nsec())),
        ("ctimeMs", milliseconds(found.ctime(), found.ctime_nsec())),
    ] {
        facts.set(name, value)?;
    }
    let born = found
        .created()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let born = born.map_or(0.0, |since| since.as_nanos() as f64 / 1_000_000.0);
    facts.set("birthtimeMs", born)?;
    Ok(facts)
}

/// Names with their kinds, sorted.
fn read_folder(ctx: Ctx<'_>, path: String) -> Result<Array<'_>> {
    refuse_packed(&ctx, "scandir", &path)?;
    let failed = |error: io::Error| of_file(&ctx, &error, "scandir", &path);
    let mut entries = Vec::new();
    for entry in fs::read_dir(located(&ctx, &path)).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        let kind = if kind.is_dir() {
            "folder"
        } else if kind.is_symlink() {
            "link"
        } else if kind.is_file() {
            "file"
        } else {
            "other"
        };
        entries.push((entry.file_name().to_string_lossy().into_owned(), kind));
        if entries.len() > MAX_ENTRIES {
            let text = format!("{path} has more than {MAX_ENTRIES} entries");
            return Err(Exception::throw_range(&ctx, &text));
        }
    }
    entries.sort();
    let all = Array::new(ctx.clone())?;
    for (index, (name, kind)) in entries.into_iter().enumerate() {
        all.set(index, vec![name, kind.to_owned()])?;
    }
    Ok(all)
}

/// Bits of a mode that ask for writing, running and reading.
const WRITE: u32 = 2;
const RUN: u32 = 1;
const READ: u32 = 4;

fn access(ctx: Ctx<'_>, path: String, mode: u32) -> Result<()> {
    match packed(&ctx, &path) {
        Some(Place::Nothing) => return Err(not_sent(&ctx, "access", &path)),
        Some(_) => return Ok(()),
        None => {}
    }
    let place = located(&ctx, &path);
    let failed = |error: io::Error| of_file(&ctx, &error, "access", &path);
    let found_here = fs::metadata(&place).map_err(failed)?;
    let denied = || failed(io::Error::from_raw_os_error(13));
    if mode & READ != 0 && found_here.is_file() && fs::File::open(&place).is_err() {
        return Err(denied());
    }
    let bits = found_here.mode();
    if mode & WRITE != 0 && bits & 0o222 == 0 || mode & RUN != 0 && bits & 0o111 == 0 {
        return Err(denied());
    }
    found(&ctx, &path);
    Ok(())
}

fn real_path(ctx: Ctx<'_>, path: String) -> Result<String> {
    refuse_packed(&ctx, "realpath", &path)?;
    let found = fs::canonicalize(located(&ctx, &path));
    let found = found.map_err(|error| of_file(&ctx, &error, "lstat", &path))?;
    Ok(found.to_string_lossy().into_owned())
}

fn read_link(ctx: Ctx<'_>, path: String) -> Result<String> {
    refuse_packed(&ctx, "readlink", &path)?;
    let found = fs::read_link(located(&ctx, &path));
    let found = found.map_err(|error| of_file(&ctx, &error, "readlink", &path))?;
    Ok(found.to_string_lossy().into_owned())
}
