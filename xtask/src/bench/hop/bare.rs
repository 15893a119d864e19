//! Publications in an engine without a server: its own protocol, as little of it as it takes.

use std::{
    io::{self, Read, Write},
    mem,
    net::{SocketAddr, TcpStream},
    os::fd::{AsFd, BorrowedFd},
    time::{Duration, Instant},
};

use super::Ear;

/// About what a broadcast of the other benchmarks has, in bytes.
const PAYLOAD_BYTES: usize = 350;

/// Nothing here takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// An engine's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// <https://redis.io/docs/latest/develop/reference/protocol-spec/>
    Redis,
    /// <https://docs.nats.io/reference/reference-protocols/nats-protocol>
    Nats,
}

/// A publisher and its ears.
pub(super) struct Bare {
    publisher: Publisher,
    ears: Vec<Subscriber>,
}

pub(super) struct Publisher {
    socket: TcpStream,
    publication: Vec<u8>,
    /// Bytes of the engine's answer.
    n_answered: usize,
    /// Whether an answer is awaited.
    is_waiting: bool,
}

pub(super) struct Subscriber {
    socket: TcpStream,
    /// Bytes of one message.
    n_bytes: usize,
    /// Bytes of a message that is not complete.
    n_heard: usize,
}

impl Bare {
    pub(super) fn connect(dialect: Dialect, address: SocketAddr, n_ears: usize) -> io::Result<Self> {
        let ears = (0..n_ears).map(|_| Subscriber::connect(dialect, address));
        Ok(Self {
            ears: ears.collect::<io::Result<_>>()?,
            publisher: Publisher {
                socket: open(dialect, address)?,
                publication: dialect.publication(),
                // `:100` in RESP; without +OK in NATS, which is told not to be verbose.
                n_answered: match dialect {
                    Dialect::Redis => format!(":{n_ears}\r\n").len(),
                    Dialect::Nats => 0,
                },
                is_waiting: false,
            },
        })
    }

    pub(super) fn parts(&mut self) -> (&mut Publisher, &mut [Subscriber]) {
        (&mut self.publisher, &mut self.ears)
    }
}

impl Publisher {
    /// Publishes when the publication before this one is answered. Returns the time right before.
    pub(super) fn publish(&mut self) -> io::Result<Instant> {
        if mem::replace(&mut self.is_waiting, true) {
            let mut answer = [0; 16];
            self.socket.read_exact(&mut answer[..self.n_answered])?;
        }
        let begin = Instant::now();
        self.socket.write_all(&self.publication)?;
        Ok(begin)
    }
}

impl Subscriber {
    fn connect(dialect: Dialect, address: SocketAddr) -> io::Result<Self> {
        let mut socket = open(dialect, address)?;
        let (subscribe, confirmation) = dialect.subscription();
        socket.write_all(subscribe)?;
        expect(&mut socket, confirmation)?;
        Ok(Self {
            socket,
            n_bytes: dialect.message_bytes(),
            n_heard: 0,
        })
    }
}

impl Ear for Subscriber {
    fn hear(&mut self) -> io::Result<usize> {
        let mut buffer = [0; 4096];
        match self.socket.read(&mut buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                self.n_heard += n;
                let n_messages = self.n_heard / self.n_bytes;
                self.n_heard %= self.n_bytes;
                Ok(n_messages)
            }
        }
    }
}

impl AsFd for Subscriber {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Dialect {
    /// What subscribes, and what the engine answers. NATS answers nothing, so a ping goes along.
    fn subscription(self) -> (&'static [u8], &'static [u8]) {
        match self {
            Self::Redis => (
                b"SUBSCRIBE hop\r\n",
                b"*3\r\n$9\r\nsubscribe\r\n$3\r\nhop\r\n:1\r\n",
            ),
            Self::Nats => (b"SUB hop 1\r\nPING\r\n", b"PONG\r\n"),
        }
    }

    fn publication(self) -> Vec<u8> {
        let payload = "x".repeat(PAYLOAD_BYTES);
        match self {
            Self::Redis => {
                format!("*3\r\n$7\r\nPUBLISH\r\n$3\r\nhop\r\n${PAYLOAD_BYTES}\r\n{payload}\r\n").into()
            }
            Self::Nats => format!("PUB hop {PAYLOAD_BYTES}\r\n{payload}\r\n").into(),
        }
    }

    fn message_bytes(self) -> usize {
        let head = match self {
            Self::Redis => format!("*3\r\n$7\r\nmessage\r\n$3\r\nhop\r\n${PAYLOAD_BYTES}\r\n"),
            Self::Nats => format!("MSG hop 1 {PAYLOAD_BYTES}\r\n"),
        };
        head.len() + PAYLOAD_BYTES + 2
    }
}

/// A connection that is ready for commands.
fn open(dialect: Dialect, address: SocketAddr) -> io::Result<TcpStream> {
    let mut socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_nodelay(true)?;
    if dialect == Dialect::Nats {
        // The line with which it introduces itself.
        while read_byte(&mut socket)? != b'\n' {}
        socket.write_all(b"CONNECT {\"verbose\":false,\"pedantic\":false}\r\nPING\r\n")?;
        expect(&mut socket, b"PONG\r\n")?;
    }
    Ok(socket)
}

fn read_byte(socket: &mut TcpStream) -> io::Result<u8> {
    let mut byte = [0];
    socket.read_exact(&mut byte)?;
    Ok(byte[0])
}

fn expect(socket: &mut TcpStream, answer: &[u8]) -> io::Result<()> {
    let mut found = vec![0; answer.len()];
    socket.read_exact(&mut found)?;
    if found == answer {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&found).into_owned();
    Err(io::Error::other(format!("the engine answered {found:?}")))
}
