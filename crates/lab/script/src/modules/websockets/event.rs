//! The events that a WebSocket tells of.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rquickjs::{Class, Ctx, IntoJs, Object, Result};

use super::{listeners::Kind, socket::WebSocket};

/// An event with what all of them have: `type`, `target` and `timestamp`, milliseconds since 1970 with fractions. For
/// what comes from the server, that is when it was read from the socket.
pub(super) fn new<'js>(
    ctx: &Ctx<'js>,
    kind: Kind,
    target: &Class<'js, WebSocket<'js>>,
    at: Instant,
) -> Result<Object<'js>> {
    let event = Object::new(ctx.clone())?;
    event.set("type", kind.name())?;
    event.set("target", target.clone())?;
    event.set("timestamp", millis(at))?;
    Ok(event)
}

/// The event `message`.
pub(super) fn message<'js>(
    ctx: &Ctx<'js>,
    target: &Class<'js, WebSocket<'js>>,
    at: Instant,
    data: impl IntoJs<'js>,
) -> Result<Object<'js>> {
    let event = new(ctx, Kind::Message, target, at)?;
    event.set("data", data)?;
    event.set("origin", target.borrow().url())?;
    Ok(event)
}

/// The event `error`.
pub(super) fn error<'js>(
    ctx: &Ctx<'js>,
    target: &Class<'js, WebSocket<'js>>,
    at: Instant,
    text: &str,
) -> Result<Object<'js>> {
    let event = new(ctx, Kind::Error, target, at)?;
    event.set("error", text)?;
    Ok(event)
}

/// The event `close`; it has no code when the connection broke.
pub(super) fn close<'js>(
    ctx: &Ctx<'js>,
    target: &Class<'js, WebSocket<'js>>,
    at: Instant,
    code: Option<u16>,
    reason: &str,
) -> Result<Object<'js>> {
    let event = new(ctx, Kind::Close, target, at)?;
    if let Some(code) = code {
        event.set("code", code)?;
    }
    event.set("reason", reason)?;
    Ok(event)
}

fn millis(at: Instant) -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(at.elapsed()).as_secs_f64() * 1_000.0
}
