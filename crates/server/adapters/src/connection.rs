//! One connection to Redis: commands out, replies in. Only the reply that is being read is buffered.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use redis::{Cmd, cmd};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf},
    net::TcpStream,
    time::timeout,
};

use crate::{
    cluster::{Membership, slot},
    resp::{Reply, ReplyError, ReplyReader},
    sentinel::Watched,
    server::{Discovery, Server},
    target::Address,
};

/// How long a server may take to accept a connection or to answer a command that does not block. After that the server
/// counts as gone, because a server that lost its power cannot close its connections.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Why a connection cannot be used any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    #[error("connect to Redis at {address}: {source}")]
    Connect { address: String, source: io::Error },
    #[error(
        "encrypt the connection to Redis at {address}: {source}; expected a server with TLS at this port and a certificate \
         for this host (redis:// connects without TLS)"
    )]
    Encrypt { address: String, source: io::Error },
    #[error("send a command to Redis: {0}")]
    Send(io::Error),
    #[error("Redis did not answer within {} s", .0.as_secs())]
    Silent(Duration),
    #[error("Redis sent a reply that nothing had asked for")]
    Unasked,
    #[error("a message could not be published")]
    Postponed,
    #[error("the connection to Redis has carried no message for {} s, not even the server's own", .0.as_secs())]
    Deaf(Duration),
    #[error("read the answer of Redis: {0}")]
    Reply(#[from] ReplyError),
    #[error(
        "Redis at {address} did not answer the first command: {source}; a server with TLS at this port needs rediss://"
    )]
    NoGreeting { address: String, source: ReplyError },
    #[error("Redis refused the command: {0}{advice}", advice = hint(.0))]
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
    #[error("Redis at {0} is a replica; expected the primary, or its sentinels (--redis_sentinels)")]
    Replica(String),
    #[error(
        "Redis at {0} is a node of a Redis Cluster; expected its nodes with commas, --redis_url redis://HOST:PORT,HOST:PORT \
         (for a single address: redis://HOST:PORT,)"
    )]
    ClusterMode(String),
    #[error(
        "it is no node of a Redis Cluster (cluster-enabled no), and --redis_url has a comma; expected the nodes of one \
         cluster, or a single URL"
    )]
    NoClusterMode,
    #[error("find a node of the Redis Cluster: {0}")]
    NoNode(String),
    #[error("{0} no longer has the slots that this connection needs")]
    Left(String),
}

/// What to do about an error of Redis, as the end of a message.
pub(crate) fn hint(error: &str) -> &'static str {
    match error.split_whitespace().next().unwrap_or_default() {
        "WRONGPASS" => "; check the user and the password of --redis_url",
        "NOAUTH" => "; expected a password: --redis_url redis://:PASSWORD@HOST",
        "NOPERM" => "; give the user of --redis_url the rights for it (ACL SETUSER)",
        "OOM" => "; Redis is full: raise its maxmemory, or keep less (--history_limit, --history_ttl)",
        "READONLY" => "; expected the primary, or its sentinels (--redis_sentinels)",
        "MOVED" => {
            "; this Redis is a node of a Redis Cluster: expected its nodes with commas, --redis_url redis://HOST:PORT,HOST:PORT"
        }
        "NOREPLICAS" => "; Redis wants more replicas before it takes messages (min-replicas-to-write)",
        _ if error.contains("AUTH <password> called without any password") => {
            "; expected a URL without a password, because this Redis has none"
        }
        _ => "",
    }
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
    /// Says when the server is no longer the right one. `None`: it always is.
    watch: Option<Watch>,
    /// The address, until the server has said something.
    unheard: Option<String>,
}

/// Who says that a server is no longer the right one.
enum Watch {
    Sentinels(Watched),
    Cluster(Membership),
}

impl Watch {
    async fn moved(&mut self) -> ConnectionError {
        match self {
            Self::Sentinels(watched) => watched.moved().await,
            Self::Cluster(membership) => membership.moved().await,
        }
    }
}

/// Writes commands to a connection.
pub(crate) struct Writer(WriteHalf<Box<dyn ByteStream>>);

impl Connection {
    /// Connects, authenticates and chooses the database. If sentinels watch the server, they are asked where it is. Of a
    /// cluster it may be any primary.
    pub(crate) async fn open(server: &Server) -> Result<Self, ConnectionError> {
        Self::open_for(server, None).await
    }

    /// As [`open`](Self::open); of a cluster it is the primary that has this key.
    pub(crate) async fn open_for_key(server: &Server, key: &[u8]) -> Result<Self, ConnectionError> {
        Self::open_for(server, Some(slot(key))).await
    }

    async fn open_for(server: &Server, slot: Option<u16>) -> Result<Self, ConnectionError> {
        match &server.discovery {
            Discovery::Fixed => Self::open_at(server).await,
            Discovery::Sentinels(lookout) => Self::open_watched(server, lookout.find().await?).await,
            Discovery::Cluster(topology) => {
                let opened = Self::open_any(server, topology.members(slot).await?).await;
                // Another node may have the slots now.
                opened.inspect_err(|_| topology.ask_soon())
            }
        }
    }

    async fn open_watched(server: &Server, watched: Watched) -> Result<Self, ConnectionError> {
        let mut connection = Self::open_at(&server.at(watched.address())).await?;
        // A sentinel that was away may name a server that has become a replica.
        let role = connection.request(&cmd("ROLE"), PATIENCE).await?;
        if role.into_elements().first() != Some(&Reply::Text(b"master".to_vec())) {
            return Err(ConnectionError::NotPrimary(watched.address().to_string()));
        }
        connection.reader.watch = Some(Watch::Sentinels(watched));
        Ok(connection)
    }

    /// Connects to the first of these nodes that can be reached.
    async fn open_any(server: &Server, members: Vec<Membership>) -> Result<Self, ConnectionError> {
        let mut failures = Vec::new();
        for member in members {
            match Self::open_at(&server.at(member.address())).await {
                Ok(mut connection) => {
                    connection.reader.watch = Some(Watch::Cluster(member));
                    return Ok(connection);
                }
                Err(error) => failures.push(error.to_string()),
            }
        }
        Err(ConnectionError::NoNode(failures.join("; ")))
    }

    /// Connects to the server's own address.
    pub(crate) async fn open_at(server: &Server) -> Result<Self, ConnectionError> {
        let mut connection = Self::new(stream(server).await?, server.max_payload_bytes);
        connection.reader.unheard = Some(server.target.address());
        for command in greeting(server) {
            connection.request(&command, PATIENCE).await?;
        }
        Ok(connection)
    }

    /// Checks that the server takes writes, and for all keys. A node of a cluster takes them for its own, and is not
    /// asked.
    pub(crate) async fn check_role(&mut self, server: &Server) -> Result<(), ConnectionError> {
        let greeted = self.request(cmd("HELLO").arg(2), PATIENCE).await;
        let fields = match greeted {
            Ok(fields) => fields.into_elements(),
            // A proxy may not know the command.
            Err(ConnectionError::Refused(error)) if !error.starts_with("NOAUTH") => return Ok(()),
            Err(error) => return Err(error),
        };
        let is = |name: &str, value: &str| {
            let pair = [name, value].map(|text| Reply::Text(text.into()));
            fields.chunks(2).any(|field| field == pair)
        };
        let address = || server.target.address();
        if is("mode", "cluster") {
            return Err(ConnectionError::ClusterMode(address()));
        }
        if is("role", "replica") || is("role", "slave") {
            return Err(ConnectionError::Replica(address()));
        }
        Ok(())
    }

    fn new(stream: Box<dyn ByteStream>, max_payload_bytes: usize) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self {
            reader: Reader {
                replies: ReplyReader::new(reader, max_payload_bytes),
                watch: None,
                unheard: None,
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
    /// The node of the cluster at the other end. `None`: there is no cluster.
    pub(crate) fn node(&self) -> Option<&Address> {
        match &self.watch {
            Some(Watch::Cluster(membership)) => Some(membership.address()),
            _ => None,
        }
    }

    /// The server's next reply. An error reply is returned as an error.
    pub(crate) async fn receive(&mut self) -> Result<Reply, ConnectionError> {
        let reply = match &mut self.watch {
            None => self.replies.read().await,
            Some(watch) => tokio::select! {
                reply = self.replies.read() => reply,
                moved = watch.moved() => return Err(moved),
            },
        };
        let reply = match (self.unheard.take(), reply) {
            (Some(address), Err(source)) => return Err(ConnectionError::NoGreeting { address, source }),
            (_, reply) => reply?,
        };
        reply.into_result().map_err(|error| match &self.watch {
            Some(Watch::Cluster(membership)) => membership.refused(error),
            _ => ConnectionError::Refused(error),
        })
    }
}

impl Writer {
    /// Sends as much of packed commands as the connection takes at once, from any task. `None`: all of them; otherwise the number of
    /// bytes, after which [`send`](Self::send) sends the others.
    pub(crate) fn send_now(&mut self, commands: &[u8]) -> Result<Option<usize>, ConnectionError> {
        // The task that sends the others waits for the connection itself.
        let mut context = Context::from_waker(Waker::noop());
        let mut n_sent = 0;
        while n_sent < commands.len() {
            match Pin::new(&mut self.0).poll_write(&mut context, &commands[n_sent..]) {
                Poll::Ready(Ok(0)) => return Err(ConnectionError::Send(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(n)) => n_sent += n,
                Poll::Ready(Err(error)) => return Err(ConnectionError::Send(error)),
                Poll::Pending => return Ok(Some(n_sent)),
            }
        }
        match Pin::new(&mut self.0).poll_flush(&mut context) {
            Poll::Ready(Ok(())) => Ok(None),
            Poll::Ready(Err(error)) => Err(ConnectionError::Send(error)),
            Poll::Pending => Ok(Some(n_sent)),
        }
    }

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
