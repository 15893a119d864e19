//! `k6/x/cable`: Action Cable clients, as the k6 extension of that name has them, and what it lacks.
//!
//! Reading is native and goes on while the script waits for anything: each client is a background future that stamps
//! and routes what arrives (see [`plimsoll_clients::cable::session`]). The script's thread only looks into messages
//! that it asks for, and is called for those that it observes whenever it waits.

use rquickjs::{Class, Ctx, Object, Result, Value, function::Opt};

use super::module::{Module, beyond, differs, same};
use crate::{arguments::Text, host::Host, members::members, or_null::OrNull};

mod channel;
mod client;
mod condition;
mod connecting;
mod counting;
mod json;
mod log;
mod message;
mod meter;
mod observers;
mod options;
mod round_trip;
mod shared;
mod starting;
mod subscribing;

use self::{client::Client, options::ConnectOptions};

pub(super) const MODULE: Module = Module {
    id: "k6/x/cable",
    build,
    api: &[
        differs(
            "connect",
            "tags are applied; handshakeTimeoutS bounds the wait for the welcome, too; the codecs msgpack and protobuf need \
             a server that agrees to them; further options: throw, protocol, resume",
        ),
        differs(
            "Client.subscribe",
            "returns null when rejected or not answered, as documented, and throws with the option throw; an \
             existing subscription is returned unchanged; a rejected channel can be subscribed again",
        ),
        differs("Client.subscribeAsync", "its await() as subscribe"),
        differs(
            "Client.disconnect",
            "sends Close with code 1000 and waits up to a second for the server's Close",
        ),
        differs(
            "Client.loop",
            "callbacks also run while the script waits inside the loop; subscribing inside it works",
        ),
        beyond(
            "Client.onDisconnect",
            "calls a function when the server says disconnect",
        ),
        beyond("Client.onClose", "calls a function when the connection ends"),
        beyond("Client.closeCode", "the server's close code"),
        beyond("Client.ending", "why the connection is over, in words"),
        beyond("Client.sid", "the session's id, where the server gives one"),
        beyond("Client.restored", "whether the server resumed an earlier session"),
        differs("Channel.perform", "the data may be left out"),
        same("Channel.receive"),
        differs(
            "Channel.receiveN",
            "a string as condition must be equal to the message, as documented",
        ),
        differs("Channel.receiveAll", "takes fractions of a second"),
        same("Channel.ignoreReads"),
        differs(
            "Channel.onMessage",
            "callbacks run while the script waits (sleep, receive and the like), never beside it",
        ),
        differs("Channel.ackDuration", "with fractions; null before the answer"),
        beyond(
            "Channel.identifier",
            "the identifier of the subscription, as on the wire",
        ),
        beyond("Channel.received", "how many messages have arrived"),
        beyond(
            "Channel.lastReceivedAt",
            "the arrival time of the last message, in milliseconds of Unix time",
        ),
        beyond("Channel.unsubscribe", "ends the subscription"),
        beyond(
            "Channel.roundTrip",
            "performs an action, waits for its answer and records the time between, natively",
        ),
        beyond(
            "Channel.countOnly",
            "counts messages natively, with their delay, and never enters the script for them",
        ),
        beyond("Channel.history", "asks for messages that were published before"),
        beyond("Channel.historyDuration", "how long that took, in milliseconds"),
        beyond(
            "Channel.whisper",
            "sends to the other listeners, without the application",
        ),
        beyond("Channel.join", "becomes present"),
        beyond("Channel.leave", "leaves the presence set"),
        beyond("Channel.presence", "asks which clients are present"),
        beyond(
            "Channel.onPresence",
            "calls a function when a client joins or leaves",
        ),
    ],
};

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let cable = Object::new(ctx.clone())?;
    members![function c"connect" => connect].define(&cable)?;
    let exports = Object::new(ctx.clone())?;
    exports.set("default", cable.clone())?;
    exports.set("connect", cable.get::<_, Value<'js>>("connect")?)?;
    Ok(exports)
}

/// A client that has received its welcome; null, with a line in the log, when the connection failed.
fn connect<'js>(
    ctx: Ctx<'js>,
    Text(url): Text,
    options: Opt<Value<'js>>,
) -> Result<OrNull<Class<'js, Client>>> {
    let host = Host::of(&ctx);
    let recorder = host.recorder(&ctx, "cable.connect()")?;
    let options = ConnectOptions::read(&ctx, options.0)?;
    match host.wait(&ctx, connecting::connect(&host, &url, &options, recorder))? {
        Ok(connected) => {
            let client = starting::start(&host, connected, &options);
            Ok(OrNull(Some(Class::instance(ctx.clone(), client)?)))
        }
        Err(failure) => {
            options.failed(&ctx, &format!("failed to connect: {failure}"))?;
            Ok(OrNull(None))
        }
    }
}

/// The prototypes of a client and of a channel.
#[cfg(test)]
pub(crate) fn prototypes<'js>(ctx: &Ctx<'js>) -> Result<[Object<'js>; 2]> {
    let client = Class::<Client>::prototype(ctx)?.unwrap();
    let channel = Class::<channel::Channel>::prototype(ctx)?.unwrap();
    Ok([client, channel])
}

#[cfg(test)]
mod tests;
