//! Server messages in protocol buffers: they are JSON or an error; and commands, which are an error or begin with their
//! number.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_cable::{
    encoding::{Content, Encoding},
    reply::Reply,
};
use serde::de::IgnoredAny;

/// The field `command`, which every command has.
const COMMAND: u8 = 2 << 3;

fuzz_target!(|data: &[u8]| {
    for is_extended in [false, true] {
        if let Ok(json) = Encoding::Protobuf.reply_json(Content::Binary(data), is_extended) {
            assert!(serde_json::from_str::<IgnoredAny>(&json).is_ok(), "{json}");
            // The names of the fields, which the message has not.
            assert!(json.len() <= 10 * data.len() + 100);
            let _either = Reply::parse(&json);
        }
    }
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(command) = Encoding::Protobuf.encode_command(text) {
        assert_eq!(command.first(), Some(&COMMAND));
    }
});
