//! Why a challenge has no answer.

/// A challenge of NTLM cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NtlmError {
    /// The text after the scheme is not base64.
    #[error("the server's challenge is not base64")]
    NotBase64,
    /// The bytes are another protocol's, or another message.
    #[error(
        "the server's challenge is not a message of NTLM; it may speak only Kerberos, which is not supported"
    )]
    NotChallenge,
    /// The message is shorter than it says.
    #[error("the server's challenge is cut: its {0} does not fit into it")]
    Cut(&'static str),
    /// The server wants another version or option than this client offered.
    #[error("the server wants {0}, which this client did not offer; expected NTLM version 2")]
    NotOffered(&'static str),
    /// A name does not fit into a message.
    #[error("the {0} is too long for NTLM; expected at most 32767 characters")]
    TooLong(&'static str),
}
