//! Frames from a server, compressed ones among them, cut in two ways.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::{agreed, check_cuts, config};
use plimsoll_websocket::{Decoder, Role};

fuzz_target!(|data: &[u8]| {
    let config = config(Role::Client);
    let agreed = agreed();
    check_cuts(&config, || Decoder::with_deflate(&config, &agreed), data);
});
