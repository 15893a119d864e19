//! Messages and commands as the servers of a cluster send them to each other: in AnyCable's form
//! (docs/protocols/cluster.md, Messages). [`super::parse`] reads them.

use serde::Serialize;

use super::{Publication, RemoteDisconnect};

#[derive(Serialize)]
struct Message<'a> {
    stream: &'a str,
    data: &'a str,
    #[serde(skip_serializing_if = "Meta::is_empty")]
    meta: Meta<'a>,
}

#[derive(Serialize)]
struct Meta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    exclude_socket: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broadcast_type: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    transient: bool,
}

impl Meta<'_> {
    fn is_empty(&self) -> bool {
        self.exclude_socket.is_none() && self.broadcast_type.is_none() && !self.transient
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Serialize)]
struct Command<'a> {
    command: &'static str,
    payload: Payload<'a>,
}

#[derive(Serialize)]
struct Payload<'a> {
    identifier: &'a str,
    reconnect: bool,
}

/// A message for the listeners on all servers.
pub fn encode(publication: &Publication) -> Vec<u8> {
    let options = &publication.options;
    let message = Message {
        stream: &publication.stream,
        data: &publication.message,
        meta: Meta {
            exclude_socket: options.exclude_socket.as_deref(),
            broadcast_type: options.broadcast_type.as_deref(),
            transient: options.is_transient,
        },
    };
    serde_json::to_vec(&message).expect("texts and booleans always serialise")
}

/// A command for all servers.
pub fn encode_disconnect(command: &RemoteDisconnect) -> Vec<u8> {
    let command = Command {
        command: "disconnect",
        payload: Payload {
            identifier: &command.identifiers,
            reconnect: command.reconnect,
        },
    };
    serde_json::to_vec(&command).expect("texts and booleans always serialise")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::{Broadcast, DeliveryOptions, parse},
        *,
    };

    #[track_caller]
    fn check(payload: &str, expected: &str) {
        let encoded = match parse(payload.as_bytes()).expect("a valid payload") {
            Broadcast::Publications(publications) => encode(&publications[0]),
            Broadcast::Disconnect(command) => encode_disconnect(&command),
        };
        assert_eq!(String::from_utf8(encoded).expect("UTF-8"), expected);
    }

    #[test]
    fn messages_and_commands_have_anycables_form() {
        check(
            r#"{"data":"{\"a\":1}","stream":"s"}"#,
            r#"{"stream":"s","data":"{\"a\":1}"}"#,
        );
        // Text that is no JSON travels as a JSON string, which arrives as the same text.
        check(
            r#"{"stream":"s","data":"hello"}"#,
            r#"{"stream":"s","data":"\"hello\""}"#,
        );
        check(
            r#"{"stream":"s","data":"1","meta":{"transient":true,"exclude_socket":"sid","broadcast_type":"x"}}"#,
            r#"{"stream":"s","data":"1","meta":{"exclude_socket":"sid","broadcast_type":"x","transient":true}}"#,
        );
        check(
            r#"{"stream":"s","data":"1","meta":{"transient":false}}"#,
            r#"{"stream":"s","data":"1"}"#,
        );
        check(
            r#"{"command":"disconnect","payload":{"identifier":"{\"u\":1}","reconnect":false}}"#,
            r#"{"command":"disconnect","payload":{"identifier":"{\"u\":1}","reconnect":false}}"#,
        );
    }

    /// anycable-go writes positions with capital letters, and always.
    #[test]
    fn messages_of_anycable_are_read() {
        let payload = br#"{"stream":"s","data":"1","Offset":0,"Epoch":""}"#;
        let expected = Publication::from_json("s", "1");
        assert_eq!(
            parse(payload).expect("valid"),
            Broadcast::Publications(vec![expected])
        );
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read_again(
            stream in ".*",
            data in ".*",
            sid in proptest::option::of("[a-z]{1,8}"),
            is_transient in any::<bool>(),
        ) {
            let publication = Publication {
                options: DeliveryOptions {
                    exclude_socket: sid.map(Into::into),
                    broadcast_type: None,
                    is_transient,
                },
                ..Publication::from_data(stream, &data)
            };
            let read = parse(&encode(&publication)).expect("valid");
            prop_assert_eq!(read, Broadcast::Publications(vec![publication]));
        }
    }
}
