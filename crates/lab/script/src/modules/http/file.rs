//! `http.file`: a part of a form with a file's name and type.

use std::{rc::Rc, time::UNIX_EPOCH};

use rquickjs::{Class, Ctx, Exception, JsLifetime, Result, Value, class::Trace, function::Opt};

use crate::bytes;

/// k6's type of files without a type.
const DEFAULT_TYPE: &str = "application/octet-stream";

/// The result of `http.file`.
#[derive(Trace, JsLifetime)]
#[rquickjs::class]
pub(super) struct FileData<'js> {
    /// The data as the script gave it: a text or bytes.
    #[qjs(get, enumerable)]
    pub(super) data: Value<'js>,
    #[qjs(skip_trace)]
    pub(super) bytes: Rc<[u8]>,
    #[qjs(get, enumerable)]
    pub(super) filename: String,
    #[qjs(get, enumerable)]
    pub(super) content_type: String,
}

#[rquickjs::methods]
impl FileData<'_> {}

/// `http.file(data, filename, contentType)`.
pub(super) fn create<'js>(
    ctx: Ctx<'js>,
    data: Value<'js>,
    filename: Opt<String>,
    content_type: Opt<String>,
) -> Result<Class<'js, FileData<'js>>> {
    let bytes = match data.as_string() {
        Some(text) => Some(text.to_string()?.into_bytes()),
        None => bytes::copy(&data),
    };
    let bytes = bytes.ok_or_else(|| {
        let text = format!(
            "http.file() was given {}; expected a text or an ArrayBuffer",
            data.type_name()
        );
        Exception::throw_type(&ctx, &text)
    })?;
    let unique = || UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos().to_string();
    let file = FileData {
        data,
        bytes: bytes.into(),
        filename: filename.0.unwrap_or_else(unique),
        content_type: content_type.0.unwrap_or_else(|| DEFAULT_TYPE.to_owned()),
    };
    Class::instance(ctx, file)
}
