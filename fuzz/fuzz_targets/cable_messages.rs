//! Messages of servers, and how identifiers and actions are made of what files and arguments say.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use plimsoll_cable::{
    event_stream::EventStream,
    identifier::{encode_action, encode_identifier},
    reply::Reply,
};
use serde_json::value::RawValue;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    let _either = Reply::parse(text);
    for (is_whole, is_raw) in [(false, false), (false, true), (true, false), (true, true)] {
        one_event(&EventStream { is_whole, is_raw }.encode(text));
    }
    for encoded in [encode_identifier("Chat", text), encode_action("speak", text)]
        .into_iter()
        .flatten()
    {
        // Not as a value: numbers are kept as they were written, however large they are.
        assert!(serde_json::from_str::<BTreeMap<String, &RawValue>>(&encoded).is_ok());
    }
});

/// Whatever a message says, it is one event: the empty line is at the end, and each line before it is a field or a comment.
fn one_event(event: &str) {
    let lines = event
        .strip_suffix("\n\n")
        .expect("an event ends with an empty line");
    for line in lines.split(['\n', '\r']) {
        let (field, _) = line.split_once(':').expect("a field has a colon");
        assert!(["", "event", "data", "retry", "id"].contains(&field), "{line:?}");
    }
}
