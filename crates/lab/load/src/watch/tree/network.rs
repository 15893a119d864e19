//! Bytes over the network. The kernel counts them per interface of a network namespace, not per process. So these are
//! the bytes of all processes in the target's namespace: in a container that is the container, elsewhere the whole
//! machine. Over the loopback interface each byte is sent once and received once.

use std::fs;

/// Bytes since the interfaces came up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) received_bytes: u64,
    pub(super) sent_bytes: u64,
}

/// All interfaces of the namespace of this process; `None` when it is gone.
pub(super) fn traffic(pid: u32) -> Option<Traffic> {
    fs::read_to_string(format!("/proc/{pid}/net/dev"))
        .ok()
        .map(|table| parse(&table))
}

/// The sums over the text of `/proc/PID/net/dev`: two lines of headings, then `name: received-bytes … sent-bytes …`
/// with eight columns for each direction (proc_pid_net(5)).
fn parse(table: &str) -> Traffic {
    let mut sum = Traffic::default();
    for line in table.lines().skip(2) {
        let columns = line.rsplit_once(':').map_or("", |(_, columns)| columns);
        let mut columns = columns
            .split_ascii_whitespace()
            .map(|column| column.parse().unwrap_or(0));
        let received: u64 = columns.next().unwrap_or(0);
        let sent: u64 = columns.nth(7).unwrap_or(0);
        sum.received_bytes = sum.received_bytes.saturating_add(received);
        sum.sent_bytes = sum.sent_bytes.saturating_add(sent);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_all_interfaces() {
        let table = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1000      10    0    0    0     0          0         0     1000      10    0    0    0     0       0          0
  eth0:23 7 0 0 0 0 0 0 42 7 0 0 0 0 0 0
";
        let expected = Traffic {
            received_bytes: 1_023,
            sent_bytes: 1_042,
        };
        assert_eq!(parse(table), expected);
        for nonsense in ["", "a\nb\nc", "a\nb\nlo: x y z", "a\nb\nlo: 1"] {
            assert_eq!(parse(nonsense).sent_bytes, 0, "{nonsense}");
        }
    }
}
