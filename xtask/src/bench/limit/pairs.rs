//! Loopback TCP connections with both ends in this process.

use std::{
    io,
    net::{Ipv4Addr, TcpListener, TcpStream},
};

/// Both ends of a number of connections, in the same order.
pub(crate) struct Pairs {
    pub(crate) accepted: Vec<TcpStream>,
    pub(crate) connected: Vec<TcpStream>,
}

impl Pairs {
    /// Opens `n` connections, one after the other, so that the backlog never fills. Both ends are non-blocking and
    /// send without delay, as a real-time server's are.
    pub(crate) fn open(n: usize) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let mut pairs = Self {
            accepted: Vec::with_capacity(n),
            connected: Vec::with_capacity(n),
        };
        for _ in 0..n {
            pairs.connected.push(prepared(TcpStream::connect(address)?)?);
            pairs.accepted.push(prepared(listener.accept()?.0)?);
        }
        Ok(pairs)
    }
}

fn prepared(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
