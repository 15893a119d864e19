//! The reasons why the server ends a session, and the last words to the client for each reason.

use std::borrow::Cow;

use plimsoll_cable::{
    command::{CommandError, JsonKind},
    disconnect::DisconnectReason,
    encoding::Encoding,
    reply,
};
use plimsoll_hub::Format;
use plimsoll_websocket::{CloseCode, CloseFrame, DecodeError};

use crate::encoding;

/// The fault of a frame that is not a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotACommand {
    /// Not a message in the client's binary encoding.
    WrongEncoding(Encoding),
    /// Not JSON.
    NotJson,
    /// JSON, but not an object.
    Json(JsonKind),
    /// An object with a duplicate field or a field of a wrong type.
    WrongFields,
}

/// The reason why the server ends a session. It decides the close code; all close codes of this server are made here
/// and documented in `docs/reference/serve.md`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ending {
    /// The server stops.
    ServerRestart,
    /// A backend ended the session.
    Remote { reconnect: bool },
    /// The client reads too slowly.
    TooSlow,
    /// The client did not answer a ping in time.
    NoPong,
    /// The application refused the connection. Its own transmissions gave the reason.
    AuthFailed,
    /// The application could not be reached to identify the client.
    AuthError,
    /// The application ends the connection in reply to a command.
    ClosedByApplication,
    /// A frame on a cable connection is not a command.
    NotACommand(NotACommand),
    /// A message on `/json` or `/binary` that is not part of their contract.
    NotInContract,
    /// The client broke the WebSocket protocol.
    Violation(DecodeError),
}

impl NotACommand {
    fn reason(self) -> Cow<'static, str> {
        match self {
            Self::WrongEncoding(encoding) => format!("Command is not a binary message in {encoding}").into(),
            Self::NotJson => "Command is not JSON".into(),
            Self::Json(kind) => format!("Command is {kind}, not a JSON object").into(),
            Self::WrongFields => "Command has a duplicate field or a field of a wrong type".into(),
        }
    }
}

impl From<&CommandError> for NotACommand {
    fn from(error: &CommandError) -> Self {
        match error {
            CommandError::NotJson(_) => Self::NotJson,
            CommandError::NotAnObject(kind) => Self::Json(*kind),
            CommandError::WrongFields(_) | CommandError::Unknown(_) | CommandError::Missing { .. } => {
                Self::WrongFields
            }
        }
    }
}

impl Ending {
    /// The disconnect message of a cable connection: the reason, and whether the client should reconnect.
    fn disconnect(self) -> Option<(DisconnectReason, bool)> {
        let reason = match self {
            Self::ServerRestart => DisconnectReason::ServerRestart,
            Self::Remote { reconnect } => return Some((DisconnectReason::Remote, reconnect)),
            Self::TooSlow => DisconnectReason::TooSlow,
            Self::NoPong => DisconnectReason::NoPong,
            Self::AuthFailed
            | Self::AuthError
            | Self::ClosedByApplication
            | Self::NotACommand(_)
            | Self::NotInContract
            | Self::Violation(_) => return None,
        };
        Some((reason, reason.reconnect()))
    }

    /// The code and text of the Close frame. They are AnyCable's, with the exceptions in docs/protocols/cable.md, Close
    /// codes.
    fn close(self) -> (CloseCode, Cow<'static, str>) {
        match self {
            Self::ServerRestart => (CloseCode::GOING_AWAY, "Server restart".into()),
            Self::Remote { .. } => (CloseCode::NORMAL, "Closed remotely".into()),
            Self::TooSlow => (CloseCode::POLICY_VIOLATION, "Too slow".into()),
            Self::NoPong => (CloseCode::NORMAL, "No Pong".into()),
            Self::AuthFailed => (CloseCode::NORMAL, "Auth Failed".into()),
            Self::AuthError => (CloseCode::INTERNAL_ERROR, "Auth Error".into()),
            // AnyCable uses 1006 here, which must not be sent (RFC 6455 §7.4.1).
            Self::ClosedByApplication => (CloseCode::NORMAL, "Closed by the application".into()),
            Self::NotACommand(what) => (CloseCode::UNSUPPORTED_DATA, what.reason()),
            Self::NotInContract => (CloseCode::UNSUPPORTED_DATA, "Unknown message".into()),
            Self::Violation(error) => (error.close_code(), error.to_string().into()),
        }
    }

    /// Encodes the message and the Close frame that end a session.
    pub(crate) fn last_words(self, speaks_cable: bool, format: Format) -> Vec<u8> {
        let message = self
            .disconnect()
            .filter(|_| speaks_cable)
            .map(|(reason, reconnect)| reply::encode_disconnect(reason, reconnect));
        let (code, reason) = self.close();
        let close = CloseFrame {
            code,
            reason: &reason,
        };
        encoding::last_words(message.as_deref(), close, format)
    }
}
