//! gRPC over HTTP/2 without the connection: status codes, the prefix of messages, and the texts in header fields, as in
//! gRPC's PROTOCOL-HTTP2.
//!
//! No sockets, no runtime, no clock, and no messages of protobuf: a message is bytes.

mod code;
mod framing;
mod text;
mod timeout;

pub use self::{
    code::Code,
    framing::{FramingError, Messages, PREFIX_BYTES, prefix},
    text::decode_text,
    timeout::timeout_field,
};
