//! The processes of this machine that this process is connected to over TCP: the target, if it runs here.
//!
//! `/proc/net/tcp` lists listening sockets first, then connections. A listener on the remote port of one of our own
//! connections to this machine is the target's.

use std::{
    collections::HashSet,
    fs,
    io::{self, BufRead, Read},
};

use super::descriptors;

/// How many own sockets are looked for. Reason: all connections of a run go to few ports, so a small part names them.
const MAX_SOCKETS: usize = 512;

/// How much of a table is read, in bytes: about 50,000 sockets. Reason: closed connections of other programs stay in it
/// for a minute, and with 100,000 of them the kernel takes a second to print all.
const MAX_TABLE_BYTES: u64 = 8 << 20;

/// After how many own connections reading ends. Reason: as for [`MAX_SOCKETS`], and this many are found soon in a run
/// with many connections.
const ENOUGH_CONNECTIONS: usize = 16;

/// Of the kernel's TCP states, as `/proc/net/tcp` prints them.
const ESTABLISHED: &str = "01";
const LISTEN: &str = "0A";

/// The most listening sockets that are kept. Reason: one per process of a pre-forking target.
const MAX_LISTENERS: usize = 256;

/// The listening sockets that this process is or was connected to.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    inodes: Vec<u64>,
}

/// A line of `/proc/net/tcp` or `/proc/net/tcp6`.
struct Socket<'a> {
    local: &'a str,
    remote: &'a str,
    state: &'a str,
    inode: u64,
}

impl Socket<'_> {
    fn is_connection_of(&self, own: &HashSet<u64>) -> bool {
        self.state == ESTABLISHED && own.contains(&self.inode)
    }
}

impl Peers {
    /// Adds those to which it is connected now. Reads the system's tables, in a few milliseconds.
    pub(crate) fn update(&mut self) {
        let own = descriptors::own_sockets(MAX_SOCKETS);
        // IPv6 may be switched off, so a missing table counts as an empty one.
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| read(path, &own).unwrap_or_default());
        self.inodes.extend(listeners(&tables, &own));
        self.inodes.sort_unstable();
        self.inodes.dedup();
        self.inodes.truncate(MAX_LISTENERS);
    }

    /// Whether the process holds one of the sockets. False for processes that this user may not inspect.
    pub(crate) fn has(&self, pid: u32) -> bool {
        !self.inodes.is_empty() && descriptors::holds_any(pid, &self.inodes)
    }
}

/// The lines of a table about listeners and about enough of the `own` connections.
fn read(path: &str, own: &HashSet<u64>) -> io::Result<String> {
    let table = io::BufReader::new(fs::File::open(path)?.take(MAX_TABLE_BYTES));
    let (mut text, mut n_own) = (String::new(), 0);
    for line in table.lines() {
        let line = line?;
        let Some(socket) = parse(&line) else { continue };
        let is_own = socket.is_connection_of(own);
        n_own += usize::from(is_own);
        if is_own || socket.state == LISTEN {
            text.push_str(&line);
            text.push('\n');
        }
        if n_own == ENOUGH_CONNECTIONS {
            break;
        }
    }
    Ok(text)
}

/// The inodes of listeners on ports of this machine to which one of the `own` sockets is connected.
fn listeners(tables: &[String], own: &HashSet<u64>) -> Vec<u64> {
    let sockets = || tables.iter().flat_map(|table| table.lines().filter_map(parse));
    let connected = sockets().filter(|socket| socket.is_connection_of(own));
    let ports: HashSet<&str> = connected
        .filter_map(|socket| {
            let (address, port) = socket.remote.rsplit_once(':')?;
            let is_here = is_loopback(address) || socket.local.starts_with(address);
            is_here.then_some(port)
        })
        .collect();
    let listening = sockets().filter(|socket| {
        let port = socket.local.rsplit_once(':').map(|(_, port)| port);
        // A socket of our own would make this program its own target.
        socket.state == LISTEN
            && !own.contains(&socket.inode)
            && port.is_some_and(|port| ports.contains(port))
    });
    listening.map(|socket| socket.inode).collect()
}

/// Columns (proc(5)): slot, local address:port in hex, remote address:port, state, queues, timer, retransmits, user,
/// timeout, inode, …
fn parse(line: &str) -> Option<Socket<'_>> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    Some(Socket {
        local: fields.next()?,
        remote: fields.next()?,
        state: fields.next()?,
        inode: fields.nth(5)?.parse().ok()?,
    })
}

/// Words of an address are printed in the byte order of the machine; 127.x.x.x ends in 7F on little-endian ones.
fn is_loopback(address: &str) -> bool {
    let is_v4 = |word: &str| {
        if cfg!(target_endian = "little") {
            word.ends_with("7F")
        } else {
            word.starts_with("7F")
        }
    };
    let (before, last) = address
        .split_at_checked(address.len().saturating_sub(8))
        .unwrap_or_default();
    match before {
        "" | "0000000000000000FFFF0000" | "00000000000000000000FFFF" => is_v4(last),
        before => before.bytes().all(|digit| digit == b'0') && matches!(last, "01000000" | "00000001"),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// Listeners on 2024 (inode 578) and 8080 (579); connections of inode 9 to 127.0.0.1:2024, of 10 to a foreign
    /// machine's 8080, and the accepted side of the first one.
    const TCP: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 578 1 0 100 0 0 10 0
   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 579 1 0 100 0 0 10 0
   2: 0100007F:DFFE 0100007F:07E8 01 00000000:00000000 00:00000000 00000000     0        0 9 1 0 20 4 1 48 -1
   3: 020200C0:DFFE 507100CB:1F90 01 00000000:00000000 00:00000000 00000000     0        0 10 1 0 20 4 1 48 -1
   4: 0100007F:07E8 0100007F:DFFE 01 00000000:00000000 00:00000000 00000000     0        0 8910 1 0 20 4 1 52 -1
";

    /// A listener on [::]:2024, and connections of inode 9 from 192.0.2.2 to itself and of 10 to ::1, both to 2024.
    const TCP6: &str = "\
   0: 00000000000000000000000000000000:07E8 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 700 1 0
   1: 0000000000000000FFFF0000020200C0:DFFE 0000000000000000FFFF0000020200C0:07E8 01 0:0 00:0 0 0 0 9 1 0
   2: 00000000000000000000000001000000:DFFE 00000000000000000000000001000000:07E8 01 0:0 00:0 0 0 0 10 1 0
";

    #[test]
    fn finds_the_listeners_of_connections_to_this_machine() {
        for (tables, own, expected) in [
            (&[TCP][..], &[9, 10][..], &[578][..]),
            (&[TCP], &[10], &[]),
            (&[TCP], &[], &[]),
            (&[TCP], &[9, 578], &[]),
            (&[TCP6], &[9], &[700]),
            (&[TCP6], &[10], &[700]),
            (&[TCP, TCP6], &[9], &[578, 700]),
            (&["junk", "0: 1 2 3", ""], &[9], &[]),
        ] {
            let tables: Vec<_> = tables.iter().map(|&table| table.to_owned()).collect();
            let own = own.iter().copied().collect();
            assert_eq!(listeners(&tables, &own), expected, "{own:?}");
        }
    }

    #[test]
    fn this_process_is_not_its_own_target() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut peers = Peers::default();
        peers.update();
        assert!(!peers.has(std::process::id()));
    }
}
