//! The WebSocket protocol (RFC 6455) with permessage-deflate (RFC 7692), for the server's and the client's role.
//!
//! Everything here is sans-IO: bytes come in as slices and go out into a `Vec`, and the crate knows neither sockets nor
//! clocks nor an async runtime. The server and every load client share it.
//!
//! The codec exists for two properties that other crates do not offer together (see
//! `docs/decisions/0001-websocket-codec.md`): an idle connection owns no buffer, and a frame that arrived complete is
//! borrowed from the caller's own read buffer, unmasked in place.
//!
//! Life of a connection:
//!
//! 1. [`handshake::server`] or [`handshake::client`] turns HTTP heads into an agreed sub-protocol and extension.
//! 2. A [`Decoder`] per connection turns received bytes into [`Event`]s, under one shared [`Config`].
//! 3. [`encode_frame`], [`encode_close`] or [`Frame::encode`] append frames to an output buffer.
//! 4. [`CloseState`] says what to do about Close frames until the connection is over.

mod close;
mod config;
mod decoder;
pub mod deflate;
mod event;
mod frame;
pub mod handshake;
mod header;
mod mask;
mod message;
mod opcode;
mod role;
mod text;

pub use close::{CloseCode, CloseFrame, CloseState};
pub use config::Config;
pub use decoder::{DecodeError, Decoder};
pub use event::{Decoded, Event};
pub use frame::{Frame, encode_close, encode_frame};
pub use opcode::Opcode;
pub use role::Role;
