//! From a channel's name to a subscription.

use std::{rc::Rc, time::Duration};

use plimsoll_cable::identifier::encode_identifier;
use plimsoll_clients::cable::{SubscribeError, session};
use rquickjs::{Class, Ctx, Exception, JsLifetime, Result, Value, class::Trace, function::Opt};

use super::{channel::Channel, json::json_object, shared::Shared};
use crate::{host::Host, inspect::inspect, members::class_members, or_null::OrNull};

/// A subscription that was asked for.
#[derive(Clone, Trace, JsLifetime)]
#[rquickjs::class]
pub(super) struct Subscription {
    #[qjs(skip_trace)]
    shared: Rc<Shared>,
    /// Absent when it could not even be asked for.
    #[qjs(skip_trace)]
    channel: Option<session::Channel>,
}

/// The messages to ask for together with a subscription: the option `history`.
enum History {
    /// None.
    Nothing,
    /// Those after the positions of an earlier session, and of other streams those from this second of Unix time.
    Missed(Option<i64>),
}

impl History {
    /// Reads the options of a subscription.
    ///
    /// # Errors
    /// The problem, for people.
    fn read(options: Option<&Value<'_>>) -> std::result::Result<Self, String> {
        let Some(options) = options.filter(|it| !it.is_undefined() && !it.is_null()) else {
            return Ok(Self::Nothing);
        };
        let expected = "expected { history: true } or { history: { since: 1754000000 } }";
        let object = options
            .as_object()
            .ok_or_else(|| format!("the options of subscribe() are {}; {expected}", inspect(options)))?;
        let mut history = Self::Nothing;
        for entry in object.props::<String, Value<'_>>() {
            let (key, value) = entry.map_err(|error| error.to_string())?;
            if key != "history" {
                return Err(format!("unknown option {key} of subscribe(); {expected}"));
            }
            let since = value
                .as_object()
                .and_then(|object| object.get::<_, Option<f64>>("since").ok().flatten());
            history = match (value.as_bool(), since) {
                (Some(false), _) => Self::Nothing,
                (Some(true), _) => Self::Missed(None),
                (None, Some(since)) if since >= 0.0 => Self::Missed(Some(since as i64)),
                _ => {
                    let found = inspect(&value);
                    return Err(format!(
                        "the option history of subscribe() is {found}; {expected}"
                    ));
                }
            };
        }
        Ok(history)
    }
}

/// Asks for a subscription.
///
/// # Errors
/// When the parameters or the options are not valid; with `throw`, also when the connection is over.
pub(super) fn ask<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared>,
    channel: &str,
    (params, options): (Option<Value<'js>>, Option<Value<'js>>),
) -> Result<Subscription> {
    let history = History::read(options.as_ref()).map_err(|text| Exception::throw_type(ctx, &text))?;
    let identifier = json_object(
        ctx,
        params,
        ("channel", channel),
        encode_identifier,
        "the parameters of a channel",
    )?;
    if shared
        .session
        .channel(&identifier)
        .is_some_and(|channel| channel.is_confirmed())
    {
        shared.log.warn(&format!("{identifier} is already subscribed"));
    }
    let asked = async {
        match history {
            History::Nothing => shared.session.subscribe(&identifier).await,
            History::Missed(since) => shared.session.subscribe_with_history(&identifier, since).await,
        }
    };
    let asked = Host::of(ctx).wait(ctx, asked)?;
    let channel = match asked {
        Ok(channel) => {
            shared.meter.asked(&channel);
            Some(channel)
        }
        Err(ending) => {
            shared.failed(ctx, &format!("subscription to `{identifier}`: {ending}"))?;
            None
        }
    };
    shared.meter.record();
    Ok(Subscription {
        shared: Rc::clone(shared),
        channel,
    })
}

class_members![Subscription:
    method c"await" => confirmed,
];

impl Subscription {
    /// Waits for the answer: milliseconds, or the client's `receiveTimeoutMs`.
    fn confirmed<'js>(&self, ctx: Ctx<'js>, limit_ms: Opt<f64>) -> Result<OrNull<Class<'js, Channel>>> {
        let limit = limit_ms.0.filter(|ms| *ms > 0.0);
        let limit = limit.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
        self.wait(&ctx, limit.unwrap_or(self.shared.receive_timeout))
            .map(OrNull)
    }
}

/// Not inlined: the class of channels, which is made after it, needs much of the script's stack, and what is on it here
/// would be below.
#[inline(never)]
fn answer(
    ctx: &Ctx<'_>,
    channel: &session::Channel,
    limit: Duration,
) -> Result<std::result::Result<Duration, SubscribeError>> {
    Host::of(ctx).wait(ctx, channel.confirmed(limit))
}

impl Subscription {
    /// Waits for the answer; null, with a line in the log, when it is no confirmation.
    ///
    /// # Errors
    /// With `throw`, when it is no confirmation; and when the script has to end.
    pub(super) fn wait<'js>(&self, ctx: &Ctx<'js>, limit: Duration) -> Result<Option<Class<'js, Channel>>> {
        let Some(channel) = &self.channel else {
            return Ok(None);
        };
        let answer = answer(ctx, channel, limit)?;
        self.shared.meter.record();
        let identifier = channel.identifier();
        let cause = answer.as_ref().err().map(|error| error.cause().described());
        let text = match answer {
            Ok(_) => {
                let channel = Channel::new(Rc::clone(&self.shared), channel.clone());
                return Class::instance(ctx.clone(), channel).map(Some);
            }
            Err(SubscribeError::Rejected { .. }) => format!("subscription to `{identifier}`: rejected"),
            Err(SubscribeError::TimedOut { after, .. }) => format!(
                "subscription to `{identifier}`: no answer within {} ms; a larger receiveTimeoutMs waits longer",
                after.as_millis()
            ),
            Err(error @ SubscribeError::Ended(_)) => format!("subscription to `{identifier}`: {error}"),
        };
        if let Some(cause) = cause {
            self.shared
                .meter
                .refused(&format!("cable client: {cause}"), &text);
        }
        self.shared.failed(ctx, &text)?;
        Ok(None)
    }
}
