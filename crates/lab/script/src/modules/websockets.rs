//! `k6/websockets`: WebSockets as browsers have them, several at once in one virtual user.

mod blob;
mod construction;
mod conversation;
mod event;
mod handlers;
mod listeners;
mod socket;

use std::sync::Once;

use rquickjs::{Class, Ctx, Function, Object, Result, function::Rest};

use self::{
    blob::Blob,
    handlers::define_handlers,
    listeners::Kind,
    socket::{ReadyState, WebSocket},
};
use super::{
    absence::define_absent,
    module::{Api, Module, absent, beyond, differs, same},
};

pub(super) const MODULE: Module = Module {
    id: "k6/websockets",
    build,
    api: API,
};

/// The experimental name that k6 also has for the module, with a warning.
pub(super) const EXPERIMENTAL: Module = Module {
    id: "k6/experimental/websockets",
    build: build_experimental,
    api: API,
};

const API: &[Api] = &[
    beyond("Blob", "takes negative bounds in slice(), as browsers do"),
    same("Blob.arrayBuffer"),
    same("Blob.bytes"),
    same("Blob.size"),
    same("Blob.slice"),
    absent("Blob.stream", "use arrayBuffer() or text()"),
    same("Blob.text"),
    same("Blob.type"),
    beyond("WebSocket", "`instanceof` works"),
    same("WebSocket.addEventListener"),
    same("WebSocket.binaryType"),
    differs(
        "WebSocket.bufferedAmount",
        "counts the bytes that the system has not accepted yet, including frame headers; mostly 0",
    ),
    differs(
        "WebSocket.close",
        "waits 10 s for the server's Close and then ends with 1006; k6 waits forever",
    ),
    same("WebSocket.extensions"),
    same("WebSocket.onclose"),
    differs("WebSocket.onerror", "is called for broken connections, too"),
    differs(
        "WebSocket.onmessage",
        "the server's Close is answered when all messages before it are handled, so a handler that sleeps holds it back; k6 \
         answers it at once, and what the script sends after that is lost",
    ),
    same("WebSocket.onopen"),
    same("WebSocket.onping"),
    same("WebSocket.onpong"),
    same("WebSocket.ping"),
    same("WebSocket.protocol"),
    same("WebSocket.readyState"),
    beyond("WebSocket.removeEventListener", "as in browsers"),
    same("WebSocket.send"),
    same("WebSocket.url"),
    beyond(
        "WebSocket.CONNECTING",
        "and OPEN, CLOSING, CLOSED, as in browsers",
    ),
];

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    exports.set("WebSocket", websocket(ctx)?)?;
    Class::<Blob<'_>>::define(&exports)?;
    if let Some(prototype) = Class::<Blob<'_>>::prototype(ctx)? {
        define_absent(&prototype, "Blob", API)?;
    }
    Ok(exports)
}

fn build_experimental<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        tracing::warn!("k6/experimental/websockets is now k6/websockets; import that instead");
    });
    build(ctx)
}

/// The constructor.
fn websocket<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    let constructor = Function::new(
        ctx.clone(),
        |ctx: Ctx<'js>, arguments: Rest<rquickjs::Value<'js>>| construction::construct(&ctx, arguments.0),
    )?;
    let constructor = constructor.with_name("WebSocket")?.with_constructor(true);
    if let Some(prototype) = Class::<WebSocket<'_>>::prototype(ctx)? {
        for kind in Kind::ALL {
            define_handlers(&prototype, kind)?;
        }
        for state in ReadyState::ALL {
            prototype.prop(state.name(), state as u8)?;
            constructor.prop(state.name(), state as u8)?;
        }
        prototype.set("constructor", constructor.clone())?;
        constructor.prop("prototype", prototype)?;
    }
    Ok(constructor)
}

#[cfg(test)]
mod tests;
