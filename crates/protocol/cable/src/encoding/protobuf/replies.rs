//! Messages of servers, for servers.

use prost::Message as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{
    super::{ReplyEncodeError, msgpack},
    messages::{DISCONNECT, ExtendedMessage, NO_TYPE, PING, ServerMessage, type_number},
};
use crate::presence;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    r#type: Option<String>,
    #[serde(default)]
    identifier: Option<String>,
    #[serde(borrow, default, deserialize_with = "present")]
    message: Option<&'a RawValue>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    reconnect: Option<bool>,
    #[serde(default)]
    stream_id: Option<String>,
    #[serde(default)]
    epoch: Option<String>,
    #[serde(default)]
    offset: u64,
    #[serde(default)]
    sid: Option<String>,
    #[serde(default)]
    restored: bool,
    #[serde(default)]
    restored_ids: Vec<String>,
}

/// A `null` payload is a payload.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl Envelope<'_> {
    /// The number of the type. A message of a subscription may have a type of the application's own, which protocol
    /// buffers cannot carry.
    fn kind(&self) -> Result<u64, ReplyEncodeError> {
        let Some(name) = self.r#type.as_deref() else {
            return Ok(NO_TYPE);
        };
        if name == presence::MESSAGE_TYPE {
            return Ok(PING);
        }
        if let Some(number) = type_number(name) {
            return Ok(number);
        }
        if self.identifier.is_some() && self.message.is_some() {
            return Ok(NO_TYPE);
        }
        Err(ReplyEncodeError::NotInProtobuf(name.into()))
    }
}

/// The message for a JSON text of a server's message.
pub(in super::super) fn encode_reply(json: &str, is_extended: bool) -> Result<Vec<u8>, ReplyEncodeError> {
    let envelope: Envelope<'_> = serde_json::from_str(json)?;
    let kind = envelope.kind()?;
    let payload = envelope.message.map(|message| msgpack::from_json(message.get()));
    let payload = payload.transpose()?.unwrap_or_default();
    let (message, presence) = if envelope.r#type.as_deref() == Some(presence::MESSAGE_TYPE) {
        (Vec::new(), payload)
    } else {
        (payload, Vec::new())
    };
    let identifier = envelope.identifier.unwrap_or_default();
    let reason = envelope.reason.unwrap_or_default();
    let reconnect = envelope.reconnect.unwrap_or(kind == DISCONNECT);
    if !is_extended {
        let message = ServerMessage {
            kind,
            identifier,
            message,
            reason,
            reconnect,
            presence,
        };
        return Ok(message.encode_to_vec());
    }
    let message = ExtendedMessage {
        kind,
        identifier,
        message,
        reason,
        reconnect,
        stream_id: envelope.stream_id.unwrap_or_default(),
        epoch: envelope.epoch.unwrap_or_default(),
        offset: i64::try_from(envelope.offset).unwrap_or(i64::MAX),
        sid: envelope.sid.unwrap_or_default(),
        restored: envelope.restored,
        restored_ids: envelope.restored_ids,
        presence,
    };
    Ok(message.encode_to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        disconnect::DisconnectReason,
        encoding::{Content, Encoding},
        reply::{
            Position, encode_confirm, encode_confirm_history, encode_disconnect, encode_kept_message,
            encode_message, encode_ping, encode_pong, encode_presence, encode_restored, encode_typed_message,
        },
    };

    /// What clients read.
    #[track_caller]
    fn check_dialect(reply: &str, is_extended: bool, expected: &str) {
        let bytes = encode_reply(reply, is_extended).expect("it exists in protobuf");
        let read = Encoding::Protobuf.reply_json(Content::Binary(&bytes), is_extended);
        assert_eq!(read.as_deref(), Ok(expected), "{reply}");
    }

    /// Messages without a position or session are the same in both dialects.
    #[track_caller]
    fn check(reply: &str, expected: &str) {
        check_dialect(reply, false, expected);
        check_dialect(reply, true, expected);
    }

    #[test]
    fn clients_read_what_servers_write() {
        let welcome = r#"{"type":"welcome","sid":"s"}"#;
        check_dialect(welcome, false, r#"{"type":"welcome"}"#);
        check_dialect(welcome, true, welcome);
        let restored = encode_restored("new", ["a", "\"b"]);
        check_dialect(&restored, true, &restored);
        let position = Position {
            stream: "s".into(),
            epoch: "e".into(),
            offset: 7,
        };
        let kept = encode_kept_message(None, "i", "1", &position);
        check_dialect(&kept, true, &kept);
        for reply in [
            encode_ping(1_778_384_896),
            encode_confirm("i"),
            encode_message("i", "null"),
            encode_message("i", r#"{"b":[1,-2.5,null,18446744073709551615],"a":"ü"}"#),
            encode_disconnect(DisconnectReason::Remote, true),
            encode_disconnect(DisconnectReason::Unauthorized, false),
            encode_pong(),
            encode_presence("i", &presence::left("7")),
        ] {
            check(&reply, &reply);
        }
        check(
            r#"{"type":"disconnect"}"#,
            r#"{"type":"disconnect","reconnect":true}"#,
        );
        check(
            &encode_typed_message("note", "i", "1"),
            r#"{"identifier":"i","message":1}"#,
        );
    }

    #[test]
    fn the_extended_message_has_positions_and_resumed_sessions() {
        let position = Position {
            stream: "s".into(),
            epoch: "e".into(),
            offset: 7,
        };
        let check = |reply: &str, expected: ExtendedMessage| {
            let bytes = encode_reply(reply, true).expect("it exists in protobuf");
            assert_eq!(ExtendedMessage::decode(&*bytes), Ok(expected), "{reply}");
        };
        check(
            &encode_kept_message(None, "i", "1", &position),
            ExtendedMessage {
                identifier: "i".to_owned(),
                message: vec![1],
                stream_id: "s".to_owned(),
                epoch: "e".to_owned(),
                offset: 7,
                ..ExtendedMessage::default()
            },
        );
        check(
            &encode_restored("new", ["a", "b"]),
            ExtendedMessage {
                kind: 1,
                sid: "new".to_owned(),
                restored: true,
                restored_ids: vec!["a".to_owned(), "b".to_owned()],
                ..ExtendedMessage::default()
            },
        );
        check(
            &encode_confirm_history("i"),
            ExtendedMessage {
                kind: 6,
                identifier: "i".to_owned(),
                ..ExtendedMessage::default()
            },
        );
        check(
            &encode_presence("i", &presence::joined("7", Some("1"))),
            ExtendedMessage {
                kind: 3,
                identifier: "i".to_owned(),
                presence: b"\x83\xa4type\xa4join\xa4info\x01\xa2id\xa17".to_vec(),
                ..ExtendedMessage::default()
            },
        );
    }

    #[test]
    fn a_client_that_does_not_know_presence_takes_it_for_a_ping() {
        let bytes = encode_reply(&encode_presence("i", &presence::left("7")), false).unwrap();
        assert!(bytes.starts_with(b"\x08\x03\x1a\x01i\xaa\x06"), "{bytes:02x?}");
    }

    #[test]
    fn what_does_not_exist_is_named() {
        for (reply, expected) in [
            (
                r#"{"type":"note"}"#.to_owned(),
                r#"messages of the type "note" do not exist in protobuf"#,
            ),
            ("{".to_owned(), "write the message in a binary encoding: "),
        ] {
            let error = encode_reply(&reply, true).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
