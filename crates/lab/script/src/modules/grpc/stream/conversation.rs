//! The events of a stream for the script, from its opening to its end: one event of the host after the other.

use std::{
    rc::Rc,
    time::{SystemTime, UNIX_EPOCH},
};

use plimsoll_clients::grpc::Status;
use prost_reflect::DynamicMessage;
use rquickjs::{Class, Coerced, Ctx, Exception, Object, Persistent, Result, Value};

use super::{super::response, class::Stream, listeners::Kind, outcome::Outcome, queue::Arrived};
use crate::{
    events::{Callback, EventId},
    host::Host,
    protobuf::{Types, write},
};

type Opened<'js> = Class<'js, Stream<'js>>;

/// Waits for the first event.
pub(super) fn begin<'js>(ctx: &Ctx<'js>, stream: &Opened<'js>) -> Result<()> {
    let id = Host::of(ctx).events.new_id();
    go_on(ctx, id, stream)
}

/// Waits for the next event.
fn go_on<'js>(ctx: &Ctx<'js>, id: EventId, stream: &Opened<'js>) -> Result<()> {
    let queue = Rc::clone(&stream.borrow().queue);
    let held = Persistent::save(ctx, stream.clone());
    let news = async move {
        queue.news().await;
        Box::new(move |ctx: &Ctx<'_>| {
            let stream = held.restore(ctx)?;
            if tell(ctx, &stream)? {
                return Ok(());
            }
            go_on(ctx, id, &stream)
        }) as Callback
    };
    Host::of(ctx).event_as(ctx, id, news)
}

/// Reports what has happened; true once the stream is over.
fn tell<'js>(ctx: &Ctx<'js>, stream: &Opened<'js>) -> Result<bool> {
    let host = Host::of(ctx);
    let queue = Rc::clone(&stream.borrow().queue);
    while let Some(arrived) = queue.take() {
        if let Err(error) = tell_message(ctx, stream, arrived) {
            return Err(end_by_exception(ctx, stream, error));
        }
        host.run_jobs(ctx)?;
        host.take_turns(ctx)?;
    }
    let Some((outcome, at)) = queue.outcome() else {
        return Ok(false);
    };
    tell_end(ctx, stream, &outcome, at)?;
    Ok(true)
}

fn tell_message<'js>(ctx: &Ctx<'js>, stream: &Opened<'js>, arrived: Arrived) -> Result<()> {
    let listeners = stream.borrow().listeners.of(Kind::Data);
    let message = message(ctx, stream, &arrived)?;
    let metadata = metadata(ctx, arrived.at)?;
    for listener in listeners {
        listener.call::<_, Value<'js>>((message.clone(), metadata.clone()))?;
    }
    Ok(())
}

/// The message as the script gets it.
fn message<'js>(ctx: &Ctx<'js>, stream: &Opened<'js>, arrived: &Arrived) -> Result<Value<'js>> {
    let stream = stream.borrow();
    if stream.discards_message {
        return Object::new(ctx.clone()).map(Object::into_value);
    }
    let message = DynamicMessage::decode(stream.method.output(), arrived.message.clone());
    let json = message
        .map_err(|error| format!("grpc: failed to unmarshal the received message: {error}"))
        .and_then(|message| {
            write(&message, Types(&stream.state.definitions())).map_err(|error| error.to_string())
        });
    ctx.json_parse(json.map_err(|error| Exception::throw_message(ctx, &error))?)
}

/// An exception of a listener ends the stream, which tells so, and then the iteration.
fn end_by_exception<'js>(ctx: &Ctx<'js>, stream: &Opened<'js>, error: rquickjs::Error) -> rquickjs::Error {
    if !error.is_exception() || Host::of(ctx).is_interrupted() {
        return error;
    }
    let thrown = ctx.catch();
    let text = thrown.get::<Coerced<String>>();
    let text = text.map_or_else(|_| "exception".to_owned(), |text| text.0);
    let outcome = Outcome::Unusable(text);
    let told = tell_end(ctx, stream, &outcome, SystemTime::now());
    // What its listeners throw now is less important than what led to it.
    if told.as_ref().is_err_and(rquickjs::Error::is_exception) {
        ctx.catch();
    }
    ctx.throw(thrown)
}

/// Calls the listeners to `error`, if the stream failed, and those to `end`.
fn tell_end<'js>(ctx: &Ctx<'js>, stream: &Opened<'js>, outcome: &Outcome, at: SystemTime) -> Result<()> {
    if let Some(failure) = outcome.failure() {
        let listeners = stream.borrow().listeners.of(Kind::Error);
        if listeners.is_empty() {
            tracing::warn!("no handlers for error registered, but an error happened: {failure}");
        }
        let error = error(ctx, stream, &failure)?;
        for listener in listeners {
            listener.call::<_, Value<'js>>((error.clone(), metadata(ctx, at)?))?;
        }
    }
    for listener in stream.borrow().listeners.of(Kind::End) {
        listener.call::<_, Value<'js>>((Object::new(ctx.clone())?, metadata(ctx, at)?))?;
    }
    Ok(())
}

fn error<'js>(ctx: &Ctx<'js>, stream: &Opened<'js>, failure: &Status) -> Result<Object<'js>> {
    let stream = stream.borrow();
    let details = response::details_json(failure, Types(&stream.state.definitions()));
    let error = Object::new(ctx.clone())?;
    error.set("code", failure.code as u8)?;
    error.set(
        "details",
        ctx.json_parse(details.unwrap_or_else(|| "[]".to_owned()))?,
    )?;
    error.set("message", failure.message.as_str())?;
    Ok(error)
}

fn metadata<'js>(ctx: &Ctx<'js>, at: SystemTime) -> Result<Object<'js>> {
    let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let metadata = Object::new(ctx.clone())?;
    metadata.set("ts", seconds)?;
    Ok(metadata)
}
