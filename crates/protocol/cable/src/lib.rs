//! Action Cable's base protocol, sans-IO: commands, replies, disconnect reasons, sub-protocols, broadcast payloads, and
//! signed values between server and backends: tokens, stream names and keys.
//!
//! Both halves of Plimsoll use it: the server parses commands and encodes replies, the load clients do the opposite.
//! The application's JSON is only ever *embedded*: it is checked once and then copied byte for byte, so that key order,
//! spacing and numbers over 2^53 survive. Messages in msgpack and protocol buffers are converted from and to JSON text.
//!
//! The crate knows no sockets, no runtime and no clock.

pub mod broadcast;
pub mod command;
pub mod derived_key;
pub mod disconnect;
pub mod encoding;
pub mod event_stream;
pub mod identifier;
pub mod presence;
pub mod reply;
pub mod signed_name;
pub mod subprotocol;
pub mod token;
