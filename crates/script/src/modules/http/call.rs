//! What a script asks for: the arguments of `http.request` and its kin.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use plimsoll_clients::http::{CookieJar, Keep, Method, Request, Url};
use rquickjs::{Ctx, Exception, Result, Value};

use super::{expected::Expected, form, session::Session};
use crate::host::Host;

/// k6's number for a URL that is none.
const INVALID_URL: u16 = 1020;

/// One request, and what is done with its answer.
pub(super) struct Call {
    pub(super) request: Request,
    /// The URL as the script has it, without a password: what tags say.
    pub(super) url: String,
    /// What the tags `name` and `url` say instead.
    pub(super) name: Option<String>,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) jar: Option<Rc<RefCell<CookieJar>>>,
    pub(super) expected: Option<Rc<Expected>>,
    pub(super) body: BodyType,
    /// Whether a failure is an exception.
    pub(super) throws: bool,
    /// Whether the limit of redirects was the script's own, so that it knows of it.
    pub(super) has_own_limit: bool,
}

/// What `Response.body` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyType {
    Text,
    Binary,
    Nothing,
}

/// A call that cannot be made. It fails like one that could not connect, and no sample is made of it.
pub(super) struct Unusable {
    pub(super) text: String,
    pub(super) code: u16,
    pub(super) throws: bool,
    pub(super) url: String,
    pub(super) method: String,
}

impl Call {
    /// Reads the arguments.
    ///
    /// # Errors
    /// An exception for arguments that make no sense; the inner one for a URL that is none.
    pub(super) fn read<'js>(
        ctx: &Ctx<'js>,
        host: &Host,
        session: &Session,
        method: &str,
        url: &Value<'js>,
        body: Option<&Value<'js>>,
        params: Option<&Value<'js>>,
    ) -> Result<std::result::Result<Self, Unusable>> {
        let (text, name) = url_of(ctx, url)?;
        let method_name = method.to_ascii_uppercase();
        let method = Method::from_bytes(method_name.as_bytes()).map_err(|_| {
            let text = format!("{method:?} is no HTTP method; expected one such as GET or POST");
            Exception::throw_type(ctx, &text)
        })?;
        // The parameters are read in any case, so that their mistakes are found.
        let placeholder = Url::parse("http://localhost/").expect("a URL");
        let parsed = parse(&text);
        let url = parsed.as_ref().ok().cloned().unwrap_or(placeholder);
        let mut call = Self {
            request: Request::new(method, url),
            url: without_password(&text),
            name,
            tags: BTreeMap::new(),
            jar: Some(Rc::clone(&session.jar)),
            expected: session.expected.borrow().clone(),
            body: BodyType::Text,
            throws: false,
            has_own_limit: false,
        };
        call.take_options(host);
        let mut compression = Vec::new();
        if let Some(params) = params.filter(|params| !params.is_null() && !params.is_undefined()) {
            compression = call.take_params(ctx, params)?;
        }
        if let Some(body) = body.filter(|body| !body.is_null() && !body.is_undefined()) {
            form::set_body(ctx, &mut call.request, body)?;
        }
        call.compress(&compression);
        if call.body == BodyType::Nothing {
            call.request.keep = Keep::Nothing;
        }
        Ok(match parsed {
            Ok(_) => Ok(call),
            Err(reason) => Err(Unusable {
                text: format!(
                    "invalid URL {:?}: {reason}; expected one such as https://example.com/path",
                    call.url
                ),
                code: INVALID_URL,
                throws: call.throws,
                url: call.url,
                method: method_name,
            }),
        })
    }

    fn take_options(&mut self, host: &Host) {
        let option = |key: &str| host.program.option(key);
        let is_on = |key: &str| option(key) == Some(&serde_json::Value::Bool(true));
        self.throws = is_on("throw");
        if is_on("discardResponseBodies") {
            self.body = BodyType::Nothing;
        }
        if let Some(n) = option("maxRedirects").and_then(serde_json::Value::as_u64) {
            self.request.max_redirects = u32::try_from(n).unwrap_or(u32::MAX);
            self.has_own_limit = true;
        }
    }

    /// The host of the URL, for limits per host.
    pub(super) fn host(&self) -> &str {
        self.request.url.host_str().unwrap_or_default()
    }

    /// A field of the request that the script set.
    pub(super) fn has_header(&self, name: &str) -> bool {
        self.request
            .headers
            .iter()
            .any(|(other, _)| other.eq_ignore_ascii_case(name))
    }
}

/// A text, or what `http.url` made.
fn url_of<'js>(ctx: &Ctx<'js>, url: &Value<'js>) -> Result<(String, Option<String>)> {
    if let Some(text) = url.as_string() {
        return Ok((text.to_string()?, None));
    }
    if let Some(object) = url.as_object() {
        // A `URL` of the URL Standard.
        if let Some(href) = object.get::<_, Option<String>>("href").ok().flatten() {
            return Ok((href, None));
        }
        if let Some(text) = object.get::<_, Option<String>>("url").ok().flatten() {
            return Ok((text, object.get("name").ok()));
        }
    }
    let text = format!(
        "the URL of a request is {}; expected a text or http.url`…`",
        url.type_name()
    );
    Err(Exception::throw_type(ctx, &text))
}

fn parse(text: &str) -> std::result::Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("unsupported protocol scheme {:?}", url.scheme()));
    }
    Ok(url)
}

/// Users and passwords are not for tags and logs.
pub(super) fn without_password(url: &str) -> String {
    let masked = || {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (user, host) = rest[..end].rsplit_once('@')?;
        let stars = if user.contains(':') { "****:****" } else { "****" };
        Some(format!("{scheme}://{stars}@{host}{}", &rest[end..]))
    };
    masked().unwrap_or_else(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_masked() {
        let check = |url: &str, expected: &str| assert_eq!(without_password(url), expected);
        check("http://a.test/x@y", "http://a.test/x@y");
        check("http://u:p@a.test:80/x@y", "http://****:****@a.test:80/x@y");
        check("https://u@a.test", "https://****@a.test");
        check("nothing", "nothing");
    }
}
