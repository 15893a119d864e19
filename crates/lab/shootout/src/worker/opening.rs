//! Making one client ready, and how long each phase took.

use std::{rc::Rc, time::Duration};

use plimsoll_clients::{
    cable,
    cause::Cause,
    dial::Traffic,
    websocket::{self, Connection, Timings},
};

use super::{Failing, Setup, Way};

/// The time until a client was ready, phase by phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) tcp_connect: Duration,
    /// The time of the upgrade, with TLS including the handshake.
    pub(crate) upgrade: Duration,
    /// Absent for server types without a welcome.
    pub(crate) welcome: Option<Duration>,
    /// Absent for server types without subscriptions.
    pub(crate) subscribe: Option<Duration>,
    /// The time from the TCP connect until the client was ready.
    pub(crate) total: Duration,
}

/// Opens a connection and does what its server type needs before it can be used.
pub(super) async fn open(
    setup: &Setup,
    way: Way,
    traffic: &Rc<Traffic>,
) -> Result<(Connection, Opening), Failing> {
    let no_route = || Failing::new(&Cause::Unreachable, &"no route to the target");
    let options = setup
        .routes
        .get(way.node)
        .and_then(|routes| routes.get(way.route))
        .ok_or_else(no_route)?;
    if !setup.wire.server_type().is_cable() {
        let connecting = websocket::connect(options, traffic);
        let (connection, timings) = connecting
            .await
            .map_err(|error| Failing::new(&error.cause(), &error))?;
        return Ok((connection, opening(&timings, None, None)));
    }
    let opened = cable::open(options, traffic).await;
    let (mut connection, timings, welcome) = opened.map_err(|error| Failing::new(&error.cause(), &error))?;
    cable::check_agreed(&connection, setup.wire.dialect())
        .map_err(|error| Failing::new(&error.cause(), &error))?;
    let subscribe = cable::subscribe(&mut connection, setup.wire.channel(), setup.subscribe_limit).await;
    let subscribe = subscribe.map_err(|error| Failing::new(&error.cause(), &error))?;
    Ok((connection, opening(&timings, Some(welcome), Some(subscribe))))
}

fn opening(timings: &Timings, welcome: Option<Duration>, subscribe: Option<Duration>) -> Opening {
    Opening {
        tcp_connect: timings.tcp_connect,
        upgrade: timings.tls_handshake + timings.upgrade,
        welcome,
        subscribe,
        total: timings.started.elapsed(),
    }
}
