//! `k6/http`: requests over HTTP.

use std::{cell::RefCell, rc::Rc};

use plimsoll_clients::http::CookieJar;
use rquickjs::{
    Class, Coerced, Ctx, Exception, Object, Result, Value,
    function::{Opt, Rest},
};

mod batch;
mod call;
mod cookie_jar;
mod debug;
mod expected;
mod file;
mod form;
mod json_path;
mod names;
mod pace;
mod page;
mod params;
mod response;
mod response_callback;
mod run_settings;
mod samples;
mod send;
mod session;

pub(crate) use self::debug::Debug;
pub(super) use self::names::canonical;
pub(crate) use self::run_settings::RunSettings;
use self::session::Session;
use super::module::{Api, Module, differs, same};
use crate::{arguments::items, host::Host, members::members};

pub(super) const MODULE: Module = Module {
    id: "k6/http",
    build,
    api: API,
};

const API: &[Api] = &[
    same("get"),
    same("head"),
    same("post"),
    same("put"),
    same("patch"),
    same("del"),
    same("options"),
    same("request"),
    same("asyncRequest"),
    same("batch"),
    same("file"),
    same("url"),
    same("expectedStatuses"),
    same("setResponseCallback"),
    same("cookieJar"),
    same("CookieJar"),
    same("CookieJar.cookiesForURL"),
    same("CookieJar.set"),
    same("CookieJar.clear"),
    same("CookieJar.delete"),
    same("TLS_1_0"),
    same("TLS_1_1"),
    same("TLS_1_2"),
    same("TLS_1_3"),
    differs(
        "OCSP_STATUS_GOOD",
        "never set, because stapled OCSP answers are not read; all OCSP constants are the same",
    ),
    differs(
        "Response",
        "its fields cannot be assigned and are not own properties (`JSON.stringify` has them all); `ocsp` is always empty; \
         a body over 256 MiB is an error, and a broken one is no body",
    ),
    differs(
        "Response.json",
        "paths take keys, indexes, `#`, `#(key==\"value\")`, `#(…)#`, `*` and `?`; no modifiers; a path of \
         an empty body is undefined, where k6 throws",
    ),
    same("Response.html"),
    differs(
        "Response.submitForm",
        "fields are sent as by browsers: a <select> without a chosen option sends its first option",
    ),
    same("Response.clickLink"),
    differs(
        "Params",
        "an invalid value throws an exception; in k6 it logs a warning and returns a response with an `error`",
    ),
    differs(
        "Params.auth",
        "`ntlm` always goes over HTTP/1.1, and signs in also with `noConnectionReuse`; a challenge that cannot be answered is an error",
    ),
    differs(
        "User-Agent",
        "`plimsoll/<version>`, unless the option `userAgent` or the request says otherwise",
    ),
    differs(
        "URL",
        "parsed as in browsers: `.` and `..` in the path are resolved, and spaces around the URL are removed",
    ),
    same("HTTP_PROXY"),
];

/// Cookies that several requests and WebSockets use.
pub(crate) type SharedJar = Rc<RefCell<CookieJar>>;

/// The jar of the virtual user; `None` when its script has no HTTP, and so no cookies.
///
/// # Errors
/// In the init context.
pub(crate) fn jar_of_user(ctx: &Ctx<'_>, host: &Host) -> Result<Option<SharedJar>> {
    let Some(session) = Session::find(ctx) else {
        return Ok(None);
    };
    session.enter(ctx, host, "a WebSocket")?;
    Ok(Some(Rc::clone(&session.jar)))
}

/// The jar that a script created with `new http.CookieJar()`, or the jar of its virtual user.
///
/// # Errors
/// A TypeError when the value is not a jar.
pub(crate) fn jar_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<SharedJar> {
    let jar = Class::<cookie_jar::Jar>::from_value(value);
    let jar = jar.map_err(|_| {
        let text = "the param `jar` is not a CookieJar; create one with new http.CookieJar()";
        Exception::throw_type(ctx, text)
    })?;
    Ok(Rc::clone(&jar.borrow().cookies))
}

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    Session::install(ctx)?;
    let exports = Object::new(ctx.clone())?;
    members![
        function c"get" => get,
        function c"head" => head,
        function c"post" => post,
        function c"put" => put,
        function c"patch" => patch,
        function c"del" => del,
        function c"options" => options,
        function c"request" => request,
        function c"asyncRequest" => async_request,
        function c"batch" => batch::batch,
        function c"file" => file::create,
        function c"url" => url,
        function c"expectedStatuses" => expected::create,
        function c"setResponseCallback" => response_callback::set_default,
        function c"cookieJar" => cookie_jar::of_user,
        constructor c"CookieJar" => cookie_jar::create,
        // Versions of TLS, as k6's constants have them.
        text c"TLS_1_0" => c"tls1.0",
        text c"TLS_1_1" => c"tls1.1",
        text c"TLS_1_2" => c"tls1.2",
        text c"TLS_1_3" => c"tls1.3",
        // Words of OCSP (RFC 6960).
        text c"OCSP_STATUS_GOOD" => c"good",
        text c"OCSP_STATUS_REVOKED" => c"revoked",
        text c"OCSP_STATUS_SERVER_FAILED" => c"server_failed",
        text c"OCSP_STATUS_UNKNOWN" => c"unknown",
        text c"OCSP_REASON_UNSPECIFIED" => c"unspecified",
        text c"OCSP_REASON_KEY_COMPROMISE" => c"key_compromise",
        text c"OCSP_REASON_CA_COMPROMISE" => c"ca_compromise",
        text c"OCSP_REASON_AFFILIATION_CHANGED" => c"affiliation_changed",
        text c"OCSP_REASON_SUPERSEDED" => c"superseded",
        text c"OCSP_REASON_CESSATION_OF_OPERATION" => c"cessation_of_operation",
        text c"OCSP_REASON_CERTIFICATE_HOLD" => c"certificate_hold",
        text c"OCSP_REASON_REMOVE_FROM_CRL" => c"remove_from_crl",
        text c"OCSP_REASON_PRIVILEGE_WITHDRAWN" => c"privilege_withdrawn",
        text c"OCSP_REASON_AA_COMPROMISE" => c"aa_compromise",
    ]
    .define(&exports)?;
    Ok(exports)
}

/// Defines the functions for methods without a body.
macro_rules! without_body {
    ($($name:ident => $method:literal),*) => {$(
        fn $name<'js>(ctx: Ctx<'js>, url: Value<'js>, params: Opt<Value<'js>>) -> Result<Value<'js>> {
            send::blocking(&ctx, $method, &url, None, params.0.as_ref())
        }
    )*};
}

/// Defines the functions for methods with a body.
macro_rules! with_body {
    ($($name:ident => $method:literal),*) => {$(
        fn $name<'js>(
            ctx: Ctx<'js>,
            url: Value<'js>,
            body: Opt<Value<'js>>,
            params: Opt<Value<'js>>,
        ) -> Result<Value<'js>> {
            send::blocking(&ctx, $method, &url, body.0.as_ref(), params.0.as_ref())
        }
    )*};
}

without_body!(get => "GET", head => "HEAD");
with_body!(post => "POST", put => "PUT", patch => "PATCH", del => "DELETE", options => "OPTIONS");

fn request<'js>(
    ctx: Ctx<'js>,
    method: String,
    url: Value<'js>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    send::blocking(&ctx, &method, &url, body.0.as_ref(), params.0.as_ref())
}

fn async_request<'js>(
    ctx: Ctx<'js>,
    method: String,
    url: Value<'js>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    send::promised(&ctx, &method, &url, body.0.as_ref(), params.0.as_ref())
}

/// The tag of a template literal: the URL with its values, and as a name the template without them.
fn url<'js>(ctx: Ctx<'js>, parts: Value<'js>, values: Rest<Coerced<String>>) -> Result<Object<'js>> {
    let Some(parts) = parts.as_array() else {
        let text = "http.url is the tag of a template literal: http.url`https://example.com/posts/${id}`";
        return Err(Exception::throw_type(&ctx, text));
    };
    let (mut url, mut name) = (String::new(), String::new());
    for (position, part) in items::<String>(parts)?.enumerate() {
        if position > 0 {
            name.push_str("${}");
            url.push_str(values.get(position - 1).map_or("", |value| value.0.as_str()));
        }
        let part = part?;
        name.push_str(&part);
        url.push_str(&part);
    }
    let tagged = Object::new(ctx)?;
    tagged.set("clean_url", call::without_password(&url))?;
    tagged.set("url", url)?;
    tagged.set("name", name)?;
    Ok(tagged)
}
