//! `POST <api_path>/disconnect`: ends all sessions of a client, like the command among broadcasts
//! (docs/protocols/broadcasts.md).

use hyper::{StatusCode, body::Incoming};
use serde::{Deserialize, Serialize};

use crate::{
    http::{
        answers::{Answer, text},
        broadcast::{self, Refusal},
    },
    shard::Shard,
};

/// The body: whose sessions end, and whether the clients may reconnect.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Order {
    /// The identifiers of the sessions, as the application gave them.
    identifier: String,
    #[serde(default = "may_reconnect")]
    reconnect: bool,
}

/// The command among broadcasts.
#[derive(Serialize)]
struct Command {
    command: &'static str,
    payload: Order,
}

/// The default of backends: a client that was disconnected may come back, and is asked who it is.
pub(in crate::http) fn may_reconnect() -> bool {
    true
}

pub(super) async fn answer(shard: &Shard, body: Incoming) -> Answer {
    let body = match broadcast::read(shard, body).await {
        Ok(body) => body,
        Err(refusal) => return refusal.answer(shard),
    };
    let order: Order = match serde_json::from_slice(body.bytes()) {
        Ok(order) => order,
        Err(error) => {
            let expected = format!(
                "No client was disconnected: {error}; expected {{\"identifier\":\"…\",\"reconnect\":true}}."
            );
            return text(StatusCode::BAD_REQUEST, &expected);
        }
    };
    let command = Command {
        command: "disconnect",
        payload: order,
    };
    let payload = serde_json::to_vec(&command).expect("texts and booleans always serialise");
    match shard.publisher.accept(&payload).await {
        Ok(()) => text(StatusCode::CREATED, "All shards have the order."),
        Err(error) => Refusal::from(error).answer(shard),
    }
}
