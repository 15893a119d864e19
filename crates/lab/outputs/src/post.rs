//! Requests to a server over HTTP, each with a time limit.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri, header::RETRY_AFTER};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use rustls::ClientConfig;
use tokio::time::timeout;

/// Why a push was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Whether a retry may succeed.
    pub(crate) is_temporary: bool,
    /// The server's time for a retry.
    pub(crate) retry_after: Option<Duration>,
    /// What happened, for people.
    pub(crate) reason: String,
}

/// The longest answer: a status with a few words, or OTLP's list of refused points.
const MAX_ANSWER: usize = 64 << 10;

/// The length of an answer's excerpt for people, in characters.
const EXCERPT: usize = 200;

/// A client of one URL.
pub(crate) struct Post {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    url: Uri,
    headers: HeaderMap,
    limit: Duration,
    /// What errors call the server, if its URL is a secret.
    alias: Option<&'static str>,
}

impl Post {
    /// Sends `headers` with every request and waits up to `limit` for each answer.
    pub(crate) fn new(url: Uri, headers: HeaderMap, tls: ClientConfig, limit: Duration) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .build(connector(tls, limit));
        Self {
            client,
            url,
            headers,
            limit,
            alias: None,
        }
    }

    /// The client of a secret URL. Errors call the server `alias`, and show nothing that the server may have made of the
    /// URL.
    pub(crate) fn secretly(self, alias: &'static str) -> Self {
        Self {
            alias: Some(alias),
            ..self
        }
    }

    /// The body of the answer, when the server took the request.
    pub(crate) async fn send(&self, body: Bytes) -> Result<Bytes, Refusal> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.clone();
        *request.headers_mut() = self.headers.clone();
        let exchange = async {
            let response = self.client.request(request).await.map_err(|error| text(&error))?;
            read(response).await
        };
        let answer = timeout(self.limit, exchange).await;
        let answer = answer.unwrap_or_else(|_| Err(format!("no answer within {:?}", self.limit)));
        let (status, headers, body) = answer.map_err(|reason| Refusal {
            is_temporary: true,
            retry_after: None,
            reason: format!("{}: {reason}", self.name()),
        })?;
        if status.is_success() {
            return Ok(body);
        }
        Err(Refusal {
            is_temporary: status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS,
            retry_after: retry_after(&headers),
            reason: self.refusal(status, &body),
        })
    }

    fn name(&self) -> String {
        self.alias.map_or_else(|| self.url.to_string(), str::to_owned)
    }

    fn refusal(&self, status: StatusCode, body: &[u8]) -> String {
        let said = excerpt(body);
        let name = self.name();
        if self.alias.is_some() && !is_word(&said) {
            return format!("{name} answered {status}");
        }
        format!("{name} answered {status}: {said}")
    }
}

/// A connector for TCP, and for TLS if the URL asks for it.
fn connector(tls: ClientConfig, limit: Duration) -> HttpsConnector<HttpConnector> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(limit));
    HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp)
}

async fn read(response: Response<Incoming>) -> Result<(StatusCode, HeaderMap, Bytes), String> {
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_ANSWER).collect().await;
    let body = body.map_err(|error| error.to_string())?.to_bytes();
    Ok((head.status, head.headers, body))
}

/// Parses seconds. Dates are not worth their parser here, and are ignored.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let secs = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(secs))
}

/// Whether a text is one word like `invalid_payload`, which is no part of a URL.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(EXCERPT).collect()
}

/// An error with all its causes.
pub(crate) fn text(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[cfg(test)]
mod tests;
