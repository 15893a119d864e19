//! One connection to Redis: commands out, replies in, nothing buffered beyond the reply that is being read.

use std::{io, time::Duration};

use combine::{
    parser::combinator::AnySendSyncPartialState,
    stream::{Decoder, PointerOffset},
};
use redis::{Cmd, RedisError, RedisResult, Value, cmd};
use tokio::{
    io::AsyncWriteExt,
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};

use crate::target::Target;

/// How long a server may take to accept a connection or to answer a command that does not wait for anything.
/// Beyond it the server is taken for gone, as one that lost its power does not say so.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Why a connection is of no use any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    #[error("connect to Redis at {address}: {source}")]
    Connect { address: String, source: io::Error },
    #[error("send a command to Redis: {0}")]
    Send(io::Error),
    #[error("Redis did not answer within {} s", .0.as_secs())]
    Silent(Duration),
    #[error(transparent)]
    Redis(#[from] RedisError),
}

/// A connection that is ready for commands.
pub(crate) struct Connection {
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
}

/// Takes replies from a connection.
pub(crate) struct Reader {
    stream: OwnedReadHalf,
    decoder: Decoder<AnySendSyncPartialState, PointerOffset<[u8]>>,
}

/// Puts commands on a connection.
pub(crate) struct Writer(OwnedWriteHalf);

impl Connection {
    /// Connects, authenticates and chooses the database.
    pub(crate) async fn open(target: &Target) -> Result<Self, ConnectionError> {
        let stream = timeout(PATIENCE, TcpStream::connect((target.host.as_str(), target.port)))
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        let (reader, writer) = stream
            .map_err(|source| ConnectionError::Connect {
                address: target.address(),
                source,
            })?
            .into_split();
        let mut connection = Self {
            reader: Reader {
                stream: reader,
                decoder: Decoder::new(),
            },
            writer: Writer(writer),
        };
        for command in greeting(target) {
            connection.request(&command, PATIENCE).await?;
        }
        Ok(connection)
    }

    /// Sends one command and waits for its reply; an error reply is an error.
    pub(crate) async fn request(
        &mut self,
        command: &Cmd,
        patience: Duration,
    ) -> Result<Value, ConnectionError> {
        self.writer.send(&command.get_packed_command()).await?;
        timeout(patience, self.reader.receive())
            .await
            .unwrap_or(Err(ConnectionError::Silent(patience)))
    }

    /// Sends commands that take effect together or not at all.
    pub(crate) async fn transaction(&mut self, pipeline: &redis::Pipeline) -> Result<(), ConnectionError> {
        self.writer.send(&pipeline.get_packed_pipeline()).await?;
        // MULTI and every command in it are answered on their own; EXEC comes last.
        for _ in 0..pipeline.len() + 2 {
            timeout(PATIENCE, self.reader.receive())
                .await
                .unwrap_or(Err(ConnectionError::Silent(PATIENCE)))?;
        }
        Ok(())
    }
}

impl Reader {
    /// The next thing that the server says.
    pub(crate) async fn receive(&mut self) -> Result<Value, ConnectionError> {
        let reply: RedisResult<Value> =
            redis::parse_redis_value_async(&mut self.decoder, &mut self.stream).await;
        Ok(reply?.extract_error()?)
    }
}

impl Writer {
    /// Sends packed commands.
    pub(crate) async fn send(&mut self, commands: &[u8]) -> Result<(), ConnectionError> {
        timeout(PATIENCE, self.0.write_all(commands))
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(ConnectionError::Send)
    }
}

/// What has to be said before anything else.
fn greeting(target: &Target) -> Vec<Cmd> {
    let mut commands = Vec::new();
    if let Some(password) = &target.password {
        let mut auth = cmd("AUTH");
        auth.arg(target.username.as_deref()).arg(password);
        commands.push(auth);
    }
    if target.database != 0 {
        commands.push(cmd("SELECT").arg(target.database).to_owned());
    }
    commands
}
