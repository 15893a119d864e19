//! WebSocket servers and clients, held against RFC 6455 and RFC 7692: the cases of Autobahn's test suite under their numbers,
//! and families of our own for what that one leaves out.
//!
//! The target echoes every message: same kind, same content. A case is data: what is sent, in any cut, what may come back, how
//! the connection has to end ([`exchange`]); [`conduct`] goes through it on a [`connection`]. The same cases test servers
//! ([`ServerSuite`]) and clients ([`ClientSuite`]).

mod answering;
mod asking;
mod cases;
mod clients;
mod conduct;
mod connection;
mod exchange;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod opening;
mod payloads;
mod series;
mod servers;
mod terms;

pub use self::{
    clients::{ClientRun, ClientSuite, Listener},
    servers::ServerSuite,
};
