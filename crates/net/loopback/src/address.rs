//! The address of a page: a loopback address, and a secret in its path.

use std::{
    fmt::Write,
    io,
    net::{SocketAddr, TcpListener, ToSocketAddrs},
};

/// Random bytes of the secret: as many as in an id that cannot be guessed.
const SECRET_BYTES: usize = 16;

/// Why a page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The text is not an address.
    #[error("{0}; expected a host and a port, for example localhost:5665")]
    Address(io::Error),
    /// Other machines could reach the address.
    #[error(
        "{0} is reachable from other machines, but only this machine may open the page; expected a loopback address, \
         for example localhost:5665"
    )]
    NotLoopback(SocketAddr),
    /// The port is in use, or the process may not use it.
    #[error("cannot listen: {0}; port 0 takes a free port")]
    Listen(io::Error),
}

/// Listens on `address`, `host:port` of this machine. Accepting does not block.
///
/// # Errors
/// The address is not a loopback address, or is in use.
pub fn listen(address: &str) -> Result<TcpListener, ListenError> {
    let listener = TcpListener::bind(loopback(address)?.as_slice()).map_err(ListenError::Listen)?;
    listener.set_nonblocking(true).map_err(ListenError::Listen)?;
    Ok(listener)
}

/// The socket addresses of `address`, if all of them are loopback addresses.
fn loopback(address: &str) -> Result<Vec<SocketAddr>, ListenError> {
    let resolved: Vec<SocketAddr> = address.to_socket_addrs().map_err(ListenError::Address)?.collect();
    match resolved.iter().find(|found| !found.ip().is_loopback()) {
        None => Ok(resolved),
        Some(&found) => Err(ListenError::NotLoopback(found)),
    }
}

/// A secret that cannot be guessed: 32 hexadecimal digits.
///
/// # Errors
/// The system has no random numbers.
pub fn secret() -> io::Result<String> {
    let mut random = [0; SECRET_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let mut secret = String::new();
    for byte in random {
        // Writing to a string cannot fail.
        let _ = write!(secret, "{byte:02x}");
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_has_the_page() {
        for (address, expected) in [
            ("127.0.0.1:0", None),
            ("[::1]:0", None),
            (
                "0.0.0.0:5665",
                Some(
                    "0.0.0.0:5665 is reachable from other machines, but only this machine may open the page; \
                     expected a loopback address, for example localhost:5665",
                ),
            ),
            (
                "5665",
                Some("invalid socket address; expected a host and a port, for example localhost:5665"),
            ),
        ] {
            let found = loopback(address).err().map(|error| error.to_string());
            assert_eq!(found.as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn a_port_that_is_taken_is_told() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap().to_string();
        let error = listen(&address).unwrap_err().to_string();
        assert!(error.starts_with("cannot listen: "), "{error}");
        assert!(error.ends_with("; port 0 takes a free port"), "{error}");
    }

    #[test]
    fn secrets_differ() {
        let [one, other] = [secret().unwrap(), secret().unwrap()];
        assert_eq!(one.len(), 2 * SECRET_BYTES);
        assert_ne!(one, other);
    }
}
