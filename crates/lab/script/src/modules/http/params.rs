//! The last argument of requests: headers, tags, cookies, and what is wanted of the answer.

use std::{rc::Rc, time::Duration};

use plimsoll_clients::http::{Authentication, Coding, RequestCookie};
use plimsoll_load::plan::parse_duration;
use rquickjs::{Class, Coerced, Ctx, Exception, FromJs as _, Object, Result, Value};

use super::{
    call::{BodyType, Call},
    cookie_jar::Jar,
    expected::ExpectedStatuses,
};
use crate::{modules::k6::is_truthy, tags};

impl Call {
    /// Takes the parameters over; gives the compressions of the body, the first one innermost.
    pub(super) fn take_params<'js>(&mut self, ctx: &Ctx<'js>, params: &Value<'js>) -> Result<Vec<Coding>> {
        let params = params.as_object().ok_or_else(|| {
            let text = format!(
                "the parameters of a request are {}; expected an object, for example {{ headers: {{ Accept: '*/*' }} }}",
                params.type_name()
            );
            Exception::throw_type(ctx, &text)
        })?;
        let mut compression = Vec::new();
        for entry in params.props::<String, Value<'js>>() {
            let (name, value) = entry?;
            if value.is_undefined() || (value.is_null() && !matches!(&*name, "jar" | "responseCallback")) {
                continue;
            }
            if name == "compression" {
                compression = codings(ctx, &value)?;
            } else {
                self.take_param(ctx, &name, &value)?;
            }
        }
        Ok(compression)
    }

    fn take_param<'js>(&mut self, ctx: &Ctx<'js>, name: &str, value: &Value<'js>) -> Result<()> {
        match name {
            "headers" => {
                for entry in object(ctx, name, value)?.props::<String, Coerced<String>>() {
                    let (name, value) = entry?;
                    self.request.headers.push((name, value.0));
                }
            }
            "tags" => {
                self.tags = tags::read(ctx, value, "the tags of a request")?;
                self.name = self.tags.get("name").cloned().or(self.name.take());
            }
            "cookies" => self.request.cookies = cookies(ctx, object(ctx, name, value)?)?,
            "timeout" => self.request.timeout = timeout(ctx, value)?,
            "auth" => self.request.authentication = authentication(ctx, value)?,
            "redirects" => {
                let n = Coerced::<f64>::from_js(ctx, value.clone())?.0;
                let n = Some(n).filter(|n| *n >= 0.0);
                let n = n.ok_or_else(|| unexpected(ctx, name, value, "a number from 0, for example 5"))?;
                self.request.max_redirects = n as u32;
                self.has_own_limit = true;
            }
            "responseType" => {
                let kind = value.as_string().and_then(|text| text.to_string().ok());
                self.body = match kind.as_deref() {
                    Some("text") => BodyType::Text,
                    Some("binary") => BodyType::Binary,
                    Some("none") => BodyType::Nothing,
                    _ => return Err(unexpected(ctx, name, value, "'text', 'binary' or 'none'")),
                };
            }
            "jar" if value.is_null() => self.jar = None,
            "jar" => {
                let jar = Class::<Jar>::from_value(value);
                let jar = jar
                    .map_err(|_| unexpected(ctx, name, value, "http.cookieJar() or new http.CookieJar()"))?;
                self.jar = Some(Rc::clone(&jar.borrow().cookies));
            }
            "responseCallback" if value.is_null() => self.expected = None,
            "responseCallback" => {
                let callback = Class::<ExpectedStatuses>::from_value(value);
                let callback =
                    callback.map_err(|_| unexpected(ctx, name, value, "http.expectedStatuses(…) or null"))?;
                self.expected = Some(Rc::clone(&callback.borrow().statuses));
            }
            "throw" => self.throws = is_truthy(value),
            // As in k6, which ignores what it does not know.
            _ => {}
        }
        Ok(())
    }

    /// Compresses the body, and says so in the head unless the script does.
    pub(super) fn compress(&mut self, codings: &[Coding]) {
        if codings.is_empty() || self.request.body.is_empty() {
            return;
        }
        for coding in codings {
            let encoded = coding.encode(&self.request.body);
            let before = std::mem::replace(&mut self.request.body, encoded);
            self.plain_body.get_or_insert(before);
        }
        if !self.has_header("Content-Encoding") {
            let names: Vec<_> = codings.iter().map(|coding| coding.name()).collect();
            let field = ("Content-Encoding".to_owned(), names.join(", "));
            self.request.headers.push(field);
        }
    }
}

fn object<'a, 'js>(ctx: &Ctx<'js>, name: &str, value: &'a Value<'js>) -> Result<&'a Object<'js>> {
    let object = value.as_object();
    object.ok_or_else(|| unexpected(ctx, name, value, "an object, for example { name: 'value' }"))
}

fn unexpected<'js>(ctx: &Ctx<'js>, name: &str, value: &Value<'js>, expected: &str) -> rquickjs::Error {
    let found = crate::inspect::inspect(value);
    let text = format!("the parameter `{name}` of a request is {found}; expected {expected}");
    Exception::throw_type(ctx, &text)
}

fn cookies<'js>(ctx: &Ctx<'js>, cookies: &Object<'js>) -> Result<Vec<RequestCookie>> {
    let cookies = cookies.props::<String, Value<'js>>();
    let read = cookies.map(|entry| {
        let (name, value) = entry?;
        let (value, replace) = match value.as_object() {
            Some(object) => {
                let replace: Value<'js> = object.get("replace")?;
                (object.get("value")?, is_truthy(&replace))
            }
            None => (value, false),
        };
        let value = Coerced::<String>::from_js(ctx, value)?.0;
        Ok(RequestCookie { name, value, replace })
    });
    read.collect()
}

/// Milliseconds, or a text such as `10s`. Zero has passed before the answer comes, as in k6.
fn timeout<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Duration> {
    let text = Coerced::<String>::from_js(ctx, value.clone())?.0;
    let duration = parse_duration(&text);
    duration.map_err(|_| unexpected(ctx, "timeout", value, "milliseconds or a text such as '10s'"))
}

fn authentication<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Authentication> {
    let text = Coerced::<String>::from_js(ctx, value.clone())?.0;
    match text.as_str() {
        "digest" => Ok(Authentication::Digest),
        "" | "basic" => Ok(Authentication::Basic),
        "ntlm" => Ok(Authentication::Ntlm),
        _ => Err(unexpected(ctx, "auth", value, "'basic', 'digest' or 'ntlm'")),
    }
}

fn codings<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<Coding>> {
    let text = Coerced::<String>::from_js(ctx, value.clone())?.0;
    let names = text.split(',').filter(|name| !name.trim().is_empty());
    let codings: std::result::Result<Vec<_>, _> = names.map(str::parse::<Coding>).collect();
    codings.map_err(|error| Exception::throw_type(ctx, &error.to_string()))
}
