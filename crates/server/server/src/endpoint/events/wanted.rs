//! The subscriptions of a request for an event stream: from its query (`GET`, as browsers do), or from the commands in
//! its body (`POST`).

use plimsoll_cable::{
    command::{Command, CommandError, HistoryRequest, Member, StreamPosition},
    event_stream::{self, EventStream},
};
use plimsoll_websocket::handshake::server::Request;
use serde_json::{Map, Value};

/// The subscriptions that a client wants, and in which form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) stream: EventStream,
    pub(crate) subscriptions: Vec<Subscription>,
}

/// One channel with its parameters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Subscription {
    pub(crate) identifier: Box<str>,
    /// The missed messages that the client asks for. `None`: it asks for none.
    pub(crate) history: Option<HistoryRequest>,
    /// The member that the client wants to be present as.
    pub(crate) presence: Option<Member>,
}

/// Why a request cannot be served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WantedError {
    #[error(
        "the query names no channel; add one of identifier, channel, stream, signed_stream and \
         turbo_signed_stream_name to it, for example ?channel=ChatChannel"
    )]
    NoChannel,
    #[error(
        "history_since is {value:?}, which is not a Unix time in seconds; expected something like \
         history_since=1700000000"
    )]
    HistorySince { value: String },
    #[error("line {line} of the body: {source}; {EXAMPLE_LINE}")]
    NotACommand { line: usize, source: CommandError },
    #[error("line {line} of the body: only subscribe commands are allowed here; {EXAMPLE_LINE}")]
    NotSubscribe { line: usize },
}

const EXAMPLE_LINE: &str = r#"write one command a line, for example {"command":"subscribe","identifier":"{\"channel\":\"ChatChannel\"}"}"#;

/// AnyCable's channel for streams without an application.
const PUBSUB: &str = "$pubsub";
/// The channel of Hotwire's `<turbo-cable-stream-source>`.
const TURBO: &str = "Turbo::StreamsChannel";

/// Query parameters that name a stream, each with its channel and the stream's key in the identifier.
const STREAM_PARAMETERS: [(&str, &str, &str); 3] = [
    ("stream", PUBSUB, "stream_name"),
    ("signed_stream", PUBSUB, "signed_stream_name"),
    ("turbo_signed_stream_name", TURBO, "signed_stream_name"),
];

impl Wanted {
    /// Parses the query of a `GET`.
    ///
    /// # Errors
    /// The query names no channel, or is invalid.
    pub(crate) fn from_query(request: &Request<'_>) -> Result<Self, WantedError> {
        let query = Query::of(request);
        let identifier = query.identifier().ok_or(WantedError::NoChannel)?;
        let since = match query.get("history_since") {
            Some(value) => value
                .parse()
                .map(|seconds: i64| Some(seconds).filter(|seconds| *seconds > 0))
                .map_err(|_| WantedError::HistorySince { value })?,
            None => None,
        };
        let last_event = request.header("Last-Event-ID").filter(|id| !id.is_empty());
        Ok(Self {
            stream: EventStream {
                is_whole: false,
                is_raw: query.is_raw(),
            },
            subscriptions: vec![Subscription {
                identifier: identifier.into(),
                history: history(since, last_event),
                presence: None,
            }],
        })
    }

    /// Parses the body of a `POST`: commands as on a WebSocket, one a line. An empty body opens a session without
    /// subscriptions.
    ///
    /// # Errors
    /// A line is not a `subscribe`.
    pub(crate) fn from_body(request: &Request<'_>, body: &[u8]) -> Result<Self, WantedError> {
        let lines = body.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let subscriptions = (1..)
            .zip(lines)
            .filter(|(_, line)| !line.is_empty())
            .map(|(line, command)| subscription(line, command))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            stream: EventStream {
                is_whole: true,
                is_raw: Query::of(request).is_raw(),
            },
            subscriptions,
        })
    }
}

/// The request for history of a query. An event id of another form asks for everything: the client has missed an unknown
/// number of messages, and is told unless all of them are kept.
fn history(since: Option<i64>, last_event: Option<&str>) -> Option<HistoryRequest> {
    let position = last_event.map(|id| event_stream::position_of(id).ok_or(id));
    match position {
        Some(Ok(position)) => {
            let heard = StreamPosition {
                offset: position.offset,
                epoch: position.epoch.into(),
            };
            Some(HistoryRequest {
                since,
                streams: [(position.stream.into(), heard)].into(),
            })
        }
        Some(Err(_)) => Some(HistoryRequest {
            since: since.or(Some(1)),
            ..HistoryRequest::default()
        }),
        None => since.map(|since| HistoryRequest {
            since: Some(since),
            ..HistoryRequest::default()
        }),
    }
}

fn subscription(line: usize, command: &[u8]) -> Result<Subscription, WantedError> {
    match Command::parse(command) {
        Ok(Command::Subscribe {
            identifier,
            history,
            presence,
        }) => Ok(Subscription {
            identifier: identifier.into(),
            history,
            presence,
        }),
        Ok(_) => Err(WantedError::NotSubscribe { line }),
        Err(source) => Err(WantedError::NotACommand { line, source }),
    }
}

/// Writes an identifier with its keys in alphabetical order, as AnyCable does, so that the identifiers of both are the
/// same bytes.
fn identifier<const N: usize>(fields: [(&str, &str); N]) -> String {
    let fields = fields.map(|(key, value)| (key.to_owned(), Value::from(value)));
    Value::Object(Map::from_iter(fields)).to_string()
}

/// The parameters of a query.
struct Query(Vec<(String, String)>);

impl Query {
    fn of(request: &Request<'_>) -> Self {
        let pairs = form_urlencoded::parse(request.query().unwrap_or_default().as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// The first parameter of this name, unless it is empty.
    fn get(&self, name: &str) -> Option<String> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        Some(value.clone()).filter(|value| !value.is_empty())
    }

    /// The identifier of the channel that the query names. The first parameter that is present decides, in AnyCable's
    /// order.
    fn identifier(&self) -> Option<String> {
        if let Some(identifier) = self.get("identifier") {
            return Some(identifier);
        }
        if let Some(channel) = self.get("channel") {
            return Some(identifier([("channel", &channel)]));
        }
        STREAM_PARAMETERS.iter().find_map(|(parameter, channel, key)| {
            let name = self.get(parameter)?;
            Some(identifier([("channel", channel), (key, &name)]))
        })
    }

    fn is_raw(&self) -> bool {
        matches!(self.get("raw").as_deref(), Some("1" | "true" | "t" | "y"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<T>(head: &str, read: impl FnOnce(&Request<'_>) -> T) -> T {
        let head = format!("{head}\r\n\r\n");
        let (request, _) = Request::parse(head.as_bytes())
            .expect("the head is valid")
            .expect("the head is complete");
        read(&request)
    }

    #[track_caller]
    fn check_query(query: &str, expected: Result<&str, &str>) {
        let wanted = parse(&format!("GET /events?{query} HTTP/1.1"), Wanted::from_query);
        match (wanted, expected) {
            (Ok(wanted), Ok(identifier)) => {
                assert!(!wanted.stream.is_whole);
                assert_eq!(wanted.subscriptions.len(), 1);
                assert_eq!(&*wanted.subscriptions[0].identifier, identifier, "{query}");
            }
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{query}: {error}"),
            (wanted, _) => panic!("{query}: {wanted:?}"),
        }
    }

    #[test]
    fn the_query_names_a_channel() {
        check_query("channel=ChatChannel", Ok(r#"{"channel":"ChatChannel"}"#));
        check_query("channel=a%22b+c%20%E2%82%AC", Ok(r#"{"channel":"a\"b c €"}"#));
        check_query(
            "identifier=%7B%22channel%22%3A%22C%22%2C%22id%22%3A7%7D",
            Ok(r#"{"channel":"C","id":7}"#),
        );
        check_query(
            "stream=chat_1",
            Ok(r#"{"channel":"$pubsub","stream_name":"chat_1"}"#),
        );
        check_query(
            "signed_stream=x--y",
            Ok(r#"{"channel":"$pubsub","signed_stream_name":"x--y"}"#),
        );
        check_query(
            "turbo_signed_stream_name=x--y",
            Ok(r#"{"channel":"Turbo::StreamsChannel","signed_stream_name":"x--y"}"#),
        );
        check_query(
            "turbo_signed_stream_name=t&signed_stream=s&stream=p&channel=c&identifier=i",
            Ok("i"),
        );
        check_query(
            "turbo_signed_stream_name=t&signed_stream=s&stream=p&channel=c",
            Ok(r#"{"channel":"c"}"#),
        );
        check_query("identifier=&channel=c", Ok(r#"{"channel":"c"}"#));
        check_query("channel=a&channel=b", Ok(r#"{"channel":"a"}"#));
        check_query("", Err("?channel=ChatChannel"));
        check_query("chanel=c", Err("the query names no channel"));
        check_query(
            "channel=c&history_since=yesterday",
            Err("history_since is \"yesterday\""),
        );
    }

    #[track_caller]
    fn check_options(head: &str, is_raw: bool, history: &str) {
        let wanted = parse(head, Wanted::from_query).expect(head);
        let found = wanted.subscriptions[0].history.as_ref();
        let found = found.map_or(String::new(), |history| serde_json::to_string(history).unwrap());
        assert_eq!((wanted.stream.is_raw, &*found), (is_raw, history), "{head}");
    }

    #[test]
    fn the_query_says_how() {
        for raw in ["1", "true", "t", "y"] {
            check_options(&format!("GET /?channel=c&raw={raw} HTTP/1.1"), true, "");
        }
        for raw in ["", "0", "false", "yes"] {
            check_options(&format!("GET /?channel=c&raw={raw} HTTP/1.1"), false, "");
        }
        let since = "GET /?channel=c&history_since=1700000000 HTTP/1.1";
        check_options(since, false, r#"{"since":1700000000}"#);
        check_options("GET /?channel=c&history_since=0 HTTP/1.1", false, "");
        check_options(
            "GET /?channel=c HTTP/1.1\r\nLast-Event-ID: 7/e1/a/b",
            false,
            r#"{"streams":{"a/b":{"offset":7,"epoch":"e1"}}}"#,
        );
        check_options(
            "GET /?channel=c HTTP/1.1\r\nLast-Event-ID: seven",
            false,
            r#"{"since":1}"#,
        );
        check_options("GET /?channel=c HTTP/1.1\r\nLast-Event-ID:", false, "");
    }

    #[track_caller]
    fn check_body(body: &str, expected: Result<&[(&str, bool)], &str>) {
        let wanted = parse("POST /events?raw=1&channel=c HTTP/1.1", |request| {
            Wanted::from_body(request, body.as_bytes())
        });
        match (wanted, expected) {
            (Ok(wanted), Ok(expected)) => {
                assert!(wanted.stream.is_whole && wanted.stream.is_raw);
                let subscriptions: Vec<_> = wanted
                    .subscriptions
                    .iter()
                    .map(|subscription| (&*subscription.identifier, subscription.history.is_some()))
                    .collect();
                assert_eq!(subscriptions, expected, "{body}");
            }
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{body}: {error}"),
            (wanted, _) => panic!("{body}: {wanted:?}"),
        }
    }

    #[test]
    fn the_body_has_a_command_a_line() {
        check_body("", Ok(&[]));
        check_body("\r\n\n", Ok(&[]));
        check_body(
            "{\"command\":\"subscribe\",\"identifier\":\"a\"}\n\n{\"command\":\"subscribe\",\"identifier\":\"b\"}\r\n",
            Ok(&[("a", false), ("b", false)]),
        );
        check_body(
            r#"{"command":"subscribe","identifier":"a","history":{"since":1700000000}}"#,
            Ok(&[("a", true)]),
        );
    }

    #[test]
    fn a_line_that_cannot_be_served_is_named() {
        const GOOD: &str = r#"{"command":"subscribe","identifier":"a"}"#;
        check_body(
            &format!("{GOOD}\n\n{{"),
            Err("line 3 of the body: the command is not JSON"),
        );
        check_body(
            r#"{"command":"unsubscribe","identifier":"a"}"#,
            Err("line 1 of the body: only subscribe"),
        );
        check_body(r#"{"command":"dance"}"#, Err("unknown command \"dance\""));
        check_body(r#"{"command":"subscribe"}"#, Err("needs \"identifier\""));
    }
}
