//! The websocket-shootout's binary messages: one byte of type, the payload's size as a big-endian `u32`, the send
//! time as a big-endian `i64`, padding. The size counts the send time and the padding.

use super::{Command, Kind, Run};

/// Type, size and send time.
const HEAD_BYTES: usize = 13;

pub(super) fn encode(command: Command, id: u64, run: Run, padding: &str) -> Vec<u8> {
    let kind = match command {
        Command::Echo => b'e',
        Command::Broadcast => b'b',
    };
    let n_payload_bytes = u32::try_from(8 + padding.len()).unwrap_or(u32::MAX);
    let mut message = Vec::with_capacity(HEAD_BYTES + padding.len());
    message.push(kind);
    message.extend(n_payload_bytes.to_be_bytes());
    message.extend(run.start_ns.wrapping_add_unsigned(id).to_be_bytes());
    message.extend(padding.as_bytes());
    message
}

/// The kind and the number of a message of `run`. A number of another run comes out as one that this run has
/// not used: the runs' starts are further apart than a run has messages.
pub(super) fn decode(message: &[u8], run: Run) -> Option<(Kind, u64)> {
    let (head, _padding) = message.split_first_chunk::<HEAD_BYTES>()?;
    let kind = match head[0] {
        b'e' => Kind::Echo,
        b'b' => Kind::Broadcast,
        b'r' => Kind::BroadcastResult,
        _ => return None,
    };
    let (_, send_time) = head.split_last_chunk::<8>()?;
    let id = i64::from_be_bytes(*send_time).checked_sub(run.start_ns)?;
    Some((kind, u64::try_from(id).ok()?))
}
