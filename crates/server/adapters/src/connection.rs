//! One connection to Redis: commands out, replies in. Only the reply that is being read is buffered.

use std::{io, time::Duration};

use redis::{Cmd, cmd};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf},
    net::TcpStream,
    time::timeout,
};

use crate::{
    resp::{Reply, ReplyError, ReplyReader},
    sentinel::Watched,
    server::Server,
};

/// How long a server may take to accept a connection or to answer a command that does not block. After that the server
/// counts as gone, because a server that lost its power cannot close its connections.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Why a connection cannot be used any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    #[error("connect to Redis at {address}: {source}")]
    Connect { address: String, source: io::Error },
    #[error("encrypt the connection to Redis at {address}: {source}")]
    Encrypt { address: String, source: io::Error },
    #[error("send a command to Redis: {0}")]
    Send(io::Error),
    #[error("Redis did not answer within {} s", .0.as_secs())]
    Silent(Duration),
    #[error("a message could not be published")]
    Postponed,
    #[error("the connection to Redis has carried no message for {} s, not even the server's own", .0.as_secs())]
    Deaf(Duration),
    #[error("read the answer of Redis: {0}")]
    Reply(#[from] ReplyError),
    #[error("Redis refused the command: {0}")]
    Refused(String),
    #[error("find the primary of the Redis group {group}: {failures}")]
    NoPrimary { group: String, failures: String },
    #[error("the sentinel does not know the group {0}, which is the host of the Redis URL")]
    UnknownGroup(String),
    #[error("the sentinel's answer is no address")]
    NoAddress,
    #[error("{0} is not the primary yet, although a sentinel says so")]
    NotPrimary(String),
    #[error("the primary is now {0}")]
    Moved(String),
}

/// The bytes of a connection, encrypted or not.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

/// A connection that is ready for commands.
pub(crate) struct Connection {
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
}

/// Reads replies from a connection.
pub(crate) struct Reader {
    replies: ReplyReader<ReadHalf<Box<dyn ByteStream>>>,
    /// Says when the server is no longer the primary. `None`: no sentinel watches it.
    watched: Option<Watched>,
}

/// Writes commands to a connection.
pub(crate) struct Writer(WriteHalf<Box<dyn ByteStream>>);

impl Connection {
    /// Connects, authenticates and chooses the database. If sentinels watch the server, they are asked where it is.
    pub(crate) async fn open(server: &Server) -> Result<Self, ConnectionError> {
        let Some(lookout) = &server.lookout else {
            return Self::open_at(server).await;
        };
        let watched = lookout.find().await?;
        let mut connection = Self::open_at(&server.at(watched.address())).await?;
        // A sentinel that was away may name a server that has become a replica.
        let role = connection.request(&cmd("ROLE"), PATIENCE).await?;
        if role.into_elements().first() != Some(&Reply::Text(b"master".to_vec())) {
            return Err(ConnectionError::NotPrimary(watched.address().to_string()));
        }
        connection.reader.watched = Some(watched);
        Ok(connection)
    }

    /// Connects to the server's own address.
    pub(crate) async fn open_at(server: &Server) -> Result<Self, ConnectionError> {
        let mut connection = Self::new(stream(server).await?, server.max_payload_bytes);
        for command in greeting(server) {
            connection.request(&command, PATIENCE).await?;
        }
        Ok(connection)
    }

    fn new(stream: Box<dyn ByteStream>, max_payload_bytes: usize) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self {
            reader: Reader {
                replies: ReplyReader::new(reader, max_payload_bytes),
                watched: None,
            },
            writer: Writer(writer),
        }
    }

    /// Sends one command and waits for its reply. An error reply is returned as an error.
    pub(crate) async fn request(
        &mut self,
        command: &Cmd,
        patience: Duration,
    ) -> Result<Reply, ConnectionError> {
        self.writer.send(&command.get_packed_command()).await?;
        timeout(patience, self.reader.receive())
            .await
            .unwrap_or(Err(ConnectionError::Silent(patience)))
    }

    /// Sends commands that take effect together or not at all.
    pub(crate) async fn transaction(&mut self, pipeline: &redis::Pipeline) -> Result<(), ConnectionError> {
        self.writer.send(&pipeline.get_packed_pipeline()).await?;
        // MULTI and every command in it get a reply each; that of EXEC comes last.
        for _ in 0..pipeline.len() + 2 {
            timeout(PATIENCE, self.reader.receive())
                .await
                .unwrap_or(Err(ConnectionError::Silent(PATIENCE)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
impl Connection {
    /// A connection over `stream`, for tests.
    pub(crate) fn over(stream: tokio::io::DuplexStream) -> Self {
        Self::new(Box::new(stream), 1 << 20)
    }
}

impl Reader {
    /// The server's next reply. An error reply is returned as an error.
    pub(crate) async fn receive(&mut self) -> Result<Reply, ConnectionError> {
        let reply = match &mut self.watched {
            None => self.replies.read().await?,
            Some(watched) => tokio::select! {
                reply = self.replies.read() => reply?,
                moved = watched.moved() => return Err(moved),
            },
        };
        reply.into_result().map_err(ConnectionError::Refused)
    }
}

impl Writer {
    /// Sends packed commands.
    pub(crate) async fn send(&mut self, commands: &[u8]) -> Result<(), ConnectionError> {
        let sent = async {
            self.0.write_all(commands).await?;
            // An encrypted connection buffers its writes.
            self.0.flush().await
        };
        timeout(PATIENCE, sent)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(ConnectionError::Send)
    }
}

/// Connects to a host, within [`PATIENCE`].
pub(crate) async fn dial(host: &str, port: u16) -> io::Result<TcpStream> {
    timeout(PATIENCE, TcpStream::connect((host, port)))
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
}

async fn stream(server: &Server) -> Result<Box<dyn ByteStream>, ConnectionError> {
    let target = &server.target;
    let connected = dial(&target.host, target.port).await;
    let stream = connected.map_err(|source| ConnectionError::Connect {
        address: target.address(),
        source,
    })?;
    let Some(encryption) = &server.encryption else {
        return Ok(Box::new(stream));
    };
    let encrypted = timeout(PATIENCE, encryption.connect(stream)).await;
    match encrypted.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
        Ok(stream) => Ok(Box::new(stream)),
        Err(source) => Err(ConnectionError::Encrypt {
            address: target.address(),
            source,
        }),
    }
}

/// The first commands on a connection.
fn greeting(server: &Server) -> Vec<Cmd> {
    let target = &server.target;
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
