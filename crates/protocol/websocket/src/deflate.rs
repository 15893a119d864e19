//! permessage-deflate (RFC 7692): compression of messages, agreed on in the handshake.
//!
//! Compression costs memory per connection and direction when its window lives on from message to message ("context
//! takeover"): an inflater up to 48 KB, a deflater 320 KB (RSS, measured with zlib-rs 0.6.8 and the full window).
//! Without takeover a connection holds nothing between messages, and a server can compress a broadcast once for all
//! who receive it; [`Preferences::default`] asks for that.

mod deflater;
mod inflater;
mod negotiation;
mod parameters;
mod window;

pub use deflater::Deflater;
pub(crate) use inflater::Inflater;
pub use negotiation::{Agreed, Preferences};
pub(crate) use parameters::Parameters;
pub use window::WindowBits;

/// How one end compresses what it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Direction {
    /// Whether a message may refer back to the messages before it. Better compression for memory at both ends.
    pub context_takeover: bool,
    /// The size of the window that references reach back into.
    pub window: WindowBits,
}

impl Direction {
    /// Each message is compressed by itself, with the full window.
    pub const STATELESS: Self = Self {
        context_takeover: false,
        window: WindowBits::MAX,
    };
}

/// What the sender of a message removes from its end and the receiver puts back (RFC 7692 §7.2.1, §7.2.2): the
/// empty stored block that a sync flush ends with.
const SYNC_FLUSH_TAIL: [u8; 4] = [0x00, 0x00, 0xFF, 0xFF];
