//! TLS over loopback sockets, with rustls' own blocking client at the other end.

use std::{
    io::{Read, Write},
    net,
    thread::{self, JoinHandle},
    time::Duration,
};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{CertificateDer, pem::PemObject},
};
use tokio::net::TcpListener;

use super::*;
use crate::tls::{Tls, test_files::TestFiles};

/// Longer than any step takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

type Client = StreamOwned<ClientConnection, net::TcpStream>;

/// A connected pair. `act` runs as the client, on its own thread.
async fn connected<T: Send + 'static>(
    act: impl FnOnce(Client) -> T + Send + 'static,
) -> (io::Result<Stream>, JoinHandle<T>) {
    let files = TestFiles::new();
    let tls = Tls::load(files.chain(), files.key()).expect("a good pair");
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_file(files.chain()).expect("a certificate");
    roots.add(certificate).expect("it is its own root");
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("loopback has free ports");
    let address = listener.local_addr().expect("bound");
    let client = thread::spawn(move || act(connect(address, roots)));
    let (socket, _) = listener.accept().await.expect("the client connects");
    (Stream::accept(socket, Some(tls.config())).await, client)
}

fn connect(address: net::SocketAddr, roots: RootCertStore) -> Client {
    let socket = net::TcpStream::connect(address).expect("the listener is there");
    socket.set_read_timeout(Some(PATIENCE)).expect("not zero");
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has cipher suites")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().expect("a host name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a valid configuration");
    StreamOwned::new(connection, socket)
}

fn is_blocked<T>(result: &io::Result<T>) -> bool {
    matches!(result, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}

#[tokio::test]
async fn what_a_full_socket_did_not_take_goes_out_before_anything_else() {
    let (read_now, told) = std::sync::mpsc::channel();
    let (stream, client) = connected(move |mut client| {
        client.flush().expect("the server shakes hands");
        let n_expected: usize = told.recv().expect("the test says when");
        let mut received = vec![0; n_expected];
        client.read_exact(&mut received).expect("everything comes");
        received
    })
    .await;
    let stream = stream.expect("the client is good");
    let mut sent = Vec::new();
    loop {
        let chunk: Vec<_> = (0..40_000).map(|n| (sent.len() + n) as u8).collect();
        let (first, second) = chunk.split_at(100);
        match stream.try_write(&[IoSlice::new(first), IoSlice::new(second)]) {
            Ok(n_taken) => {
                assert!(
                    n_taken <= 16 * 1024,
                    "{n_taken} bytes at once are more than the bound"
                );
                sent.extend_from_slice(&chunk[..n_taken]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(is_blocked(&stream.try_write(&[])), "the last record waits");
    read_now.send(sent.len()).expect("the client waits");
    while is_blocked(&stream.try_write(&[])) {
        stream.writable().await.expect("the client lives");
    }
    let received = client.join().expect("the client is content");
    assert!(received == sent, "the bytes came changed");
}

#[tokio::test]
async fn a_small_buffer_gets_everything_and_then_the_end() {
    const N_BYTES: usize = 300_000;
    let (stream, client) = connected(|mut client| {
        let bytes: Vec<_> = (0..N_BYTES).map(|n| n as u8).collect();
        client.write_all(&bytes).expect("the server reads");
        client.conn.send_close_notify();
        client.flush().expect("the server reads");
        let mut rest = Vec::new();
        client
            .read_to_end(&mut rest)
            .expect("the server ends TLS properly");
    })
    .await;
    let stream = stream.expect("the client is good");
    let mut received = 0;
    let mut buffer = [0; 1000];
    loop {
        stream.readable().await.expect("the client lives");
        match stream.try_read(&mut buffer) {
            Ok(0) => break,
            Ok(n_read) => {
                assert!((0..n_read).all(|n| buffer[n] == (received + n) as u8));
                received += n_read;
            }
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
    }
    assert_eq!(received, N_BYTES);
    drop(stream);
    client.join().expect("the client is content");
}

#[tokio::test]
async fn a_client_that_leaves_in_the_handshake_is_an_error() {
    let (stream, client) = connected(|mut client| {
        client.sock.write_all(b"\x16\x03\x01").expect("the server reads");
    })
    .await;
    client.join().expect("it hung up");
    assert_eq!(
        stream.expect_err("no handshake").kind(),
        io::ErrorKind::UnexpectedEof
    );
}
