//! Where the page is: an address of this machine alone, and a secret in its path.

use std::{
    fmt::Write,
    io,
    net::{SocketAddr, TcpListener, ToSocketAddrs},
};

/// Random bytes of the secret. Reason: as many as an id that nobody guesses.
const SECRET_BYTES: usize = 16;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The address is not one.
    #[error("--ui={address}: {source}; expected a host and a port, for example --ui=localhost:5665")]
    Address {
        /// As typed.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// Others could reach it.
    #[error(
        "--ui={address}: {found} is reachable from other machines, and whoever has the page controls the run; expected \
         a loopback address, for example --ui=localhost:5665"
    )]
    NotLoopback {
        /// As typed.
        address: String,
        /// What it stands for.
        found: SocketAddr,
    },
    /// The port is taken, or may not be used.
    #[error("--ui={address}: cannot listen: {source}; --ui alone takes a free port")]
    Listen {
        /// As typed.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// The system gives no thread, or no random numbers.
    #[error("--ui: {0}")]
    System(#[from] io::Error),
}

pub(super) fn listen(address: &str) -> Result<TcpListener, PageError> {
    let resolved = loopback(address)?;
    let listener = TcpListener::bind(resolved.as_slice()).map_err(|source| PageError::Listen {
        address: address.to_owned(),
        source,
    })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The addresses of `address`, if all of them are this machine's own.
fn loopback(address: &str) -> Result<Vec<SocketAddr>, PageError> {
    let resolved = address.to_socket_addrs().map_err(|source| PageError::Address {
        address: address.to_owned(),
        source,
    })?;
    let resolved: Vec<SocketAddr> = resolved.collect();
    match resolved.iter().find(|found| !found.ip().is_loopback()) {
        None => Ok(resolved),
        Some(&found) => Err(PageError::NotLoopback {
            address: address.to_owned(),
            found,
        }),
    }
}

/// What nobody guesses.
pub(super) fn secret() -> io::Result<String> {
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
                    "--ui=0.0.0.0:5665: 0.0.0.0:5665 is reachable from other machines, and whoever has the page controls \
                     the run; expected a loopback address, for example --ui=localhost:5665",
                ),
            ),
            (
                "5665",
                Some(
                    "--ui=5665: invalid socket address; expected a host and a port, for example --ui=localhost:5665",
                ),
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
        assert!(
            error.starts_with(&format!("--ui={address}: cannot listen: ")),
            "{error}"
        );
        assert!(error.ends_with("; --ui alone takes a free port"), "{error}");
    }

    #[test]
    fn secrets_differ() {
        let [one, other] = [secret().unwrap(), secret().unwrap()];
        assert_eq!(one.len(), 2 * SECRET_BYTES);
        assert_ne!(one, other);
    }
}
