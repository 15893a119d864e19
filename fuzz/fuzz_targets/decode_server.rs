//! Frames from a client, cut in two ways.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::{check_cuts, config};
use plimsoll_websocket::{Decoder, Role};

fuzz_target!(|data: &[u8]| check_cuts(&config(Role::Server), Decoder::new, data));
