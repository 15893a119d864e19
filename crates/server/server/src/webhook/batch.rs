//! The body of a request to the webhook.

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{news::News, queue::Portion};

#[derive(Serialize)]
struct Batch<'a> {
    server: &'a str,
    number: u64,
    dropped: u64,
    events: Vec<Event<'a>>,
}

#[derive(Serialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    stream: &'a str,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    info: Option<&'a RawValue>,
    at_ms: u64,
}

/// The JSON of batch number `number` of this start of the server.
pub(super) fn encode(server: &str, number: u64, portion: &Portion) -> Bytes {
    let batch = Batch {
        server,
        number,
        dropped: portion.n_dropped,
        events: portion.news.iter().map(event).collect(),
    };
    let json = serde_json::to_vec(&batch).expect("texts, numbers and JSON always serialise");
    json.into()
}

fn event(news: &News) -> Event<'_> {
    Event {
        kind: news.kind,
        stream: &news.stream,
        id: &news.id,
        // An info was JSON when the member came.
        info: news
            .info
            .as_deref()
            .and_then(|info| serde_json::from_str(info).ok()),
        at_ms: news.at_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_json_with_infos_as_they_came() {
        let news = |kind, info: Option<&str>| News {
            kind,
            stream: "chat/1".into(),
            id: "k\"ay".into(),
            info: info.map(Into::into),
            at_ms: 17,
        };
        let portion = Portion {
            n_dropped: 3,
            news: vec![news("join", Some(r#"{"n": 1.0}"#)), news("leave", None)],
        };
        assert_eq!(
            encode("x7Qf", 2, &portion),
            r#"{"server":"x7Qf","number":2,"dropped":3,"events":[{"type":"join","stream":"chat/1","id":"k\"ay","info":{"n": 1.0},"at_ms":17},{"type":"leave","stream":"chat/1","id":"k\"ay","at_ms":17}]}"#
        );
        assert_eq!(
            encode("x7Qf", 1, &Portion::default()),
            r#"{"server":"x7Qf","number":1,"dropped":0,"events":[]}"#
        );
    }
}
