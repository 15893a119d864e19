//! `ChatChannel`: the chat of AnyCable's demo, for which k6 scripts exist.

use plimsoll_cable::{broadcast::Publication, disconnect::DisconnectReason, reply};
use serde::{Deserialize, Serialize};

use super::{
    Action, Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, Reply, StateChanges,
    Status, channel::Channel,
};
use crate::Publisher;

/// Accepts clients with a cookie `uid=<name>/<id>`. A subscription to `ChatChannel` with an `id` listens to
/// `chat_<id>`; action `speak` sends all listeners there
/// `{"action":"newMessage","author_id":…,"author":…,"message":…}`.
#[derive(Debug)]
pub struct Chat {
    publisher: Publisher,
}

/// The application's identifiers of a connection.
#[derive(Serialize, Deserialize)]
struct User {
    name: String,
    id: String,
}

#[derive(Deserialize)]
struct Speech {
    action: String,
    message: String,
}

#[derive(Serialize)]
struct NewMessage<'a> {
    action: &'static str,
    author_id: &'a str,
    author: &'a str,
    message: &'a str,
}

impl Chat {
    /// Creates the application, which publishes through `publisher`.
    pub fn new(publisher: Publisher) -> Self {
        Self { publisher }
    }

    async fn perform(&self, request: &CommandRequest<'_>, data: &str) {
        let (Ok(speech), Ok(user), Some(stream)) = (
            serde_json::from_str::<Speech>(data),
            serde_json::from_str::<User>(request.identifiers),
            stream(request.identifier),
        ) else {
            tracing::debug!("ChatChannel needs {{\"action\":\"speak\",\"message\":\"…\"}}.");
            return;
        };
        if speech.action != "speak" {
            tracing::debug!(action = speech.action, "ChatChannel knows the action speak.");
            return;
        }
        let message = NewMessage {
            action: "newMessage",
            author_id: &user.id,
            author: &user.name,
            message: &speech.message,
        };
        let message = serde_json::to_string(&message).expect("a struct of strings always serialises");
        self.publisher
            .publish(Publication::from_json(stream, message))
            .await;
    }
}

impl Application for Chat {
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, ConnectReply> {
        let reply = match request.environment.cookie("uid").and_then(parse_uid) {
            Some(user) => ConnectReply::Accepted {
                identifiers: serde_json::to_string(&user).expect("a struct of strings always serialises"),
                transmissions: vec![reply::encode_welcome(&request.sid)],
                cstate: StateChanges::new(),
                hears_of_end: false,
                expires_at: None,
            },
            None => ConnectReply::Refused {
                transmissions: vec![reply::encode_disconnect(
                    DisconnectReason::Unauthorized,
                    DisconnectReason::Unauthorized.reconnect(),
                )],
            },
        };
        Box::pin(std::future::ready(reply))
    }

    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply> {
        Box::pin(async move {
            match request.action {
                Action::Subscribe => subscribe(request.identifier),
                Action::Unsubscribe => CommandReply::default(),
                Action::Perform(data) => {
                    self.perform(request, data).await;
                    CommandReply::default()
                }
            }
        })
    }
}

fn subscribe(identifier: &str) -> CommandReply {
    match stream(identifier) {
        Some(stream) => CommandReply {
            status: Status::Accepted,
            streams: vec![stream],
            transmissions: vec![reply::encode_confirm(identifier)],
            ..CommandReply::default()
        },
        None => CommandReply {
            transmissions: vec![reply::encode_reject(identifier)],
            ..CommandReply::default()
        },
    }
}

fn stream(identifier: &str) -> Option<String> {
    let channel = Channel::parse(identifier).filter(|channel| channel.name == "ChatChannel")?;
    Some(format!("chat_{}", channel.parameter("id")?))
}

/// Parses `<name>/<id>`. Splits at the last `/`, because a name may contain one and an id may not.
fn parse_uid(cookie: &str) -> Option<User> {
    let (name, id) = cookie.rsplit_once('/')?;
    (!name.is_empty() && !id.is_empty()).then(|| User {
        name: name.to_owned(),
        id: id.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_is_a_name_and_an_id() {
        for (cookie, expected) in [
            ("Kay1001/1001", Some(("Kay1001", "1001"))),
            ("a/b/7", Some(("a/b", "7"))),
            ("nobody", None),
            ("/1", None),
            ("kay/", None),
        ] {
            let user = parse_uid(cookie);
            assert_eq!(
                user.as_ref().map(|u| (u.name.as_str(), u.id.as_str())),
                expected,
                "{cookie}"
            );
        }
    }

    #[test]
    fn the_room_is_the_channels_id() {
        for (identifier, expected) in [
            (r#"{"channel":"ChatChannel","id":"demo"}"#, Some("chat_demo")),
            (r#"{"channel":"ChatChannel","id":1}"#, Some("chat_1")),
            (r#"{"channel":"ChatChannel"}"#, None),
            (r#"{"channel":"OtherChannel","id":1}"#, None),
            ("ChatChannel", None),
        ] {
            assert_eq!(stream(identifier).as_deref(), expected, "{identifier}");
        }
    }
}
