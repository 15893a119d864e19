//! The condition for a message that a script waits for.

use plimsoll_clients::cable::{
    Matcher,
    session::{Channel, Message, Patience, Search},
};
use rquickjs::{Ctx, Exception, Function, Result, Value};

use super::message;
use crate::{host::Host, inspect::inspect, modules::k6::is_truthy, plain_data::encode_object};

/// A condition: native where it can be, so that messages which do not match never become objects.
pub(super) enum Condition<'js> {
    Native(Matcher),
    Function(Function<'js>),
}

impl<'js> Condition<'js> {
    /// Reads one: nothing, an object of fields, a text, or a function of the message.
    ///
    /// # Errors
    /// A TypeError for anything else.
    pub(super) fn read(ctx: &Ctx<'js>, value: Option<Value<'js>>) -> Result<Self> {
        let Some(value) = value.filter(|value| !value.is_undefined() && !value.is_null()) else {
            return Ok(Self::Native(Matcher::Any));
        };
        if let Some(function) = value.as_function() {
            return Ok(Self::Function(function.clone()));
        }
        let json = match encode_object(&value, None) {
            Some(json) => Some(json),
            None => ctx
                .json_stringify(value.clone())?
                .map(|json| json.to_string())
                .transpose()?,
        };
        match Matcher::from_json(&json.unwrap_or_default()) {
            Ok(matcher) => Ok(Self::Native(matcher)),
            Err(_) => {
                let text = format!(
                    "the condition is {}; expected an object of fields such as {{ author_id: '1' }}, a text, or a function",
                    inspect(&value)
                );
                Err(Exception::throw_type(ctx, &text))
            }
        }
    }

    /// Searches a channel for up to `n` messages, blocking the script. Those that do not match are consumed.
    ///
    /// # Errors
    /// What a function threw, or that the script has to end.
    pub(super) fn search(
        &self,
        ctx: &Ctx<'js>,
        channel: &Channel,
        n: usize,
        patience: Patience,
        not_before: Option<std::time::Instant>,
    ) -> Result<Vec<Found<'js>>> {
        let host = Host::of(ctx);
        let search = |n, matcher, patience| {
            let search = Search::new(channel, n, matcher, patience);
            match not_before {
                Some(instant) => search.not_before(instant),
                None => search,
            }
        };
        let function = match self {
            Self::Native(matcher) => {
                let mut search = search(n, matcher, patience);
                host.wait(ctx, search.run())?;
                return search
                    .into_found()
                    .into_iter()
                    .map(|message| Found::new(ctx, message))
                    .collect();
            }
            Self::Function(function) => function,
        };
        let mut all = Vec::new();
        let begin = tokio::time::Instant::now();
        while all.len() < n {
            let left = match patience {
                Patience::Idle(_) => patience,
                // A function may be slower than what arrives: what it has not seen by then stays for later. A window
                // without length is for what is there.
                Patience::Window(window) if !window.is_zero() && begin.elapsed() >= window => break,
                Patience::Window(window) => Patience::Window(window.saturating_sub(begin.elapsed())),
            };
            let mut search = search(1, &Matcher::Any, left);
            if !host.wait(ctx, search.run())? {
                break;
            }
            for message in search.into_found() {
                let found = Found::new(ctx, message)?;
                if is_truthy(&function.call((found.value.clone(),))?) {
                    all.push(found);
                }
            }
        }
        Ok(all)
    }
}

/// A message that was found.
pub(super) struct Found<'js> {
    /// The message as the script gets it.
    pub(super) value: Value<'js>,
    /// The time at which it was read from the socket.
    pub(super) at: std::time::Instant,
}

impl<'js> Found<'js> {
    fn new(ctx: &Ctx<'js>, message: Message) -> Result<Self> {
        Ok(Self {
            value: message::to_js(ctx, &message)?,
            at: message.at,
        })
    }
}
