//! The decoder compared with the clauses of RFC 6455 and RFC 7692: bytes in, a line per event out.

use super::*;
use crate::close::CloseFrame;
use crate::deflate::{Deflater, Preferences, WindowBits};
use crate::frame::Frame;
use crate::role::Role;

mod clauses;
mod compressed;
mod memory;
mod streams;

const MAX_MESSAGE_BYTES: usize = 70_000;
const KEY: [u8; 4] = [0x37, 0xFA, 0x21, 0x3D];

fn config(role: Role) -> Config {
    Config {
        role,
        max_message_bytes: MAX_MESSAGE_BYTES,
        deflate: Some(Preferences::default()),
    }
}

/// Parameters with or without takeover, with one window size for both ends.
fn agreed(context_takeover: bool, window: WindowBits) -> Agreed {
    let direction = Direction {
        context_takeover,
        window,
    };
    Agreed::of(direction, direction)
}

/// Decodes `input` in pieces that end at `cuts`. Returns events as text; the last line may be an error.
fn decode(mut decoder: Decoder, config: &Config, input: &[u8], cuts: &[usize]) -> Vec<String> {
    let mut lines = Vec::new();
    let ends = cuts.iter().copied().chain([input.len()]);
    let mut start = 0;
    for end in ends {
        let mut piece = input[start..end].to_vec();
        start = end;
        let mut rest = piece.as_mut_slice();
        loop {
            match decoder.decode(config, rest) {
                Ok(Decoded {
                    consumed,
                    event: Some(event),
                }) => {
                    lines.push(line(&event));
                    rest = &mut rest[consumed..];
                }
                Ok(Decoded {
                    consumed,
                    event: None,
                }) => {
                    assert_eq!(consumed, rest.len(), "without an event all input is consumed");
                    break;
                }
                Err(e) => {
                    lines.push(format!("{} {e}", e.close_code()));
                    return lines;
                }
            }
        }
    }
    if !decoder.is_idle() {
        lines.push("incomplete".to_owned());
    }
    lines
}

fn line(event: &Event<'_>) -> String {
    match event {
        Event::Text(text) => format!("text {text}"),
        Event::Binary(bytes) => format!("binary {}", hex(bytes)),
        Event::Ping(bytes) => format!("ping {}", hex(bytes)),
        Event::Pong(bytes) => format!("pong {}", hex(bytes)),
        Event::Close(None) => "close".to_owned(),
        Event::Close(Some(CloseFrame { code, reason })) => format!("close {code} {reason}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A frame as a client sends it.
fn masked(opcode: Opcode, fin: bool, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Frame {
        fin,
        compressed: false,
        opcode,
        payload,
    }
    .encode(Some(KEY), &mut out);
    out
}
