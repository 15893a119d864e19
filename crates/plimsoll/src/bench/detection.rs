//! The server type of a bench whose flags name none: that of the server, as far as its greeting shows it.

use std::{io::Write as _, time::Duration};

use plimsoll_cable::subprotocol::Dialect;
use plimsoll_clients::target::Target;
use plimsoll_probe::{Approach, Findings, Kind, Question};
use plimsoll_shootout::ServerType;

use super::{args::ClientArgs, options::parse_header, typed::Typed};
use crate::{exit::Failure, probe, runtime::run_local};

/// How long a greeting is waited for. A server without one costs this time.
const GREETING_LIMIT: Duration = Duration::from_secs(1);

/// How long the host may take for the handshake and the greeting together.
const LIMIT: Duration = Duration::from_secs(3);

/// Examines the server, unless the flags name its type, and sets the type.
///
/// # Errors
/// The server speaks a protocol that no workload speaks.
pub(super) fn complete<A: Typed>(workload: &mut A, is_quiet: bool) -> Result<(), Failure> {
    let cable = workload.type_for_cable();
    let Some(clients) = workload.clients() else {
        return Ok(());
    };
    if clients.server_type.is_some() {
        return Ok(());
    }
    // A wrong flag is told by the workload itself.
    let Some(question) = question(clients) else {
        return Ok(());
    };
    let findings = run_local(async {
        let findings = plimsoll_probe::recognize(&question, Approach::Listen(GREETING_LIMIT)).await;
        findings.map_err(|error| Failure::Usage(error.to_string()))
    })?;
    let findings = probe::shown(&findings);
    let server_type = choose(&findings, cable)?;
    clients.server_type = Some(server_type);
    if !is_quiet {
        writeln!(std::io::stderr(), "{}", sentence(&findings, server_type))?;
    }
    Ok(())
}

/// The examination as a client of the bench. None if a flag is wrong.
fn question(clients: &ClientArgs) -> Option<Question> {
    let headers = clients.header.iter().cloned().map(parse_header);
    let protocols = clients.sub_protocol.iter().filter(|name| {
        // Without its sub-protocol, a cable server greets in JSON.
        !name.is_empty() && !Dialect::of(Some(name)).encoding.is_binary()
    });
    Some(Question {
        target: Target::parse(&clients.url).ok()?,
        is_http: false,
        origin: Some(clients.origin.clone()),
        headers: headers.collect::<Result<_, _>>().ok()?,
        protocols: protocols.cloned().collect(),
        believe: clients.insecure.believe(),
        limit: LIMIT,
    })
}

/// The type for this server; `cable` is that of the workload for Action Cable.
fn choose(findings: &Findings, cable: ServerType) -> Result<ServerType, Failure> {
    match findings.kind {
        Kind::ActionCable | Kind::Anycable => Ok(cable),
        Kind::SocketIo | Kind::Pusher | Kind::Phoenix => {
            let message = format!(
                "{}, and no --server-type is for it; write a script with `plimsoll probe {} --write chat.js`, then \
                 measure with `plimsoll run chat.js`",
                probe::title(findings),
                probe::quoted(&findings.url)
            );
            Err(Failure::Runtime(message.into()))
        }
        _ => Ok(ServerType::Json),
    }
}

/// What was found and chosen.
fn sentence(findings: &Findings, server_type: ServerType) -> String {
    let url = &findings.url;
    let found = match (findings.kind, &findings.greeting) {
        (Kind::Websocket, None) => {
            format!("{url} opens a WebSocket and sends no greeting within a second")
        }
        (Kind::Websocket, Some(_)) => {
            format!("{url} is a WebSocket, and its first message is of no known protocol")
        }
        _ => probe::title(findings),
    };
    format!("{found}; server type {server_type} (--server-type names another)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(kind: Kind, greeting: Option<&str>) -> Findings {
        Findings {
            kind,
            greeting: greeting.map(str::to_owned),
            ..Findings::before("ws://h/cable".to_owned())
        }
    }

    #[test]
    fn a_greeting_chooses_the_type() {
        let check = |kind, greeting, expected: &str| {
            let findings = findings(kind, greeting);
            let found = match choose(&findings, ServerType::ActionCableConnect) {
                Ok(server_type) => sentence(&findings, server_type),
                Err(failure) => failure.message(),
            };
            assert_eq!(found, expected);
        };
        let welcome = Some(r#"{"type":"welcome"}"#);
        check(
            Kind::ActionCable,
            welcome,
            "ws://h/cable speaks Action Cable; server type actioncable-connect (--server-type names another)",
        );
        check(
            Kind::Websocket,
            None,
            "ws://h/cable opens a WebSocket and sends no greeting within a second; server type json (--server-type names another)",
        );
        check(
            Kind::Websocket,
            Some("hi"),
            "ws://h/cable is a WebSocket, and its first message is of no known protocol; server type json (--server-type \
             names another)",
        );
        check(
            Kind::Nothing,
            None,
            "no server answers at ws://h/cable; server type json (--server-type names another)",
        );
        let refused = |name: &str| {
            format!(
                "ws://h/cable speaks {name}, and no --server-type is for it; write a script with `plimsoll probe \
                 ws://h/cable --write chat.js`, then measure with `plimsoll run chat.js`"
            )
        };
        check(Kind::SocketIo, Some("0{}"), &refused("Socket.IO"));
        check(Kind::Pusher, None, &refused("Pusher Channels"));
    }
}
