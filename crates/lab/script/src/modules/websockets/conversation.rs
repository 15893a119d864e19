//! The events of a WebSocket for the script, from its opening to its end: one event of the host after the other.

use std::{rc::Rc, time::Instant};

use rquickjs::{ArrayBuffer, Class, Ctx, Error, IntoJs as _, Object, Persistent, Result, Value};

use super::{
    blob::Blob,
    event,
    listeners::Kind,
    socket::{ReadyState, WebSocket},
};
use crate::{
    events::{Callback, EventId},
    host::Host,
    websocket::{Happening, Opened},
};

type Socket<'js> = Class<'js, WebSocket<'js>>;

/// Waits for the end of the attempt to connect.
pub(super) fn begin<'js>(ctx: &Ctx<'js>, host: &Host, socket: &Socket<'js>) -> Result<()> {
    let session = Rc::clone(&socket.borrow().session);
    let held = Persistent::save(ctx, socket.clone());
    let id = host.events.new_id();
    let opening = async move {
        let opened = session.opened().await;
        Box::new(move |ctx: &Ctx<'_>| {
            let socket = held.restore(ctx)?;
            guard(ctx, &socket, |socket| open(ctx, id, socket, opened))
        }) as Callback
    };
    host.event_as(ctx, id, opening)
}

/// Waits for the next event.
fn go_on<'js>(ctx: &Ctx<'js>, id: EventId, socket: &Socket<'js>) -> Result<()> {
    let session = Rc::clone(&socket.borrow().session);
    let held = Persistent::save(ctx, socket.clone());
    let news = async move {
        session.news().await;
        Box::new(move |ctx: &Ctx<'_>| {
            let socket = held.restore(ctx)?;
            guard(ctx, &socket, |socket| {
                tell_all(ctx, socket)?;
                if socket.borrow().state() == ReadyState::Closed {
                    return Ok(());
                }
                go_on(ctx, id, socket)
            })
        }) as Callback
    };
    Host::of(ctx).event_as(ctx, id, news)
}

fn open<'js>(ctx: &Ctx<'js>, id: EventId, socket: &Socket<'js>, mut opened: Opened) -> Result<()> {
    let now = Instant::now();
    if let Some(error) = opened.error.take() {
        socket.borrow().end();
        fire(socket, Kind::Error, || event::error(ctx, socket, now, &error))?;
        return fire(socket, Kind::Close, || event::close(ctx, socket, now, None, ""));
    }
    if socket.borrow().open(opened) {
        fire(socket, Kind::Open, || event::new(ctx, Kind::Open, socket, now))?;
    }
    go_on(ctx, id, socket)
}

/// Tells of all that has happened, and of the end if that has come.
fn tell_all<'js>(ctx: &Ctx<'js>, socket: &Socket<'js>) -> Result<()> {
    let host = Host::of(ctx);
    let session = Rc::clone(&socket.borrow().session);
    while tell_one(ctx, socket)? {
        host.run_jobs(ctx)?;
        host.take_turns(ctx)?;
    }
    session.handled();
    let Some(ending) = session.ending() else {
        return Ok(());
    };
    socket.borrow().end();
    if let Some(error) = &ending.error {
        fire(socket, Kind::Error, || {
            event::error(ctx, socket, ending.at, error)
        })?;
    }
    fire(socket, Kind::Close, || {
        event::close(ctx, socket, ending.at, ending.code, &ending.reason)
    })
}

/// Reports the oldest event to the script; false when none waits.
fn tell_one<'js>(ctx: &Ctx<'js>, socket: &Socket<'js>) -> Result<bool> {
    let this = socket.borrow();
    // What comes after the script's own close is not for it any more.
    let is_open = this.state() == ReadyState::Open;
    let wants_buffers = this.wants_buffers();
    // Only data is made while the session is borrowed: what sets properties may run code of the script.
    let told = this.session.take(is_open, |happening, at| -> Result<_> {
        let told = match happening {
            Happening::Text(text) => Told::Message(text.into_js(ctx)?),
            Happening::Binary(bytes) if wants_buffers => {
                Told::Message(ArrayBuffer::new_copy(ctx.clone(), bytes)?.into_value())
            }
            Happening::Binary(bytes) => Told::Message(Blob::of(ctx, bytes)?.into_js(ctx)?),
            Happening::Ping => Told::Ping,
            Happening::Pong => Told::Pong,
        };
        Ok((told, at))
    });
    let Some((told, at)) = told.transpose()? else {
        return Ok(false);
    };
    match told {
        _ if !is_open => {}
        Told::Message(data) => fire(socket, Kind::Message, || event::message(ctx, socket, at, data))?,
        Told::Ping => fire(socket, Kind::Ping, || event::new(ctx, Kind::Ping, socket, at))?,
        Told::Pong => fire(socket, Kind::Pong, || event::new(ctx, Kind::Pong, socket, at))?,
    }
    Ok(true)
}

/// An event as the script gets it.
enum Told<'js> {
    Message(Value<'js>),
    Ping,
    Pong,
}

/// Calls the listeners.
fn fire<'js>(socket: &Socket<'js>, kind: Kind, event: impl FnOnce() -> Result<Object<'js>>) -> Result<()> {
    let listeners = socket.borrow().listeners.of(kind);
    if listeners.is_empty() {
        return Ok(());
    }
    let event = event()?;
    for listener in listeners {
        listener.call::<_, Value<'js>>((event.clone(),))?;
    }
    Ok(())
}

/// An exception of a listener ends the WebSocket, which tells so, and then the iteration.
fn guard<'js>(
    ctx: &Ctx<'js>,
    socket: &Socket<'js>,
    tell: impl FnOnce(&Socket<'js>) -> Result<()>,
) -> Result<()> {
    let Err(error) = tell(socket) else {
        return Ok(());
    };
    let is_told = socket.borrow().state() == ReadyState::Closed;
    if !error.is_exception() || is_told || Host::of(ctx).is_interrupted() {
        return Err(error);
    }
    let thrown = ctx.catch();
    socket.borrow().end();
    let now = Instant::now();
    let text = thrown
        .get::<rquickjs::Coerced<String>>()
        .map_or_else(|_| "exception".to_owned(), |text| text.0);
    let told = fire(socket, Kind::Error, || event::error(ctx, socket, now, &text))
        .and_then(|()| fire(socket, Kind::Close, || event::close(ctx, socket, now, None, "")));
    // What its listeners throw now is less important than what led to it.
    if told.as_ref().is_err_and(Error::is_exception) {
        ctx.catch();
    }
    Err(ctx.throw(thrown))
}
