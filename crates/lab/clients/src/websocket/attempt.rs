//! An attempt to connect, for callers that need details of a failure.

use std::{
    net::SocketAddr,
    rc::Rc,
    time::{Duration, Instant},
};

use plimsoll_websocket::handshake::client::ResponseHead;

use super::{ConnectError, Connection, Options, Timings, connect::Opening};
use crate::dial::Traffic;

/// The outcome of an attempt.
#[derive(Debug)]
pub struct Attempt {
    /// Immediately before the TCP connect.
    pub started: Instant,
    /// Until the WebSocket was open, or until it was certain that it would not be.
    pub took: Duration,
    /// The address that accepted the TCP connection.
    pub remote: Option<SocketAddr>,
    /// What the server answered to the upgrade, accepted or not; absent when there was no answer.
    pub response: Option<Response>,
    /// The open WebSocket and the times of its phases.
    pub outcome: Result<(Connection, Timings), ConnectError>,
}

/// An answer to an upgrade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status and the header fields.
    pub head: ResponseHead,
    /// The body of a refusal, at most 64 KiB.
    pub body: Vec<u8>,
}

impl Attempt {
    /// Opens a WebSocket. Adds the connection's bytes to `traffic`.
    pub async fn make(options: &Options, traffic: &Rc<Traffic>) -> Self {
        let mut opening = Opening::new(options, traffic);
        let outcome = opening.run().await;
        let took = opening.started.elapsed();
        let response = match &outcome {
            Err(ConnectError::Handshake(_)) => opening.read_answer().await,
            _ => opening.answer(),
        };
        Self {
            started: opening.started,
            took,
            remote: opening.remote,
            response,
            outcome,
        }
    }
}
