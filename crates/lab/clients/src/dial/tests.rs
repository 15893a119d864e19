//! Rules, and connections on real sockets.

use std::{net::SocketAddr, rc::Rc};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;

fn dialer() -> Dialer {
    Dialer {
        overrides: Overrides::parse([("app.test", "127.0.0.1:8080"), ("bad.test", "10.1.2.3")]).unwrap(),
        blocked_hosts: vec!["*.blocked.test".parse().unwrap()],
        blocked_networks: vec!["10.0.0.0/8".parse().unwrap()],
        ..Dialer::default()
    }
}

#[tokio::test]
async fn a_host_is_where_the_rules_say() {
    async fn check(host: &str, expected: &str) {
        let located = dialer().locate(host, 80).await;
        let got = located.map_or_else(|error| error.to_string(), |address| address.to_string());
        assert_eq!(got, expected, "{host}");
    }
    check("127.0.0.1", "127.0.0.1:80").await;
    check("::1", "[::1]:80").await;
    check("app.test", "127.0.0.1:8080").await;
    check("10.0.0.1", "IP (10.0.0.1) is in a blacklisted range (10.0.0.0/8)").await;
    check(
        "::ffff:10.0.0.1",
        "IP (10.0.0.1) is in a blacklisted range (10.0.0.0/8)",
    )
    .await;
    check("bad.test", "IP (10.1.2.3) is in a blacklisted range (10.0.0.0/8)").await;
    check(
        "A.Blocked.test",
        "hostname (A.Blocked.test) is in a blocked pattern",
    )
    .await;
}

#[tokio::test]
async fn names_are_looked_up() {
    let address = dialer().locate("localhost", 80).await.unwrap();
    assert!(address.ip().is_loopback());
}

#[tokio::test]
async fn bytes_are_counted_as_they_move() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let traffic = Rc::new(Traffic::default());
    let source = Some("127.0.0.9".parse().unwrap());
    let mut stream = dialer().connect(address, source, &traffic).await.unwrap();
    let (mut peer, from) = listener.accept().await.unwrap();
    assert_eq!(from.ip().to_string(), "127.0.0.9");
    stream.write_all(b"12345").await.unwrap();
    peer.write_all(b"123").await.unwrap();
    stream.read_exact(&mut [0; 3]).await.unwrap();
    assert_eq!(traffic.take(), (5, 3));
    assert_eq!(traffic.take(), (0, 0));
    assert!(stream.try_read(&mut [0; 1]).is_err());
}

#[tokio::test]
async fn a_refusal_says_where() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = dialer().connect(address, None, &Rc::default()).await.unwrap_err();
    assert!(
        error.to_string().starts_with(&format!("dial {address}: ")),
        "{error}"
    );
}
