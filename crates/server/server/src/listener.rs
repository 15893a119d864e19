//! Bound sockets: one per shard and address, all on the same port.

use std::{
    io,
    net::{SocketAddr, TcpListener, ToSocketAddrs},
    time::Duration,
};

use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};

/// The most connections per listening socket that wait to be accepted; the kernel caps it (`net.core.somaxconn`).
/// Several thousand clients that connect at once must fit, or their SYNs are dropped and retried a second later.
const BACKLOG: i32 = 4096;

/// How long sent bytes may stay unacknowledged, or a receiver's window may stay full, before the kernel drops the
/// connection. Every cable session is pinged, so a half-open connection ends after this time at the latest.
const USER_TIMEOUT: Duration = Duration::from_secs(30);

/// When TCP keep-alive probes of an idle connection begin. They end half-open connections that are not pinged (`/echo`,
/// `/json`): unanswered probes end them after [`USER_TIMEOUT`].
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// The most unsent bytes that the kernel holds per connection. The rest waits in the session's outbox, where frames are
/// shared and counted. Without this limit 10,000 stalled readers could pin 4 MB each.
const NOTSENT_LOWAT_BYTES: u32 = 128 * 1024;

/// The listening sockets of a server, before it runs.
#[derive(Debug)]
pub struct Listeners {
    /// `[address][shard]`
    sockets: Vec<Vec<TcpListener>>,
    addresses: Vec<SocketAddr>,
}

/// Why the server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The host name cannot be resolved.
    #[error("cannot resolve host {host:?}: {source}")]
    Resolve {
        /// The host as given.
        host: String,
        /// The resolver's error.
        source: io::Error,
    },
    /// An address cannot be bound.
    #[error("cannot listen on {address}: {source}{}", next_step(source))]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
}

impl Listeners {
    /// Binds `n_shards` sockets on every address of `host` (`localhost` may have two: browsers try both). Port 0 picks
    /// a free port, the same one for all sockets.
    ///
    /// # Errors
    /// See [`BindError`]. An address family that the system lacks is skipped if another one works.
    pub fn bind(host: &str, port: u16, n_shards: usize) -> Result<Self, BindError> {
        let resolved = (host, port)
            .to_socket_addrs()
            .map_err(|source| BindError::Resolve {
                host: host.to_owned(),
                source,
            })?;
        let mut listeners = Self {
            sockets: Vec::new(),
            addresses: Vec::new(),
        };
        let mut unavailable = None;
        for address in ipv4_first(resolved) {
            let port = listeners.addresses.first().map_or(port, SocketAddr::port);
            match listeners.add(SocketAddr::new(address.ip(), port), n_shards) {
                Err(error) if error.is_unavailable() => unavailable = Some(error),
                result => result?,
            }
        }
        match unavailable {
            Some(error) if listeners.sockets.is_empty() => Err(error),
            _ => Ok(listeners),
        }
    }

    /// The bound addresses, with the real port.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Hands each shard its sockets.
    pub(crate) fn into_shards(self) -> impl Iterator<Item = Vec<TcpListener>> {
        let n_shards = self.sockets.first().map_or(0, Vec::len);
        let mut by_shard: Vec<Vec<TcpListener>> = (0..n_shards).map(|_| Vec::new()).collect();
        for sockets in self.sockets {
            for (shard, socket) in by_shard.iter_mut().zip(sockets) {
                shard.push(socket);
            }
        }
        by_shard.into_iter()
    }

    fn add(&mut self, mut address: SocketAddr, n_shards: usize) -> Result<(), BindError> {
        let mut sockets = Vec::new();
        // The first socket is bound without SO_REUSEPORT for a moment. So a port of another server is an error instead
        // of a silent share of its connections. The socket does not listen: a client that connected to it would be
        // reset, and clients that wait for a server to come back try all the time.
        drop(bind(address, false).map_err(|source| BindError::Bind { address, source })?);
        for _ in 0..n_shards.max(1) {
            let socket = listen(address).map_err(|source| BindError::Bind { address, source })?;
            address = socket
                .local_addr()
                .map_err(|source| BindError::Bind { address, source })?;
            sockets.push(socket);
        }
        self.sockets.push(sockets);
        self.addresses.push(address);
        Ok(())
    }
}

impl BindError {
    fn is_unavailable(&self) -> bool {
        matches!(self, Self::Bind { source, .. } if matches!(
            source.kind(),
            io::ErrorKind::AddrNotAvailable | io::ErrorKind::Unsupported
        ))
    }
}

/// The next step after an error of the system, as the end of a sentence.
fn next_step(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "; another program uses this port: stop it, or choose another port (--port)"
        }
        io::ErrorKind::PermissionDenied => {
            "; ports below 1024 need a privilege: choose a higher one (--port)"
        }
        io::ErrorKind::AddrNotAvailable => {
            "; this machine does not have the address: choose another host (--host)"
        }
        _ => "",
    }
}

/// Puts IPv4 first and drops duplicates. The first address is the one shown to people.
fn ipv4_first(resolved: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let mut addresses: Vec<_> = resolved.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    addresses.dedup();
    addresses
}

/// A socket that shares its port with those of the other shards.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = bind(address, true)?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Binds a socket with the options for its connections. Accepted connections inherit them, which saves five calls per
/// connection.
fn bind(address: SocketAddr, shares_port: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(shares_port)?;
    socket.set_nonblocking(true)?;
    set_connection_options(&socket);
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Sets socket options, best effort: a kernel without one of them still serves.
fn set_connection_options(socket: &Socket) {
    let socket = SockRef::from(socket);
    let keepalive = TcpKeepalive::new()
        .with_time(KEEPALIVE_IDLE)
        .with_interval(KEEPALIVE_INTERVAL);
    let results = [
        socket.set_tcp_nodelay(true),
        socket.set_tcp_keepalive(&keepalive),
        socket.set_tcp_user_timeout(Some(USER_TIMEOUT)),
        socket.set_tcp_notsent_lowat(NOTSENT_LOWAT_BYTES),
    ];
    for error in results.into_iter().filter_map(Result::err) {
        tracing::debug!(%error, "A socket option is not supported.");
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpStream, sync::mpsc, thread};

    use super::*;

    #[test]
    fn port_zero_is_one_port_for_all_shards() {
        let listeners = Listeners::bind("127.0.0.1", 0, 3).expect("loopback has free ports");
        let port = listeners.addresses()[0].port();
        let ports: Vec<_> = listeners
            .into_shards()
            .flatten()
            .map(|socket| socket.local_addr().expect("bound").port())
            .collect();
        assert_eq!(ports, [port; 3]);
    }

    #[test]
    fn a_busy_port_is_an_error() {
        let taken = Listeners::bind("127.0.0.1", 0, 1).expect("loopback has free ports");
        let port = taken.addresses()[0].port();
        let error = Listeners::bind("127.0.0.1", port, 2)
            .expect_err("the port is taken")
            .to_string();
        assert!(
            error.starts_with(&format!("cannot listen on 127.0.0.1:{port}: ")),
            "{error}"
        );
    }

    /// Clients that reconnect after a restart try to connect while the server starts.
    #[test]
    fn who_connects_while_the_port_is_bound_is_served() {
        // An address of this test's own, so that no other process takes its ports in between.
        let host = "127.0.0.3";
        for round in 0..1000 {
            let free = Listeners::bind(host, 0, 1).expect("loopback has free ports");
            let address = free.addresses()[0];
            drop(free);
            let (tries, has_tried) = mpsc::channel();
            let eager = thread::spawn(move || connect_as_soon_as_possible(address, &tries));
            has_tried
                .recv()
                .expect("nobody listens yet, so the first attempt fails");
            let listeners = Listeners::bind(host, address.port(), 2).expect("the port is free");
            let client = eager.join().expect("the client connects");
            client.set_nonblocking(true).expect("a socket option");
            let error = client.peek(&mut [0]).expect_err("nobody has sent anything");
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "round {round}: {error}");
            drop(listeners);
        }
    }

    fn connect_as_soon_as_possible(address: SocketAddr, tries: &mpsc::Sender<()>) -> TcpStream {
        loop {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).expect("a socket");
            // The client binds another address. Otherwise TCP would sooner or later connect the socket with itself.
            let own: SocketAddr = ([127, 0, 0, 2], 0).into();
            socket.bind(&own.into()).expect("all of 127.0.0.0/8 is loopback");
            if socket.connect(&address.into()).is_ok() {
                return socket.into();
            }
            let _only_the_first_counts = tries.send(());
        }
    }

    #[test]
    fn a_host_that_leads_nowhere_is_an_error() {
        let error = Listeners::bind("no such host", 0, 1)
            .expect_err("spaces are no host")
            .to_string();
        assert!(
            error.starts_with("cannot resolve host \"no such host\""),
            "{error}"
        );
    }
}
