//! The part of protocol buffers' encoding that requests need: strings, lists and maps of them, and nested messages.
//! prost's message types own their contents, so everything would have to be copied twice.

use plimsoll_server::application::Entries;
use prost::encoding::{WireType, encode_varint, encoded_len_varint};

/// The size of a key. Field numbers below 16 make keys of one byte; the contract has no others.
const KEY_BYTES: usize = 1;

/// Length of a field with `len` bytes of content.
pub(super) fn nested_len(len: usize) -> usize {
    KEY_BYTES + encoded_len_varint(len as u64) + len
}

/// Appends the key of a field. Its `len` bytes of content are written next.
pub(super) fn nested(tag: u8, len: usize, out: &mut Vec<u8>) {
    debug_assert!(tag < 16, "the key would have two bytes");
    out.push(tag << 3 | WireType::LengthDelimited as u8);
    encode_varint(len as u64, out);
}

/// Length of a string. The empty string is omitted.
pub(super) fn string_len(text: &str) -> usize {
    if text.is_empty() {
        0
    } else {
        nested_len(text.len())
    }
}

/// Appends a string. The empty string is omitted.
pub(super) fn string(tag: u8, text: &str, out: &mut Vec<u8>) {
    if !text.is_empty() {
        nested(tag, text.len(), out);
        out.extend_from_slice(text.as_bytes());
    }
}

/// Length of a list.
pub(super) fn strings_len(texts: &[Box<str>]) -> usize {
    texts.iter().map(|text| nested_len(text.len())).sum()
}

/// Appends a list, including its empty strings.
pub(super) fn strings(tag: u8, texts: &[Box<str>], out: &mut Vec<u8>) {
    for text in texts {
        nested(tag, text.len(), out);
        out.extend_from_slice(text.as_bytes());
    }
}

/// Length of a map.
pub(super) fn map_len(entries: &Entries) -> usize {
    let lengths = entries
        .iter()
        .map(|(key, value)| nested_len(string_len(key) + string_len(value)));
    lengths.sum()
}

/// Appends a map: a list of messages with key and value.
pub(super) fn map(tag: u8, entries: &Entries, out: &mut Vec<u8>) {
    for (key, value) in entries.iter() {
        nested(tag, string_len(key) + string_len(value), out);
        string(1, key, out);
        string(2, value, out);
    }
}
