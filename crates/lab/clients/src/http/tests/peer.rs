//! A scripted server: it sends the test's answers, and records its requests.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::super::*;
use crate::tls::{Tls, TlsOptions};

pub(super) struct Peer {
    listener: TcpListener,
    pub(super) address: SocketAddr,
}

impl Peer {
    pub(super) async fn bind() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        Self { listener, address }
    }

    pub(super) fn get(&self, path: &str) -> Request {
        self.request(Method::GET, path, "")
    }

    pub(super) fn request(&self, method: Method, path: &str, body: &str) -> Request {
        let url = format!("http://{}{path}", self.address).parse().unwrap();
        Request {
            body: body.into(),
            ..Request::new(method, url)
        }
    }

    pub(super) async fn accept(&self) -> TcpStream {
        self.listener.accept().await.unwrap().0
    }

    /// Accepts one connection for each list of answers, gives an answer to each request, and closes the connection. An
    /// empty answer sends nothing. Returns the requests.
    pub(super) fn serve<'a>(
        &'a self,
        connections: &[&[&str]],
    ) -> impl Future<Output = Vec<String>> + use<'a> {
        let own = |answers: &&[&str]| answers.iter().map(|&answer| answer.to_owned()).collect();
        let connections: Vec<Vec<String>> = connections.iter().map(own).collect();
        async move {
            let mut requests = Vec::new();
            for answers in connections {
                let mut stream = self.accept().await;
                for answer in answers {
                    requests.push(read_request(&mut stream).await);
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            }
            requests
        }
    }
}

/// Reads a request and answers it.
pub(super) async fn answer(stream: &mut TcpStream, text: &str) {
    read_request(stream).await;
    stream.write_all(text.as_bytes()).await.unwrap();
}

/// Reads head and body. The head gives the body's length.
pub(super) async fn read_request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    loop {
        let mut bytes = Vec::new();
        assert!(
            stream.read_buf(&mut bytes).await.unwrap() > 0,
            "the client left after {text:?}"
        );
        text.push_str(&String::from_utf8(bytes).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "));
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            return text;
        }
    }
}

pub(super) fn settings() -> Settings {
    let tls = Tls::new(TlsOptions::default()).unwrap();
    Settings {
        user_agent: "test".to_owned(),
        ..Settings::new(Arc::default(), Arc::new(tls))
    }
}

pub(super) fn client() -> Client {
    Client::new(Arc::new(settings()), None)
}

/// `status body`, or the number of the error and its text.
pub(super) fn outcome(exchange: &Exchange) -> String {
    match &exchange.outcome {
        Ok(response) => format!("{} {}", response.status, String::from_utf8_lossy(&response.body)),
        Err(error) => format!("{} {error}", error.code()),
    }
}

pub(super) async fn send(client: &Client, request: &Request) -> String {
    outcome(&client.send(request, None, |_| panic!("one exchange")).await)
}
