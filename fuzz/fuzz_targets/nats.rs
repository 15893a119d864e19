//! What a NATS server sends, whole and in pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_nats::{Decoder, Header, NotNats, Operation};

/// Small enough for payloads of both kinds: kept and passed over.
const MAX_PAYLOAD_BYTES: usize = 64;

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    let whole = decoded(bytes, bytes.len().max(1));
    let pieces = decoded(bytes, usize::from(piece).max(1));
    match (whole, pieces) {
        (Ok(whole), Ok(pieces)) => assert_eq!(whole, pieces),
        (whole, pieces) => assert_eq!(whole.is_err(), pieces.is_err()),
    }
});

fn decoded(bytes: &[u8], piece: usize) -> Result<Vec<Operation>, NotNats> {
    let mut decoder = Decoder::new(MAX_PAYLOAD_BYTES);
    let mut operations = Vec::new();
    for piece in bytes.chunks(piece) {
        decoder.buffer().extend_from_slice(piece);
        while let Some(operation) = decoder.decode()? {
            if let Operation::Message(message) = &operation {
                assert!(message.header.len() + message.payload.len() <= MAX_PAYLOAD_BYTES);
                let _any_header = Header::read(&message.header);
            }
            operations.push(operation);
        }
    }
    Ok(operations)
}
