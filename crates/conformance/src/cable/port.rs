//! A port for the server under test, which the suite starts and restarts.

use std::{fs, io, net::TcpListener, ops::Range};

/// The ports to choose from, where the kernel gives out higher ones only.
const USUAL: Range<u16> = 10_000..32_768;

/// The smallest number of ports to choose from.
const MIN_CHOICE: u16 = 1_000;

/// How many ports are tried before the system's error is reported.
const MAX_ATTEMPTS: usize = 100;

/// A port of `host` that is free now, chosen at random.
///
/// The server takes it a moment later, and gives it back for a moment whenever it restarts. So the port is none that the
/// kernel gives to other programs meanwhile: those that listen on port 0, which the server under test may do itself, and
/// those that connect.
pub(super) fn free(host: &str) -> io::Result<u16> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let choice = outside(&range);
    let attempt = || TcpListener::bind((host, fastrand::u16(choice.clone())));
    for _ in 1..MAX_ATTEMPTS {
        if let Ok(listener) = attempt() {
            return Ok(listener.local_addr()?.port());
        }
    }
    Ok(attempt()?.local_addr()?.port())
}

/// The ports to choose from, by the kernel's lowest and highest port for others (`ip_local_port_range` in Linux's
/// `ip-sysctl` documentation).
fn outside(range: &str) -> Range<u16> {
    let lowest = range
        .split_whitespace()
        .next()
        .and_then(|lowest| lowest.parse().ok());
    match lowest {
        Some(lowest) if lowest >= USUAL.start + MIN_CHOICE => USUAL.start..lowest,
        _ => USUAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_ends_where_the_ports_of_the_kernel_begin() {
        for (range, expected) in [
            ("32768\t60999\n", 10_000..32_768),
            ("49152\t65535\n", 10_000..49_152),
            ("20000\t20999\n", 10_000..20_000),
            ("11000\t65535\n", 10_000..11_000),
            ("1024\t65535\n", USUAL),
            ("", USUAL),
        ] {
            assert_eq!(outside(range), expected, "{range:?}");
        }
    }

    #[test]
    fn the_port_is_free_and_none_of_the_kernels() {
        let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
        for host in ["127.0.0.1", "localhost"] {
            let port = free(host).unwrap();
            assert!(outside(&range).contains(&port), "{port} at {host}");
            TcpListener::bind((host, port)).unwrap();
        }
    }

    #[test]
    fn a_host_of_another_machine_has_no_port() {
        // RFC 5737 keeps this address for documents.
        let error = free("192.0.2.1").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable);
    }
}
