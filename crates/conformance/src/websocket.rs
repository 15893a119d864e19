//! WebSocket servers and clients, held against RFC 6455 and RFC 7692: the cases of Autobahn's test suite under their numbers,
//! and families of our own for what that one leaves out.
//!
//! The target echoes every message: same kind, same content. The tester writes frames with any bits and in any cut
//! ([`frame`], [`connection`]), reads the target's with every rule held against them ([`reader`], [`messages`]), and
//! compresses by itself ([`deflate`]). A case is data: what is sent, what may come back, how the connection has to end
//! ([`exchange`]); [`conduct`] goes through it. The same cases test servers ([`ServerSuite`]) and clients ([`ClientSuite`]).

mod answering;
mod asking;
mod cases;
mod clients;
mod conduct;
mod connection;
mod deflate;
mod exchange;
mod frame;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod head;
mod messages;
mod opening;
mod payloads;
mod reader;
mod series;
mod servers;
mod target;
mod terms;

pub use self::{
    clients::{ClientRun, ClientSuite},
    servers::ServerSuite,
    target::{Server, UrlError},
};
