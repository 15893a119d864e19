//! A subscription as scripts use it.

use std::{rc::Rc, time::Duration};

use plimsoll_cable::identifier::encode_action;
use plimsoll_clients::cable::{
    Ending,
    session::{self, Patience},
};
use rquickjs::{Ctx, Exception, JsLifetime, Result, Value, class::Trace};

use super::{
    condition::{Condition, Found},
    json::json_object,
    shared::Shared,
};
use crate::host::Host;

mod methods;

/// A subscription.
#[derive(Clone, Trace, JsLifetime)]
#[rquickjs::class]
pub(super) struct Channel {
    #[qjs(skip_trace)]
    pub(super) shared: Rc<Shared>,
    #[qjs(skip_trace)]
    pub(super) channel: session::Channel,
    #[qjs(skip_trace)]
    history_took: std::cell::Cell<Option<Duration>>,
}

impl Channel {
    pub(super) fn new(shared: Rc<Shared>, channel: session::Channel) -> Self {
        Self {
            shared,
            channel,
            history_took: std::cell::Cell::new(None),
        }
    }

    /// Performs an action. Returns the instant right before the write.
    ///
    /// # Errors
    /// When the data is not an object, or the connection is over.
    pub(super) fn send<'js>(
        &self,
        ctx: &Ctx<'js>,
        action: &str,
        data: Option<Value<'js>>,
    ) -> Result<std::time::Instant> {
        let data = json_object(
            ctx,
            data,
            ("action", action),
            encode_action,
            "the data of an action",
        )?;
        self.sent(ctx, "perform", self.channel.perform(&data))
    }

    fn sent<T>(
        &self,
        ctx: &Ctx<'_>,
        what: &str,
        sending: impl Future<Output = std::result::Result<T, Ending>>,
    ) -> Result<T> {
        let sent = Host::of(ctx).park(ctx, sending)?;
        self.shared.meter.record();
        sent.map_err(|ending| Exception::throw_message(ctx, &format!("{what}: {ending}")))
    }

    fn search<'js>(
        &self,
        ctx: &Ctx<'js>,
        n: usize,
        condition: Option<Value<'js>>,
        patience: Patience,
    ) -> Result<Vec<Found<'js>>> {
        let condition = Condition::read(ctx, condition)?;
        let found = condition.search(ctx, &self.channel, n, patience, None)?;
        self.shared.warn_of_stall();
        if found.len() < n && matches!(patience, Patience::Idle(_)) {
            self.warn_of_timeout();
        }
        Ok(found)
    }

    pub(super) fn warn_of_timeout(&self) {
        let identifier = self.channel.identifier();
        let text = match self.shared.session.ending() {
            Some(ending) => format!("no message for `{identifier}`: {ending}"),
            None => format!(
                "no message for `{identifier}` within {} ms; a larger receiveTimeoutMs waits longer",
                self.shared.receive_timeout.as_millis()
            ),
        };
        self.shared.log.warn(&text);
    }
}
