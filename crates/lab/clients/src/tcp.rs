//! Opening a TCP connection.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use nix::sys::socket::{setsockopt, sockopt::IpBindAddressNoPort};
use tokio::net::{TcpSocket, TcpStream};

/// Connects from `local_address`, or from an address that the system chooses. `buffer_bytes` is the size of the send and
/// the receive buffer; `None` leaves it to the system.
pub(crate) async fn connect_to(
    address: SocketAddr,
    local_address: Option<IpAddr>,
    buffer_bytes: Option<u32>,
) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    if let Some(n_bytes) = buffer_bytes {
        // Before the connection stands, because the size decides the window that its handshake offers.
        socket.set_send_buffer_size(n_bytes)?;
        socket.set_recv_buffer_size(n_bytes)?;
    }
    if let Some(local) = local_address {
        // Fixes the address but not the port: the kernel chooses the port at connect time, when it knows the
        // destination, and so can use one local port for many destinations.
        setsockopt(&socket, IpBindAddressNoPort, &true)?;
        socket.bind(SocketAddr::new(local, 0))?;
    }
    let stream = socket.connect(address).await?;
    // A load client's messages must not wait for the answer to the previous one (Nagle's algorithm).
    stream.set_nodelay(true)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn the_source_address_is_used() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let local = "127.0.0.77".parse().unwrap();
        let stream = connect_to(listener.local_addr().unwrap(), Some(local), None)
            .await
            .unwrap();
        assert_eq!(stream.local_addr().unwrap().ip(), local);
        assert!(stream.nodelay().unwrap());
    }
}
