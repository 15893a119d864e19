//! Answers of a server: nothing in them may panic, or be agreed on without an offer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_websocket::deflate::Preferences;
use plimsoll_websocket::handshake::client::Handshake;

fuzz_target!(|head: &[u8]| {
    let plain = Handshake::new("server.example.com", "/chat", *b"the sample nonce");
    if let Ok(Some((accepted, len))) = plain.parse_response(head) {
        assert!(accepted.protocol.is_none() && accepted.deflate.is_none() && len <= head.len());
    }
    let full = plain
        .protocols(&["chat", "superchat"])
        .deflate(Preferences::default());
    if let Ok(Some((accepted, len))) = full.parse_response(head) {
        assert!(
            accepted
                .protocol
                .is_none_or(|protocol| ["chat", "superchat"].contains(&protocol.as_str()))
        );
        assert!(
            full.parse_response(&head[..len - 1])
                .is_ok_and(|parsed| parsed.is_none())
        );
    }
});
