//! Timed native protocol clients, for every front end of the load side.
//!
//! A client here opens one connection, says how long each phase of it took, and hands out what arrives together
//! with the instant of its arrival. It knows nothing of virtual users, executors, metrics or reports, and spawns
//! no tasks: it reads only while one of its methods is polled, so that its owner decides what an idle client
//! costs.
//!
//! * [`target`]: the `ws://` or `wss://` URL.
//! * [`websocket`]: one WebSocket connection, down to reading into a buffer that all connections share.
//! * [`cable`]: an Action Cable consumer with subscriptions and an inbox.
//! * [`dial`]: from a host name to a TCP connection, under a run's rules.
//! * [`tls`]: TLS over it.
//! * [`http`]: HTTP/1.1 and HTTP/2.
//! * [`grpc`]: calls over HTTP/2, with messages as bytes.
//! * [`inbox`]: messages that wait until their user asks for them.
//! * [`cause`]: why clients fail, coarse enough to be counted by.

pub mod cable;
pub mod cause;
pub mod dial;
pub mod grpc;
pub mod http;
mod http2;
pub mod inbox;
mod io_words;
mod scratch;
mod stream;
pub mod target;
mod tcp;
pub mod tls;
pub mod websocket;

#[cfg(test)]
mod test_peer;
