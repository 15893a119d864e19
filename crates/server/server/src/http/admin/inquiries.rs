//! What an operator asks for beside the page's figures, and what an operator does.
//!
//! | path | answers |
//! |---|---|
//! | `GET /admin/history.json?after_ms=TIME` | the figures of the last day that are newer than a time |
//! | `GET /admin/sessions.json?text=TEXT` | sessions with a text in one of their names |
//! | `GET /admin/streams.json?text=TEXT` | streams and channels with a text in their name |
//! | `GET /admin/settings.json` | all settings with their origins |
//! | `POST /admin/disconnect` | ends one session |
//! | `POST /admin/log-level` | changes the level of the log |
//! | `POST /admin/drain` | stops the server |

use std::time::Duration;

use hyper::{Request, StatusCode, body::Incoming, header};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

use crate::{
    admin::{Admin, Inquiry, MAX_SESSIONS, Matches, Names},
    http::{
        answers::{Answer, bad_query, json, text, with_header},
        api::may_reconnect,
        body, query,
    },
    operations::LOG_LEVELS,
    shard::Shard,
};

/// How long the shards may take: they have thousands of sessions to look at beside their work.
const PATIENCE: Duration = Duration::from_secs(5);

/// The largest order.
const MAX_ORDER_BYTES: usize = 4 * 1024;

/// The longest text that is searched for, in bytes.
const MAX_TEXT_BYTES: usize = 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Disconnect {
    sid: Box<str>,
    /// Whether the client may come back by itself.
    #[serde(default = "may_reconnect")]
    reconnect: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Level {
    level: String,
}

/// The part of the history that the query asks for.
pub(super) fn history(admin: &Admin, query: &str) -> Answer {
    let after_ms = query::parameters(query, ["after_ms"])
        .and_then(|[after_ms]| query::number("after_ms", after_ms.as_ref()));
    match after_ms {
        Ok(after_ms) => json(&admin.history.after(after_ms.unwrap_or(0))),
        Err(problem) => bad_query(&problem),
    }
}

pub(super) async fn sessions(shard: &Shard, query: &str) -> Answer {
    let inquiry = |text, answers| Inquiry::Sessions { text, answers };
    let found = search(shard, query, inquiry, |parts| {
        let mut all = Matches::default();
        parts.into_iter().for_each(|part| all.merge(part));
        all.listed.truncate(MAX_SESSIONS);
        json!({ "total": all.total, "sessions": all.listed })
    });
    found.await
}

pub(super) async fn streams(shard: &Shard, query: &str) -> Answer {
    let inquiry = |text, answers| Inquiry::Names { text, answers };
    let found = search(shard, query, inquiry, |parts| {
        let mut all = Names::default();
        for part in parts {
            all.streams.merge(part.streams);
            all.channels.merge(part.channels);
        }
        json!({ "streams": all.streams.into_greatest(), "channels": all.channels.into_greatest() })
    });
    found.await
}

/// Asks all shards for the text of a query, and makes a document of their answers.
async fn search<T>(
    shard: &Shard,
    query: &str,
    inquiry: impl FnOnce(Box<str>, mpsc::Sender<T>) -> Inquiry,
    document: impl FnOnce(Vec<T>) -> Value,
) -> Answer {
    let text = match wanted(query) {
        Ok(text) => text,
        Err(problem) => return bad_query(&problem),
    };
    match ask(shard, |answers| inquiry(text, answers)).await {
        Some(parts) => json(&document(parts)),
        None => busy(),
    }
}

pub(super) fn settings(admin: &Admin) -> Answer {
    json(&json!({ "settings": admin.operations.settings() }))
}

pub(super) async fn disconnect(shard: &Shard, request: Request<Incoming>) -> Answer {
    let order: Disconnect = match order(shard, request, r#"{"sid":"…","reconnect":true}"#).await {
        Ok(order) => order,
        Err(answer) => return answer,
    };
    let Disconnect { sid, reconnect } = order;
    let named = sid.clone();
    let ended = ask(shard, |answers| Inquiry::Disconnect {
        sid,
        reconnect,
        answers,
    });
    match ended.await {
        None => busy(),
        Some(ended) if ended.is_empty() => text(
            StatusCode::NOT_FOUND,
            &format!("No session with the id {named:?} is connected to this server."),
        ),
        Some(_) => {
            tracing::info!(sid = &*named, reconnect, "An operator has ended a session.");
            text(StatusCode::OK, "The session ends.")
        }
    }
}

pub(super) async fn log_level(shard: &Shard, admin: &Admin, request: Request<Incoming>) -> Answer {
    let Level { level } = match order(shard, request, r#"{"level":"debug"}"#).await {
        Ok(order) => order,
        Err(answer) => return answer,
    };
    let place_of = |level: &str| LOG_LEVELS.into_iter().position(|known| known == level);
    let Some(place) = place_of(&level) else {
        let expected = LOG_LEVELS.join(", ");
        return text(
            StatusCode::BAD_REQUEST,
            &format!("There is no level {level:?}; expected one of {expected}."),
        );
    };
    let (before, level) = (admin.operations.log_level(), LOG_LEVELS[place]);
    let say = || tracing::info!(before, now = level, "An operator changes the level of the log.");
    // At the louder level of both, so that the log has it.
    if Some(place) > place_of(before) {
        admin.operations.set_log_level(level);
        say();
    } else {
        say();
        admin.operations.set_log_level(level);
    }
    text(StatusCode::OK, &format!("The level of the log is {level}."))
}

pub(super) async fn drain(shard: &Shard, admin: &Admin, request: Request<Incoming>) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Drain {}
    if let Err(answer) = order::<Drain>(shard, request, "{}").await {
        return answer;
    }
    if admin.operations.drain() {
        text(StatusCode::ACCEPTED, "The server stops.")
    } else {
        text(StatusCode::CONFLICT, "The server is stopping already.")
    }
}

/// Asks all shards and collects their answers. `None`: they did not answer in time.
async fn ask<T>(shard: &Shard, inquiry: impl FnOnce(mpsc::Sender<T>) -> Inquiry) -> Option<Vec<T>> {
    let (answers, mut inbox) = mpsc::channel(shard.config.n_shards);
    let all = async {
        shard.publisher.inquire(inquiry(answers)).await;
        let mut parts = Vec::new();
        while let Some(part) = inbox.recv().await {
            parts.push(part);
        }
        parts
    };
    timeout(PATIENCE, all).await.ok()
}

fn busy() -> Answer {
    body::with_retry(text(
        StatusCode::SERVICE_UNAVAILABLE,
        "The server is too busy to look; try again.",
    ))
}

/// The text that is searched for; without one everything matches.
///
/// # Errors
/// The problem, for people.
fn wanted(query: &str) -> Result<Box<str>, String> {
    let [wanted] = query::parameters(query, ["text"])?;
    let wanted = wanted.unwrap_or_default();
    if wanted.len() > MAX_TEXT_BYTES {
        return Err(format!(
            "The text has {} bytes; expected at most {MAX_TEXT_BYTES}.",
            wanted.len()
        ));
    }
    Ok(wanted.into())
}

/// Reads an order. It must be JSON by its header, too: pages of other sites can send no such request without asking.
async fn order<T: DeserializeOwned>(
    shard: &Shard,
    request: Request<Incoming>,
    expected: &str,
) -> Result<T, Answer> {
    let content = request.headers().get(header::CONTENT_TYPE);
    if content.is_none_or(|content| content != "application/json") {
        let answer = text(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Send Content-Type: application/json.",
        );
        return Err(with_header(answer, header::ACCEPT, "application/json"));
    }
    let patience = shard.config.handshake_timeout;
    let body = body::read(shard, request.into_body(), MAX_ORDER_BYTES, patience).await?;
    serde_json::from_slice(body.bytes()).map_err(|error| {
        text(
            StatusCode::BAD_REQUEST,
            &format!("Nothing was done: {error}; expected {expected}."),
        )
    })
}
