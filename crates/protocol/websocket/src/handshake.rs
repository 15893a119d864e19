//! The opening handshake (RFC 6455 §4): HTTP heads as bytes.

pub mod client;
pub(crate) mod extension;
mod field;
pub mod server;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha1::{Digest, Sha1};

/// RFC 6455 §1.3: proves that the server understood a WebSocket handshake, not just any request.
const ACCEPT_GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The longest accepted head. Cookies and tokens fit (browsers limit a cookie to 4 KiB), and a peer that never ends its
/// head cannot make us buffer more.
pub const MAX_HEAD_BYTES: usize = 8 * 1024;

/// The most header lines of a head.
pub const MAX_HEADERS: usize = 64;

/// The version of RFC 6455, the only one in use.
const VERSION: &str = "13";

/// `Sec-WebSocket-Accept` for the text of a `Sec-WebSocket-Key` (RFC 6455 §4.2.2).
fn accept_value(key: &str) -> String {
    BASE64.encode(Sha1::new().chain_update(key).chain_update(ACCEPT_GUID).finalize())
}
