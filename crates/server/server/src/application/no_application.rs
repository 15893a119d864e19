//! The application of a server without one: it refuses all connections and subscriptions that were not decided in front
//! of it.

use plimsoll_cable::{disconnect::DisconnectReason, reply};

use super::{Action, Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, Reply};

/// Refuses everything (`--norpc`).
#[derive(Debug)]
pub struct NoApplication;

impl Application for NoApplication {
    fn connect<'a>(&'a self, _request: &'a ConnectRequest) -> Reply<'a, ConnectReply> {
        let reason = DisconnectReason::Unauthorized;
        Box::pin(std::future::ready(ConnectReply::Refused {
            transmissions: vec![reply::encode_disconnect(reason, reason.reconnect())],
        }))
    }

    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply> {
        let transmissions = match request.action {
            Action::Subscribe => vec![reply::encode_reject(request.identifier)],
            Action::Unsubscribe | Action::Perform(_) => Vec::new(),
        };
        Box::pin(std::future::ready(CommandReply {
            transmissions,
            ..CommandReply::default()
        }))
    }
}
