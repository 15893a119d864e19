//! HTTP/2 and HTTP/1.1 over TLS, against hyper's server.

use std::{cell::Cell, convert::Infallible, rc::Rc, sync::Arc};

use http_body_util::{BodyExt, Collected, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, pem::PemObject},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    join,
    net::{TcpListener, TcpStream},
    task::LocalSet,
};
use tokio_rustls::TlsAcceptor;

use super::{super::*, peer::outcome};
use crate::{
    dial::{Dialer, Overrides},
    tls::{Believe, Tls, TlsOptions},
};

/// A server that answers with the request's method and body.
struct Server {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    roots: RootCertStore,
    n_connections: Rc<Cell<u32>>,
}

impl Server {
    async fn bind(protocols: &[&str]) -> Self {
        let made = rcgen::generate_simple_self_signed(["app.test".to_owned()]).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(made.signing_key.serialize_pem().as_bytes()).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        config.alpn_protocols = protocols
            .iter()
            .map(|protocol| protocol.as_bytes().to_vec())
            .collect();
        Self {
            listener: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            acceptor: TlsAcceptor::from(Arc::new(config)),
            roots,
            n_connections: Rc::default(),
        }
    }

    fn client(&self, change: impl FnOnce(&mut Settings)) -> Client {
        let address = self.listener.local_addr().unwrap().to_string();
        let dialer = Dialer {
            overrides: Overrides::parse([("app.test", &*address)]).unwrap(),
            ..Dialer::default()
        };
        let mut settings = Settings::new(Arc::new(dialer), tls(self.roots.clone()));
        change(&mut settings);
        Client::new(Arc::new(settings), None)
    }

    /// The next connection, for a test that serves it itself.
    async fn accept(&self) -> tokio_rustls::server::TlsStream<TcpStream> {
        let (tcp, _) = self.listener.accept().await.unwrap();
        self.acceptor.accept(tcp).await.unwrap()
    }

    /// Serves until `work` is done; a connection ends after `max_requests`.
    async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let serve = async {
            loop {
                let (tcp, _) = self.listener.accept().await.unwrap();
                self.n_connections.set(self.n_connections.get() + 1);
                let accepting = self.acceptor.accept(tcp);
                tokio::task::spawn_local(async move {
                    let Ok(stream) = accepting.await else { return };
                    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    let (io, service) = (TokioIo::new(stream), service_fn(echo));
                    // Its end is the client's doing.
                    if is_http2 {
                        let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                        let _ = builder.serve_connection(io, service).await;
                    } else {
                        let _ = hyper::server::conn::http1::Builder::new()
                            .serve_connection(io, service)
                            .await;
                    }
                });
            }
        };
        let local = LocalSet::new();
        local
            .run_until(async {
                tokio::select! {
                    done = work => done,
                    () = serve => unreachable!("it serves for ever"),
                }
            })
            .await
    }
}

fn tls(authorities: RootCertStore) -> Arc<Tls> {
    let options = TlsOptions {
        believe: Believe::Authorities(authorities.into()),
        ..TlsOptions::default()
    };
    Arc::new(Tls::new(options).unwrap())
}

async fn echo(request: hyper::Request<Incoming>) -> Result<hyper::Response<Full<bytes::Bytes>>, Infallible> {
    let method = request.method().to_string();
    let body = request
        .into_body()
        .collect()
        .await
        .map(Collected::to_bytes)
        .unwrap_or_default();
    let answer = [method.as_bytes(), b" ", &body].concat();
    Ok(hyper::Response::builder()
        .header("X-Echo", "1")
        .body(answer.into())
        .unwrap())
}

fn request(method: Method, body: &str) -> Request {
    Request {
        body: body.into(),
        ..Request::new(method, "https://app.test/".parse().unwrap())
    }
}

#[tokio::test]
async fn both_versions_are_spoken_over_tls() {
    let check = async |protocols: &[&str], http2: bool, expected: Protocol| {
        let server = Server::bind(protocols).await;
        let client = server.client(|settings| settings.http2 = http2);
        let work = async {
            for _ in 0..2 {
                let exchange = client.send(&request(Method::GET, ""), None, drop).await;
                assert_eq!(outcome(&exchange), "200 GET ");
                let response = exchange.outcome.unwrap();
                assert_eq!(response.protocol, expected);
                assert_eq!(
                    (response.reason.as_ref(), response.headers.text("x-echo")),
                    ("OK", Some("1"))
                );
                assert_eq!(exchange.tls.unwrap().version.name(), "tls1.3");
            }
        };
        server.during(work).await;
        assert_eq!(server.n_connections.get(), 1);
        let (sent, received) = client.take_traffic();
        assert!(sent > 300 && received > 500, "{sent} {received}");
    };
    check(&["h2", "http/1.1"], true, Protocol::Http2).await;
    check(&["h2", "http/1.1"], false, Protocol::Http11).await;
    check(&["http/1.1"], true, Protocol::Http11).await;
}

#[tokio::test]
async fn requests_share_a_connection_of_http2() {
    let server = Server::bind(&["h2"]).await;
    let client = server.client(|_| {});
    let large = "x".repeat(5 << 20);
    let posts: Vec<_> = ["", "small", &large]
        .map(|body| request(Method::POST, body))
        .into();
    let work = async {
        client.send(&request(Method::GET, ""), None, drop).await;
        let send = |post| client.send(post, None, drop);
        tokio::join!(send(&posts[0]), send(&posts[1]), send(&posts[2]))
    };
    let (empty, small, large_answer) = server.during(work).await;
    assert_eq!(
        (outcome(&empty).as_str(), outcome(&small).as_str()),
        ("200 POST ", "200 POST small")
    );
    assert!(outcome(&large_answer) == format!("200 POST {large}"));
    assert_eq!(server.n_connections.get(), 1);
}

#[tokio::test]
async fn bodies_over_the_limit_are_refused() {
    let server = Server::bind(&["h2"]).await;
    let client = server.client(|settings| settings.max_body_bytes = 100);
    let post = request(Method::POST, &"x".repeat(200));
    let dropped = Request {
        keep: Keep::Nothing,
        ..post.clone()
    };
    let work = async {
        (
            client.send(&post, None, drop).await,
            client.send(&dropped, None, drop).await,
        )
    };
    let (kept, dropped) = server.during(work).await;
    assert_eq!(
        outcome(&kept),
        "1000 the response's body is larger than 100 bytes"
    );
    assert_eq!(outcome(&dropped), "200 ");
}

/// Two answers are read at a time, each as large as the limit of all together. One has no room.
#[tokio::test]
async fn bodies_of_all_users_share_one_limit() {
    let server = Server::bind(&["h2"]).await;
    let total = KeptBodies::new(300);
    let client = server.client(|settings| settings.kept_bodies = total.clone());
    let post = request(Method::POST, &"x".repeat(200));
    let work = async {
        let kept = client.send(&post, None, drop).await;
        let refused = client.send(&post, None, drop).await;
        assert_eq!(total.used(), 205, "the response is still there");
        drop(kept);
        (refused, client.send(&post, None, drop).await)
    };
    let (refused, kept) = server.during(work).await;
    let refused = outcome(&refused);
    assert!(
        refused.starts_with("1000 the response bodies of all users together"),
        "{refused}"
    );
    assert!(outcome(&kept).starts_with("200 "));
    drop(kept);
    assert_eq!(total.used(), 0);
}

#[tokio::test]
async fn strangers_are_not_believed() {
    let server = Server::bind(&["h2"]).await;
    let client = server.client(|settings| settings.tls = tls(RootCertStore::empty()));
    let exchange = server
        .during(client.send(&request(Method::GET, ""), None, drop))
        .await;
    assert!(
        outcome(&exchange).starts_with("1310 x509: "),
        "{}",
        outcome(&exchange)
    );
    assert!(exchange.timings.tls_handshaking > std::time::Duration::ZERO);
}

#[tokio::test]
async fn an_answer_before_the_end_of_the_request_is_read() {
    let server = Server::bind(&["h2"]).await;
    let client = server.client(|_| {});
    // More than the server's window, and the server reads nothing.
    let post = request(Method::POST, &"x".repeat(1 << 20));
    let serve = async {
        let mut connection = h2::server::handshake(server.accept().await).await.unwrap();
        let (_unread, mut answer) = connection.accept().await.unwrap().unwrap();
        let head = hyper::Response::builder().status(413).body(()).unwrap();
        answer.send_response(head, true).unwrap();
        connection.accept().await
    };
    let exchange = tokio::select! {
        exchange = client.send(&post, None, drop) => exchange,
        _ = serve => unreachable!("the client stays"),
    };
    assert_eq!(outcome(&exchange), "413 ");
    assert_eq!(
        exchange.timings.sending,
        exchange.timings.duration() - exchange.timings.receiving
    );
}

#[tokio::test]
async fn a_server_that_refuses_all_is_not_asked_for_ever() {
    let server = Server::bind(&["h2"]).await;
    let client = server.client(|_| {});
    let n_asked = Cell::new(0);
    let serve_one = async || {
        let mut connection = h2::server::handshake(server.accept().await).await.unwrap();
        while let Some(Ok((_, mut answer))) = connection.accept().await {
            n_asked.set(n_asked.get() + 1);
            answer.send_reset(h2::Reason::REFUSED_STREAM);
        }
    };
    let serve = async { join!(serve_one(), serve_one()) };
    let (first, post) = (request(Method::GET, ""), request(Method::POST, "x"));
    let work = async {
        client.send(&first, None, drop).await;
        client.send(&post, None, drop).await
    };
    let exchange = tokio::select! {
        exchange = work => exchange,
        _ = serve => unreachable!("the client stays"),
    };
    assert!(
        outcome(&exchange).starts_with("1638 http2: "),
        "{}",
        outcome(&exchange)
    );
    // The first request, the repeats, and the one on a new connection.
    assert_eq!(n_asked.get(), 1 + 6 + 1);
}

/// Reads frames up to the next HEADERS.
async fn read_headers(stream: &mut (impl AsyncRead + Unpin)) {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let n_bytes = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; n_bytes as usize]).await.unwrap();
        if head[3] == 1 {
            return;
        }
    }
}

/// The server's first frame.
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

#[tokio::test]
async fn a_connection_that_ends_early_is_told_with_its_reason() {
    let check = async |last_words: &[u8], expected: &str| {
        let server = Server::bind(&["h2"]).await;
        let client = server.client(|_| {});
        let post = request(Method::POST, "x");
        let serve = async {
            let mut stream = server.accept().await;
            stream.read_exact(&mut [0; 24]).await.unwrap();
            stream.write_all(&SETTINGS).await.unwrap();
            read_headers(&mut stream).await;
            stream.write_all(last_words).await.unwrap();
            stream.shutdown().await.unwrap();
        };
        let (exchange, ()) = join!(client.send(&post, None, drop), serve);
        let error = exchange.outcome.unwrap_err();
        assert_eq!(format!("{} {}", error.code(), error.words()), expected);
    };
    check(&[], "1000 unexpected EOF").await;
    // Stream 1 was accepted.
    let calm = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 11];
    check(
        &calm,
        "1622 http2: received GoAway with http2 ErrCode ENHANCE_YOUR_CALM",
    )
    .await;
    let reset = [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 2];
    check(
        &reset,
        "1633 http2: stream error with http2 ErrCode INTERNAL_ERROR",
    )
    .await;
}

#[tokio::test]
async fn what_came_too_late_for_a_server_that_goes_is_sent_again() {
    // On stream 1, with the end of headers and stream: `:status: 200` of HPACK's static table.
    const OK: [u8; 10] = [0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88];
    // Stream 1 was the last one, and there is no error.
    const GOAWAY: [u8; 17] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    let server = Server::bind(&["h2"]).await;
    let client = server.client(|_| {});
    let post = request(Method::POST, "x");
    let serve = async {
        let mut leaving = server.accept().await;
        leaving.read_exact(&mut [0; 24]).await.unwrap();
        leaving.write_all(&SETTINGS).await.unwrap();
        read_headers(&mut leaving).await;
        leaving.write_all(&OK).await.unwrap();
        read_headers(&mut leaving).await;
        leaving.write_all(&GOAWAY).await.unwrap();
        let mut staying = server.accept().await;
        staying.read_exact(&mut [0; 24]).await.unwrap();
        staying.write_all(&SETTINGS).await.unwrap();
        read_headers(&mut staying).await;
        staying.write_all(&OK).await.unwrap();
        (leaving, staying)
    };
    let work = async {
        let first = client.send(&post, None, drop).await;
        (first, client.send(&post, None, drop).await)
    };
    let ((first, second), _open) = join!(work, serve);
    assert_eq!(
        (outcome(&first), outcome(&second)),
        ("200 ".to_owned(), "200 ".to_owned())
    );
}

#[tokio::test]
async fn a_server_that_allows_no_stream_is_not_waited_for_longer_than_allowed() {
    let server = Server::bind(&["h2"]).await;
    let client = server.client(|_| {});
    let get = Request {
        timeout: std::time::Duration::from_millis(100),
        ..request(Method::GET, "")
    };
    let serve = async {
        let mut builder = h2::server::Builder::new();
        builder.max_concurrent_streams(0);
        let mut connection = builder
            .handshake::<_, bytes::Bytes>(server.accept().await)
            .await
            .unwrap();
        connection.accept().await.is_none()
    };
    let work = async {
        client.send(&get, None, drop).await;
        client.send(&get, None, drop).await
    };
    let exchange = tokio::select! {
        exchange = work => exchange,
        _ = serve => unreachable!("the client stays"),
    };
    assert_eq!(outcome(&exchange), "1050 request timeout");
}
