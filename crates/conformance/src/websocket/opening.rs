//! The opening handshake from the client's side (RFC 6455 §4.1): the way of a request, and the check of the answer.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use sha1::{Digest as _, Sha1};
use tokio::io::AsyncWriteExt as _;

use super::{
    connection::{Connection, Side},
    terms::Terms,
};
use crate::{
    Octets, Server, WireLog,
    address::Duplex,
    protocol::{
        head::{Head, NoHead},
        reader::Violation,
        request::{KEY, Request},
    },
};

/// The constant that proves a server's understanding of a WebSocket handshake (RFC 6455 §1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The agreement of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreed {
    /// The terms of compression, if it was offered and accepted.
    pub(super) deflate: Option<Terms>,
    /// The sub-protocol, if one was chosen.
    pub(super) protocol: Option<String>,
}

/// `Sec-WebSocket-Accept` for a key (RFC 6455 §4.2.2).
pub(super) fn accept_of(key: &str) -> String {
    BASE64.encode(Sha1::new().chain_update(key).chain_update(GUID).finalize())
}

/// Sends a request, cut into pieces of `n_at_once`, and reads the answer: its head, and the bytes behind it.
///
/// # Errors
/// No answer comes.
pub(super) async fn ask(
    stream: &mut dyn Duplex,
    request: &[u8],
    n_at_once: usize,
    wire: &mut WireLog,
) -> Result<(Head, Vec<u8>), NoHead> {
    wire.sent(Octets(request));
    for piece in request.chunks(n_at_once) {
        // A server may answer before it has read all. Its answer is what counts.
        if stream.write_all(piece).await.is_err() || stream.flush().await.is_err() {
            wire.note("the target takes no more");
            break;
        }
    }
    let mut bytes = Vec::new();
    let received = Head::receive(stream, &mut bytes).await;
    match &received {
        Ok((_, n_head_bytes)) => wire.received(Octets(&bytes[..*n_head_bytes])),
        Err(NoHead::Nonsense(_)) => wire.received(Octets(&bytes)),
        Err(NoHead::Ended) => wire.note("the target ended the connection"),
    }
    received.map(|(head, n_head_bytes)| (head, bytes.split_off(n_head_bytes)))
}

/// The clause about the answer of a server that opens a WebSocket.
const ANSWER: &str = "RFC 6455 §4.2.2";

/// The end of the text about a server that opens no WebSocket.
const REFUSED: &str = "instead of the status 101";

/// Whether the answer was that of a server that opens no WebSocket here, for example because of a wrong path.
pub(super) fn is_refusal(violation: &Violation) -> bool {
    violation.what.ends_with(REFUSED)
}

/// Checks the answer of a server that opens a WebSocket (RFC 6455 §4.1, §4.2.2), for these keys, offers of compression and
/// sub-protocols. Of several keys the answer may be to any; without one, its `Sec-WebSocket-Accept` has nothing to agree with.
///
/// # Errors
/// What is wrong with the answer.
pub(super) fn check(
    head: &Head,
    keys: &[String],
    offers: &[Terms],
    protocols: &[&str],
) -> Result<Agreed, Violation> {
    if head.status() != Some(101) {
        let text = format!("{:?} {REFUSED}", head.first_line);
        return Err(Violation::must(ANSWER, text));
    }
    let only = |name| head.only(name).map_err(|what| Violation::must(ANSWER, what));
    if !only("Upgrade")?.eq_ignore_ascii_case("websocket") {
        return Err(Violation::must(
            ANSWER,
            "Upgrade is not websocket (RFC 6455 §4.2.2)",
        ));
    }
    if !head.lists("Connection", "Upgrade") {
        let text = "Connection does not name Upgrade (RFC 6455 §4.2.2)";
        return Err(Violation::must(ANSWER, text));
    }
    let accept = only("Sec-WebSocket-Accept")?;
    let expected: Vec<_> = keys.iter().map(|key| accept_of(key)).collect();
    if let [expected, others @ ..] = &expected[..]
        && accept != expected
        && !others.iter().any(|other| other == accept)
    {
        let text = format!("Sec-WebSocket-Accept is {accept:?} and not {expected:?} (RFC 6455 §4.2.2)");
        return Err(Violation::must(ANSWER, text));
    }
    for (forbidden, place) in [
        ("Content-Length", "RFC 9110 §8.6"),
        ("Transfer-Encoding", "RFC 9112 §6.1"),
    ] {
        if head.values(forbidden).next().is_some() {
            let text = format!("an answer with 101 has {forbidden} ({place})");
            return Err(Violation::must(place, text));
        }
    }
    Ok(Agreed {
        deflate: check_extensions(head, offers)?,
        protocol: check_protocol(head, protocols)?,
    })
}

/// The clause about offers whose terms a server does not support.
pub(super) const DECLINE: &str = "RFC 7692 §7";

/// An answer that differs from every offer is one to an offer that the server does not support, and had to decline.
fn check_extensions(head: &Head, offers: &[Terms]) -> Result<Option<Terms>, Violation> {
    let answers: Vec<_> = head
        .values("Sec-WebSocket-Extensions")
        .flat_map(Terms::read)
        .collect();
    let answer = match &answers[..] {
        [] => return Ok(None),
        [Ok(answer)] => *answer,
        [Err(element), ..] => {
            let text =
                format!("the extension {element:?} was not offered, or is not valid (RFC 6455 §4.2.2)");
            return Err(Violation::must(ANSWER, text));
        }
        _ => {
            let text = "permessage-deflate is accepted twice (RFC 7692 §6)";
            return Err(Violation::must("RFC 7692 §6", text));
        }
    };
    let mut complaint = Violation::must(
        "RFC 6455 §4.2.2, RFC 7692 §7",
        "an extension that was not offered on valid terms (RFC 6455 §4.2.2, RFC 7692 §7)",
    );
    for offer in offers {
        match answer.answers(offer) {
            Ok(()) => return Ok(Some(answer)),
            Err(why) => complaint = Violation::must(DECLINE, why),
        }
    }
    Err(complaint)
}

fn check_protocol(head: &Head, offered: &[&str]) -> Result<Option<String>, Violation> {
    if head.values("Sec-WebSocket-Protocol").next().is_none() {
        return Ok(None);
    }
    let chosen = head.only("Sec-WebSocket-Protocol");
    let chosen = chosen.map_err(|what| Violation::must(ANSWER, what))?;
    if offered.contains(&chosen) {
        return Ok(Some(chosen.to_owned()));
    }
    let text = format!("the sub-protocol {chosen:?} was not offered (RFC 6455 §4.2.2)");
    Err(Violation::must(ANSWER, text))
}

/// Opens a WebSocket in the usual way, offering these terms of compression.
///
/// # Errors
/// The server cannot be reached, or does not open one.
pub(super) async fn open<'w>(
    server: &Server,
    offers: &[Terms],
    wire: &'w mut WireLog,
) -> Result<(Connection<'w>, Agreed), Violation> {
    let mut stream = server
        .dial()
        .await
        .map_err(|error| Violation::must(ANSWER, format!("no connection: {error}")))?;
    let mut request = Request::new(server);
    if !offers.is_empty() {
        request = request.with(format!("Sec-WebSocket-Extensions: {}", Terms::headers(offers)));
    }
    let request = request.encode();
    let answer = ask(&mut *stream, &request, request.len(), wire).await;
    let (head, early) = answer.map_err(|none| Violation::must(ANSWER, none.to_string()))?;
    let agreed = check(&head, &[KEY.to_owned()], offers, &[])?;
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
        let complaint = check(&head, &[KEY.to_owned()], &[Terms::MODEST], &["chat"])
            .err()
            .map(|violation| violation.what);
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
            Some("\"x-new\" was not offered"),
        );
        check_answer(
            &["Sec-WebSocket-Extensions: permessage-deflate, permessage-deflate"],
            Some("accepted twice"),
        );
    }
}
