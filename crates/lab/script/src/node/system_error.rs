//! Errors of the operating system, as Node's functions throw them: `code`, `errno`, `syscall`, and a message from these.

use std::io;

use rquickjs::{Ctx, Exception, Object, Result};

/// Names and texts by number, on Linux.
const KNOWN: &[(i32, &str, &str)] = &[
    (1, "EPERM", "operation not permitted"),
    (2, "ENOENT", "no such file or directory"),
    (5, "EIO", "i/o error"),
    (12, "ENOMEM", "not enough memory"),
    (13, "EACCES", "permission denied"),
    (20, "ENOTDIR", "not a directory"),
    (21, "EISDIR", "illegal operation on a directory"),
    (22, "EINVAL", "invalid argument"),
    (23, "ENFILE", "file table overflow"),
    (24, "EMFILE", "too many open files"),
    (27, "EFBIG", "file too large"),
    (32, "EPIPE", "broken pipe"),
    (36, "ENAMETOOLONG", "name too long"),
    (40, "ELOOP", "too many symbolic links encountered"),
    (99, "EADDRNOTAVAIL", "address not available"),
    (101, "ENETUNREACH", "network is unreachable"),
    (104, "ECONNRESET", "connection reset by peer"),
    (110, "ETIMEDOUT", "connection timed out"),
    (111, "ECONNREFUSED", "connection refused"),
    (113, "EHOSTUNREACH", "host is unreachable"),
];

/// The name and the text of an error's number.
pub(super) fn described(error: &io::Error) -> (&'static str, String) {
    let number = error.raw_os_error().unwrap_or_default();
    match KNOWN.iter().find(|(known, ..)| *known == number) {
        Some((_, code, text)) => (code, (*text).to_owned()),
        None => ("UNKNOWN", error.to_string()),
    }
}

/// An error with its properties.
pub(super) fn build<'js>(
    ctx: &Ctx<'js>,
    message: &str,
    code: &str,
    syscall: Option<&str>,
) -> Result<Object<'js>> {
    let error = Exception::from_message(ctx.clone(), message)?.into_object();
    if let Some((number, ..)) = KNOWN.iter().find(|(_, known, _)| *known == code) {
        error.set("errno", -number)?;
    }
    error.set("code", code)?;
    if let Some(syscall) = syscall {
        error.set("syscall", syscall)?;
    }
    Ok(error)
}

/// Throws what went wrong with a file.
pub(super) fn of_file(ctx: &Ctx<'_>, error: &io::Error, syscall: &str, path: &str) -> rquickjs::Error {
    let (code, text) = described(error);
    let target = match syscall {
        "read" => String::new(),
        _ => format!(" '{path}'"),
    };
    let thrown = build(
        ctx,
        &format!("{code}: {text}, {syscall}{target}"),
        code,
        Some(syscall),
    )
    .and_then(|error| {
        if !target.is_empty() {
            error.set("path", path)?;
        }
        Ok(error)
    });
    match thrown {
        Ok(error) => ctx.throw(error.into_value()),
        Err(error) => error,
    }
}
