//! `k6/http`: requests over HTTP.

use std::{cell::RefCell, rc::Rc};

use plimsoll_clients::http::CookieJar;
use rquickjs::{
    Class, Coerced, Ctx, Exception, Function, Object, Result, Value,
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
use crate::{arguments::items, host::Host};

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

/// Versions of TLS, as k6's constants have them.
const TLS_VERSIONS: [(&str, &str); 4] = [
    ("TLS_1_0", "tls1.0"),
    ("TLS_1_1", "tls1.1"),
    ("TLS_1_2", "tls1.2"),
    ("TLS_1_3", "tls1.3"),
];

/// Words of OCSP (RFC 6960).
const OCSP: [(&str, &str); 14] = [
    ("OCSP_STATUS_GOOD", "good"),
    ("OCSP_STATUS_REVOKED", "revoked"),
    ("OCSP_STATUS_SERVER_FAILED", "server_failed"),
    ("OCSP_STATUS_UNKNOWN", "unknown"),
    ("OCSP_REASON_UNSPECIFIED", "unspecified"),
    ("OCSP_REASON_KEY_COMPROMISE", "key_compromise"),
    ("OCSP_REASON_CA_COMPROMISE", "ca_compromise"),
    ("OCSP_REASON_AFFILIATION_CHANGED", "affiliation_changed"),
    ("OCSP_REASON_SUPERSEDED", "superseded"),
    ("OCSP_REASON_CESSATION_OF_OPERATION", "cessation_of_operation"),
    ("OCSP_REASON_CERTIFICATE_HOLD", "certificate_hold"),
    ("OCSP_REASON_REMOVE_FROM_CRL", "remove_from_crl"),
    ("OCSP_REASON_PRIVILEGE_WITHDRAWN", "privilege_withdrawn"),
    ("OCSP_REASON_AA_COMPROMISE", "aa_compromise"),
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
    for (name, method) in [("get", "GET"), ("head", "HEAD")] {
        let function = move |ctx: Ctx<'js>, url: Value<'js>, params: Opt<Value<'js>>| {
            send::blocking(&ctx, method, &url, None, params.0.as_ref())
        };
        exports.set(name, Function::new(ctx.clone(), function)?.with_name(name)?)?;
    }
    let with_body = [
        ("post", "POST"),
        ("put", "PUT"),
        ("patch", "PATCH"),
        ("del", "DELETE"),
        ("options", "OPTIONS"),
    ];
    for (name, method) in with_body {
        let function =
            move |ctx: Ctx<'js>, url: Value<'js>, body: Opt<Value<'js>>, params: Opt<Value<'js>>| {
                send::blocking(&ctx, method, &url, body.0.as_ref(), params.0.as_ref())
            };
        exports.set(name, Function::new(ctx.clone(), function)?.with_name(name)?)?;
    }
    exports.set("request", Function::new(ctx.clone(), request)?)?;
    exports.set("asyncRequest", Function::new(ctx.clone(), async_request)?)?;
    exports.set("batch", Function::new(ctx.clone(), batch::batch)?)?;
    exports.set("file", Function::new(ctx.clone(), file::create)?)?;
    exports.set("url", Function::new(ctx.clone(), url)?)?;
    exports.set("expectedStatuses", Function::new(ctx.clone(), expected::create)?)?;
    exports.set(
        "setResponseCallback",
        Function::new(ctx.clone(), response_callback::set_default)?,
    )?;
    exports.set("cookieJar", Function::new(ctx.clone(), cookie_jar::of_user)?)?;
    let jar = Function::new(ctx.clone(), cookie_jar::create)?;
    exports.set("CookieJar", jar.with_name("CookieJar")?.with_constructor(true))?;
    for (name, value) in TLS_VERSIONS.into_iter().chain(OCSP) {
        exports.set(name, value)?;
    }
    Ok(exports)
}

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
