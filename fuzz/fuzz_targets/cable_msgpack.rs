//! Server messages in msgpack: they are JSON or an error, in memory that the message bounds, and the JSON is the same after
//! it was msgpack again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_cable::{
    encoding::{Content, Encoding},
    reply::Reply,
};
use serde::de::IgnoredAny;

fuzz_target!(|data: &[u8]| {
    let Ok(json) = Encoding::Msgpack.reply_json(Content::Binary(data), false) else {
        return;
    };
    assert!(serde_json::from_str::<IgnoredAny>(&json).is_ok(), "{json}");
    assert!(json.len() <= 10 * data.len());
    let _either = Reply::parse(&json);
    // What is nested deeper than serde_json reads is not written.
    if let Ok(again) = Encoding::Msgpack.encode_command(&json) {
        let read = Encoding::Msgpack.reply_json(Content::Binary(&again), false);
        assert_eq!(read.as_deref(), Ok(&*json));
    }
});
