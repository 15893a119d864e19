//! The limit of an avalanche: one thread accepts connections and exchanges as many bytes with each as a cable server
//! does for connect and subscribe, in as few system calls.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::fd::OwnedFd,
    thread,
    time::Duration,
};

use rustix::{io::Errno, net::SocketFlags};

use super::{Cost, thread_cpu};
use crate::bench::poller::Poller;

/// The HTTP upgrade, as counted between `plimsoll bench connect` and `plimsoll serve`; so are the others.
const REQUEST_BYTES: usize = 185;
/// `101 Switching Protocols` and the welcome frame, which the server sends in one write.
const RESPONSE_BYTES: usize = 179;
/// The masked subscribe command.
const SUBSCRIBE_BYTES: usize = 79;
/// The confirmation.
const CONFIRM_BYTES: usize = 83;

/// As many as come at once: the listener must hold a whole batch, or the kernel drops handshakes.
const BACKLOG: i32 = 4096;

/// The poller's index of the listener; the connections count from 0.
const LISTENER: usize = usize::MAX;

/// How long a client waits for an answer before the run counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lets `n_connections` clients come in batches of `n_at_once` and returns the CPU time of the accepting thread.
pub(crate) fn measure(n_connections: usize, n_at_once: usize) -> io::Result<Cost> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    // Rust's own backlog is shorter; a second `listen` only changes its length.
    rustix::net::listen(&listener, BACKLOG)?;
    let address = listener.local_addr()?;
    thread::scope(|scope| {
        let server = scope.spawn(|| serve(&listener, n_connections));
        let clients = connect_in_batches(address, n_connections, n_at_once);
        let cpu = server.join().expect("the accepting thread does not panic")?;
        clients?;
        Ok(Cost {
            n_operations: n_connections,
            cpu,
        })
    })
}

/// A connection that was accepted, and whether its request has been answered.
struct Peer {
    stream: TcpStream,
    is_greeted: bool,
}

fn serve(listener: &TcpListener, n_connections: usize) -> io::Result<Duration> {
    let mut poller = Poller::new()?;
    poller.add(listener, LISTENER)?;
    let mut peers: Vec<Peer> = Vec::with_capacity(n_connections);
    let mut n_subscribed = 0;
    let start = thread_cpu::now();
    while n_subscribed < n_connections {
        // The events are copied because accepting adds to the poller that they come from.
        let ready: Vec<usize> = poller.wait()?.collect();
        for index in ready {
            if index == LISTENER {
                accept_all(listener, &poller, &mut peers)?;
            } else {
                n_subscribed += usize::from(peers[index].answer()?);
            }
        }
    }
    Ok(thread_cpu::now() - start)
}

fn accept_all(listener: &TcpListener, poller: &Poller, peers: &mut Vec<Peer>) -> io::Result<()> {
    loop {
        let socket: OwnedFd =
            match rustix::net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => socket,
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            };
        let stream = TcpStream::from(socket);
        poller.add(&stream, peers.len())?;
        peers.push(Peer {
            stream,
            is_greeted: false,
        });
    }
}

impl Peer {
    /// Answers what has arrived; true when that was the subscribe command.
    fn answer(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 1024];
        if self.stream.read(&mut buffer)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let is_subscribe = self.is_greeted;
        let n_bytes = if is_subscribe {
            CONFIRM_BYTES
        } else {
            RESPONSE_BYTES
        };
        self.stream.write_all(&buffer[..n_bytes])?;
        self.is_greeted = true;
        Ok(is_subscribe)
    }
}

fn connect_in_batches(address: SocketAddr, n_connections: usize, n_at_once: usize) -> io::Result<()> {
    let mut open = Vec::with_capacity(n_connections);
    while open.len() < n_connections {
        let n_batch = n_at_once.min(n_connections - open.len());
        let batch = (0..n_batch)
            .map(|_| connect(address))
            .collect::<io::Result<Vec<_>>>()?;
        talk(&batch, REQUEST_BYTES, RESPONSE_BYTES)?;
        talk(&batch, SUBSCRIBE_BYTES, CONFIRM_BYTES)?;
        open.extend(batch);
    }
    Ok(())
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Every client says its piece before the first one listens, so that the server has all of them to serve.
fn talk(clients: &[TcpStream], say_bytes: usize, hear_bytes: usize) -> io::Result<()> {
    let mut buffer = [b'x'; 1024];
    for mut client in clients {
        client.write_all(&buffer[..say_bytes])?;
    }
    for mut client in clients {
        client.read_exact(&mut buffer[..hear_bytes])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_is_counted() {
        let cost = measure(25, 10).unwrap();
        assert_eq!(cost.n_operations, 25);
        assert!(cost.us_per_operation() > 0.0);
    }
}
