//! Broadcasts through Redis, in as much of its protocol (RESP2) as two commands need.

use std::{io, sync::Arc};

use rustls::ClientConfig;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use url::Url;

use super::{Adapter, BroadcastError};
use crate::address::{Address, Duplex};

/// The longest line of an answer. Reason: an id, a number or an error has less.
const MOST_LINE_BYTES: u64 = 4 << 10;

type Connection = BufReader<Box<dyn Duplex>>;

#[derive(Debug)]
pub(super) struct RedisDoor {
    adapter: Adapter,
    address: Address,
    /// The name of the channel or of the stream.
    name: &'static str,
    connection: Option<Connection>,
}

impl RedisDoor {
    pub(super) fn new(
        adapter: Adapter,
        url: &str,
        tls: Option<Arc<ClientConfig>>,
        name: &'static str,
    ) -> Result<Self, BroadcastError> {
        let wrong = || BroadcastError::Url {
            url: plimsoll_redacted::url_with_query(url).into_owned(),
            adapter,
            example: "redis://127.0.0.1:6379",
        };
        let parsed = Url::parse(url).map_err(|_| wrong())?;
        let tls = match parsed.scheme() {
            "redis" => None,
            "rediss" if tls.is_some() => tls,
            _ => return Err(wrong()),
        };
        let needs_password = !parsed.username().is_empty() || parsed.password().is_some();
        let address = Address::of(&parsed, 6379, tls).filter(|_| !needs_password);
        Ok(Self {
            adapter,
            address: address.ok_or_else(wrong)?,
            name,
            connection: None,
        })
    }

    pub(super) fn place(&self) -> String {
        self.address.authority()
    }

    pub(super) async fn publish(&mut self, body: &str) -> Result<(), BroadcastError> {
        let command = match self.adapter {
            Adapter::Redisx => command(&["XADD", self.name, "*", "payload", body]),
            Adapter::Http | Adapter::Redis => command(&["PUBLISH", self.name, body]),
        };
        let answer = self.ask(&command).await.map_err(|error| BroadcastError::Io {
            place: self.place(),
            error,
        })?;
        // Without a listener, the message counts as not published.
        if answer.starts_with('-') || answer == ":0" {
            return Err(BroadcastError::Refused {
                place: self.place(),
                answer,
                expected: "the number of subscribers, or the id of an entry",
            });
        }
        Ok(())
    }

    async fn ask(&mut self, command: &[u8]) -> io::Result<String> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => BufReader::new(self.address.dial().await.map_err(io::Error::other)?),
        };
        connection.write_all(command).await?;
        connection.flush().await?;
        let mut answer = line(&mut connection).await?;
        // The id of an entry is a string: its length, and then itself.
        if answer.starts_with('$') {
            answer = line(&mut connection).await?;
        }
        self.connection = Some(connection);
        Ok(answer)
    }
}

async fn line(connection: &mut Connection) -> io::Result<String> {
    let mut line = String::new();
    connection.take(MOST_LINE_BYTES).read_line(&mut line).await?;
    match line.strip_suffix("\r\n") {
        Some(line) => Ok(line.to_owned()),
        None => Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the answer has no end",
        )),
    }
}

/// An array of strings.
fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_arrays_of_strings() {
        assert_eq!(
            command(&["PUBLISH", "c", "é"]),
            "*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$2\r\né\r\n".as_bytes()
        );
    }
}
