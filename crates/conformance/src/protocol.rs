//! WebSocket as the tester speaks it (RFC 6455, RFC 7692): raw, in what it writes, and strict with what it reads. Both suites
//! do; what they make of it is theirs.
//!
//! The way in begins with a [`request`] and a [`head`]. Behind it come frames, which are written with any bits ([`frame`])
//! and read with every rule held against them ([`reader`]), and the messages that they make ([`messages`]), compressed
//! ([`deflate`]) or not.

pub(crate) mod deflate;
pub(crate) mod frame;
pub(crate) mod head;
pub(crate) mod messages;
pub(crate) mod reader;
pub(crate) mod request;
