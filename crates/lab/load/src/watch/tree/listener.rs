//! Finds the processes that listen on a TCP port: `/proc/net/tcp` names the socket, `/proc/PID/fd` its holders.

use std::{fs, io};

use super::{WatchError, descriptors, process};

/// `TCP_LISTEN` of the kernel's `enum` of TCP states, as `/proc/net/tcp` prints it.
const LISTEN: &str = "0A";

/// The ids of all processes that hold a listening socket of `port`, in ascending order.
///
/// # Errors
/// [`WatchError::NoListener`] if no process listens, or no holder is visible to this user.
pub(crate) fn holders(port: u16) -> Result<Vec<u32>, WatchError> {
    let inodes = inodes(port)?;
    let mut pids: Vec<u32> = process::pids()?
        .filter(|&pid| descriptors::holds_any(pid, &inodes))
        .collect();
    if pids.is_empty() {
        return Err(WatchError::NoListener {
            port,
            listening: !inodes.is_empty(),
        });
    }
    pids.sort_unstable();
    Ok(pids)
}

/// IPv6 may be switched off, so a missing `tcp6` counts as an empty one.
fn inodes(port: u16) -> io::Result<Vec<u64>> {
    let mut inodes = parse_listening_inodes(&fs::read_to_string("/proc/net/tcp")?, port);
    inodes.extend(parse_listening_inodes(
        &fs::read_to_string("/proc/net/tcp6").unwrap_or_default(),
        port,
    ));
    Ok(inodes)
}

/// The inodes of the sockets that listen on `port`, from the text of `/proc/net/tcp` or `/proc/net/tcp6`.
///
/// Columns (proc(5)): slot, local address:port in hex, remote address:port, state, queues, timer, retransmits,
/// user, timeout, inode, …
fn parse_listening_inodes(table: &str, port: u16) -> Vec<u64> {
    table
        .lines()
        .skip(1)
        .filter_map(|line| listening_inode(line, port))
        .collect()
}

fn listening_inode(line: &str, port: u16) -> Option<u64> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let local_port = fields.get(1)?.rsplit_once(':')?.1;
    let is_match = *fields.get(3)? == LISTEN && u16::from_str_radix(local_port, 16) == Ok(port);
    if is_match {
        fields.get(9)?.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Captured: a listener on 2024, two established connections, one of which has the port 2024 too.
    const TCP: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 578 1 00000000b6d79e85 100 0 0 10 0
   1: 020200C0:DFFE 507100CB:01BB 01 00000000:00000000 00:00000000 00000000     0        0 9379 1 00000000a4900d89 20 4 1 48 -1
   2: 0100007F:07E8 0100007F:DFFE 01 00000000:00000000 00:00000000 00000000     0        0 8910 1 00000000e354200d 20 4 1 52 -1
";

    /// Captured: `[::]:8080`.
    const TCP6: &str = "\
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 20764 1 0000000000000000 100 0 0 10 0
";

    #[test]
    fn finds_listening_sockets_only() {
        for (table, port, expected) in [
            (TCP, 2024, vec![578]),
            (TCP, 57342, vec![]),
            (TCP6, 8080, vec![20764]),
            (TCP6, 2024, vec![]),
            ("", 2024, vec![]),
            ("sl\n 0: junk\n 1: 0:zz 0 0A\n", 2024, vec![]),
        ] {
            assert_eq!(parse_listening_inodes(table, port), expected, "{port} in {table}");
        }
    }
}
