//! From the arguments of a script to a call.

use std::{collections::BTreeMap, rc::Rc};

use plimsoll_clients::http::{Keep, Method, Request, Url};
use rquickjs::{Ctx, Exception, Result, Value};

use super::{
    super::{form, session::Session},
    BodyType, Call, Unusable, urls, without_password,
};
use crate::host::Host;

impl Call {
    /// Reads the arguments.
    ///
    /// # Errors
    /// The outer error is an exception for invalid arguments; the inner error stands for an invalid URL.
    pub(in super::super) fn read<'js>(
        ctx: &Ctx<'js>,
        host: &Host,
        session: &Session,
        method: &str,
        url: &Value<'js>,
        body: Option<&Value<'js>>,
        params: Option<&Value<'js>>,
    ) -> Result<std::result::Result<Self, Unusable>> {
        let (text, name) = url_of(ctx, url)?;
        let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes()).map_err(|_| {
            let text = format!("{method:?} is not an HTTP method; expected something like GET or POST");
            Exception::throw_type(ctx, &text)
        })?;
        // The parameters are read in any case, so that their mistakes are found.
        let (url, problem) = match urls::read(&text) {
            Ok(url) => (url, None),
            Err(problem) => {
                let placeholder = Url::parse("http://localhost/").expect("a URL");
                (placeholder, Some(problem))
            }
        };
        let mut call = Self {
            request: Request::new(method, url),
            shown_url: without_password(&text),
            url: text,
            name,
            tags: BTreeMap::new(),
            jar: Some(Rc::clone(&session.jar)),
            expected: session.expected.borrow().clone(),
            body: BodyType::Text,
            plain_body: None,
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
        call.check_length();
        if call.body == BodyType::Nothing {
            call.request.keep = Keep::Nothing;
        }
        Ok(match problem {
            None => Ok(call),
            Some(problem) => Err(Unusable { call, problem }),
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

    /// Warns when the script's `Content-Length` differs from the length of the body. The header is ignored.
    fn check_length(&self) {
        let mut fields = self.request.headers.iter();
        let field = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let n_bytes = self.request.body.len();
        if let Some((_, said)) = field.filter(|(_, said)| said.trim() != n_bytes.to_string()) {
            tracing::warn!(
                target: "http",
                "{} {:?}: the header Content-Length says {said:?}, the body has {n_bytes} bytes; the header is ignored",
                self.request.method, self.shown_url
            );
        }
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
