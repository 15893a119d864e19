//! `k6/ws`: a WebSocket whose `connect` blocks until the session is over.

mod handlers;
mod session_loop;
mod socket;
mod timers;

use plimsoll_clients::websocket::Response;
use rquickjs::{Class, Ctx, Exception, Function, Object, Result, Value, function::Rest};

use self::socket::Socket;
use super::{
    http::canonical,
    module::{Module, beyond, differs, same},
};
use crate::{
    host::Host,
    websocket::{Dial, Flavour, Opened, Params, Session},
};

pub(super) const MODULE: Module = Module {
    id: "k6/ws",
    build,
    api: &[
        differs("connect", "promises and global timers go on while it blocks"),
        differs("Socket.close", "invalid close codes are refused"),
        differs(
            "Socket.on",
            "`close` is not called when the iteration is interrupted; the server's Ping is answered while a handler \
             sleeps or waits; its Close is answered when the handlers are done, as in k6",
        ),
        same("Socket.ping"),
        same("Socket.send"),
        beyond("Socket.sendBinary", "takes typed arrays, too"),
        same("Socket.setInterval"),
        same("Socket.setTimeout"),
    ],
};

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    exports.set("connect", Function::new(ctx.clone(), connect)?)?;
    Ok(exports)
}

/// `connect(url, [params], callback)`.
fn connect<'js>(ctx: Ctx<'js>, arguments: Rest<Value<'js>>) -> Result<Object<'js>> {
    let host = Host::of(&ctx);
    let recorder = host.recorder(&ctx, "ws.connect()")?;
    let (url, params, callback) = read(&ctx, &host, arguments.0)?;
    let network = host.program.network();
    let network = network.map_err(|error| Exception::throw_message(&ctx, &error.to_string()))?;
    let dial = Dial {
        url: url.clone(),
        protocols: Vec::new(),
        params,
        flavour: Flavour::Blocking,
    };
    let session = Session::open(&host, network, recorder, dial);
    let opened = host.park(&ctx, session.opened())?;
    if let Some(error) = &opened.error {
        session.finish();
        if host.program.option("throw") == Some(&serde_json::Value::Bool(true)) {
            return Err(Exception::throw_message(&ctx, error));
        }
        return response(&ctx, "", &opened);
    }
    let socket = Class::instance(ctx.clone(), Socket::new(session.clone()))?;
    let outcome = callback
        .call::<_, Value<'js>>((socket.clone(),))
        .and_then(|_| session_loop::run(&ctx, &host, &socket.borrow()));
    session.finish();
    outcome?;
    response(&ctx, &url, &opened)
}

fn read<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    mut arguments: Vec<Value<'js>>,
) -> Result<(String, Params, Function<'js>)> {
    let wrong = |what: &str| {
        let text = format!(
            "{what}; expected ws.connect(url, [params], callback), for example \
             ws.connect('ws://localhost:8080/ws', function (socket) {{ … }})"
        );
        Exception::throw_type(ctx, &text)
    };
    if !(2..=3).contains(&arguments.len()) {
        return Err(wrong("invalid number of arguments to ws.connect"));
    }
    let callback = arguments.pop().and_then(Value::into_function);
    let callback = callback.ok_or_else(|| wrong("last argument to ws.connect must be a function"))?;
    let none = Value::new_undefined(ctx.clone());
    let params = Params::read(ctx, host, arguments.get(1).unwrap_or(&none), false)?;
    let url = arguments[0].get::<rquickjs::Coerced<String>>()?.0;
    Ok((url, params, callback))
}

/// The result of `connect`.
fn response<'js>(ctx: &Ctx<'js>, url: &str, opened: &Opened) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let head = opened.response.as_ref().map(|response| &response.head);
    let body = opened
        .response
        .as_ref()
        .map_or(&[][..], |response| &response.body);
    // k6 gives the reason only when there was no answer: an answer speaks for itself.
    let error = opened.error.as_deref().filter(|_| head.is_none());
    object.set("url", url)?;
    object.set("status", head.map_or(0, |head| head.status))?;
    object.set("headers", headers(ctx, opened.response.as_ref())?)?;
    object.set("body", String::from_utf8_lossy(body).as_ref())?;
    object.set("error", error.unwrap_or_default())?;
    Ok(object)
}

/// The headers by canonical name; the values of a repeated name are joined.
fn headers<'js>(ctx: &Ctx<'js>, response: Option<&Response>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in response.map_or(&[][..], |response| &response.head.headers) {
        let name = canonical(name);
        let before: Option<String> = object.get(name.as_str())?;
        let value = before.map_or_else(|| value.clone(), |before| format!("{before}, {value}"));
        object.set(name.as_str(), value)?;
    }
    Ok(object)
}

#[cfg(test)]
mod tests;
