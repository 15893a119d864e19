//! One table per clause of RFC 6455. Each case is decoded at once and byte by byte.

use super::*;

/// Checks `bytes`, one or more frames as `role` receives them.
fn check(role: Role, bytes: &[u8], expected: &[&str]) {
    let cuts: Vec<usize> = (1..bytes.len()).collect();
    for cuts in [&[], &cuts[..]] {
        let lines = decode(Decoder::new(), &config(role), bytes, cuts);
        assert_eq!(
            lines,
            expected,
            "{role:?} gets {} in {} pieces",
            hex(bytes),
            cuts.len() + 1
        );
    }
}

/// Checks frames from a server, read by a client.
fn from_server(bytes: &[u8], expected: &[&str]) {
    check(Role::Client, bytes, expected);
}

/// Checks frames from a client, read by a server.
fn from_client(frames: &[Vec<u8>], expected: &[&str]) {
    check(Role::Server, &frames.concat(), expected);
}

#[test]
fn examples_of_5_7() {
    from_server(b"\x81\x05Hello", &["text Hello"]);
    check(
        Role::Server,
        b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58",
        &["text Hello"],
    );
    from_server(b"\x01\x03Hel\x80\x02lo", &["text Hello"]);
    from_server(b"\x89\x05Hello", &["ping 48656c6c6f"]);
    check(
        Role::Server,
        b"\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58",
        &["pong 48656c6c6f"],
    );
    for len in [256_usize, 65_536] {
        let payload = vec![0xAB; len];
        let mut frame = Vec::new();
        crate::encode_frame(Opcode::Binary, &payload, None, &mut frame);
        let header: &[u8] = if len == 256 {
            b"\x82\x7e\x01\x00"
        } else {
            b"\x82\x7f\0\0\0\0\0\x01\0\0"
        };
        assert!(frame.starts_with(header));
        from_server(&frame, &[&format!("binary {}", hex(&payload))]);
    }
}

#[test]
fn masking_5_1() {
    from_server(
        b"\x81\x85\x37\xfa\x21\x3d",
        &["1002 the server sent a masked frame"],
    );
    check(
        Role::Server,
        b"\x81\x05",
        &["1002 the client sent an unmasked frame"],
    );
    check(Role::Server, b"\x81\x80\x37\xfa\x21\x3d", &["text "]);
}

#[test]
fn reserved_bits_5_2() {
    for first in [0x91, 0xA1, 0xB1, 0xC1, 0xD1, 0xF1, 0xC0, 0xC9] {
        from_server(&[first, 0x00], &["1002 reserved bits are set"]);
    }
}

#[test]
fn reserved_opcodes_5_2() {
    for opcode in (3..=7).chain(11..=15) {
        from_server(
            &[0x80 | opcode, 0x00],
            &[&format!("1002 opcode {opcode} is reserved")],
        );
    }
}

#[test]
fn length_forms_5_2() {
    from_server(
        b"\x82\x7e\x00\x7d",
        &["1002 the length 125 is not written in its shortest form"],
    );
    from_server(
        b"\x82\x7f\0\0\0\0\0\0\xff\xff",
        &["1002 the length 65535 is not written in its shortest form"],
    );
    from_server(
        b"\x82\x7f\x80\0\0\0\0\0\0\0",
        &["1002 the top bit of a 64-bit length is set"],
    );
    from_server(b"\x82\x7e\x00", &["incomplete"]);
    from_server(b"\x82\x7f\0\0\0\0", &["incomplete"]);
}

#[test]
fn fragmentation_5_4() {
    let (text, next, end): (&[u8], &[u8], &[u8]) = (b"\x01\x01a", b"\x00\x01b", b"\x80\x01c");
    from_server(&[text, next, end].concat(), &["text abc"]);
    from_server(
        &[text, b"\x89\x01p", next, b"\x8a\x00", end].concat(),
        &["ping 70", "pong ", "text abc"],
    );
    from_server(b"\x01\x00\x00\x00\x80\x00", &["text "]);
    from_server(b"\x02\x01\x01\x80\x00", &["binary 01"]);
    from_server(
        &[text, b"\x88\x02\x03\xe8"].concat(),
        &["close 1000 ", "incomplete"],
    );
    from_server(&[text, next].concat(), &["incomplete"]);

    from_server(
        end,
        &["1002 a continuation frame arrived without a message to continue"],
    );
    from_server(
        b"\x00\x00",
        &["1002 a continuation frame arrived without a message to continue"],
    );
    from_server(
        &[text, end, next].concat(),
        &[
            "text ac",
            "1002 a continuation frame arrived without a message to continue",
        ],
    );
    from_server(
        &[text, text].concat(),
        &["1002 a new message began before the fragmented one ended"],
    );
    from_server(
        &[text, b"\x82\x00"].concat(),
        &["1002 a new message began before the fragmented one ended"],
    );
}

#[test]
fn control_frames_5_5() {
    let longest = [b"\x89\x7d".to_vec(), vec![b'x'; 125]].concat();
    from_server(&longest, &[&format!("ping {}", "78".repeat(125))]);
    from_server(
        b"\x89\x7e\x00\x7e",
        &["1002 a control frame carries more than 125 bytes"],
    );
    from_server(b"\x88\x7f", &["1002 a control frame carries more than 125 bytes"]);
    for first in [0x08, 0x09, 0x0A] {
        from_server(&[first, 0x00], &["1002 a control frame is fragmented"]);
    }
}

#[test]
fn close_5_5_1() {
    from_server(b"\x88\x00", &["close"]);
    from_server(b"\x88\x02\x03\xe9", &["close 1001 "]);

    from_server(b"\x88\x06\x03\xe8caf\xc3", &["1007 the text is not valid UTF-8"]);
    from_server(b"\x88\x05\x03\xe8bye", &["close 1000 bye"]);
    from_server(
        b"\x88\x01\x03",
        &["1002 a close payload of one byte has no room for a code"],
    );
}

#[test]
fn close_codes_7_4() {
    let frame = |code: u16| [&b"\x88\x02"[..], &code.to_be_bytes()].concat();
    for code in [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
    ] {
        from_server(&frame(code), &[&format!("close {code} ")]);
    }
    for code in [
        0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535,
    ] {
        from_server(
            &frame(code),
            &[&format!("1002 close code {code} must not be sent")],
        );
    }
}

#[test]
fn utf8_8_1() {
    let invalid = "1007 the text is not valid UTF-8";
    from_client(&[masked(Opcode::Text, true, "κόσμε".as_bytes())], &["text κόσμε"]);
    from_client(&[masked(Opcode::Text, true, b"\xce")], &[invalid]);
    from_client(&[masked(Opcode::Text, true, b"a\xffz")], &[invalid]);
    from_client(&[masked(Opcode::Binary, true, b"a\xffz")], &["binary 61ff7a"]);
    // A code point may be split by fragments, and even by a control frame between them.
    let (start, end) = (
        masked(Opcode::Text, false, b"\xce"),
        masked(Opcode::Continuation, true, b"\xba"),
    );
    from_client(&[start.clone(), end.clone()], &["text κ"]);
    from_client(
        &[start.clone(), masked(Opcode::Ping, true, b""), end],
        &["ping ", "text κ"],
    );
    from_client(&[start, masked(Opcode::Continuation, true, b"")], &[invalid]);
}

#[test]
fn invalid_text_fails_before_its_frame_is_complete() {
    // 100 bytes are announced; the second one proves that the text is not UTF-8.
    from_server(b"\x81\x64\xc0\xaf", &["1007 the text is not valid UTF-8"]);
    from_server(b"\x81\x64\xf4\x90", &["1007 the text is not valid UTF-8"]);
    from_server(b"\x81\x64\xed\xa0", &["1007 the text is not valid UTF-8"]);
    from_server(b"\x81\x64\xed\x9f", &["incomplete"]);
}

#[test]
fn message_limit() {
    let too_big = "1009 the message is larger than 70000 bytes";
    // The header is enough: 70,001 bytes announced, none sent.
    from_server(b"\x82\x7f\0\0\0\0\0\x01\x11\x71", &[too_big]);
    from_server(b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", &[too_big]);
    from_server(b"\x82\x7f\0\0\0\0\0\x01\x11\x70", &["incomplete"]);
    // Across fragments: 1 byte, then 70,000 announced.
    from_server(b"\x02\x01a\x80\x7f\0\0\0\0\0\x01\x11\x70", &[too_big]);
    from_server(b"\x02\x01a\x80\x7f\0\0\0\0\0\x01\x11\x6f", &["incomplete"]);
}

#[test]
fn empty_fragments_5_4() {
    let fragments = |n: usize, last: &[u8]| {
        let mut frames = vec![masked(Opcode::Text, false, b"a")];
        frames.extend(vec![masked(Opcode::Continuation, false, b""); n]);
        frames.push(masked(Opcode::Continuation, true, last));
        frames
    };
    let too_many = "1008 the message has more than 1024 empty fragments";
    from_client(&fragments(3, b"b"), &["text ab"]);
    from_client(&fragments(1024, b"b"), &["text ab"]);
    from_client(&fragments(1025, b"b"), &[too_many]);
    // The last one ends the message, so it does no harm, and the next message starts counting anew.
    let twice = [fragments(1024, b""), fragments(1024, b"")].concat();
    from_client(&twice, &["text a", "text a"]);
    let empty_from_the_start = vec![masked(Opcode::Text, false, b""); 1];
    let rest = vec![masked(Opcode::Continuation, false, b""); 1024];
    from_client(&[empty_from_the_start, rest].concat(), &[too_many]);
    let small = vec![masked(Opcode::Continuation, false, b"b"); 5000];
    let frames = [vec![masked(Opcode::Binary, false, b"b")], small].concat();
    from_client(&frames, &["incomplete"]);
}
