//! One connection to a NATS server, from its greeting on.

use std::{io, sync::Arc, time::Duration};

use plimsoll_nats::{Decoder, Greeting, Info, NotNats, Operation, PING, connect};
use rustls::ClientConfig;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;

use super::servers::Target;
use crate::connection::{ByteStream, PATIENCE, dial};

/// Why a connection cannot be used any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NatsError {
    #[error("connect to NATS at {address}: {source}")]
    Connect { address: String, source: io::Error },
    #[error("encrypt the connection to NATS at {address}: {reason}")]
    Encrypt { address: String, reason: String },
    #[error("the connection to NATS is lost: {0}")]
    Lost(#[from] io::Error),
    #[error("NATS closed the connection")]
    Closed,
    #[error("NATS did not answer within {} s", PATIENCE.as_secs())]
    Silent,
    #[error(transparent)]
    NotNats(#[from] NotNats),
    #[error("NATS refused the connection: {0}")]
    Refused(String),
    #[error("the connection to NATS has carried no message for {} s, not even the server's own", .0.as_secs())]
    Deaf(Duration),
    #[error("JetStream did not become ready within {} s (--jetstream_ready_timeout)", .0.as_secs())]
    NotReady(Duration),
    #[error("JetStream does not answer; start NATS with it (nats-server -js), or wait for its cluster")]
    NoJetStream,
    #[error("{0}")]
    Stream(String),
}

type Bytes = Box<dyn ByteStream>;

/// A connection on which the server has accepted the client.
pub(super) struct Connection {
    pub(super) reader: Reader,
    pub(super) writer: Writer,
    /// What the server says of itself.
    pub(super) info: Info,
}

/// Reads operations.
pub(super) struct Reader {
    stream: ReadHalf<Bytes>,
    pub(super) decoder: Decoder,
}

/// Sends operations.
pub(super) struct Writer(WriteHalf<Bytes>);

impl Connection {
    /// Connects, encrypts the connection if one of both sides wants that, and authenticates.
    pub(super) async fn open(
        target: &Target,
        encryption: Option<&Arc<ClientConfig>>,
        max_payload_bytes: usize,
        has_headers: bool,
    ) -> Result<Self, NatsError> {
        let opened = Self::greet(target, encryption, max_payload_bytes, has_headers);
        let opened = timeout(2 * PATIENCE, opened);
        opened.await.unwrap_or(Err(NatsError::Silent))
    }

    async fn greet(
        target: &Target,
        encryption: Option<&Arc<ClientConfig>>,
        max_payload_bytes: usize,
        has_headers: bool,
    ) -> Result<Self, NatsError> {
        let host = target.host.trim_matches(['[', ']']);
        let mut stream = dial(host, target.port)
            .await
            .map_err(|source| NatsError::Connect {
                address: target.address(),
                source,
            })?;
        // The greeting comes before the encryption.
        let mut decoder = Decoder::new(max_payload_bytes);
        let info = loop {
            match decoder.decode()? {
                Some(Operation::Info(info)) => break info,
                Some(Operation::Error(error)) => return Err(NatsError::Refused(error)),
                Some(_) => {}
                None if stream.read_buf(decoder.buffer()).await? == 0 => return Err(NatsError::Closed),
                None => {}
            }
        };
        let is_encrypted = target.is_encrypted || info.tls_required;
        let stream: Bytes = if is_encrypted {
            decoder = Decoder::new(max_payload_bytes);
            Box::new(encrypt(stream, target, encryption).await?)
        } else {
            Box::new(stream)
        };
        let (reader, writer) = tokio::io::split(stream);
        let mut connection = Self {
            reader: Reader {
                stream: reader,
                decoder,
            },
            writer: Writer(writer),
            info,
        };
        let greeting = Greeting {
            is_encrypted,
            has_headers,
            ..Greeting::default()
        };
        connection.authenticate(target, greeting).await?;
        Ok(connection)
    }

    async fn authenticate(&mut self, target: &Target, greeting: Greeting<'_>) -> Result<(), NatsError> {
        let user = target.user.as_deref();
        let password = target.password.as_deref();
        let mut hello = connect(Greeting {
            user: user.filter(|_| password.is_some()),
            password,
            // A user without a password is a token.
            token: user.filter(|_| password.is_none()),
            ..greeting
        });
        hello.extend_from_slice(PING);
        self.writer.send(&hello).await?;
        loop {
            match self.reader.decoder.decode()? {
                Some(Operation::Pong) => return Ok(()),
                Some(Operation::Error(error)) => return Err(NatsError::Refused(error)),
                Some(_) => {}
                None => self.reader.read().await?,
            }
        }
    }
}

impl Reader {
    /// Reads once. Dropping the future loses nothing.
    pub(super) async fn read(&mut self) -> Result<(), NatsError> {
        match self.stream.read_buf(self.decoder.buffer()).await? {
            0 => Err(NatsError::Closed),
            _ => Ok(()),
        }
    }
}

impl Writer {
    /// Sends bytes.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), NatsError> {
        let sent = async {
            self.0.write_all(bytes).await?;
            // An encrypted connection buffers its writes.
            self.0.flush().await
        };
        match timeout(PATIENCE, sent).await {
            Ok(sent) => Ok(sent?),
            Err(_) => Err(NatsError::Silent),
        }
    }
}

async fn encrypt(
    stream: TcpStream,
    target: &Target,
    encryption: Option<&Arc<ClientConfig>>,
) -> Result<impl ByteStream + 'static, NatsError> {
    let failed = |reason: String| NatsError::Encrypt {
        address: target.address(),
        reason,
    };
    let config = encryption.ok_or_else(|| failed("this system has no certificate authorities".to_owned()))?;
    let name = target
        .tls_name()
        .ok_or_else(|| failed("the host is no name that a certificate could have".to_owned()))?;
    let connected = TlsConnector::from(Arc::clone(config)).connect(name, stream).await;
    connected.map_err(|error| failed(error.to_string()))
}
