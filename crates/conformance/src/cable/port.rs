//! A port for the server under test, which the suite starts and restarts.

use std::{io, net::TcpListener, ops::Range};

use plimsoll_load::preflight::PortRange;

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
    let choice = outside(PortRange::read());
    let attempt = || TcpListener::bind((host, fastrand::u16(choice.clone())));
    for _ in 1..MAX_ATTEMPTS {
        if let Ok(listener) = attempt() {
            return Ok(listener.local_addr()?.port());
        }
    }
    Ok(attempt()?.local_addr()?.port())
}

/// The ports to choose from, below those that the kernel gives out.
fn outside(range: Option<PortRange>) -> Range<u16> {
    match range {
        Some(PortRange { first, .. }) if first >= USUAL.start + MIN_CHOICE => USUAL.start..first,
        _ => USUAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_ends_where_the_ports_of_the_kernel_begin() {
        for (range, expected) in [
            (Some((32_768, 60_999)), 10_000..32_768),
            (Some((49_152, 65_535)), 10_000..49_152),
            (Some((20_000, 20_999)), 10_000..20_000),
            (Some((11_000, 65_535)), 10_000..11_000),
            (Some((1_024, 65_535)), USUAL),
            (None, USUAL),
        ] {
            let range = range.map(|(first, last)| PortRange { first, last });
            assert_eq!(outside(range), expected, "{range:?}");
        }
    }

    #[test]
    fn the_port_is_free_and_none_of_the_kernels() {
        let choice = outside(PortRange::read());
        for host in ["127.0.0.1", "localhost"] {
            let port = free(host).unwrap();
            assert!(choice.contains(&port), "{port} at {host}");
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
