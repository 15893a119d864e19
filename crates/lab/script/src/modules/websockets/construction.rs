//! `new WebSocket(…)`.

use plimsoll_clients::target::Target;
use rquickjs::{Class, Coerced, Ctx, Exception, FromJs as _, Result, Value};

use super::{conversation, socket::WebSocket};
use crate::{
    arguments::items,
    host::Host,
    websocket::{Dial, Flavour, Params, Session},
};

/// `new WebSocket(url, protocols, params)`.
pub(super) fn construct<'js>(
    ctx: &Ctx<'js>,
    arguments: Vec<Value<'js>>,
) -> Result<Class<'js, WebSocket<'js>>> {
    let host = Host::of(ctx);
    let recorder = host.recorder(ctx, "a WebSocket")?;
    let mut arguments = arguments.into_iter();
    let throw = |error: &dyn std::fmt::Display| Exception::throw_message(ctx, &error.to_string());
    let Some(url) = arguments.next().filter(|url| !url.is_undefined()) else {
        return Err(throw(
            &"WebSocket requires a url, for example new WebSocket('ws://localhost:8080/cable')",
        ));
    };
    let url = Coerced::<String>::from_js(ctx, url)?.0;
    Target::parse(&url).map_err(|error| throw(&error))?;
    let protocols = arguments
        .next()
        .map_or(Ok(Vec::new()), |value| protocols(ctx, &value))?;
    let none = Value::new_undefined(ctx.clone());
    let params = Params::read(ctx, &host, &arguments.next().unwrap_or(none), true)?;
    let dial = Dial {
        url: url.clone(),
        protocols,
        params,
        flavour: Flavour::Events,
    };
    let network = host.program.network().map_err(|error| throw(&error))?;
    let session = Session::open(&host, network, recorder, dial);
    let socket = Class::instance(ctx.clone(), WebSocket::new(session, url))?;
    conversation::begin(ctx, &host, &socket)?;
    Ok(socket)
}

/// One name, or a list of them.
fn protocols<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<String>> {
    if value.is_null() || value.is_undefined() {
        return Ok(Vec::new());
    }
    if let Some(list) = value.as_array() {
        return items::<Coerced<String>>(list)?
            .map(|name| name.map(|name| name.0))
            .collect();
    }
    Ok(vec![Coerced::<String>::from_js(ctx, value.clone())?.0])
}
