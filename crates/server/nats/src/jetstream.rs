//! Requests to JetStream, and its answers (<https://docs.nats.io/reference/reference-protocols/nats_api_reference>).

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{Header, Message};

/// The field with the number that the last message of the subject must have.
pub const EXPECTED_LAST: &str = "Nats-Expected-Last-Subject-Sequence";

/// The field with the id of a message. A second message with the id is not stored.
pub const MESSAGE_ID: &str = "Nats-Msg-Id";

/// The field with the number of a message in its stream.
pub const NUMBER: &str = "Nats-Sequence";

/// The field with the number of the message before it on its subject, in a message that was published again.
pub const NUMBER_BEFORE: &str = "Nats-Last-Sequence";

/// The subject of a request about a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// What are its settings?
    Info,
    /// Make it.
    Create,
    /// Change its settings.
    Update,
    /// What message has it? Asks the leader of its replicas.
    Message,
    /// The same, from any replica.
    Direct,
}

impl Api {
    /// The subject.
    pub fn subject(self, stream: &str) -> String {
        let verb = match self {
            Self::Info => "STREAM.INFO",
            Self::Create => "STREAM.CREATE",
            Self::Update => "STREAM.UPDATE",
            Self::Message => "STREAM.MSG.GET",
            Self::Direct => "DIRECT.GET",
        };
        format!("$JS.API.{verb}.{stream}")
    }
}

/// JetStream refuses a request.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[error("{description} (error {code})")]
pub struct ApiError {
    /// JetStream's number of the error; 0: the answer could not be read.
    pub code: u32,
    /// The error in words.
    pub description: String,
}

/// The settings of a stream of JetStream that keeps the last messages of many subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptStream {
    /// The name.
    pub name: String,
    /// The subjects that are stored.
    pub stored: Vec<String>,
    /// Where a stored message is published again; see [`Republish`]. `None`: nowhere.
    pub announced: Option<Republish>,
    /// The most messages of a subject.
    pub max_per_subject: u64,
    /// The greatest age of a message, in nanoseconds.
    pub max_age_ns: u64,
    /// The time for which ids of messages are remembered, in nanoseconds.
    pub id_ttl_ns: u64,
    /// The longest message with its header, in bytes.
    pub max_message_bytes: u64,
    /// The number of replicas. `None`: as it is, and 1 in a new stream.
    pub n_replicas: Option<u8>,
}

/// Where JetStream publishes what it has stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Republish {
    /// The subjects of the stored messages, with one wildcard.
    pub from: String,
    /// The subject with `{{wildcard(1)}}`.
    pub to: String,
}

/// The settings of a stream that exists.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamConfig(Map<String, Value>);

impl StreamConfig {
    /// The number of replicas.
    pub fn n_replicas(&self) -> u64 {
        let number = self.0.get("num_replicas").and_then(Value::as_u64);
        number.unwrap_or(1)
    }

    /// Whether the stream stores just these subjects.
    pub fn stores(&self, subjects: &[String]) -> bool {
        self.0.get("subjects").is_some_and(|has| *has == json!(subjects))
    }
}

/// What a stream that exists needs.
#[derive(Debug, Clone, PartialEq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// A change of these settings; the payload of [`Api::Update`].
    Change {
        /// The names of the settings.
        names: Vec<String>,
        /// The payload.
        payload: Vec<u8>,
    },
}

impl KeptStream {
    /// The payload of [`Api::Create`].
    pub fn create(&self) -> Vec<u8> {
        let mut config = self.wanted();
        config.insert("name".to_owned(), json!(self.name));
        config.entry("num_replicas").or_insert(json!(1));
        for unlimited in ["max_msgs", "max_bytes", "max_consumers"] {
            config.insert(unlimited.to_owned(), json!(-1));
        }
        Value::Object(config).to_string().into_bytes()
    }

    /// Compares the stream with one that exists.
    pub fn compare(&self, existing: &StreamConfig) -> Need {
        let StreamConfig(existing) = existing;
        let wanted = self.wanted();
        let differs =
            |(name, value): &(&String, &Value)| !existing.get(*name).is_some_and(|has| includes(has, value));
        let names: Vec<_> = wanted
            .iter()
            .filter(differs)
            .map(|(name, _)| name.clone())
            .collect();
        if names.is_empty() {
            return Need::Nothing;
        }
        let mut config = existing.clone();
        config.extend(wanted);
        Need::Change {
            names,
            payload: Value::Object(config).to_string().into_bytes(),
        }
    }

    fn wanted(&self) -> Map<String, Value> {
        let mut wanted = Map::new();
        let mut want = |name: &str, value: Value| wanted.insert(name.to_owned(), value);
        want("subjects", json!(self.stored));
        want("retention", json!("limits"));
        want("storage", json!("file"));
        want("discard", json!("old"));
        want("max_msgs_per_subject", json!(self.max_per_subject));
        want("max_age", json!(self.max_age_ns));
        want("duplicate_window", json!(self.id_ttl_ns));
        want("max_msg_size", json!(self.max_message_bytes));
        want("allow_direct", json!(true));
        if let Some(Republish { from, to }) = &self.announced {
            want("republish", json!({ "src": from, "dest": to }));
        }
        if let Some(n_replicas) = self.n_replicas {
            want("num_replicas", json!(n_replicas));
        }
        wanted
    }
}

/// Whether a setting has a value. Newer servers may add fields.
fn includes(has: &Value, wanted: &Value) -> bool {
    match (has, wanted) {
        (Value::Object(has), Value::Object(wanted)) => wanted
            .iter()
            .all(|(name, value)| has.get(name).is_some_and(|has| includes(has, value))),
        _ => has == wanted,
    }
}

/// The settings of a stream in an answer.
///
/// # Errors
/// JetStream refuses the request.
pub fn stream_config(payload: &[u8]) -> Result<StreamConfig, ApiError> {
    #[derive(Deserialize)]
    struct Body {
        config: Map<String, Value>,
    }
    answer::<Body>(payload).map(|body| StreamConfig(body.config))
}

/// JetStream has stored a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Acknowledgement {
    /// The number of the message in its stream.
    #[serde(rename = "seq")]
    pub number: u64,
    /// Whether it had been stored before, under the same id.
    #[serde(rename = "duplicate", default)]
    pub is_repetition: bool,
}

/// The answer to a published message.
///
/// # Errors
/// JetStream has not stored it.
pub fn acknowledgement(payload: &[u8]) -> Result<Acknowledgement, ApiError> {
    answer(payload)
}

/// Which message is wanted: the payload of [`Api::Message`] and [`Api::Direct`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// The last one of a subject.
    Last(&'a str),
    /// The first one of a subject that has this number or a greater one.
    Next(&'a str, u64),
    /// The one with this number.
    Numbered(u64),
}

impl Wanted<'_> {
    /// The payload.
    pub fn payload(self) -> Vec<u8> {
        let body = match self {
            Self::Last(subject) => json!({ "last_by_subj": subject }),
            Self::Next(subject, number) => json!({ "next_by_subj": subject, "seq": number }),
            Self::Numbered(number) => json!({ "seq": number }),
        };
        body.to_string().into_bytes()
    }
}

/// A message of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its number in the stream.
    pub number: u64,
    /// The bytes of its header.
    pub header: Vec<u8>,
    /// Its payload.
    pub payload: Vec<u8>,
}

/// The answer to [`Api::Message`]. `None`: there is no such message.
///
/// # Errors
/// JetStream refuses the request.
pub fn message(payload: &[u8]) -> Result<Option<Kept>, ApiError> {
    #[derive(Deserialize)]
    struct Body {
        message: Base64,
    }
    #[derive(Deserialize)]
    struct Base64 {
        seq: u64,
        #[serde(default)]
        hdrs: String,
        #[serde(default)]
        data: String,
    }
    let Base64 { seq, hdrs, data } = match answer::<Body>(payload) {
        Ok(Body { message }) => message,
        Err(ApiError { code: 10037, .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let bytes = |text: String| STANDARD.decode(text).map_err(|_| unreadable(payload));
    Ok(Some(Kept {
        number: seq,
        header: bytes(hdrs)?,
        payload: bytes(data)?,
    }))
}

/// The answer to [`Api::Direct`]. `None`: the replica has no such message.
///
/// # Errors
/// JetStream refuses the request.
pub fn direct(answer: Message) -> Result<Option<Kept>, ApiError> {
    let header = Header::read(&answer.header);
    match (header.status, header.number(NUMBER)) {
        (Some(404), _) => Ok(None),
        (None, Some(number)) => Ok(Some(Kept {
            number,
            header: answer.header,
            payload: answer.payload,
        })),
        _ => Err(unreadable(&answer.header)),
    }
}

fn answer<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Result<T, ApiError> {
    #[derive(Deserialize)]
    struct Refusal {
        error: Reason,
    }
    #[derive(Deserialize)]
    struct Reason {
        #[serde(default)]
        err_code: u32,
        #[serde(default)]
        description: String,
    }
    if let Ok(Refusal { error }) = serde_json::from_slice(payload) {
        let Reason {
            err_code,
            description,
        } = error;
        return Err(ApiError {
            code: err_code,
            description,
        });
    }
    serde_json::from_slice(payload).map_err(|_| unreadable(payload))
}

fn unreadable(answer: &[u8]) -> ApiError {
    let beginning: String = String::from_utf8_lossy(answer).chars().take(80).collect();
    ApiError {
        code: 0,
        description: format!("the answer has another form than expected: {beginning:?}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stream() -> KeptStream {
        KeptStream {
            name: "plimsoll".to_owned(),
            stored: vec!["plimsoll.h.*".to_owned()],
            announced: Some(Republish {
                from: "plimsoll.h.*".to_owned(),
                to: "plimsoll.r.{{wildcard(1)}}".to_owned(),
            }),
            max_per_subject: 102,
            max_age_ns: 3_000_000_000_000,
            id_ttl_ns: 300_000_000_000,
            max_message_bytes: 100_000,
            n_replicas: None,
        }
    }

    fn created(stream: &KeptStream) -> StreamConfig {
        StreamConfig(serde_json::from_slice(&stream.create()).expect("an object"))
    }

    #[test]
    fn a_new_stream_needs_nothing() {
        let config = created(&stream());
        assert_eq!(stream().compare(&config), Need::Nothing);
        assert_eq!(config.n_replicas(), 1);
        assert!(config.stores(&stream().stored) && !config.stores(&["other.h.*".to_owned()]));
        let silent = KeptStream {
            announced: None,
            ..stream()
        };
        assert!(!created(&silent).0.contains_key("republish"));
        let three = KeptStream {
            n_replicas: Some(3),
            ..stream()
        };
        assert_eq!(created(&three).n_replicas(), 3);
        // A server that does not say how many there should be changes nothing.
        assert_eq!(stream().compare(&created(&three)), Need::Nothing);
    }

    #[track_caller]
    fn check_change(change: impl FnOnce(&mut Map<String, Value>), expected: &[&str]) {
        let mut config = created(&stream());
        config.0.insert("description".to_owned(), json!("kept"));
        change(&mut config.0);
        let Need::Change { names, payload } = stream().compare(&config) else {
            panic!("{expected:?}: no change");
        };
        assert_eq!(names, expected);
        let updated = StreamConfig(serde_json::from_slice(&payload).expect("an object"));
        assert_eq!(stream().compare(&updated), Need::Nothing);
        assert_eq!(updated.0["description"], "kept");
    }

    #[test]
    fn settings_that_differ_are_changed_and_others_stay() {
        check_change(
            |config| drop(config.insert("max_age".to_owned(), json!(1))),
            &["max_age"],
        );
        check_change(|config| drop(config.remove("republish")), &["republish"]);
        check_change(
            |config| drop(config.insert("subjects".to_owned(), json!(["a", "b"]))),
            &["subjects"],
        );
        let mut newer = created(&stream());
        newer.0["republish"]["headers_only"] = json!(false);
        assert_eq!(stream().compare(&newer), Need::Nothing);
    }

    #[test]
    fn acknowledgements() {
        let check = |text: &str, expected: Result<(u64, bool), (u32, &str)>| {
            let found = acknowledgement(text.as_bytes());
            let found = found.as_ref().map(|ack| (ack.number, ack.is_repetition));
            let found = found.map_err(|error| (error.code, error.description.as_str()));
            assert_eq!(found, expected, "{text}");
        };
        check(r#"{"stream":"plimsoll", "seq":1}"#, Ok((1, false)));
        check(
            r#"{"stream":"plimsoll", "seq":1,"duplicate": true}"#,
            Ok((1, true)),
        );
        check(
            r#"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 1"},"stream":"plimsoll","seq":0}"#,
            Err((10071, "wrong last sequence: 1")),
        );
        check(
            "-ERR 'No'",
            Err((0, "the answer has another form than expected: \"-ERR 'No'\"")),
        );
    }

    #[test]
    fn messages_of_the_leader() {
        let kept =
            message(br#"{"message":{"subject":"s","seq":2,"hdrs":"SEVBRA==","data":"dHdv","time":"2026"}}"#);
        let expected = Kept {
            number: 2,
            header: b"HEAD".to_vec(),
            payload: b"two".to_vec(),
        };
        assert_eq!(kept, Ok(Some(expected)));
        let none = message(br#"{"error":{"code":404,"err_code":10037,"description":"no message found"}}"#);
        assert_eq!(none, Ok(None));
        let error = message(br#"{"message":{"seq":2,"data":"?"}}"#).expect_err("it is no base64");
        assert_eq!(error.code, 0);
    }

    #[test]
    fn messages_of_a_replica() {
        let check = |header: &str, expected: Option<Option<u64>>| {
            let answer = Message {
                header: header.into(),
                ..Message::default()
            };
            let found = direct(answer).ok().map(|kept| kept.map(|kept| kept.number));
            assert_eq!(found, expected, "{header}");
        };
        check("NATS/1.0\r\nNats-Sequence: 7\r\n\r\n", Some(Some(7)));
        check("NATS/1.0 404 Message Not Found\r\n\r\n", Some(None));
        check("NATS/1.0 408 Empty Request\r\n\r\n", None);
        check("", None);
    }

    #[test]
    fn requests() {
        assert_eq!(Api::Direct.subject("a"), "$JS.API.DIRECT.GET.a");
        let text = |wanted: Wanted<'_>| String::from_utf8(wanted.payload()).expect("JSON");
        assert_eq!(text(Wanted::Last("a.b")), r#"{"last_by_subj":"a.b"}"#);
        assert_eq!(text(Wanted::Next("a.b", 7)), r#"{"next_by_subj":"a.b","seq":7}"#);
        assert_eq!(text(Wanted::Numbered(7)), r#"{"seq":7}"#);
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _any_result = (stream_config(&bytes), acknowledgement(&bytes), message(&bytes));
        }
    }
}
