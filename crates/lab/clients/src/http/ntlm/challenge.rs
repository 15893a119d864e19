//! The server's challenge (MS-NLMP 2.2.1.2).

use super::{NtlmError, SIGNATURE, flags};

/// The message type of a challenge.
const CHALLENGE: u32 = 2;

/// Entries of the list of facts about the server (MS-NLMP 2.2.2.1).
const END_OF_LIST: u16 = 0;
const TIMESTAMP: u16 = 7;

/// A challenge, as far as its answer needs it. Its size is bounded by that of a response's head.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Challenge<'a> {
    /// The options of the server.
    pub(super) flags: u32,
    /// The server's random part.
    pub(super) nonce: [u8; 8],
    /// The list of facts about the server, sent back unchanged. Empty if there is none.
    pub(super) target_info: &'a [u8],
    /// The server's clock, little-endian.
    pub(super) timestamp: Option<[u8; 8]>,
}

impl<'a> Challenge<'a> {
    /// Reads the bytes of a challenge.
    ///
    /// # Errors
    /// When they are not a challenge, or ask for more than this client offers.
    pub(in super::super) fn parse(message: &'a [u8]) -> Result<Self, NtlmError> {
        if !message.starts_with(SIGNATURE) || number(message, 8, "type")? != CHALLENGE {
            return Err(NtlmError::NotChallenge);
        }
        let flags = number(message, 20, "list of options")?;
        check_options(flags)?;
        let target_info = if flags & flags::TARGET_INFO == 0 {
            &[][..]
        } else {
            target_info(message)?
        };
        Ok(Self {
            flags,
            nonce: array(message, 24, "random part")?,
            target_info,
            timestamp: timestamp(target_info)?,
        })
    }
}

fn check_options(flags: u32) -> Result<(), NtlmError> {
    if flags & flags::LM_KEY != 0 {
        return Err(NtlmError::NotOffered("NTLM version 1 (NTLMSSP_NEGOTIATE_LM_KEY)"));
    }
    if flags & flags::KEY_EXCHANGE != 0 {
        return Err(NtlmError::NotOffered(
            "a session key (NTLMSSP_NEGOTIATE_KEY_EXCH)",
        ));
    }
    if flags & flags::UNICODE == 0 {
        return Err(NtlmError::NotOffered(
            "names that are not Unicode (no NTLMSSP_NEGOTIATE_UNICODE)",
        ));
    }
    Ok(())
}

/// The bytes that the field at 40 points to: a length, the length again, and an offset.
fn target_info(message: &[u8]) -> Result<&[u8], NtlmError> {
    const WHAT: &str = "list of facts about the server";
    let length = usize::from(u16::from_le_bytes(array(message, 40, WHAT)?));
    let offset = usize::try_from(number(message, 44, WHAT)?).map_err(|_| NtlmError::Cut(WHAT))?;
    let end = offset.checked_add(length).ok_or(NtlmError::Cut(WHAT))?;
    message.get(offset..end).ok_or(NtlmError::Cut(WHAT))
}

/// The server's clock in its list of facts.
fn timestamp(mut list: &[u8]) -> Result<Option<[u8; 8]>, NtlmError> {
    const WHAT: &str = "fact about the server";
    while !list.is_empty() {
        let id = u16::from_le_bytes(array(list, 0, WHAT)?);
        let length = usize::from(u16::from_le_bytes(array(list, 2, WHAT)?));
        if id == END_OF_LIST {
            break;
        }
        let value = list.get(4..4 + length).ok_or(NtlmError::Cut(WHAT))?;
        if id == TIMESTAMP {
            return array(value, 0, "clock").map(Some);
        }
        list = &list[4 + length..];
    }
    Ok(None)
}

fn number(bytes: &[u8], offset: usize, what: &'static str) -> Result<u32, NtlmError> {
    array(bytes, offset, what).map(u32::from_le_bytes)
}

fn array<const N: usize>(bytes: &[u8], offset: usize, what: &'static str) -> Result<[u8; N], NtlmError> {
    let part = bytes.get(offset..).and_then(<[u8]>::first_chunk);
    part.copied().ok_or(NtlmError::Cut(what))
}
