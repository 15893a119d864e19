//! The object of a stream.

use std::{cell::Cell, rc::Rc};

use prost::Message as _;
use prost_reflect::MethodDescriptor;
use rquickjs::{
    Coerced, Ctx, Exception, JsLifetime, Result, Value,
    class::{Trace, Tracer},
    function::Opt,
};

use super::{
    super::{request_json, state::State},
    listeners::{Kind, Listeners},
    queue::{Leaving, Queue},
};
use crate::{
    host::Host,
    protobuf::{Types, read},
};

/// One stream, as the script sees it.
#[derive(JsLifetime)]
#[rquickjs::class(frozen)]
pub(super) struct Stream<'js> {
    pub(super) listeners: Listeners<'js>,
    pub(super) state: Rc<State>,
    pub(super) method: MethodDescriptor,
    pub(super) queue: Rc<Queue>,
    pub(super) discards_message: bool,
    /// Whether the script has said that it sends no more.
    has_said_end: Cell<bool>,
}

impl<'js> Trace<'js> for Stream<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        self.listeners.trace(tracer);
    }
}

impl Stream<'_> {
    pub(super) fn new(
        state: Rc<State>,
        method: MethodDescriptor,
        queue: Rc<Queue>,
        discards_message: bool,
    ) -> Self {
        Self {
            listeners: Listeners::default(),
            state,
            method,
            queue,
            discards_message,
            has_said_end: Cell::new(false),
        }
    }
}

#[rquickjs::methods]
impl<'js> Stream<'js> {
    fn on(&self, ctx: Ctx<'js>, event: Coerced<String>, handler: Opt<Value<'js>>) -> Result<()> {
        let event = event.0;
        let Some(function) = handler.0.and_then(Value::into_function) else {
            let text = format!("handler for {event:?} event isn't a callable function");
            return Err(Exception::throw_type(&ctx, &text));
        };
        match Kind::of(&event) {
            Some(kind) if self.listeners.add(kind, function) => {}
            Some(_) => {
                let text = format!("too many functions listen to the event {event:?} of a stream");
                return Err(Exception::throw_range(&ctx, &text));
            }
            None => tracing::warn!(
                "can't register {event} event handler: unknown GRPC stream's event type: {event}"
            ),
        }
        Ok(())
    }

    fn write(&self, ctx: Ctx<'js>, message: Opt<Value<'js>>) -> Result<()> {
        if self.has_said_end.get() {
            return Ok(());
        }
        let message = message
            .0
            .filter(|message| !(message.is_null() || message.is_undefined()));
        let Some(message) = message else {
            tracing::warn!("can't send empty message");
            return Ok(());
        };
        let json = request_json::plain(&ctx, &message)?;
        let message = read(&json, &self.method.input(), Types(&self.state.definitions()));
        self.queue.leave(match message {
            Ok(message) => Leaving::Message(message.encode_to_vec()),
            Err(error) => Leaving::Unusable(format!(
                "can't serialise request object to protocol buffer: {error}"
            )),
        });
        if self.queue.is_far_ahead() {
            Host::of(&ctx).park(&ctx, self.queue.caught_up())?;
        }
        Ok(())
    }

    fn end(&self) {
        if !self.has_said_end.replace(true) {
            self.queue.leave(Leaving::End);
        }
    }
}
