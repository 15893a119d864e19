//! A server that stops delivers the broadcasts it accepted and refuses everything else (issue 14, item 5).

use std::time::Duration;

use plimsoll_cable::command;
use plimsoll_server::{AcceptError, Config};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    CONFIRM, IDENTIFIER,
    application::Gate,
    broadcast,
    client::{Client, Received},
    server::{Server, config},
    text,
};

const GOODBYE: &str = r#"{"type":"disconnect","reason":"server_restart","reconnect":true}"#;

/// Longer than any test: a client that does not answer keeps the server draining until the test ends.
const WHOLE_TEST: Duration = Duration::from_secs(60);

const UPGRADE: &str = "GET /cable HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

fn patient() -> Config {
    Config {
        drain_timeout: WHOLE_TEST,
        shutdown_timeout: WHOLE_TEST,
        ..config()
    }
}

/// A connection for several requests.
struct Kept(TcpStream);

impl Kept {
    async fn open(server: &Server) -> Self {
        Self(TcpStream::connect(server.address()).await.unwrap())
    }

    async fn send(&mut self, bytes: &str) {
        self.0.write_all(bytes.as_bytes()).await.unwrap();
    }

    /// Reads the next answer with its body, and returns the head.
    async fn answer(&mut self) -> String {
        let mut answer = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&answer).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let head = head.to_ascii_lowercase();
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "));
                if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                    return head;
                }
            }
            let n_read = self.0.read_buf(&mut answer).await.unwrap();
            assert!(n_read > 0, "the server hung up after {text:?}");
        }
    }

    async fn ask(&mut self, request: &str) -> String {
        self.send(request).await;
        self.answer().await
    }

    async fn is_closed(&mut self) -> bool {
        self.0.read(&mut [0]).await.unwrap() == 0
    }
}

fn post(message: &str) -> String {
    let body = format!(r#"{{"stream":"test","data":"{message}"}}"#);
    let length = body.len();
    format!(
        "POST /_broadcast HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

async fn listener(server: &Server) -> Client {
    let mut client = Client::connect(server, "/cable").await;
    client.send(&command::encode_subscribe(IDENTIFIER)).await;
    assert_eq!(client.receive().await, text(CONFIRM));
    client
}

#[track_caller]
fn check_refused(head: &str, what: &str) {
    assert!(head.starts_with("http/1.1 503 "), "{what}: {head}");
    for header in ["connection: close", "retry-after: 1"] {
        assert!(head.lines().any(|line| line == header), "{what}: {head}");
    }
}

#[tokio::test]
async fn work_is_refused_on_every_connection_while_sessions_end_and_questions_are_answered() {
    let server = Server::start(patient(), Gate::opened().application());
    let mut deaf = Client::connect(&server, "/cable").await;
    let requests = [
        ("a broadcast", post("1")),
        ("a WebSocket", UPGRADE.to_owned()),
        (
            "an event stream",
            "GET /events?channel=TestChannel HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        ),
    ];
    let mut kept = Vec::new();
    for _ in &requests {
        let mut connection = Kept::open(&server).await;
        let head = connection.ask("GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(head.starts_with("http/1.1 200 "), "{head}");
        kept.push(connection);
    }
    let address = server.address();
    let stopped = server.begin_stop();
    assert_eq!(deaf.receive().await, text(GOODBYE));
    for ((what, request), mut connection) in requests.iter().zip(kept) {
        check_refused(&connection.ask(request).await, what);
        assert!(connection.is_closed().await, "{what}");
        let mut connection = Kept(TcpStream::connect(address).await.unwrap());
        check_refused(&connection.ask(request).await, what);
        assert!(connection.is_closed().await, "{what}");
    }
    for (path, status) in [("/health", 200), ("/ready", 200), ("/", 200), ("/nowhere", 404)] {
        let mut connection = Kept(TcpStream::connect(address).await.unwrap());
        let head = connection
            .ask(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"))
            .await;
        assert!(head.starts_with(&format!("http/1.1 {status} ")), "{path}: {head}");
        assert!(connection.is_closed().await, "{path}");
    }
    assert_eq!(
        deaf.receive().await,
        Received::Close(1001, "Server restart".to_owned())
    );
    deaf.send_and_close("").await;
    stopped.await;
}

#[tokio::test]
async fn clients_are_sent_away_one_after_the_other_while_the_others_are_served() {
    let config = Config {
        slow_drain: WHOLE_TEST,
        n_shards: 1,
        ..patient()
    };
    let server = Server::start(config, Gate::opened().application());
    // The last one's turn comes after 20 s, which is longer than this test.
    let mut clients = Vec::new();
    for _ in 0..41 {
        clients.push(listener(&server).await);
    }
    let mut last = clients.pop().unwrap();
    let (address, publisher) = (server.address(), server.publisher().clone());
    let stopped = server.begin_stop();
    assert_eq!(clients[0].receive().await, text(GOODBYE));
    assert_eq!(
        clients[0].receive().await,
        Received::Close(1001, "Server restart".to_owned())
    );
    for request in [
        UPGRADE,
        "GET /events?channel=TestChannel HTTP/1.1\r\nHost: x\r\n\r\n",
    ] {
        let mut newcomer = Kept(TcpStream::connect(address).await.unwrap());
        check_refused(&newcomer.ask(request).await, request);
        assert!(newcomer.is_closed().await, "{request}");
    }
    let mut backend = Kept(TcpStream::connect(address).await.unwrap());
    let head = backend.ask(&post("7")).await;
    assert!(head.starts_with("http/1.1 201 "), "{head}");
    assert_eq!(last.receive().await, broadcast("7"));
    for mut client in clients.into_iter().chain([last]) {
        client.send_and_close("").await;
    }
    drop(publisher);
    stopped.await;
}

#[tokio::test]
async fn bodies_that_arrive_during_the_stop_are_not_waited_for() {
    let server = Server::start(patient(), Gate::opened().application());
    let mut deaf = listener(&server).await;
    let mut connections = Vec::new();
    for request in [
        post("half"),
        "POST /events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{".to_owned(),
    ] {
        let mut connection = Kept::open(&server).await;
        // The server reads the body once it has answered this request.
        connection.ask("GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await;
        connection.send(&request[..request.len() - 1]).await;
        connections.push((request, connection));
    }
    let stopped = server.begin_stop();
    assert_eq!(deaf.receive().await, text(GOODBYE), "nothing was published");
    for (request, mut connection) in connections {
        check_refused(&connection.answer().await, &request);
    }
    assert_eq!(
        deaf.receive().await,
        Received::Close(1001, "Server restart".to_owned())
    );
    deaf.send_and_close("").await;
    stopped.await;
}

#[tokio::test]
async fn every_broadcast_that_was_taken_comes_before_the_goodbye() {
    for round in 0..20 {
        let server = Server::start(patient(), Gate::opened().application());
        let mut listeners = Vec::new();
        for _ in 0..8 {
            listeners.push(listener(&server).await);
        }
        let publisher = server.publisher().clone();
        let (first, mut taken_first) = tokio::sync::mpsc::channel(1);
        let published = tokio::spawn(async move {
            let mut n_taken = 0;
            loop {
                let payload = format!(r#"{{"stream":"test","data":"{n_taken}"}}"#);
                match publisher.accept(payload.as_bytes()).await {
                    Ok(()) => n_taken += 1,
                    Err(AcceptError::Stopping) => return n_taken,
                    Err(error) => panic!("{error}"),
                }
                if n_taken == 100 {
                    first.send(()).await.unwrap();
                }
                tokio::task::yield_now().await;
            }
        });
        taken_first.recv().await.unwrap();
        let stopped = server.begin_stop();
        let stopping = tokio::spawn(stopped);
        let n_taken = published.await.unwrap();
        for mut listener in listeners {
            for n in 0..n_taken {
                assert_eq!(
                    listener.receive().await,
                    broadcast(&n.to_string()),
                    "round {round}"
                );
            }
            assert_eq!(listener.receive().await, text(GOODBYE), "round {round}");
            listener.send_and_close("").await;
        }
        stopping.await.unwrap();
    }
}
