//! permessage-deflate (RFC 7692): compression of messages, agreed on in the handshake.
//!
//! Compression costs memory per connection and direction if its window is kept from message to message ("context
//! takeover"): an inflater up to 48 KB, a deflater 320 KB (RSS, measured with zlib-rs 0.6.8 and the full window).
//! Without takeover a connection holds nothing between messages, and a server can compress a broadcast once for all
//! receivers; [`Preferences::default`] asks for that.

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

/// The compression parameters of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Direction {
    /// Whether a message may refer to earlier messages. Compresses better, and costs memory at both ends.
    pub context_takeover: bool,
    /// The size of the window for back references.
    pub window: WindowBits,
}

impl Direction {
    /// Each message is compressed on its own, with the full window.
    pub const STATELESS: Self = Self {
        context_takeover: false,
        window: WindowBits::MAX,
    };
}

/// The end of a compressed message, which the sender removes and the receiver restores (RFC 7692 §7.2.1, §7.2.2): the
/// empty stored block of a sync flush.
const SYNC_FLUSH_TAIL: [u8; 4] = [0x00, 0x00, 0xFF, 0xFF];
