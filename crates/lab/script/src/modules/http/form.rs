//! Bodies of requests: texts, bytes, and objects, which become forms.

use std::{fmt::Write as _, rc::Rc};

use plimsoll_clients::http::{FormPart, Request};
use rquickjs::{Class, Coerced, Ctx, Exception, FromJs as _, Result, Value};

use super::file::FileData;
use crate::{arguments::items, bytes};

const FORM: &str = "application/x-www-form-urlencoded";

/// Sets the body of a request, and its content type unless the script set one.
pub(super) fn set_body<'js>(ctx: &Ctx<'js>, request: &mut Request, body: &Value<'js>) -> Result<()> {
    if let Some(text) = body.as_string() {
        request.body = text.to_string()?.into_bytes();
        return Ok(());
    }
    if let Some(bytes) = bytes::copy(body) {
        request.body = bytes;
        return Ok(());
    }
    let Some(object) = body
        .as_object()
        .filter(|object| !object.is_function() && !object.is_array())
    else {
        let text = format!(
            "unknown request body type: {}; expected a text, an ArrayBuffer, or an object of form fields",
            body.type_name()
        );
        return Err(Exception::throw_type(ctx, &text));
    };
    let fields = object.props::<String, Value<'js>>().collect::<Result<Vec<_>>>()?;
    if fields
        .iter()
        .any(|(_, value)| Class::<FileData>::from_value(value).is_ok())
    {
        let (content_type, body) = multipart(ctx, &fields)?;
        request.body = body;
        set_type(request, &content_type);
    } else {
        request.body = urlencoded(ctx, fields)?.into_bytes();
        set_type(request, FORM);
    }
    Ok(())
}

fn set_type(request: &mut Request, content_type: &str) {
    let mut names = request.headers.iter().map(|(name, _)| name);
    if !names.any(|name| name.eq_ignore_ascii_case("content-type")) {
        request
            .headers
            .push(("Content-Type".to_owned(), content_type.to_owned()));
    }
}

/// Fields in the order of their names, as Go writes them; the elements of an array are fields of one name.
fn urlencoded<'js>(ctx: &Ctx<'js>, mut fields: Vec<(String, Value<'js>)>) -> Result<String> {
    fields.sort_by(|(name, _), (other, _)| name.cmp(other));
    let mut text = String::new();
    for (name, value) in fields {
        let values = match value.as_array() {
            Some(values) => items(values)?.collect::<Result<Vec<Value<'js>>>>()?,
            None => vec![value],
        };
        for value in values {
            let separator = if text.is_empty() { "" } else { "&" };
            text.push_str(separator);
            escape(&name, &mut text);
            text.push('=');
            escape(&field(ctx, &name, value)?, &mut text);
        }
    }
    Ok(text)
}

/// A field as text. A nested object has no text.
fn field<'js>(ctx: &Ctx<'js>, name: &str, value: Value<'js>) -> Result<String> {
    if value.is_null() || value.is_undefined() {
        return Ok(String::new());
    }
    if value.is_object() {
        tracing::warn!(
            "the form field `{name}` is an object, which a form cannot contain; an empty value was sent"
        );
        return Ok(String::new());
    }
    Coerced::<String>::from_js(ctx, value).map(|text| text.0)
}

/// What Go's `url.QueryEscape` leaves alone is left alone.
fn escape(text: &str, into: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => into.push(byte.into()),
            b' ' => into.push('+'),
            byte => write!(into, "%{byte:02X}").expect("a string takes everything"),
        }
    }
}

/// The type with its boundary, and the body.
fn multipart<'js>(ctx: &Ctx<'js>, fields: &[(String, Value<'js>)]) -> Result<(String, Vec<u8>)> {
    let mut parts = Vec::new();
    for (name, value) in fields {
        parts.push(match Class::<FileData>::from_value(value) {
            Ok(file) => {
                let file = file.borrow();
                let kind = (file.filename.clone(), file.content_type.clone());
                (name, Some(kind), Rc::clone(&file.bytes))
            }
            Err(_) => (name, None, field(ctx, name, value.clone())?.into_bytes().into()),
        });
    }
    Ok(plimsoll_clients::http::multipart(parts.iter().map(
        |(name, file, data)| FormPart {
            name,
            filename: file.as_ref().map(|(filename, _)| filename.as_str()),
            content_type: file.as_ref().map(|(_, content_type)| content_type.as_str()),
            data,
        },
    )))
}
