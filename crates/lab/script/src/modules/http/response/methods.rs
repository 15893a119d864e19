//! The fields and methods of a response for scripts.

use std::time::Duration;

use plimsoll_clients::http::Cookie;
use rquickjs::{
    Class, Ctx, Exception, IntoJs as _, Object, Result, Value,
    function::{Opt, This},
};

use super::{
    super::{call::BodyType, json_path::JsonPath, names::canonical, page},
    Facts, Response,
    fields::FIELDS,
};
use crate::{bytes, modules::html};

#[rquickjs::methods]
impl<'js> Response<'js> {
    #[qjs(get, enumerable)]
    fn status(&self) -> u16 {
        self.facts.response().map_or(0, |response| response.status)
    }

    #[qjs(get, enumerable)]
    fn status_text(&self) -> String {
        let response = self.facts.response();
        let text = response.map(|response| format!("{} {}", response.status, response.reason));
        text.unwrap_or_default()
    }

    #[qjs(get, enumerable)]
    fn url(&self) -> String {
        match &self.facts {
            Facts::Refused(unusable) => unusable.call.url.clone(),
            Facts::Made(made) => {
                let (call, exchange) = &**made;
                if exchange.url == call.request.url {
                    return call.url.clone();
                }
                exchange.url.to_string()
            }
        }
    }

    #[qjs(get, enumerable)]
    fn remote_ip(&self) -> String {
        let remote = self.facts.exchange().and_then(|exchange| exchange.remote);
        remote.map(|remote| remote.ip().to_string()).unwrap_or_default()
    }

    #[qjs(get, enumerable)]
    fn remote_port(&self) -> u16 {
        let remote = self.facts.exchange().and_then(|exchange| exchange.remote);
        remote.map_or(0, |remote| remote.port())
    }

    #[qjs(get, enumerable)]
    fn proto(&self) -> &'static str {
        self.facts
            .response()
            .map_or("", |response| response.protocol.name())
    }

    #[qjs(get, enumerable)]
    fn tls_version(&self) -> &'static str {
        let tls = self.facts.exchange().and_then(|exchange| exchange.tls.as_ref());
        tls.map_or("", |tls| tls.version.name())
    }

    #[qjs(get, enumerable)]
    fn tls_cipher_suite(&self) -> String {
        let tls = self.facts.exchange().and_then(|exchange| exchange.tls.as_ref());
        tls.map(|tls| tls.cipher_suite.clone()).unwrap_or_default()
    }

    #[qjs(get, enumerable)]
    fn error(&self) -> String {
        self.facts.error().0
    }

    #[qjs(get, enumerable)]
    fn error_code(&self) -> u16 {
        self.facts.error().1
    }

    #[qjs(get, enumerable)]
    fn ocsp(&self, ctx: Ctx<'js>) -> Result<Object<'js>> {
        let ocsp = Object::new(ctx)?;
        for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
            ocsp.set(name, 0)?;
        }
        ocsp.set("revocation_reason", "")?;
        ocsp.set("status", "")?;
        Ok(ocsp)
    }

    /// A text, an ArrayBuffer, or null; also null for statuses without a body (204 and 304), as in k6.
    #[qjs(get, enumerable)]
    fn body(&mut self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let facts = self.facts.clone();
        once(&mut self.body, || {
            let Some(response) = facts.response() else {
                return Ok(Value::new_null(ctx.clone()));
            };
            match facts.body_type() {
                _ if matches!(response.status, 204 | 304) => Ok(Value::new_null(ctx.clone())),
                BodyType::Nothing => Ok(Value::new_null(ctx.clone())),
                BodyType::Text => String::from_utf8_lossy(&response.body).as_ref().into_js(&ctx),
                BodyType::Binary => bytes::buffer(&ctx, &response.body),
            }
        })
    }

    /// Values by name; several of one name with commas between them.
    #[qjs(get, enumerable)]
    fn headers(&mut self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let facts = self.facts.clone();
        once(&mut self.headers, || {
            let headers = Object::new(ctx.clone())?;
            let mut all: Vec<(String, String)> = Vec::new();
            for (name, value) in facts
                .response()
                .into_iter()
                .flat_map(|response| response.headers.iter())
            {
                let (name, value) = (canonical(name), String::from_utf8_lossy(value));
                match all.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, values)) => values.extend([", ", &value]),
                    None => all.push((name, value.into_owned())),
                }
            }
            for (name, value) in all {
                headers.set(name, value)?;
            }
            Ok(headers.into_value())
        })
    }

    /// The cookies that this response sets, in lists by name.
    #[qjs(get, enumerable)]
    fn cookies(&mut self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let facts = self.facts.clone();
        once(&mut self.cookies, || {
            let cookies = Object::new(ctx.clone())?;
            let Some(response) = facts.response() else {
                return Ok(cookies.into_value());
            };
            for field in response.headers.get_all("set-cookie") {
                let Some(cookie) = Cookie::parse(&String::from_utf8_lossy(field)) else {
                    continue;
                };
                let mut all: Vec<Object<'js>> =
                    cookies.get::<_, Option<_>>(&*cookie.name)?.unwrap_or_default();
                all.push(object_of(&ctx, &cookie)?);
                cookies.set(&*cookie.name, all)?;
            }
            Ok(cookies.into_value())
        })
    }

    /// Milliseconds.
    #[qjs(get, enumerable)]
    fn timings(&mut self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let facts = self.facts.clone();
        once(&mut self.timings, || {
            let timings = facts.exchange().map(|exchange| exchange.timings);
            let ms = |duration: Option<Duration>| duration.unwrap_or_default().as_secs_f64() * 1_000.0;
            let object = Object::new(ctx.clone())?;
            object.set("duration", ms(timings.map(|timings| timings.duration())))?;
            object.set("blocked", ms(timings.map(|timings| timings.blocked)))?;
            object.set("looking_up", 0)?;
            object.set("connecting", ms(timings.map(|timings| timings.connecting)))?;
            object.set(
                "tls_handshaking",
                ms(timings.map(|timings| timings.tls_handshaking)),
            )?;
            object.set("sending", ms(timings.map(|timings| timings.sending)))?;
            object.set("waiting", ms(timings.map(|timings| timings.waiting)))?;
            object.set("receiving", ms(timings.map(|timings| timings.receiving)))?;
            Ok(object.into_value())
        })
    }

    /// The request that was sent.
    #[qjs(get, enumerable)]
    fn request(&mut self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let facts = self.facts.clone();
        once(&mut self.request, || {
            request_of(&ctx, &facts).map(Object::into_value)
        })
    }

    /// The body as JSON, or the value at a path in it; undefined when there is none.
    #[qjs(rename = "json")]
    fn parsed(&mut self, ctx: Ctx<'js>, path: Opt<Option<String>>) -> Result<Value<'js>> {
        let facts = self.facts.clone();
        let path = path.0.flatten();
        if path.is_some() && self.json.is_none() && !is_json(body_of(&ctx, &facts, "no JSON")?) {
            // As in k6: an error page has nothing at any path, and a check of it fails without ending the iteration.
            return Ok(Value::new_undefined(ctx));
        }
        let whole = once(&mut self.json, || parse(&ctx, &facts))?;
        match path {
            None => Ok(whole),
            Some(path) => {
                let path = JsonPath::parse(&path)
                    .map_err(|error| Exception::throw_message(&ctx, &error.to_string()))?;
                Ok(path
                    .find(&ctx, &whole)?
                    .unwrap_or_else(|| Value::new_undefined(ctx)))
            }
        }
    }

    /// The body as a page, or the nodes that a selector finds in it.
    fn html(&mut self, ctx: Ctx<'js>, selector: Opt<Value<'js>>) -> Result<Value<'js>> {
        page::find(&ctx, self.page(&ctx)?, selector.0)
    }

    /// Sends a form of the page.
    #[qjs(rename = "submitForm")]
    fn submit_form(&mut self, ctx: Ctx<'js>, arguments: Opt<Object<'js>>) -> Result<Value<'js>> {
        let page = self.page(&ctx)?;
        page::submit_form(&ctx, &page, self.facts.base(), arguments.0.as_ref())
    }

    /// Follows a link of the page.
    #[qjs(rename = "clickLink")]
    fn click_link(&mut self, ctx: Ctx<'js>, arguments: Opt<Object<'js>>) -> Result<Value<'js>> {
        let page = self.page(&ctx)?;
        page::click_link(&ctx, &page, self.facts.base(), arguments.0.as_ref())
    }

    /// All fields, for `JSON.stringify` and logs.
    #[qjs(rename = "toJSON")]
    fn to_json(this: This<Class<'js, Self>>, ctx: Ctx<'js>) -> Result<Object<'js>> {
        let plain = Object::new(ctx)?;
        for name in FIELDS {
            let value: Value<'js> = this.0.get(name)?;
            plain.set(name, value)?;
        }
        Ok(plain)
    }
}

impl<'js> Response<'js> {
    fn page(&mut self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let facts = self.facts.clone();
        let address = self.url();
        once(&mut self.page, || {
            let body = body_of(ctx, &facts, "no page")?;
            html::parse(ctx, &String::from_utf8_lossy(body), &address)?.into_js(ctx)
        })
    }
}

/// The value that was made before, or a new one.
fn once<'js>(kept: &mut Option<Value<'js>>, make: impl FnOnce() -> Result<Value<'js>>) -> Result<Value<'js>> {
    match kept {
        Some(value) => Ok(value.clone()),
        None => Ok(kept.insert(make()?).clone()),
    }
}

fn is_json(body: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok()
}

fn parse<'js>(ctx: &Ctx<'js>, facts: &Facts) -> Result<Value<'js>> {
    let body = body_of(ctx, facts, "no JSON")?;
    ctx.json_parse(body).map_err(|_| {
        // The engine's own text has no place in it.
        ctx.catch();
        let parsed: std::result::Result<serde::de::IgnoredAny, _> = serde_json::from_slice(body);
        let reason = parsed.map_or_else(|error| error.to_string(), |_| "not JSON".to_owned());
        Exception::throw_message(ctx, &format!("cannot parse the body as JSON: {reason}"))
    })
}

/// The body of a response that has one.
fn body_of<'a>(ctx: &Ctx<'_>, facts: &'a Facts, so: &str) -> Result<&'a [u8]> {
    let response = facts
        .response()
        .filter(|_| facts.body_type() != BodyType::Nothing);
    let Some(response) = response else {
        let text = format!(
            "the response has no body, so {so}; is its `error` set, or the body discarded (responseType, \
             discardResponseBodies)?"
        );
        return Err(Exception::throw_message(ctx, &text));
    };
    Ok(&response.body)
}

fn object_of<'js>(ctx: &Ctx<'js>, cookie: &Cookie) -> Result<Object<'js>> {
    let since_1970 =
        |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let object = Object::new(ctx.clone())?;
    object.set("name", cookie.name.as_str())?;
    object.set("value", cookie.value.as_str())?;
    object.set("domain", cookie.domain.as_deref().unwrap_or_default())?;
    object.set("path", cookie.path.as_deref().unwrap_or_default())?;
    object.set("http_only", cookie.http_only)?;
    object.set("secure", cookie.secure)?;
    // As in Go: 0 means no `Max-Age`, and -1 means that the cookie ends at once.
    let max_age = cookie
        .max_age
        .map_or(0, |seconds| if seconds <= 0 { -1 } else { seconds });
    object.set("max_age", max_age as f64)?;
    object.set(
        "expires",
        cookie
            .expires
            .map_or(0.0, |time| since_1970(time).as_millis() as f64),
    )?;
    Ok(object)
}

fn request_of<'js>(ctx: &Ctx<'js>, facts: &Facts) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let (headers, cookies) = (Object::new(ctx.clone())?, Object::new(ctx.clone())?);
    match facts {
        Facts::Refused(unusable) => {
            object.set("method", unusable.call.request.method.as_str())?;
            object.set("url", unusable.call.url.as_str())?;
            object.set("body", "")?;
        }
        Facts::Made(made) => {
            let (call, exchange) = &**made;
            object.set("method", call.request.method.as_str())?;
            object.set("url", call.url.as_str())?;
            let body = call.plain_body.as_ref().unwrap_or(&call.request.body);
            object.set("body", String::from_utf8_lossy(body).as_ref())?;
            let head = String::from_utf8_lossy(&exchange.request_head);
            for (name, value) in head.lines().skip(1).filter_map(|line| line.split_once(": ")) {
                let name = canonical(name);
                // As in k6, which keeps these two elsewhere.
                if !matches!(&*name, "Host" | "Content-Length") {
                    let mut values: Vec<String> = headers.get::<_, Option<_>>(&*name)?.unwrap_or_default();
                    values.push(value.to_owned());
                    headers.set(name, values)?;
                }
            }
            for (name, value) in sent_cookies(&head) {
                let own = Object::new(ctx.clone())?;
                own.set("name", name)?;
                own.set("value", value)?;
                own.set("replace", false)?;
                let mut all: Vec<Object<'js>> = cookies.get::<_, Option<_>>(name)?.unwrap_or_default();
                all.push(own);
                cookies.set(name, all)?;
            }
        }
    }
    object.set("headers", headers)?;
    object.set("cookies", cookies)?;
    Ok(object)
}

/// Names and values of the `Cookie` fields of a head.
fn sent_cookies(head: &str) -> impl Iterator<Item = (&str, &str)> {
    let fields = head.lines().filter_map(|line| line.split_once(": "));
    let fields = fields.filter(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    let pairs = fields.flat_map(|(_, value)| value.split("; "));
    pairs
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name, value.trim_matches('"')))
}
