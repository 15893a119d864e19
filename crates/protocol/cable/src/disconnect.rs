//! The reason why the server ends a connection, and whether the client should reconnect.

use std::fmt;

/// The reason in a `disconnect` message.
///
/// The names are AnyCable's and Rails'; clients switch on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DisconnectReason {
    /// The application refused the connection.
    Unauthorized,
    /// The client's token has expired.
    TokenExpired,
    /// The server is about to stop. Another server will answer.
    ServerRestart,
    /// An operator or the application closed the connection from outside.
    Remote,
    /// The client reads more slowly than messages arrive, and its pending bytes passed the cap.
    TooSlow,
    /// The client did not answer a ping in time.
    NoPong,
}

impl DisconnectReason {
    /// The reason as it is sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::TokenExpired => "token_expired",
            Self::ServerRestart => "server_restart",
            Self::Remote => "remote",
            Self::TooSlow => "too_slow",
            Self::NoPong => "no_pong",
        }
    }

    /// Whether a client should reconnect by default.
    pub fn reconnect(self) -> bool {
        !matches!(self, Self::Unauthorized | Self::TokenExpired)
    }
}

impl fmt::Display for DisconnectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_know_the_words_and_stay_away_only_when_coming_back_is_no_use() {
        for (reason, word, reconnect) in [
            (DisconnectReason::Unauthorized, "unauthorized", false),
            (DisconnectReason::TokenExpired, "token_expired", false),
            (DisconnectReason::ServerRestart, "server_restart", true),
            (DisconnectReason::Remote, "remote", true),
            (DisconnectReason::TooSlow, "too_slow", true),
            (DisconnectReason::NoPong, "no_pong", true),
        ] {
            assert_eq!((reason.as_str(), reason.reconnect()), (word, reconnect));
            assert_eq!(reason.to_string(), word);
        }
    }
}
