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
use tokio::{net::TcpListener, task::LocalSet};
use tokio_rustls::TlsAcceptor;

use super::{super::*, peer::outcome};
use crate::{
    dial::{Dialer, Overrides},
    tls::{Believe, Tls, TlsOptions},
};

/// A server that answers with the method and the body that it got.
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
        believe: Believe::Authorities(authorities),
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
