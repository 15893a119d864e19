//! Broadcasts over HTTP: one POST after the other on one connection, so that they stay in order.

use std::{io, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request, StatusCode,
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use url::Url;

use super::{Adapter, BroadcastError};
use crate::address::Address;

/// Bytes of an answer that are read. Reason: a line of text is all that a server has to say.
const MOST_ANSWER_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct HttpDoor {
    address: Address,
    path: String,
    key: Option<String>,
    connection: Option<SendRequest<Full<Bytes>>>,
}

impl HttpDoor {
    pub(super) fn new(
        url: &str,
        tls: Option<Arc<ClientConfig>>,
        key: Option<&str>,
    ) -> Result<Self, BroadcastError> {
        let wrong = || BroadcastError::Url {
            url: plimsoll_redacted::url_with_query(url).into_owned(),
            adapter: Adapter::Http,
            example: "http://127.0.0.1:8090/_broadcast",
        };
        let parsed = Url::parse(url).map_err(|_| wrong())?;
        let (usual_port, tls) = match parsed.scheme() {
            "http" => (80, None),
            "https" if tls.is_some() => (443, tls),
            _ => return Err(wrong()),
        };
        let address = Address::of(&parsed, usual_port, tls).ok_or_else(wrong)?;
        Ok(Self {
            address,
            path: parsed.path().to_owned(),
            key: key.map(str::to_owned),
            connection: None,
        })
    }

    pub(super) fn place(&self) -> String {
        self.address.authority()
    }

    pub(super) async fn publish(&mut self, body: &str) -> Result<(), BroadcastError> {
        // A server that was started again has forgotten the connection; nothing was published then.
        let reused = self.connection.take().filter(SendRequest::is_ready);
        let connection = match reused {
            Some(connection) => connection,
            None => self.connect().await.map_err(|error| self.failed(error))?,
        };
        let (connection, status, answer) = self
            .post(connection, body)
            .await
            .map_err(|error| self.failed(io::Error::other(error)))?;
        self.connection = Some(connection);
        match status {
            // AnyCable's answer, and what doors of others may say.
            StatusCode::CREATED | StatusCode::OK => Ok(()),
            status => Err(BroadcastError::Refused {
                place: self.place(),
                answer: format!("{status} {answer:?}"),
                expected: "201 Created",
            }),
        }
    }

    async fn connect(&self) -> io::Result<SendRequest<Full<Bytes>>> {
        let stream = self.address.dial().await.map_err(io::Error::other)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(io::Error::other)?;
        // What becomes of the connection is seen by the next request.
        tokio::spawn(connection);
        Ok(sender)
    }

    async fn post(
        &self,
        mut connection: SendRequest<Full<Bytes>>,
        body: &str,
    ) -> Result<(SendRequest<Full<Bytes>>, StatusCode, String), Box<dyn std::error::Error + Send + Sync>>
    {
        let mut request = Request::post(&self.path)
            .header(header::HOST, self.place())
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        let request = request.body(Full::from(body.to_owned()))?;
        let response = connection.send_request(request).await?;
        let status = response.status();
        let answer = Limited::new(response.into_body(), MOST_ANSWER_BYTES)
            .collect()
            .await?;
        let answer = String::from_utf8_lossy(&answer.to_bytes()).into_owned();
        Ok((connection, status, answer))
    }

    fn failed(&self, error: io::Error) -> BroadcastError {
        BroadcastError::Io {
            place: self.place(),
            error,
        }
    }
}
