//! The params of a WebSocket: `{ headers, tags, compression, jar }`.

use std::{collections::BTreeMap, time::SystemTime};

use plimsoll_clients::{
    http::{Cookie, Url},
    websocket::{Compression, Options, Response},
};
use rquickjs::{Coerced, Ctx, Exception, FromJs as _, Object, Result, Value};

use crate::{
    host::Host,
    modules::http::{self, SharedJar},
    tags,
};

/// What a script says about a connection beside its URL.
#[derive(Debug, Default)]
pub(crate) struct Params {
    /// Tags of all samples of the session.
    pub(crate) tags: BTreeMap<String, String>,
    headers: Vec<(String, String)>,
    compression: Compression,
    /// Whose cookies the server gets, and where those that it sets go.
    jar: Option<SharedJar>,
}

impl Params {
    /// Reads the parameters; null and undefined mean no parameters. Cookies come from the virtual user unless there is
    /// a `jar`.
    ///
    /// # Errors
    /// A TypeError when a parameter is invalid; an Error when `is_strict` is set and a parameter is unknown.
    pub(crate) fn read<'js>(
        ctx: &Ctx<'js>,
        host: &Host,
        value: &Value<'js>,
        is_strict: bool,
    ) -> Result<Self> {
        let mut params = Self {
            jar: http::jar_of_user(ctx, host)?,
            ..Self::default()
        };
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
                "jar" if value.is_null() || value.is_undefined() => {}
                "jar" => params.jar = Some(http::jar_of(ctx, &value)?),
                unknown if is_strict => {
                    let text = format!(
                        "unknown WebSocket's option {unknown}; expected headers, tags, jar or compression"
                    );
                    return Err(Exception::throw_message(ctx, &text));
                }
                _ => {}
            }
        }
        Ok(params)
    }

    /// Keeps what the server has set.
    pub(super) fn remember(jar: &SharedJar, url: &str, response: &Response) {
        let Some(url) = handshake_url(url) else { return };
        let set = response.head.values("Set-Cookie").filter_map(Cookie::parse);
        set.for_each(|cookie| jar.borrow_mut().store(&url, cookie, SystemTime::now()));
    }

    pub(super) fn jar(&self) -> Option<SharedJar> {
        self.jar.clone()
    }

    /// The cookies for a URL. A script that writes the field itself gets what it has written.
    fn cookies(&self, url: &str) -> Option<String> {
        if self
            .headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("cookie"))
        {
            return None;
        }
        let (jar, url) = (self.jar.as_ref()?.borrow(), handshake_url(url)?);
        let cookies = jar.matching(&url, SystemTime::now()).into_iter();
        let cookies: Vec<_> = cookies.map(|(name, value)| format!("{name}={value}")).collect();
        (!cookies.is_empty()).then(|| cookies.join("; "))
    }

    /// Puts them, and who we say that we are, into the options of a connection to `url`.
    pub(super) fn apply(self, url: &str, options: &mut Options, user_agent: &str) {
        options.compression = self.compression;
        if let Some(cookies) = self.cookies(url) {
            options.headers.push(("Cookie".to_owned(), cookies));
        }
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

/// The URL of the handshake, by which cookies are chosen.
fn handshake_url(url: &str) -> Option<Url> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = if scheme.eq_ignore_ascii_case("wss") {
        "https"
    } else {
        "http"
    };
    Url::parse(&format!("{scheme}://{rest}")).ok()
}

fn headers<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<(String, String)>> {
    let object = Object::from_js(ctx, value.clone())
        .map_err(|_| Exception::throw_type(ctx, "the headers of a WebSocket are not an object"))?;
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
