//! HTTP for `fetch`, `http` and `https`: one exchange, without redirects and cookies. It is the module's own traffic, so
//! no metric counts it, as in Artillery.

use std::{cell::OnceCell, rc::Rc, sync::Arc};

use http::Method;
use plimsoll_clients::{
    dial::DialError,
    http::{Client, Exchange, HttpError, Protocol, Request, Response},
};
use rquickjs::{Array, Ctx, Exception, Function, IntoJs as _, Object, Persistent, Result, Value};

use super::system_error::{self, described};
use crate::{bytes, events::Callback, host::Host};

/// Longer than any request: callers have timers of their own.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(300);

pub(super) fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    let client = Rc::new(OnceCell::new());
    let exchange = move |ctx: Ctx<'js>, asked: Object<'js>, callback: Function<'js>| {
        begin(&ctx, &client, &asked, callback)
    };
    native.set("exchange", Function::new(ctx.clone(), exchange)?)
}

/// Sends `{ method, url, headers, body }`, and calls back with an error or an answer. Gives the function that ends it.
fn begin<'js>(
    ctx: &Ctx<'js>,
    client: &Rc<OnceCell<Client>>,
    asked: &Object<'js>,
    callback: Function<'js>,
) -> Result<Function<'js>> {
    let host = Host::of(ctx);
    let request = read(ctx, asked)?;
    if client.get().is_none() {
        let unusable =
            |error: crate::network::NetworkError| Exception::throw_message(ctx, &error.to_string());
        host.program.network().map_err(unusable)?;
        let settings = Arc::clone(host.program.http().map_err(unusable)?.client());
        drop(client.set(Client::new(settings, None)));
    }
    let (client, callback) = (Rc::clone(client), Persistent::save(ctx, callback));
    let sending = async move {
        let exchange = match client.get() {
            Some(client) => Some(client.send(&request, None, drop).await),
            None => None,
        };
        Box::new(move |ctx: &Ctx<'_>| {
            let callback = callback.restore(ctx)?;
            match exchange {
                Some(exchange) => tell(ctx, &callback, exchange),
                None => Ok(()),
            }
        }) as Callback
    };
    let id = host.event(ctx, sending)?;
    Function::new(ctx.clone(), move |ctx: Ctx<'_>| Host::of(&ctx).events.cancel(id))
}

fn read<'js>(ctx: &Ctx<'js>, asked: &Object<'js>) -> Result<Request> {
    let text: String = asked.get("url")?;
    let url = url::Url::parse(&text).map_err(|_| {
        let error = system_error::build(ctx, "Invalid URL", "ERR_INVALID_URL", None);
        error.map_or_else(|error| error, |error| ctx.throw(error.into_value()))
    })?;
    let method: String = asked.get("method")?;
    let method = Method::from_bytes(method.as_bytes())
        .map_err(|_| Exception::throw_type(ctx, &format!("`{method}` is not an HTTP method")))?;
    let mut request = Request::new(method, url);
    for field in asked.get::<_, Array<'js>>("headers")?.iter::<Array<'js>>() {
        let field = field?;
        request.headers.push((field.get(0)?, field.get(1)?));
    }
    let body: Value<'js> = asked.get("body")?;
    if !body.is_undefined() {
        request.body = bytes::of(ctx, &body, "the body")?;
    }
    request.timeout = LONGEST;
    request.max_redirects = 0;
    Ok(request)
}

fn tell<'js>(ctx: &Ctx<'js>, callback: &Function<'js>, exchange: Exchange) -> Result<()> {
    match &exchange.outcome {
        Ok(answer) => callback.call((Value::new_null(ctx.clone()), described_answer(ctx, answer)?)),
        Err(error) => callback.call((failure(ctx, &exchange, error)?,)),
    }
}

fn described_answer<'js>(ctx: &Ctx<'js>, answer: &Response) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("status", answer.status)?;
    object.set("reason", &*answer.reason)?;
    let version = match answer.protocol {
        Protocol::Http10 => "1.0",
        Protocol::Http11 => "1.1",
        Protocol::Http2 => "2.0",
    };
    object.set("version", version)?;
    let headers = Array::new(ctx.clone())?;
    for (index, (name, value)) in answer.headers.iter().enumerate() {
        // Bytes beyond ASCII are characters of Latin-1, as in Node.
        let value: String = value.iter().map(|&byte| char::from(byte)).collect();
        headers.set(index, vec![name.to_owned(), value])?;
    }
    object.set("headers", headers)?;
    object.set("body", bytes::buffer(ctx, &answer.body)?)?;
    Ok(object)
}

/// The error with Node's code, so that functions that look for it work.
fn failure<'js>(ctx: &Ctx<'js>, exchange: &Exchange, error: &HttpError) -> Result<Value<'js>> {
    let host = exchange.url.host_str().unwrap_or_default();
    let (message, code, syscall) = match error {
        HttpError::Dial(DialError::NoSuchHost(_) | DialError::Lookup { .. }) => {
            let code = match error {
                HttpError::Dial(DialError::NoSuchHost(_)) => "ENOTFOUND",
                _ => "EAI_AGAIN",
            };
            (format!("getaddrinfo {code} {host}"), code, Some("getaddrinfo"))
        }
        HttpError::Dial(DialError::Connect { source, .. }) => {
            let (code, _) = described(source);
            let port = exchange.url.port_or_known_default().unwrap_or_default();
            (format!("connect {code} {host}:{port}"), code, Some("connect"))
        }
        HttpError::Lost { doing, source } => {
            let (code, _) = described(source);
            (format!("{doing} {code}"), code, Some(*doing))
        }
        HttpError::Unanswered | HttpError::Ended => ("socket hang up".to_owned(), "ECONNRESET", None),
        HttpError::Timeout { .. } => (error.to_string(), "ETIMEDOUT", None),
        HttpError::Field(_) => (error.to_string(), "ERR_INVALID_CHAR", None),
        HttpError::Handshake(_) => (error.to_string(), "ERR_TLS_HANDSHAKE", None),
        HttpError::Malformed(_) => (format!("Parse Error: {error}"), "HPE_INVALID_CONSTANT", None),
        _ => (error.to_string(), "ERR_HTTP", None),
    };
    system_error::build(ctx, &message, code, syscall)?.into_js(ctx)
}
