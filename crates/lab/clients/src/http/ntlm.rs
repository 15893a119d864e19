//! NTLM (MS-NLMP, <https://learn.microsoft.com/openspecs/windows_protocols/ms-nlmp>): the two messages of a client, and
//! the challenge of the server between them. Only version 2 exists here.
//!
//! NTLM is built on withdrawn algorithms (MD4, MD5), which nothing else here trusts. Servers that still ask for it
//! accept nothing newer, and their load is worth testing, too.

mod challenge;
mod error;
mod response;

#[cfg(test)]
mod tests;

pub(super) use self::challenge::Challenge;
pub use self::error::NtlmError;

/// The first bytes of each message.
const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";

/// Options of a connection (MS-NLMP 2.2.2.5).
mod flags {
    /// Names are UTF-16.
    pub(super) const UNICODE: u32 = 1;
    /// The client wants the name of the server.
    pub(super) const REQUEST_TARGET: u32 = 1 << 2;
    /// The server wants an answer of version 1, which is weaker.
    pub(super) const LM_KEY: u32 = 1 << 7;
    /// NTLM.
    pub(super) const NTLM: u32 = 1 << 9;
    /// Session keys exist, although HTTP uses none.
    pub(super) const ALWAYS_SIGN: u32 = 1 << 15;
    /// Version 2 of session keys.
    pub(super) const EXTENDED_SECURITY: u32 = 1 << 19;
    /// The challenge has a list of facts about the server.
    pub(super) const TARGET_INFO: u32 = 1 << 23;
    /// Keys of 128 bits.
    pub(super) const KEY_128: u32 = 1 << 29;
    /// The server wants a session key of the client's own.
    pub(super) const KEY_EXCHANGE: u32 = 1 << 30;
    /// Keys of 56 bits.
    pub(super) const KEY_56: u32 = 1 << 31;

    /// The options that this client asks for.
    pub(super) const OFFERED: u32 =
        UNICODE | REQUEST_TARGET | NTLM | ALWAYS_SIGN | EXTENDED_SECURITY | TARGET_INFO | KEY_128 | KEY_56;
}

/// The user who signs in.
#[derive(Clone, Copy)]
pub(super) struct Account<'a> {
    /// The domain, empty when the user's name does not say.
    domain: &'a str,
    user: &'a str,
    password: &'a str,
}

/// Values of this answer alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fresh {
    /// The client's random part.
    pub(super) nonce: u64,
    /// The clock, in tenths of a microsecond since the year 1601. A server's own time comes first.
    pub(super) now: u64,
}

impl<'a> Account<'a> {
    /// The account of a name as people write it: `DOMAIN\user`, `user@domain` or `user`. A name with `@` is sent
    /// unchanged, because the server finds its domain.
    pub(super) fn new(name: &'a str, password: &'a str) -> Self {
        let (domain, user) = name.split_once('\\').unwrap_or(("", name));
        Self {
            domain,
            user,
            password,
        }
    }
}

/// The first message, which asks for a challenge (MS-NLMP 2.2.1.1). It names no domain, because servers do not need it.
pub(super) fn negotiate() -> Vec<u8> {
    /// The length of the message, at which an empty domain and an empty workstation begin.
    const END: u32 = 32;
    let mut message = SIGNATURE.to_vec();
    message.extend_from_slice(&1_u32.to_le_bytes());
    message.extend_from_slice(&flags::OFFERED.to_le_bytes());
    for _ in ["domain", "workstation"] {
        message.extend_from_slice(&[0; 4]);
        message.extend_from_slice(&END.to_le_bytes());
    }
    message
}
