//! Replies of applications over HTTP.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_rpc::fuzzing::http_reply;

fuzz_target!(|body: &[u8]| http_reply(body));
