//! The state of reading a message from JSON.

use super::{cursor::Cursor, types::Types};

/// A place in a JSON text, and the types that its messages may name.
pub(super) struct Reader<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) types: Types<'a>,
}
