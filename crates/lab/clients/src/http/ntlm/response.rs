//! The answer to a challenge (MS-NLMP 2.2.1.3 and 3.3.2).

use hmac::{Hmac, KeyInit as _, Mac as _};
use md4::Md4;
use md5::{Digest as _, Md5};

use super::{Account, Challenge, Fresh, NtlmError, SIGNATURE, flags};

/// The message type of an answer.
const AUTHENTICATE: u32 = 3;

/// The length of the part that points to the others, and so the offset of the first of them.
const HEAD_BYTES: usize = 64;

impl Challenge<'_> {
    /// The last message, with the proof that the client knows the password.
    ///
    /// # Errors
    /// When a name is too long.
    pub(in super::super) fn answer(&self, account: &Account<'_>, fresh: Fresh) -> Result<Vec<u8>, NtlmError> {
        let key = owner_key(account);
        let nonce = fresh.nonce.to_be_bytes();
        let time = self.timestamp.unwrap_or_else(|| fresh.now.to_le_bytes());
        let nt = nt_response(&key, self.nonce, nonce, time, self.target_info);
        // A server that tells its time compares only the other response (MS-NLMP 3.1.5.1.2).
        let lm = match self.timestamp {
            Some(_) => vec![0; 24],
            None => lm_response(&key, self.nonce, nonce),
        };
        let flags = (self.flags & flags::OFFERED) | flags::EXTENDED_SECURITY;
        let parts = [
            (lm, "LM response"),
            (nt, "list of facts about the server"),
            (utf16(account.domain), "domain"),
            (utf16(account.user), "user's name"),
            // The workstation and the session key.
            (Vec::new(), ""),
            (Vec::new(), ""),
        ];
        write(&parts, flags)
    }
}

/// The message with these parts behind its head.
fn write(parts: &[(Vec<u8>, &'static str)], flags: u32) -> Result<Vec<u8>, NtlmError> {
    let mut message = SIGNATURE.to_vec();
    message.extend_from_slice(&AUTHENTICATE.to_le_bytes());
    let mut offset = HEAD_BYTES;
    for (part, what) in parts {
        let too_long = |_| NtlmError::TooLong(what);
        let length = u16::try_from(part.len()).map_err(too_long)?.to_le_bytes();
        message.extend_from_slice(&length);
        message.extend_from_slice(&length);
        message.extend_from_slice(&u32::try_from(offset).map_err(too_long)?.to_le_bytes());
        offset += part.len();
    }
    message.extend_from_slice(&flags.to_le_bytes());
    parts.iter().for_each(|(part, _)| message.extend_from_slice(part));
    Ok(message)
}

/// The key of the account: the specification's NTOWFv2.
pub(super) fn owner_key(account: &Account<'_>) -> [u8; 16] {
    let password = Md4::digest(utf16(account.password));
    let name = upper_case(account.user) + account.domain;
    hmac(&password, &[&utf16(&name)])
}

/// The proof of version 2, and the values over which it was made.
pub(super) fn nt_response(
    key: &[u8; 16],
    server: [u8; 8],
    client: [u8; 8],
    time: [u8; 8],
    target_info: &[u8],
) -> Vec<u8> {
    /// The version of the response, twice, and six bytes that are always zero.
    const VERSION: [u8; 8] = [1, 1, 0, 0, 0, 0, 0, 0];
    const GAP: [u8; 4] = [0; 4];
    let values = [&VERSION[..], &time, &client, &GAP, target_info, &GAP].concat();
    let proof = hmac(key, &[&server, &values]);
    [&proof[..], &values].concat()
}

/// The second, shorter proof, for servers that do not tell their time.
pub(super) fn lm_response(key: &[u8; 16], server: [u8; 8], client: [u8; 8]) -> Vec<u8> {
    [&hmac(key, &[&server, &client])[..], &client].concat()
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 16] {
    let mac = Hmac::<Md5>::new_from_slice(key);
    let mut mac = mac.expect("an HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The text in capitals as Windows has them: a character stays one character, so `ß` stays `ß`.
fn upper_case(text: &str) -> String {
    text.chars()
        .map(|one| {
            let mut upper = one.to_uppercase();
            match (upper.next(), upper.next()) {
                (Some(only), None) => only,
                _ => one,
            }
        })
        .collect()
}
