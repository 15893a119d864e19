//! Frames, read by the product's codec and by the reader of the conformance suite, which was written without it: both must
//! hear the same.
//!
//! The codec fails as early as it can, the other reader at the end of a frame or a message. So where the codec has failed,
//! the other one may hear more, or still wait; where the codec has not, it must not fail either.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_conformance::websocket::fuzzing::{Said, read};
use plimsoll_websocket::{Config, Decoder, Event, Role};

/// Of a frame: what can be missing of its head after the first byte.
const MOST_OF_A_HEAD: usize = 13;

fuzz_target!(|data: &[u8]| {
    let Some((&role, stream)) = data.split_first() else {
        return;
    };
    let is_masked = role & 1 == 0;
    let (heard, has_failed) = decode(is_masked, stream);
    let other = read(is_masked, stream);
    let n = heard.len().min(other.heard.len());
    assert_eq!(heard[..n], other.heard[..n]);
    if has_failed {
        assert!(heard.len() == n, "{heard:?} {other:?}");
        assert!(other.violation.is_some() || other.is_waiting, "{other:?}");
    } else if other.violation.is_some() {
        // The codec looks at a frame's head when it is whole, key and all; the other reader at each part.
        let longer = [stream, &[0; MOST_OF_A_HEAD]].concat();
        assert!(decode(is_masked, &longer).1, "{other:?}");
    } else {
        assert_eq!(heard.len(), other.heard.len(), "{heard:?} {other:?}");
    }
});

/// What the codec hears, and whether it failed.
fn decode(is_masked: bool, stream: &[u8]) -> (Vec<Said>, bool) {
    let config = Config {
        role: if is_masked { Role::Server } else { Role::Client },
        // As the other reader's.
        max_message_bytes: 64 << 20,
        deflate: None,
    };
    let mut decoder = Decoder::new();
    let mut stream = stream.to_vec();
    let mut rest = stream.as_mut_slice();
    let mut heard = Vec::new();
    loop {
        let (said, consumed) = match decoder.decode(&config, rest) {
            Ok(decoded) => (decoded.event.map(said), decoded.consumed),
            Err(_) => return (heard, true),
        };
        rest = &mut rest[consumed..];
        let Some(said) = said else { return (heard, false) };
        let is_last = matches!(said, Said::Close(_));
        heard.push(said);
        if is_last {
            return (heard, false);
        }
    }
}

fn said(event: Event<'_>) -> Said {
    match event {
        Event::Text(text) => Said::Text(text.into()),
        Event::Binary(bytes) => Said::Binary(bytes.into()),
        Event::Ping(bytes) => Said::Ping(bytes.into()),
        Event::Pong(bytes) => Said::Pong(bytes.into()),
        Event::Close(close) => Said::Close(close.map(|close| (close.code.get(), close.reason.to_owned()))),
    }
}
