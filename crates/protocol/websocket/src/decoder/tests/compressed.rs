//! permessage-deflate through the decoder: the examples of RFC 7692 §7.2.3, and hostile payloads.

use super::*;

const CORRUPT: &str = "1007 the compressed payload is corrupt";

/// `bytes` are frames from a server that compresses with context takeover.
fn check(bytes: &[u8], expected: &[&str]) {
    let config = config(Role::Client);
    let cuts: Vec<usize> = (1..bytes.len()).collect();
    for cuts in [&[], &cuts[..]] {
        let decoder = Decoder::with_deflate(&config, &agreed(true, WindowBits::MAX));
        let lines = decode(decoder, &config, bytes, cuts);
        assert_eq!(lines, expected, "{} in {} pieces", hex(bytes), cuts.len() + 1);
    }
}

#[test]
fn examples_of_7_2_3() {
    let hello = b"\xf2\x48\xcd\xc9\xc9\x07\x00";
    let whole = [b"\xc1\x07", &hello[..]].concat();
    check(&whole, &["text Hello"]);
    check(b"\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00", &["text Hello"]);
    // The second message refers to the first one.
    check(
        &[&whole[..], b"\xc1\x05\xf2\x00\x11\x00\x00"].concat(),
        &["text Hello", "text Hello"],
    );
    // A stored block, a final block, and two blocks.
    check(b"\xc1\x0b\x00\x05\x00\xfa\xffHello\x00", &["text Hello"]);
    check(b"\xc1\x08\xf3\x48\xcd\xc9\xc9\x07\x00\x00", &["text Hello"]);
    check(
        b"\xc1\x0d\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00",
        &["text Hello"],
    );
    check(b"\xc1\x01\x00", &["text "]);
}

#[test]
fn a_message_goes_on_after_a_final_block() {
    let (last, next) = (b"\xf3\x48\xcd\xc9\xc9\x07\x00", b"\xf2\x48\xcd\xc9\xc9\x07\x00");
    check(&[b"\xc1\x0e", &last[..], next].concat(), &["text HelloHello"]);
}

#[test]
fn compressed_and_plain_messages_mix() {
    check(
        b"\x81\x01a\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\x81\x01b",
        &["text a", "text Hello", "text b"],
    );
    check(
        b"\x41\x03\xf2\x48\xcd\x89\x01p\x80\x04\xc9\xc9\x07\x00",
        &["ping 70", "text Hello"],
    );
}

#[test]
fn rsv1_belongs_to_the_first_frame_of_a_message() {
    let refused = "1002 reserved bits are set";
    check(b"\x41\x03\xf2\x48\xcd\xc0\x04\xc9\xc9\x07\x00", &[refused]);
    check(b"\xc9\x00", &[refused]);
    check(b"\xe1\x00", &[refused]);
    let lines = decode(Decoder::new(), &config(Role::Client), b"\xc1\x01\x00", &[]);
    assert_eq!(lines, [refused], "nothing was negotiated");
}

#[test]
fn corrupt_payloads() {
    check(b"\xc1\x03\xff\xff\xff", &[CORRUPT]);
    check(b"\xc1\x05\xf2\x00\x11\x00\x00", &[CORRUPT]);
    // Inflates to the byte 0xFF.
    check(
        b"\xc1\x07\x00\x01\x00\xfe\xff\xff\x00",
        &["1007 the text is not valid UTF-8"],
    );
}

#[test]
fn a_bomb_is_refused_at_the_limit() {
    for (len, expected) in [
        (
            MAX_MESSAGE_BYTES,
            format!("text {}", "a".repeat(MAX_MESSAGE_BYTES)),
        ),
        (
            MAX_MESSAGE_BYTES + 1,
            "1009 the message is larger than 70000 bytes".to_owned(),
        ),
        (
            100 * MAX_MESSAGE_BYTES,
            "1009 the message is larger than 70000 bytes".to_owned(),
        ),
    ] {
        let mut payload = Vec::new();
        Deflater::new(Direction::STATELESS).compress(&vec![b'a'; len], &mut payload);
        let mut frame = Vec::new();
        Frame {
            fin: true,
            compressed: true,
            opcode: Opcode::Text,
            payload: &payload,
        }
        .encode(None, &mut frame);
        check(&frame, &[&expected]);
    }
}

#[test]
fn empty_blocks_come_to_an_end() {
    // 8 times 70,000 bytes and 1,024 are announced, and one more.
    check(b"\xc1\x7f\0\0\0\0\0\x08\x8f\x80", &["incomplete"]);
    let too_big = "1009 the compressed message is larger than 561024 bytes";
    check(b"\xc1\x7f\0\0\0\0\0\x08\x8f\x81", &[too_big]);
    let block = b"\x00\x00\x00\xff\xff".repeat(100);
    let fragment = |first: u8| [&[first, 0x7e, 0x01, 0xf4][..], &block].concat();
    let endless = [fragment(0x42), fragment(0x00).repeat(2000)].concat();
    let config = config(Role::Client);
    let decoder = Decoder::with_deflate(&config, &agreed(true, WindowBits::MAX));
    assert_eq!(decode(decoder, &config, &endless, &[]), [too_big]);
}
