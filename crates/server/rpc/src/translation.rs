//! Translates between the server's types and the contract's messages.

use std::borrow::Cow;

use plimsoll_server::application::{
    Action, CommandReply, CommandRequest, ConnectReply, ConnectRequest, DisconnectRequest, Entries,
    Environment, PresenceChange, State, Status,
};

use crate::{
    proto,
    request::{self, CommandMessage, ConnectionRequest, Env},
};

pub(crate) fn connection_request(request: &ConnectRequest) -> ConnectionRequest<'_> {
    ConnectionRequest {
        env: env(&request.environment, Cow::Owned(Entries::EMPTY)),
    }
}

/// Translates a reply to `connect`. `Err` is the application's text about its own failure.
pub(crate) fn connect_reply(response: proto::ConnectionResponse) -> Result<ConnectReply, String> {
    match response.status() {
        proto::Status::Success => Ok(ConnectReply::Accepted {
            identifiers: response.identifiers,
            transmissions: response.transmissions,
            cstate: response.env.unwrap_or_default().cstate,
            hears_of_end: true,
            expires_at: None,
        }),
        proto::Status::Failure => Ok(ConnectReply::Refused {
            transmissions: response.transmissions,
        }),
        proto::Status::Error => Err(response.error_msg),
    }
}

pub(crate) fn command_message<'a>(request: &'a CommandRequest<'a>) -> CommandMessage<'a> {
    let (command, data) = match request.action {
        Action::Subscribe => ("subscribe", ""),
        Action::Unsubscribe => ("unsubscribe", ""),
        Action::Perform(data) => ("message", data),
    };
    CommandMessage {
        command,
        identifier: request.identifier,
        connection_identifiers: request.identifiers,
        data,
        env: env(request.environment, Cow::Borrowed(request.istate.entries())),
    }
}

/// Translates a reply to `command`. `Err` as in [`connect_reply`].
pub(crate) fn command_reply(response: proto::CommandResponse) -> Result<CommandReply, String> {
    let status = match response.status() {
        proto::Status::Success => Status::Accepted,
        proto::Status::Failure => Status::Refused,
        proto::Status::Error => return Err(response.error_msg),
    };
    let presence = response.presence.and_then(presence_change);
    let state = response.env.unwrap_or_default();
    Ok(CommandReply {
        status,
        stops_streams: response.stop_streams,
        stopped_streams: response.stopped_streams,
        streams: response.streams,
        istate: state.istate,
        cstate: state.cstate,
        transmissions: response.transmissions,
        presence,
        disconnects: response.disconnect,
        hears_of_end: true,
        failure: Box::default(),
    })
}

/// `None` for a type that the contract does not know. The rest of the reply counts.
fn presence_change(presence: proto::PresenceResponse) -> Option<PresenceChange> {
    let proto::PresenceResponse { r#type, id, info, .. } = presence;
    match &*r#type {
        "join" => Some(PresenceChange::Join { id, info }),
        "leave" => Some(PresenceChange::Leave),
        other => {
            let other: String = other.chars().take(64).collect();
            tracing::warn!(
                "The presence of the application's reply has the type {other:?} and is ignored; expected join or leave."
            );
            None
        }
    }
}

/// Translates a reply to `disconnect`, which holds only a status. `Err` as in [`connect_reply`].
pub(crate) fn disconnect_reply(response: proto::DisconnectResponse) -> Result<(), String> {
    match response.status() {
        proto::Status::Success | proto::Status::Failure => Ok(()),
        proto::Status::Error => Err(response.error_msg),
    }
}

/// Translates a Disconnect call. It carries the states of all subscriptions, each as a string of JSON
/// (docs/protocols/rpc.md, Calls).
pub(crate) fn disconnect_request(request: &DisconnectRequest) -> request::DisconnectRequest<'_> {
    let as_json =
        |state: &State| serde_json::to_string(state.entries()).expect("a map of strings always serialises");
    let istate = request.istate.iter();
    let istate = istate.map(|(identifier, state)| (identifier, as_json(state)));
    request::DisconnectRequest {
        identifiers: &request.identifiers,
        subscriptions: &request.subscriptions,
        env: env(&request.environment, Cow::Owned(istate.collect())),
    }
}

fn env<'a>(environment: &'a Environment, istate: Cow<'a, Entries>) -> Env<'a> {
    Env {
        url: &environment.url,
        headers: &environment.headers,
        cstate: environment.cstate.entries(),
        istate,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_status_that_the_contract_does_not_know_is_a_failure_of_the_application() {
        let response = proto::CommandResponse {
            status: 7,
            error_msg: "from the future".to_owned(),
            ..proto::CommandResponse::default()
        };
        assert_eq!(command_reply(response).err().as_deref(), Some("from the future"));
    }

    #[track_caller]
    fn check_presence(r#type: &str, expected: Option<PresenceChange>) {
        let response = proto::CommandResponse {
            status: proto::Status::Success.into(),
            presence: Some(proto::PresenceResponse {
                r#type: r#type.to_owned(),
                id: "7".to_owned(),
                info: "{}".to_owned(),
                ..proto::PresenceResponse::default()
            }),
            ..proto::CommandResponse::default()
        };
        let reply = command_reply(response).expect("the call succeeded");
        assert_eq!((reply.status, reply.presence), (Status::Accepted, expected));
    }

    #[test]
    fn an_application_decides_that_a_client_is_present() {
        let join = PresenceChange::Join {
            id: "7".to_owned(),
            info: "{}".to_owned(),
        };
        check_presence("join", Some(join));
        check_presence("leave", Some(PresenceChange::Leave));
        check_presence("stay", None);
    }

    #[test]
    fn disconnect_lists_subscriptions_and_their_states_as_json() {
        let changes: BTreeMap<_, _> = [("count".to_owned(), "\"3\"".to_owned())].into();
        let mut state = State::EMPTY;
        state.merge(changes.clone());
        let mut environment = Environment::EMPTY;
        environment.cstate.merge(changes.clone());
        let ended = DisconnectRequest {
            sid: "s".into(),
            identifiers: "user".into(),
            subscriptions: vec!["a".into(), "b".into()],
            environment,
            istate: [("b", state)].into_iter().collect(),
        };
        let message = disconnect_request(&ended);
        assert_eq!(message.identifiers, "user");
        assert_eq!(message.subscriptions, ["a".into(), "b".into()]);
        assert_eq!(*message.env.cstate, changes.into_iter().collect());
        assert_eq!(
            *message.env.istate,
            [("b", r#"{"count":"\"3\""}"#)].into_iter().collect()
        );
    }
}
