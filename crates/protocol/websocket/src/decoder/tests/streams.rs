//! Random conversations: encoded frames are decoded, however the stream is split.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::{CloseCode, encode_close, encode_frame};

/// A message or control frame to send.
#[derive(Debug, Clone)]
enum Sent {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
}

/// A data message with the positions where it is fragmented, and the Pings between the fragments.
#[derive(Debug, Clone)]
struct Script {
    sent: Sent,
    cuts: Vec<(prop::sample::Index, bool)>,
    is_compressed: bool,
}

fn script() -> impl Strategy<Value = Script> {
    let control = vec(any::<u8>(), 0..=125);
    let long = vec(prop_oneof![any::<u8>(), Just(b'a')], 0..2_000);
    let sent = prop_oneof![
        ".{0,40}".prop_map(Sent::Text),
        "[a-c✓🦀]{0,400}".prop_map(Sent::Text),
        long.prop_map(Sent::Binary),
        control.clone().prop_map(Sent::Ping),
        control.prop_map(Sent::Pong),
    ];
    (
        sent,
        vec(any::<(prop::sample::Index, bool)>(), 0..4),
        any::<bool>(),
    )
        .prop_map(|(sent, cuts, is_compressed)| Script {
            sent,
            cuts,
            is_compressed,
        })
}

/// The sending end of a conversation.
struct Sender {
    mask: Option<[u8; 4]>,
    deflater: Deflater,
    stream: Vec<u8>,
    /// The events that the receiver must see.
    expected: Vec<String>,
}

impl Sender {
    fn send(&mut self, script: &Script) {
        match &script.sent {
            Sent::Text(text) => self.message(&Event::Text(text), Opcode::Text, text.as_bytes(), script),
            Sent::Binary(bytes) => self.message(&Event::Binary(bytes), Opcode::Binary, bytes, script),
            Sent::Ping(bytes) => self.control(&Event::Ping(bytes), Opcode::Ping, bytes),
            Sent::Pong(bytes) => self.control(&Event::Pong(bytes), Opcode::Pong, bytes),
        }
    }

    fn control(&mut self, event: &Event<'_>, opcode: Opcode, payload: &[u8]) {
        encode_frame(opcode, payload, self.mask, &mut self.stream);
        self.expected.push(line(event));
    }

    fn message(&mut self, event: &Event<'_>, opcode: Opcode, message: &[u8], script: &Script) {
        let mut payload = message.to_vec();
        if script.is_compressed {
            payload.clear();
            self.deflater.compress(message, &mut payload);
        }
        let mut ends: Vec<_> = script
            .cuts
            .iter()
            .map(|(at, ping)| (at.index(payload.len() + 1), *ping))
            .collect();
        ends.sort_unstable();
        ends.push((payload.len(), false));
        let mut start = 0;
        for (i, &(end, is_ping_after)) in ends.iter().enumerate() {
            let frame = Frame {
                fin: i + 1 == ends.len(),
                compressed: i == 0 && script.is_compressed,
                opcode: if i == 0 { opcode } else { Opcode::Continuation },
                payload: &payload[start..end],
            };
            frame.encode(self.mask, &mut self.stream);
            start = end;
            if is_ping_after {
                self.control(&Event::Ping(b"between"), Opcode::Ping, b"between");
            }
        }
        self.expected.push(line(event));
    }
}

fn window() -> impl Strategy<Value = WindowBits> {
    (9_u8..=15).prop_map(|bits| WindowBits::new(bits).unwrap())
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::Client), Just(Role::Server)]
}

/// Positions at which to split a stream of this length.
fn cut_points(cuts: &[prop::sample::Index], len: usize) -> Vec<usize> {
    let mut cuts: Vec<usize> = cuts.iter().map(|at| at.index(len + 1)).collect();
    cuts.sort_unstable();
    cuts
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        receiver in role(),
        key: [u8; 4],
        scripts in vec(script(), 0..8),
        close in proptest::option::of((1000_u16..=1003, ".{0,60}")),
        context_takeover: bool,
        window in window(),
        cuts in vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let agreed = agreed(context_takeover, window);
        let mask = (receiver == Role::Server).then_some(key);
        let deflater = Deflater::new(agreed.sent_by(receiver.peer()));
        let mut sender = Sender { mask, deflater, stream: Vec::new(), expected: Vec::new() };
        for script in &scripts {
            sender.send(script);
        }
        let frame = close
            .as_ref()
            .map(|(code, reason)| CloseFrame { code: CloseCode::new(*code).unwrap(), reason });
        encode_close(frame, mask, &mut sender.stream);
        // A reason that is too long is cut at a character boundary.
        let frame = frame.map(|frame| CloseFrame { reason: &frame.reason[..frame.reason.floor_char_boundary(123)], ..frame });
        sender.expected.push(line(&Event::Close(frame)));

        let config = config(receiver);
        let cuts = cut_points(&cuts, sender.stream.len());
        let lines = decode(Decoder::with_deflate(&config, &agreed), &config, &sender.stream, &cuts);
        prop_assert_eq!(lines, sender.expected);
    }

    #[test]
    fn damage_gives_the_same_events_however_it_is_cut(
        receiver in role(),
        scripts in vec(script(), 1..6),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        max_message_bytes in 0_usize..3_000,
        context_takeover: bool,
        cuts in vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let agreed = agreed(context_takeover, WindowBits::MAX);
        let mask = (receiver == Role::Server).then_some(KEY);
        let deflater = Deflater::new(agreed.sent_by(receiver.peer()));
        let mut sender = Sender { mask, deflater, stream: Vec::new(), expected: Vec::new() };
        for script in &scripts {
            sender.send(script);
        }
        for (at, byte) in damage {
            let at = at.index(sender.stream.len());
            sender.stream[at] = byte;
        }
        let config = Config { max_message_bytes, ..config(receiver) };
        let decoder = || Decoder::with_deflate(&config, &agreed);
        let cuts = cut_points(&cuts, sender.stream.len());
        let whole = decode(decoder(), &config, &sender.stream, &[]);
        prop_assert_eq!(decode(decoder(), &config, &sender.stream, &cuts), whole);
    }

    #[test]
    fn garbage_never_panics(
        receiver in role(),
        bytes in vec(any::<u8>(), 0..400),
        cuts in vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let config = config(receiver);
        let decoder = || Decoder::with_deflate(&config, &agreed(true, WindowBits::MAX));
        let whole = decode(decoder(), &config, &bytes, &[]);
        prop_assert_eq!(decode(decoder(), &config, &bytes, &cut_points(&cuts, bytes.len())), whole);
    }
}
