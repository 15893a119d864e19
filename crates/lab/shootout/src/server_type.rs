//! The protocols of servers under test: websocket-bench's `--server-type`, and `echo` for plain echo servers.

use std::{fmt, str::FromStr};

/// A wire format together with the way a client becomes ready (docs/reference/bench.md, Server types).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ServerType {
    /// The websocket-shootout's JSON in text frames; ready when the upgrade is accepted.
    #[default]
    Json,
    /// The websocket-shootout's binary frames; ready when the upgrade is accepted.
    Binary,
    /// Action Cable with the `BenchmarkChannel` contract; ready when the subscription is confirmed.
    ActionCable,
    /// Action Cable up to the confirmed subscription; only for `bench connect`.
    ActionCableConnect,
    /// A server that echoes every text unchanged, after an optional welcome text; only for `echo` and `connect`.
    Echo,
}

/// All types, in the order of the help text.
const ALL: [(&str, ServerType); 5] = [
    ("json", ServerType::Json),
    ("binary", ServerType::Binary),
    ("actioncable", ServerType::ActionCable),
    ("actioncable-connect", ServerType::ActionCableConnect),
    ("echo", ServerType::Echo),
];

/// Types that websocket-bench has and this tool has not.
const NOT_BUILT: [&str; 5] = [
    "phoenix",
    "pusher",
    "pusher-connect",
    "anycable-pusher",
    "anycable-connect",
];

/// The text is not a server type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerTypeError {
    /// websocket-bench knows it, we do not yet.
    #[error(
        "server type {0:?} is not supported yet; expected json, binary, actioncable, actioncable-connect, echo"
    )]
    NotBuilt(String),
    /// The name of an unknown type.
    #[error("unknown server type {0:?}; expected json, binary, actioncable, actioncable-connect or echo")]
    Unknown(String),
}

impl ServerType {
    /// Whether a client must be welcomed and subscribe before it is ready.
    pub fn is_cable(self) -> bool {
        matches!(self, Self::ActionCable | Self::ActionCableConnect)
    }
}

impl FromStr for ServerType {
    type Err = ServerTypeError;

    fn from_str(text: &str) -> Result<Self, ServerTypeError> {
        match ALL.iter().find(|(name, _)| *name == text) {
            Some((_, server_type)) => Ok(*server_type),
            None if NOT_BUILT.contains(&text) => Err(ServerTypeError::NotBuilt(text.to_owned())),
            None => Err(ServerTypeError::Unknown(text.to_owned())),
        }
    }
}

impl fmt::Display for ServerType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = ALL.iter().find(|(_, it)| it == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for (name, server_type) in ALL {
            assert_eq!(name.parse(), Ok(server_type));
            assert_eq!(server_type.to_string(), name);
        }
        assert_eq!(
            "phoenix".parse::<ServerType>(),
            Err(ServerTypeError::NotBuilt("phoenix".into()))
        );
        assert_eq!(
            "JSON".parse::<ServerType>(),
            Err(ServerTypeError::Unknown("JSON".into()))
        );
    }
}
