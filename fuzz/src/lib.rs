//! What the decoder targets share: decoding in pieces, and the terms of permessage-deflate.

use plimsoll_websocket::deflate::{Agreed, Direction, Preferences, WindowBits};
use plimsoll_websocket::handshake::server::{Request, Upgrade};
use plimsoll_websocket::{Config, Decoder, Event, Role};

/// Small enough that the fuzzer passes it.
pub const MAX_MESSAGE_BYTES: usize = 1000;

/// The settings of an endpoint with this role.
pub fn config(role: Role) -> Config {
    Config {
        role,
        max_message_bytes: MAX_MESSAGE_BYTES,
        deflate: None,
    }
}

/// Terms with context takeover in both directions, from a real handshake.
pub fn agreed() -> Agreed {
    let head = b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
        Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n";
    let takeover = Direction {
        context_takeover: true,
        window: WindowBits::MAX,
    };
    let (request, _) = Request::parse(head).unwrap().unwrap();
    let upgrade = Upgrade::from_request(&request).unwrap();
    upgrade
        .negotiate(&Preferences {
            server: takeover,
            client: takeover,
        })
        .unwrap()
}

/// Decodes the rest of `data` at once and in pieces of as many bytes as its first byte says: both must tell the same.
pub fn check_cuts(config: &Config, decoder: impl Fn() -> Decoder, data: &[u8]) {
    let Some((&piece_len, stream)) = data.split_first() else {
        return;
    };
    let whole = decode(config, decoder(), stream, stream.len().max(1));
    let pieces = decode(config, decoder(), stream, usize::from(piece_len).max(1));
    assert_eq!(whole, pieces);
}

/// Decodes in pieces. Returns a line per event, and the error that ends them.
pub fn decode(config: &Config, mut decoder: Decoder, stream: &[u8], piece_len: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for piece in stream.chunks(piece_len) {
        let mut piece = piece.to_vec();
        let mut rest = piece.as_mut_slice();
        loop {
            let decoded = match decoder.decode(config, rest) {
                Ok(decoded) => decoded,
                Err(e) => {
                    lines.push(format!("{} {e}", e.close_code()));
                    return lines;
                }
            };
            let consumed = decoded.consumed;
            let Some(event) = decoded.event else {
                assert_eq!(consumed, rest.len(), "without an event all input is consumed");
                break;
            };
            match event {
                Event::Text(text) => assert!(text.len() <= config.max_message_bytes),
                Event::Binary(bytes) => assert!(bytes.len() <= config.max_message_bytes),
                Event::Ping(bytes) | Event::Pong(bytes) => assert!(bytes.len() <= 125),
                Event::Close(_) => {}
            }
            lines.push(format!("{event:?}"));
            rest = &mut rest[consumed..];
        }
    }
    lines
}
