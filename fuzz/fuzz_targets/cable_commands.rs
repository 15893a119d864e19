//! Commands of clients: what is understood is written again as the same command.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_cable::command::{
    Command, encode_message, encode_presence, encode_subscribe, encode_unsubscribe, encode_whisper,
};

fuzz_target!(|frame: &[u8]| {
    let Ok(command) = Command::parse(frame) else {
        return;
    };
    let written = match &command {
        Command::Subscribe {
            identifier,
            history: None,
            presence: None,
        } => encode_subscribe(identifier),
        Command::Unsubscribe { identifier } => encode_unsubscribe(identifier),
        Command::Message { identifier, data } => encode_message(identifier, data),
        Command::Whisper { identifier, data } => {
            let data = serde_json::from_str(data).expect("the part of a document is a document");
            encode_whisper(identifier, data)
        }
        Command::Presence {
            identifier,
            wants_records: true,
        } => encode_presence(identifier),
        _ => return,
    };
    let again = Command::parse(written.as_bytes()).expect("what is written is understood");
    assert_eq!(again, command);
});
