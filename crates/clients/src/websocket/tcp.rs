//! Opening the TCP connection.

use tokio::net::TcpStream;

use super::{ConnectError, Options};
use crate::tcp::connect_to;

/// Tries the addresses in order; the first that accepts wins.
pub(super) async fn connect(options: &Options) -> Result<TcpStream, ConnectError> {
    let mut outcome = Err(ConnectError::NoAddress);
    for &address in &options.addresses {
        match connect_to(address, options.local_address).await {
            Ok(stream) => return Ok(stream),
            Err(source) => {
                outcome = Err(ConnectError::Tcp {
                    address,
                    local_address: options.local_address,
                    source,
                });
            }
        }
    }
    outcome
}
