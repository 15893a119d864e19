//! What the user typed after `--watch`: a process id, or a port with a colon before it.

use std::{fmt, str::FromStr};

/// The target of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The process with this id, and its children.
    Process(u32),
    /// The processes that listen on this TCP port of this machine, and their children.
    Port(u16),
}

/// Why a text does not name a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseTargetError {
    /// The text after the colon is not a port.
    #[error("`{0}` is not a port; expected a colon and a number from 1 to 65535, for example `:8080`")]
    NotAPort(String),
    /// The text is not a process id.
    #[error(
        "`{0}` is not a process id; expected a positive number, for example `1234`, \
         or a colon and a port, for example `:8080`"
    )]
    NotAProcessId(String),
}

impl Target {
    /// Reads `123` (a process id) or `:8080` (a port).
    ///
    /// # Errors
    /// When the text is neither.
    pub fn parse(text: &str) -> Result<Self, ParseTargetError> {
        match text.strip_prefix(':') {
            Some(port) => match port.parse() {
                Ok(port) if port > 0 => Ok(Self::Port(port)),
                _ => Err(ParseTargetError::NotAPort(text.to_owned())),
            },
            None => match text.parse() {
                Ok(pid) if pid > 0 => Ok(Self::Process(pid)),
                _ => Err(ParseTargetError::NotAProcessId(text.to_owned())),
            },
        }
    }
}

impl FromStr for Target {
    type Err = ParseTargetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(pid) => write!(f, "{pid}"),
            Self::Port(port) => write!(f, ":{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_ids_and_ports() {
        let not_a_port = |text: &str| Err(ParseTargetError::NotAPort(text.into()));
        let not_an_id = |text: &str| Err(ParseTargetError::NotAProcessId(text.into()));
        for (text, expected) in [
            ("123", Ok(Target::Process(123))),
            (":8080", Ok(Target::Port(8080))),
            (":65535", Ok(Target::Port(65535))),
            (":0", not_a_port(":0")),
            (":65536", not_a_port(":65536")),
            (":", not_a_port(":")),
            (":http", not_a_port(":http")),
            ("0", not_an_id("0")),
            ("-1", not_an_id("-1")),
            ("", not_an_id("")),
            ("8080/tcp", not_an_id("8080/tcp")),
        ] {
            assert_eq!(Target::parse(text), expected, "{text}");
            if let Ok(target) = expected {
                assert_eq!(target.to_string(), text);
            }
        }
    }

    #[test]
    fn errors_show_a_valid_example() {
        assert!(
            Target::parse("puma")
                .unwrap_err()
                .to_string()
                .contains("for example `1234`")
        );
        assert!(
            Target::parse(":puma")
                .unwrap_err()
                .to_string()
                .contains("for example `:8080`")
        );
    }
}
