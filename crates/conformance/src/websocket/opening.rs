//! The opening handshake from the client's side (RFC 6455 §4.1): a request of which a case can change every byte, and the
//! check of the answer.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use sha1::{Digest as _, Sha1};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{
    connection::{Connection, Duplex, Side},
    head::Head,
    target::Server,
    terms::Terms,
};
use crate::{Octets, WireLog};

/// What proves that a server understood a WebSocket handshake (RFC 6455 §1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The key of the RFC's example (§1.3). The same in all cases: nothing here has to be hard to guess.
pub(super) const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// A request to open a WebSocket, in order unless a case changed it.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The request line.
    pub(super) line: String,
    /// The field lines, as they are written.
    pub(super) fields: Vec<String>,
}

/// What the server agreed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreed {
    /// The terms of compression, if it was offered and accepted.
    pub(super) deflate: Option<Terms>,
    /// The sub-protocol, if one was chosen.
    pub(super) protocol: Option<String>,
}

/// How a server answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// With a whole head; behind it came these bytes.
    Head(Head, Vec<u8>),
    /// With something that is no HTTP.
    Nonsense(String),
    /// It ended the connection without an answer.
    Ended,
}

impl Request {
    /// The usual request to a server.
    pub(super) fn new(server: &Server) -> Self {
        Self {
            line: format!("GET {} HTTP/1.1", server.path()),
            fields: vec![
                format!("Host: {}", server.authority()),
                "Upgrade: websocket".to_owned(),
                "Connection: Upgrade".to_owned(),
                format!("Sec-WebSocket-Key: {KEY}"),
                "Sec-WebSocket-Version: 13".to_owned(),
            ],
        }
    }

    /// The same with one more field.
    pub(super) fn with(mut self, field: impl Into<String>) -> Self {
        self.fields.push(field.into());
        self
    }

    /// The same without a field.
    pub(super) fn without(mut self, name: &str) -> Self {
        self.fields
            .retain(|field| !field.starts_with(&format!("{name}:")));
        self
    }

    /// The same with another value of a field, which keeps its place.
    pub(super) fn replacing(mut self, name: &str, value: &str) -> Self {
        for field in &mut self.fields {
            if field.starts_with(&format!("{name}:")) {
                *field = format!("{name}: {value}");
            }
        }
        self
    }

    /// As bytes.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut lines = vec![self.line.as_str()];
        lines.extend(self.fields.iter().map(String::as_str));
        format!("{}\r\n\r\n", lines.join("\r\n")).into_bytes()
    }
}

/// `Sec-WebSocket-Accept` for a key (RFC 6455 §4.2.2).
pub(super) fn accept_of(key: &str) -> String {
    BASE64.encode(Sha1::new().chain_update(key).chain_update(GUID).finalize())
}

/// Sends a request, cut into pieces of `n_at_once`, and reads the answer.
pub(super) async fn ask(
    stream: &mut dyn Duplex,
    request: &[u8],
    n_at_once: usize,
    wire: &mut WireLog,
) -> Answer {
    wire.sent(Octets(request));
    for piece in request.chunks(n_at_once) {
        // A server may answer before it has read all. Its answer is what counts.
        if stream.write_all(piece).await.is_err() || stream.flush().await.is_err() {
            wire.note("the target takes no more");
            break;
        }
    }
    let mut bytes = Vec::new();
    loop {
        match Head::read(&bytes) {
            Ok(Some((head, n_head_bytes))) => {
                wire.received(Octets(&bytes[..n_head_bytes]));
                return Answer::Head(head, bytes.split_off(n_head_bytes));
            }
            Ok(None) => {}
            Err(what) => {
                wire.received(Octets(&bytes));
                return Answer::Nonsense(what);
            }
        }
        match stream.read_buf(&mut bytes).await {
            Ok(1..) => {}
            Ok(0) if !bytes.is_empty() => {
                wire.received(Octets(&bytes));
                return Answer::Nonsense("the beginning of a head and then the end".to_owned());
            }
            Ok(0) | Err(_) => {
                wire.note("the target ended the connection");
                return Answer::Ended;
            }
        }
    }
}

/// What a server must say that opens a WebSocket (RFC 6455 §4.1, §4.2.2), for these offers of compression and
/// sub-protocols.
///
/// # Errors
/// What is wrong with the answer.
pub(super) fn check(head: &Head, offers: &[Terms], protocols: &[&str]) -> Result<Agreed, String> {
    if head.status() != Some(101) {
        return Err(format!("{:?} instead of the status 101", head.first_line));
    }
    if !head.only("Upgrade")?.eq_ignore_ascii_case("websocket") {
        return Err("Upgrade is not websocket (RFC 6455 §4.2.2)".to_owned());
    }
    if !head.lists("Connection", "Upgrade") {
        return Err("Connection does not name Upgrade (RFC 6455 §4.2.2)".to_owned());
    }
    let (accept, expected) = (head.only("Sec-WebSocket-Accept")?, accept_of(KEY));
    if accept != expected {
        return Err(format!(
            "Sec-WebSocket-Accept is {accept:?} and not {expected:?} (RFC 6455 §4.2.2)"
        ));
    }
    for forbidden in ["Content-Length", "Transfer-Encoding"] {
        if head.values(forbidden).next().is_some() {
            return Err(format!("an answer with 101 has {forbidden} (RFC 9110 §8.6)"));
        }
    }
    Ok(Agreed {
        deflate: check_extensions(head, offers)?,
        protocol: check_protocol(head, protocols)?,
    })
}

fn check_extensions(head: &Head, offers: &[Terms]) -> Result<Option<Terms>, String> {
    let answers: Vec<_> = head
        .values("Sec-WebSocket-Extensions")
        .flat_map(Terms::read)
        .collect();
    let answer = match &answers[..] {
        [] => return Ok(None),
        [Ok(answer)] => *answer,
        [Err(element), ..] => {
            return Err(format!(
                "the extension {element:?} makes no sense (RFC 6455 §9.1)"
            ));
        }
        _ => return Err("permessage-deflate is accepted twice (RFC 7692 §5.1)".to_owned()),
    };
    let mut complaint = "an extension that was not offered (RFC 6455 §9.1)".to_owned();
    for offer in offers {
        match answer.answers(offer) {
            Ok(()) => return Ok(Some(answer)),
            Err(why) => complaint = why,
        }
    }
    Err(complaint)
}

fn check_protocol(head: &Head, offered: &[&str]) -> Result<Option<String>, String> {
    if head.values("Sec-WebSocket-Protocol").next().is_none() {
        return Ok(None);
    }
    let chosen = head.only("Sec-WebSocket-Protocol")?;
    if offered.contains(&chosen) {
        return Ok(Some(chosen.to_owned()));
    }
    Err(format!(
        "the sub-protocol {chosen:?} was not offered (RFC 6455 §4.2.2)"
    ))
}

/// Opens a WebSocket in the usual way, offering these terms of compression.
///
/// # Errors
/// The server cannot be reached, or does not open one.
pub(super) async fn open<'w>(
    server: &Server,
    offers: &[Terms],
    wire: &'w mut WireLog,
) -> Result<(Connection<'w>, Agreed), String> {
    let mut stream = server
        .dial()
        .await
        .map_err(|error| format!("no connection: {error}"))?;
    let mut request = Request::new(server);
    if !offers.is_empty() {
        request = request.with(format!("Sec-WebSocket-Extensions: {}", Terms::headers(offers)));
    }
    let request = request.encode();
    let (head, early) = match ask(&mut *stream, &request, request.len(), wire).await {
        Answer::Head(head, early) => (head, early),
        Answer::Nonsense(what) => return Err(what),
        Answer::Ended => return Err("the end of the connection instead of an answer".to_owned()),
    };
    let agreed = check(&head, offers, &[])?;
    let deflate = agreed.deflate.map(|terms| terms.of_client());
    Ok((
        Connection::new(stream, Side::Client, deflate, early, wire),
        agreed,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_6455_1_3() {
        assert_eq!(accept_of(KEY), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    /// `changes` are added to an answer in order, or take the place of a field in it.
    #[track_caller]
    fn check_answer(changes: &[&str], expected: Option<&str>) {
        let mut fields = vec![
            "Upgrade: websocket".to_owned(),
            "Connection: Upgrade".to_owned(),
            format!("Sec-WebSocket-Accept: {}", accept_of(KEY)),
        ];
        for change in changes {
            let name = change.split(':').next().unwrap();
            fields.retain(|field| !field.starts_with(name));
            fields.push((*change).to_owned());
        }
        let text = format!(
            "HTTP/1.1 101 Switching Protocols\r\n{}\r\n\r\n",
            fields.join("\r\n")
        );
        let (head, _) = Head::read(text.as_bytes()).unwrap().unwrap();
        let complaint = check(&head, &[Terms::MODEST], &["chat"]).err();
        match expected {
            None => assert_eq!(complaint, None, "{changes:?}"),
            Some(part) => assert!(
                complaint.as_ref().is_some_and(|text| text.contains(part)),
                "{complaint:?}"
            ),
        }
    }

    #[test]
    fn answers_are_checked() {
        check_answer(&[], None);
        check_answer(&["Connection: keep-alive, upgrade"], None);
        check_answer(
            &[
                "Sec-WebSocket-Protocol: chat",
                "Sec-WebSocket-Extensions: permessage-deflate",
            ],
            None,
        );
        check_answer(&["Upgrade: h2c"], Some("Upgrade is not websocket"));
        check_answer(&["Connection: close"], Some("does not name Upgrade"));
        check_answer(&["Sec-WebSocket-Accept: AAAA"], Some("Sec-WebSocket-Accept is"));
        check_answer(&["Content-Length: 0"], Some("has Content-Length"));
        check_answer(
            &["Sec-WebSocket-Protocol: talk"],
            Some("\"talk\" was not offered"),
        );
        check_answer(
            &["Sec-WebSocket-Extensions: x-new"],
            Some("\"x-new\" makes no sense"),
        );
        check_answer(
            &["Sec-WebSocket-Extensions: permessage-deflate, permessage-deflate"],
            Some("accepted twice"),
        );
    }
}
