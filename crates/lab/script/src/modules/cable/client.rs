//! The client that `cable.connect` returns.

use std::rc::Rc;

use plimsoll_clients::cable::session::Resumption;
use rquickjs::{Class, Ctx, Function, JsLifetime, Result, Value, class::Trace, function::Opt};

use super::{
    channel::Channel,
    shared::Shared,
    subscribing::{self, Subscription},
};
use crate::{arguments::Text, host::Host, members::class_members, modules::k6::is_truthy, or_null::OrNull};

/// A session with its script's options.
#[derive(Clone, Trace, JsLifetime)]
#[rquickjs::class]
pub(super) struct Client {
    #[qjs(skip_trace)]
    pub(super) shared: Rc<Shared>,
}

impl Client {
    /// The data for resuming this session later.
    pub(super) fn resumption(&self) -> Option<Resumption> {
        self.shared.session.resumption()
    }
}

class_members![Client:
    method c"subscribe" => subscribe,
    method c"subscribeAsync" => subscribe_async,
    method c"disconnect" => disconnect,
    method c"loop" => repeat,
    method c"onDisconnect" => on_disconnect,
    method c"onClose" => on_close,
    getter c"closeCode" => close_code,
    getter c"ending" => ending,
    getter c"sid" => sid,
    getter c"restored" => restored,
];

impl Client {
    /// Subscribes and waits for the answer.
    fn subscribe<'js>(
        &self,
        ctx: Ctx<'js>,
        Text(channel): Text,
        params: Opt<Value<'js>>,
        options: Opt<Value<'js>>,
    ) -> Result<OrNull<Class<'js, Channel>>> {
        let subscription = subscribing::ask(&ctx, &self.shared, &channel, (params.0, options.0))?;
        subscription.wait(&ctx, self.shared.receive_timeout).map(OrNull)
    }

    /// Subscribes without waiting.
    fn subscribe_async<'js>(
        &self,
        ctx: Ctx<'js>,
        Text(channel): Text,
        params: Opt<Value<'js>>,
        options: Opt<Value<'js>>,
    ) -> Result<Class<'js, Subscription>> {
        Class::instance(
            ctx.clone(),
            subscribing::ask(&ctx, &self.shared, &channel, (params.0, options.0))?,
        )
    }

    /// Sends Close and waits for the server's Close.
    fn disconnect(&self, ctx: Ctx<'_>) -> Result<()> {
        let outcome = Host::of(&ctx).park(&ctx, self.shared.session.disconnect());
        self.shared.meter.end();
        outcome
    }

    /// Calls `function` until it returns something true, or throws.
    fn repeat<'js>(&self, ctx: Ctx<'js>, function: Function<'js>) -> Result<()> {
        let host = Host::of(&ctx);
        loop {
            host.wait(&ctx, tokio::task::yield_now())?;
            match function.call::<_, Value<'js>>(()) {
                Ok(value) if is_truthy(&value) => return Ok(()),
                Ok(_) => {}
                Err(error) if host.is_interrupted() => return Err(error),
                Err(error) => {
                    let error = crate::ScriptError::caught(&ctx, &error, &host.program);
                    self.shared.log.error(&format!("client.loop() ends: {error}"));
                    return Ok(());
                }
            }
        }
    }

    /// Calls `function` when the server has said `disconnect`.
    fn on_disconnect<'js>(&self, ctx: Ctx<'js>, function: Function<'js>) {
        self.shared.observers.on_disconnect(&ctx, function);
    }

    /// Calls `function` when the connection has ended without this client's doing.
    fn on_close<'js>(&self, ctx: Ctx<'js>, function: Function<'js>) {
        self.shared.observers.on_close(&ctx, function);
    }

    fn close_code(&self) -> OrNull<u16> {
        OrNull(self.shared.session.close_code())
    }

    fn ending(&self) -> OrNull<String> {
        OrNull(self.shared.session.ending().map(|ending| ending.to_string()))
    }

    fn sid(&self) -> OrNull<String> {
        OrNull(self.shared.session.sid().map(str::to_owned))
    }

    fn restored(&self) -> bool {
        self.shared.session.is_restored()
    }
}
