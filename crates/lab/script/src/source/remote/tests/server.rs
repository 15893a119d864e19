//! A server with TLS on the loopback interface that answers every path.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::source::{MAX_SOURCE_BYTES, Specifier};

/// It ends with this.
pub(super) struct Server {
    address: SocketAddr,
    certificate: CertificateDer<'static>,
    asked: Arc<Mutex<Vec<String>>>,
    task: AbortHandle,
}

impl Server {
    pub(super) async fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a valid name");
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has the cipher suites")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .expect("they were made for each other");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("any port will do");
        let address = listener.local_addr().expect("it is bound");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (acceptor, log) = (acceptor.clone(), Arc::clone(&log));
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(socket).await {
                        answer_all(stream, &log).await;
                    }
                });
            }
        });
        Self {
            address,
            certificate,
            asked,
            task: task.abort_handle(),
        }
    }

    pub(super) fn authorities(&self) -> RootCertStore {
        let mut store = RootCertStore::empty();
        store.add(self.certificate.clone()).expect("a certificate");
        store
    }

    pub(super) fn module(&self, path: &str) -> Specifier {
        Specifier::parse(&format!("https://{}{path}", self.address)).expect("a URL")
    }

    /// The paths that clients asked for.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("nobody panics with it").clone()
    }

    /// A text without the server's port.
    pub(super) fn hide(&self, text: &str) -> String {
        text.replace(&self.address.to_string(), "server")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer_all(stream: TlsStream<TcpStream>, log: &Mutex<Vec<String>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !matches!(stream.read_line(&mut head).await, Ok(1..)) {
                return;
            }
        }
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        log.lock().expect("nobody panics with it").push(path.clone());
        let Some(answer) = answer(&path) else {
            std::future::pending::<()>().await;
            return;
        };
        let is_complete = stream.write_all(&answer).await.is_ok() && stream.flush().await.is_ok();
        if !is_complete || path.starts_with("/cut") {
            return;
        }
    }
}

fn with_body(body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    [
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes(),
        body,
    ]
    .concat()
}

fn redirection(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

/// `None` is no answer, ever.
fn answer(path: &str) -> Option<Vec<u8>> {
    let name = path.split('?').next().unwrap_or_default();
    Some(match name {
        "/lib.js" => with_body("export const lib = 'grüße';"),
        "/unmarked.js" if !path.contains('?') => with_body("export {};"),
        "/tree/a.js" => with_body("export { b as a } from './b.ts';"),
        "/tree/b.ts" => with_body("export const b: number = 1;"),
        "/nosy.js" => with_body("import 'file:///etc/passwd';"),
        "/moved" => redirection("/lib.js"),
        "/circle" => redirection("/circle"),
        "/plain" => redirection("http://server.example/lib.js"),
        "/huge" => {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
                MAX_SOURCE_BYTES + 1
            );
            [head.into_bytes(), vec![b' '; MAX_SOURCE_BYTES + 1]].concat()
        }
        "/endless" => {
            let mut answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
            let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 0x10_0000], b"\r\n"].concat();
            answer.extend(chunk.repeat(17));
            answer
        }
        "/cut" => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nexport".to_vec(),
        "/latin" => with_body(b"// \xfc"),
        "/hang" => return None,
        _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
    })
}
