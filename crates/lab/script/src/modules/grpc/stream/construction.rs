//! `new Stream(client, method, params)`.

use std::{rc::Rc, sync::Arc, time::Instant};

use plimsoll_clients::grpc::{Head, Status};
use rquickjs::{Class, Ctx, Exception, FromJs as _, Result, Value};

use super::{
    super::{
        client::Client, debug::CallLog, params::Params, samples::CallTags, session::Session,
        state::NOT_CONNECTED,
    },
    class::Stream,
    conversation,
    queue::Queue,
    transfer::Transfer,
};
use crate::{arguments::Text, host::Host};

/// Opens a stream.
///
/// # Errors
/// The arguments are wrong, or there is no connection.
pub(in super::super) fn construct<'js>(ctx: &Ctx<'js>, arguments: Vec<Value<'js>>) -> Result<Value<'js>> {
    let mut arguments = arguments.into_iter();
    let fail = |text: String| Exception::throw_message(ctx, &text);
    let wrong = |text: &str| fail(format!("invalid GRPC Stream's client: {text}"));
    let client = arguments
        .next()
        .filter(|client| !(client.is_null() || client.is_undefined()));
    let client = client.ok_or_else(|| wrong("empty gRPC client"))?;
    let client = Class::<Client>::from_value(&client).map_err(|_| wrong("not a gRPC client"))?;
    let state = Rc::clone(&client.borrow().state);
    let server = state.connected().ok_or_else(|| wrong(NOT_CONNECTED))?;
    let name = arguments
        .next()
        .map(|name| Text::from_js(ctx, name))
        .transpose()?;
    let name = name.map(|name| name.0).unwrap_or_default();
    let (path, method) = state
        .method(&name)
        .map_err(|error| fail(format!("invalid GRPC Stream's method: {error}")))?;
    let params = Params::read(ctx, arguments.next().as_ref(), "invalid GRPC Stream's")?;
    let (host, session) = (Host::of(ctx), Session::of(ctx));
    let recorder = session.enter(ctx, &host)?;
    let tags = CallTags {
        url: format!("{}{path}", server.address),
        path: path.clone(),
        own: params.tags,
        has_name: host.tag("name").is_some(),
    };
    let head = Head {
        path,
        metadata: params.metadata,
        timeout: params.timeout,
    };
    let log = CallLog::of(&host.program, &method, &state);
    if let Some(log) = &log {
        log.sent_head(&head.path, &server.address, &head.metadata);
    }
    let started = Instant::now();
    let opening = async {
        match head.timeout {
            None => server.channel.start(&head).await,
            Some(timeout) => tokio::time::timeout(timeout, server.channel.start(&head))
                .await
                .unwrap_or_else(|_| Err(Status::deadline_exceeded())),
        }
    };
    let opened = host.park(ctx, opening)?;
    let call = opened.map_err(|status| {
        let end = (None, Some(&status));
        session
            .samples
            .ended(&host.program, &recorder, &tags, end, started.elapsed());
        fail(format!("failed to create a new stream: {status}"))
    })?;
    let queue = Rc::new(Queue::default());
    let transfer = Transfer {
        queue: Rc::clone(&queue),
        channel: server.channel,
        tags,
        recorder,
        session,
        program: Arc::clone(&host.program),
        log,
        started,
        time_left: params
            .timeout
            .map(|timeout| timeout.saturating_sub(started.elapsed())),
    };
    host.background(transfer.run(call));
    let stream = Stream::new(state, method, queue, params.discards_message);
    let stream = Class::instance(ctx.clone(), stream)?;
    conversation::begin(ctx, &stream)?;
    Ok(stream.into_value())
}
