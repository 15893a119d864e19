//! Replies of applications over gRPC. The first byte says whether the prefix of the message is written here, so that the
//! fuzzer need not learn its length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_rpc::fuzzing::{grpc_reply, protobuf_reply};

fuzz_target!(|data: &[u8]| match data {
    [0, message @ ..] => protobuf_reply(message),
    [_, body @ ..] => grpc_reply(body),
    [] => {}
});
