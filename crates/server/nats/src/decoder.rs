//! What the server sends, read with limits: a payload over the limit passes through, and only its length is kept.

use serde::Deserialize;

/// The longest line, in bytes. A server's greeting names all servers of its cluster.
const MAX_LINE_BYTES: usize = 64 << 10;

/// Room for one read, in bytes.
const READ_BYTES: usize = 16 << 10;

/// The end of a line and of a payload.
const END: &[u8] = b"\r\n";

/// One operation of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// The server's greeting, or news of its cluster.
    Info(Info),
    /// A message on the subject of a subscription.
    Message(Message),
    /// A message that is longer than the limit, which was not kept.
    TooLong {
        /// The subject.
        subject: Box<str>,
        /// The length of header and payload, in bytes.
        n_bytes: usize,
    },
    /// The server asks whether the client is there.
    Ping,
    /// The answer to a ping of the client.
    Pong,
    /// Something succeeded.
    Ok,
    /// Something failed.
    Error(String),
}

/// A message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// The subject on which it was published.
    pub subject: Box<str>,
    /// The number of the subscription that it comes for.
    pub subscription: u64,
    /// The bytes of its header, see [`Header`](crate::Header). Empty: it has none.
    pub header: Vec<u8>,
    /// The payload.
    pub payload: Vec<u8>,
}

/// The parts of a server's greeting that matter here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Info {
    /// The longest payload that the server accepts, in bytes. 0: the server does not say.
    #[serde(default)]
    pub max_payload: usize,
    /// Whether the connection must be encrypted.
    #[serde(default)]
    pub tls_required: bool,
    /// The version of the server. Empty: the server does not say.
    #[serde(default)]
    pub version: String,
    /// The cluster that the server belongs to. Empty: none.
    #[serde(default)]
    pub cluster: String,
}

/// The server sends something else. The connection cannot be used any more.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[error("the answer is not in NATS' protocol: {0:?}")]
pub struct NotNats(String);

/// Takes bytes of a connection and returns operations.
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Bytes at the beginning of the buffer that were decoded.
    n_done: usize,
    max_payload_bytes: usize,
    state: State,
}

#[derive(Debug)]
enum State {
    Line,
    /// The bytes of a message follow.
    Payload(Head),
    /// The bytes of a message follow that is not kept; `n_left` of them are to come, with their end.
    Skipped {
        head: Head,
        n_left: usize,
    },
}

/// The line before a message.
#[derive(Debug)]
struct Head {
    subject: Box<str>,
    subscription: u64,
    n_header_bytes: usize,
    /// Of header and payload.
    n_bytes: usize,
}

impl Decoder {
    /// Payloads longer than `max_payload_bytes` are not kept.
    pub fn new(max_payload_bytes: usize) -> Self {
        Self {
            buffer: Vec::new(),
            n_done: 0,
            max_payload_bytes,
            state: State::Line,
        }
    }

    /// Where the bytes that were read are to be appended.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.buffer.drain(..self.n_done);
        self.n_done = 0;
        self.buffer.reserve(READ_BYTES);
        &mut self.buffer
    }

    /// The next operation. `None`: more bytes are needed.
    ///
    /// # Errors
    /// The bytes are not those of a NATS server.
    pub fn decode(&mut self) -> Result<Option<Operation>, NotNats> {
        loop {
            match std::mem::replace(&mut self.state, State::Line) {
                State::Line => {
                    let Some(line) = self.line()? else { return Ok(None) };
                    if let Some(operation) = self.begin(&line)? {
                        return Ok(Some(operation));
                    }
                }
                State::Payload(head) => {
                    let Some(bytes) = self.rest().get(..head.n_bytes + END.len()) else {
                        self.state = State::Payload(head);
                        return Ok(None);
                    };
                    let Some(bytes) = bytes.strip_suffix(END) else {
                        return Err(not_nats(bytes));
                    };
                    let (header, payload) = bytes.split_at(head.n_header_bytes);
                    let message = Message {
                        header: header.to_vec(),
                        payload: payload.to_vec(),
                        subject: head.subject,
                        subscription: head.subscription,
                    };
                    self.n_done += head.n_bytes + END.len();
                    return Ok(Some(Operation::Message(message)));
                }
                State::Skipped { head, n_left } => {
                    let n_skipped = n_left.min(self.rest().len());
                    self.n_done += n_skipped;
                    if n_skipped < n_left {
                        let n_left = n_left - n_skipped;
                        self.state = State::Skipped { head, n_left };
                        return Ok(None);
                    }
                    let Head { subject, n_bytes, .. } = head;
                    return Ok(Some(Operation::TooLong { subject, n_bytes }));
                }
            }
        }
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.n_done..]
    }

    fn line(&mut self) -> Result<Option<String>, NotNats> {
        let rest = self.rest();
        let end = rest.windows(END.len()).position(|window| window == END);
        match end {
            Some(end) if end <= MAX_LINE_BYTES => {
                let line = String::from_utf8_lossy(&rest[..end]).into_owned();
                self.n_done += end + END.len();
                Ok(Some(line))
            }
            None if rest.len() <= MAX_LINE_BYTES => Ok(None),
            _ => Err(not_nats(rest)),
        }
    }

    /// The operation of a line. `None`: a payload follows.
    fn begin(&mut self, line: &str) -> Result<Option<Operation>, NotNats> {
        let wrong = || not_nats(line.as_bytes());
        let (verb, arguments) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        Ok(Some(match verb.to_ascii_uppercase().as_str() {
            "INFO" => Operation::Info(serde_json::from_str(arguments).map_err(|_| wrong())?),
            "MSG" | "HMSG" => {
                let head = head(arguments, verb.len() > 3).ok_or_else(wrong)?;
                self.state = if head.n_bytes <= self.max_payload_bytes {
                    State::Payload(head)
                } else {
                    let n_left = head.n_bytes + END.len();
                    State::Skipped { head, n_left }
                };
                return Ok(None);
            }
            "PING" => Operation::Ping,
            "PONG" => Operation::Pong,
            "+OK" => Operation::Ok,
            "-ERR" => Operation::Error(arguments.trim().trim_matches('\'').to_owned()),
            _ => return Err(wrong()),
        }))
    }
}

/// Subject, number of the subscription, perhaps a subject for answers, perhaps the number of bytes of the header, and that
/// of all bytes.
fn head(arguments: &str, has_header: bool) -> Option<Head> {
    let arguments: Vec<_> = arguments.split_ascii_whitespace().collect();
    let (names, numbers) =
        arguments.split_at_checked(arguments.len().checked_sub(1 + usize::from(has_header))?)?;
    let ([subject, subscription] | [subject, subscription, _]) = names else {
        return None;
    };
    let number = |text: &str| text.parse::<u32>().ok().map(|number| number as usize);
    let n_bytes = number(numbers.last()?)?;
    let n_header_bytes = if has_header { number(numbers.first()?)? } else { 0 };
    (n_header_bytes <= n_bytes).then_some(Head {
        subject: (*subject).into(),
        subscription: subscription.parse().ok()?,
        n_header_bytes,
        n_bytes,
    })
}

fn not_nats(bytes: &[u8]) -> NotNats {
    NotNats(String::from_utf8_lossy(bytes).chars().take(40).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX_PAYLOAD_BYTES: usize = 8;

    /// Decodes bytes that arrive in pieces of this size.
    fn decoded(bytes: &[u8], piece: usize) -> Result<Vec<Operation>, NotNats> {
        let mut decoder = Decoder::new(MAX_PAYLOAD_BYTES);
        let mut operations = Vec::new();
        for piece in bytes.chunks(piece) {
            decoder.buffer().extend_from_slice(piece);
            while let Some(operation) = decoder.decode()? {
                operations.push(operation);
            }
        }
        Ok(operations)
    }

    #[track_caller]
    fn check(bytes: &str, expected: &[Operation]) {
        for piece in 1..=bytes.len() {
            let operations = decoded(bytes.as_bytes(), piece).expect("valid");
            assert_eq!(operations, expected, "{bytes:?} in pieces of {piece}");
        }
    }

    #[track_caller]
    fn check_refused(bytes: &str, shown: &str) {
        let error = decoded(bytes.as_bytes(), 4096).expect_err("it is refused");
        assert_eq!(error, NotNats(shown.to_owned()), "{bytes:?}");
    }

    #[test]
    fn operations_of_a_server() {
        let info = |max_payload, tls_required| {
            Operation::Info(Info {
                max_payload,
                tls_required,
                ..Info::default()
            })
        };
        check(
            "INFO {\"server_id\":\"N\",\"max_payload\":1048576,\"tls_required\":true}\r\nPING\r\n",
            &[info(1 << 20, true), Operation::Ping],
        );
        check("INFO {}\r\n", &[info(0, false)]);
        check(
            "INFO {\"version\":\"2.9.10\",\"cluster\":\"c\"}\r\n",
            &[Operation::Info(Info {
                version: "2.9.10".to_owned(),
                cluster: "c".to_owned(),
                ..Info::default()
            })],
        );
        check(
            "-ERR 'Authorization Violation'\r\n",
            &[Operation::Error("Authorization Violation".to_owned())],
        );
    }

    fn message(subject: &str, subscription: u64, header: &str, payload: &str) -> Operation {
        Operation::Message(Message {
            subject: subject.into(),
            subscription,
            header: header.into(),
            payload: payload.into(),
        })
    }

    #[test]
    fn messages() {
        check(
            "MSG chat 1 5\r\nhello\r\nPONG\r\n",
            &[message("chat", 1, "", "hello"), Operation::Pong],
        );
        check("MSG chat 12 _INBOX.7 0\r\n\r\n", &[message("chat", 12, "", "")]);
        check(
            "MSG a 1 6\r\n\r\nPING\r\n+OK\r\n",
            &[message("a", 1, "", "\r\nPING"), Operation::Ok],
        );
        check(
            "MSG a 1 9\r\n123456789\r\nMSG a 1 1\r\nx\r\n",
            &[
                Operation::TooLong {
                    subject: "a".into(),
                    n_bytes: 9,
                },
                message("a", 1, "", "x"),
            ],
        );
        check("HMSG a 1 4 8\r\nHEADbody\r\n", &[message("a", 1, "HEAD", "body")]);
        check("HMSG a 1 b 4 4\r\nHEAD\r\n", &[message("a", 1, "HEAD", "")]);
    }

    #[test]
    fn other_servers_are_refused() {
        check_refused("HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP/1.1 400 Bad Request");
        check_refused("MSG a 1\r\n", "MSG a 1");
        check_refused("MSG a x 1\r\n", "MSG a x 1");
        check_refused("HMSG a 1 4\r\n", "HMSG a 1 4");
        check_refused("HMSG a 1 5 4\r\n", "HMSG a 1 5 4");
        check_refused("MSG a 1 -1\r\n", "MSG a 1 -1");
        check_refused("MSG a 1 99999999999\r\n", "MSG a 1 99999999999");
        check_refused("MSG a 1 1\r\nxyz\r\n", "xyz");
        check_refused("INFO nonsense\r\n", "INFO nonsense");
        check_refused(&"x".repeat(70_000), &"x".repeat(40));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_grow(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1_usize..50) {
            let _any_result = decoded(&bytes, piece);
        }

        #[test]
        fn payloads_come_back_as_they_were_published(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..=8), 0..20),
            piece in 1_usize..50,
        ) {
            let mut bytes = Vec::new();
            for payload in &payloads {
                bytes.extend_from_slice(format!("MSG s 1 {}\r\n", payload.len()).as_bytes());
                bytes.extend_from_slice(payload);
                bytes.extend_from_slice(b"\r\n");
            }
            let expected: Vec<_> = payloads
                .into_iter()
                .map(|payload| Operation::Message(Message { subject: "s".into(), subscription: 1, header: Vec::new(), payload }))
                .collect();
            prop_assert_eq!(decoded(&bytes, piece), Ok(expected));
        }
    }
}
