//! Compressed payloads: two messages from one window, whose frames are written here so that the fuzzer need not
//! learn them, cut in two ways.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::{agreed, check_cuts, config};
use plimsoll_websocket::{Decoder, Frame, Opcode, Role};

fuzz_target!(|data: &[u8]| {
    let [piece_len, at, payloads @ ..] = data else {
        return;
    };
    let (first, second) = payloads.split_at(usize::from(*at).min(payloads.len()));
    let mut stream = vec![*piece_len];
    for payload in [first, second] {
        Frame {
            fin: true,
            compressed: true,
            opcode: Opcode::Binary,
            payload,
        }
        .encode(None, &mut stream);
    }
    let config = config(Role::Client);
    let agreed = agreed();
    check_cuts(&config, || Decoder::with_deflate(&config, &agreed), &stream);
});
