//! The params of a WebSocket: `{ headers, tags, compression, jar }`.

use std::collections::BTreeMap;

use plimsoll_clients::websocket::{Compression, Options};
use rquickjs::{Coerced, Ctx, Exception, FromJs as _, Object, Result, Value};

use crate::tags;

/// What a script says about a connection beside its URL.
#[derive(Debug, Default)]
pub(crate) struct Params {
    /// Tags of all samples of the session.
    pub(crate) tags: BTreeMap<String, String>,
    headers: Vec<(String, String)>,
    compression: Compression,
}

impl Params {
    /// Reads them; null and undefined are none.
    ///
    /// # Errors
    /// A TypeError when one is not what it has to be; an Error when `is_strict` and one is unknown.
    pub(crate) fn read<'js>(ctx: &Ctx<'js>, value: &Value<'js>, is_strict: bool) -> Result<Self> {
        let mut params = Self::default();
        if value.is_null() || value.is_undefined() {
            return Ok(params);
        }
        let Some(object) = value.as_object() else {
            let text = format!(
                "the params of a WebSocket are {}; expected an object, for example {{ headers: {{ Origin: 'http://localhost' }} }}",
                value.type_name()
            );
            return Err(Exception::throw_type(ctx, &text));
        };
        for entry in object.props::<String, Value<'js>>() {
            let (name, value) = entry?;
            if !is_strict && (value.is_null() || value.is_undefined()) {
                continue;
            }
            match name.as_str() {
                "headers" => params.headers = headers(ctx, &value)?,
                "tags" => params.tags = tags::read(ctx, &value, "the tags of a WebSocket")?,
                "compression" => params.compression = compression(ctx, &value)?,
                "jar" => {
                    let text = "the param `jar` is not supported; send cookies as a header, for example \
                                { headers: { Cookie: 'uid=1' } }";
                    return Err(Exception::throw_message(ctx, text));
                }
                unknown if is_strict => {
                    let text = format!(
                        "unknown WebSocket's option {unknown}; expected headers, tags or compression"
                    );
                    return Err(Exception::throw_message(ctx, &text));
                }
                _ => {}
            }
        }
        Ok(params)
    }

    /// Puts them, and who we say that we are, into the options of a connection.
    pub(crate) fn apply(self, options: &mut Options, user_agent: &str) {
        options.compression = self.compression;
        let mut has_user_agent = user_agent.is_empty();
        for (name, value) in self.headers {
            match name.to_ascii_lowercase().as_str() {
                "host" => options.host = Some(value),
                "origin" => options.origin = Some(value),
                "sec-websocket-protocol" => {
                    let protocols = value.split(',').map(|protocol| protocol.trim().to_owned());
                    options.protocols.extend(protocols);
                }
                lower => {
                    has_user_agent |= lower == "user-agent";
                    options.headers.push((name, value));
                }
            }
        }
        if !has_user_agent {
            options
                .headers
                .push(("User-Agent".to_owned(), user_agent.to_owned()));
        }
    }
}

fn headers<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<(String, String)>> {
    let object = Object::from_js(ctx, value.clone())
        .map_err(|_| Exception::throw_type(ctx, "the headers of a WebSocket are no object"))?;
    let entries = object.props::<String, Coerced<String>>();
    entries
        .map(|entry| entry.map(|(name, value)| (name, value.0)))
        .collect()
}

fn compression<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Compression> {
    let name = Coerced::<String>::from_js(ctx, value.clone())?.0;
    match name.trim() {
        "" => Ok(Compression::Off),
        "deflate" => Ok(Compression::Both),
        other => {
            let text =
                format!("unsupported compression algorithm '{other}', supported algorithm is 'deflate'");
            Err(Exception::throw_message(ctx, &text))
        }
    }
}
