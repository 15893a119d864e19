//! The work of `ws.connect` between the open WebSocket and its end: one event after the other.

use std::{future::poll_fn, pin::Pin, task::Poll};

use plimsoll_websocket::CloseCode;
use rquickjs::{ArrayBuffer, Ctx, Result, String, Value};
use tokio::time::{Instant, Sleep, sleep_until};

use super::{handlers::On, socket::Socket};
use crate::{events::Callback, host::Host, websocket::Happening};

/// The next event.
enum Next {
    /// The session has something.
    News,
    /// A timer of the socket is due.
    Timer,
    /// Another event that the script waits for has happened.
    Callback(Callback),
}

/// An event as the script gets it.
enum Told<'js> {
    Text(String<'js>),
    Binary(ArrayBuffer<'js>),
    Ping,
    Pong,
}

/// Tells the script what happens, until the session is over.
///
/// # Errors
/// What the script threw; it has been told of the end by then.
pub(super) fn run<'js>(ctx: &Ctx<'js>, host: &Host, socket: &Socket<'js>) -> Result<()> {
    let outcome = socket
        .call(ctx, On::Open, ())
        .and_then(|()| go_on(ctx, host, socket));
    match outcome {
        Err(error) if error.is_exception() && !host.is_interrupted() => {
            let thrown = ctx.catch();
            // What its handlers for the end throw is less important than what led to it.
            if socket.shut(ctx, CloseCode::GOING_AWAY).is_err() {
                ctx.catch();
            }
            Err(ctx.throw(thrown))
        }
        outcome => outcome,
    }
}

fn go_on<'js>(ctx: &Ctx<'js>, host: &Host, socket: &Socket<'js>) -> Result<()> {
    let mut alarm = None;
    while !socket.is_closed() {
        match wait(ctx, host, socket, &mut alarm)? {
            Next::News => tell(ctx, socket)?,
            Next::Timer => {
                if let Some(function) = socket.timers.take_due(Instant::now()) {
                    function.call::<_, Value<'js>>(())?;
                }
            }
            Next::Callback(callback) => callback(ctx)?,
        }
        host.run_jobs(ctx)?;
        host.take_turns(ctx)?;
    }
    Ok(())
}

/// Waits for the next event. A due timer comes before messages, because a busy socket always has messages.
fn wait(
    ctx: &Ctx<'_>,
    host: &Host,
    socket: &Socket<'_>,
    alarm: &mut Option<Pin<Box<Sleep>>>,
) -> Result<Next> {
    let session = &socket.session;
    session.handled();
    let due = socket.timers.next_due();
    if due.is_some_and(|due| due <= Instant::now()) {
        return Ok(Next::Timer);
    }
    if session.has_news() {
        return Ok(Next::News);
    }
    set(alarm, due);
    let next = poll_fn(|cx| {
        // The reading future has just been polled (see `Host::park`), so this future needs no wake-up.
        if session.has_news() {
            return Poll::Ready(Next::News);
        }
        if let Some(alarm) = alarm
            && alarm.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Next::Timer);
        }
        match host.events.poll_next(cx) {
            Poll::Ready(Some(callback)) => Poll::Ready(Next::Callback(callback)),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    });
    host.park(ctx, next)
}

/// Keeps one sleep for all waits: most end with a message, long before the next timer.
fn set(alarm: &mut Option<Pin<Box<Sleep>>>, due: Option<Instant>) {
    match (alarm.as_mut(), due) {
        (_, None) => *alarm = None,
        (Some(alarm), Some(due)) if alarm.deadline() == due => {}
        (Some(alarm), Some(due)) => alarm.as_mut().reset(due),
        (None, Some(due)) => *alarm = Some(Box::pin(sleep_until(due))),
    }
}

/// Tells the script one thing that has happened on the socket.
fn tell<'js>(ctx: &Ctx<'js>, socket: &Socket<'js>) -> Result<()> {
    let read = |happening: Happening<'_>| -> Result<Told<'js>> {
        Ok(match happening {
            Happening::Text(text) => Told::Text(String::from_str(ctx.clone(), text)?),
            Happening::Binary(bytes) => Told::Binary(ArrayBuffer::new_copy(ctx.clone(), bytes)?),
            Happening::Ping => Told::Ping,
            Happening::Pong => Told::Pong,
        })
    };
    let told = socket.session.take(true, |happening, _| read(happening));
    match told.transpose()? {
        Some(Told::Text(text)) => socket.call(ctx, On::Message, (text,)),
        Some(Told::Binary(bytes)) => socket.call(ctx, On::BinaryMessage, (bytes,)),
        Some(Told::Ping) => socket.call(ctx, On::Ping, ()),
        Some(Told::Pong) => socket.call(ctx, On::Pong, ()),
        None => tell_ending(ctx, socket),
    }
}

fn tell_ending<'js>(ctx: &Ctx<'js>, socket: &Socket<'js>) -> Result<()> {
    let Some(ending) = socket.session.ending() else {
        return Ok(());
    };
    if let Some(error) = ending.error {
        socket.report(ctx, &error)?;
    }
    socket.end(ctx, ending.code.unwrap_or(CloseCode::GOING_AWAY.get()))
}
