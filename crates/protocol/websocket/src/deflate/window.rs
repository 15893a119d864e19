//! The size of a compression window.

use std::fmt;

/// The base-2 logarithm of a window size in bytes: 9 (512 bytes) to 15 (32 KiB).
///
/// RFC 7692 §7.1.2 also allows 8, but zlib cannot compress raw DEFLATE with it, so 8 is never agreed on for messages
/// that we send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WindowBits(u8);

impl WindowBits {
    /// 512 bytes.
    pub const MIN: Self = Self(9);
    /// 32 KiB, the default without negotiation.
    pub const MAX: Self = Self(15);

    /// `None` outside of 9–15.
    pub fn new(bits: u8) -> Option<Self> {
        (Self::MIN.0..=Self::MAX.0).contains(&bits).then_some(Self(bits))
    }

    /// The logarithm.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for WindowBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_a_range_and_shows_its_logarithm() {
        for (bits, expected) in [(8, None), (9, Some("9")), (15, Some("15")), (16, None)] {
            let shown = WindowBits::new(bits).map(|window| window.to_string());
            assert_eq!(shown.as_deref(), expected, "{bits}");
        }
    }
}
