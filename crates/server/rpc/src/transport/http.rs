//! Calls over HTTP: JSON in POST requests (docs/protocols/rpc.md, Over HTTP).

use std::{error::Error, time::Duration};

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, LOCATION},
};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};

use super::{
    connector::{Version, connect, connector},
    options::{PROTOCOL_VERSION, Place, TransportOptions, too_long},
};
use crate::{
    proto,
    request::{self, Reply},
    start_error::StartError,
    status::{Code, Status},
    target::BaseUrl,
    tls,
};

/// How long a connection may stay idle before it is closed. Servers close idle connections, too, and a request that
/// meets such a close would be lost, without a way to know whether it was worked on. The shortest common timeout is
/// gunicorn's 2 s.
const POOL_IDLE: Duration = Duration::from_millis(1500);

/// The length of an unexpected answer's excerpt in the log, in characters.
const EXCERPT: usize = 120;

/// A pool of connections with one call each at a time, on the thread that makes the calls.
pub(crate) struct Http {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    connector: HttpsConnector<HttpConnector>,
    url: BaseUrl,
    authorization: Option<HeaderValue>,
    max_reply_bytes: usize,
    max_request_bytes: Option<usize>,
}

impl Http {
    pub(super) fn new(
        url: BaseUrl,
        options: &TransportOptions,
        place: &Place<'_>,
    ) -> Result<Self, StartError> {
        let config = if url.is_secure() {
            tls::client_config(&options.trust)?
        } else {
            tls::unused_config()
        };
        let connector = connector(
            HttpConnector::new(),
            config,
            &Version::Http1,
            place.connect_timeout,
        );
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(place.concurrency)
            .build(connector.clone());
        Ok(Self {
            client,
            connector,
            url,
            authorization: options.http_secret.as_deref().map(bearer).transpose()?,
            max_reply_bytes: options.max_reply_bytes(),
            max_request_bytes: options.max_request_bytes,
        })
    }

    pub(super) async fn probe(&self) -> Result<(), String> {
        connect(&self.connector, self.url.join("")).await
    }

    pub(super) async fn attempt<R: Reply>(&self, sid: &str, body: Bytes) -> Result<R, Status> {
        TransportOptions::check_request_size(self.max_request_bytes, body.len())?;
        let sent = self.client.request(self.request(R::METHOD, sid, body)).await;
        let response = sent.map_err(unanswered)?;
        let status = response.status();
        let answer = Answer::read(response, self.max_reply_bytes).await?;
        if status != StatusCode::OK {
            return Err(answer.refusal(status));
        }
        serde_json::from_slice(&answer.body).map_err(|error| answer.misunderstood(R::METHOD, &error))
    }

    fn request(&self, method: proto::Method, sid: &str, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.join(method.http_segment());
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let sid = sid.parse().expect("session ids are plain ASCII");
        headers.insert("x-anycable-meta-sid", sid);
        headers.insert(
            "x-anycable-meta-protov",
            HeaderValue::from_static(PROTOCOL_VERSION),
        );
        request
    }
}

/// The body of a request.
pub(super) fn encode(request: &impl request::Request) -> Bytes {
    let body = serde_json::to_vec(request).expect("messages of strings always serialise");
    body.into()
}

/// An HTTP answer of any status.
struct Answer {
    body: Bytes,
    content_type: String,
    location: Option<String>,
}

impl Answer {
    async fn read(response: Response<Incoming>, max_bytes: usize) -> Result<Self, Status> {
        let text = |name| {
            let value = response.headers().get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let content_type = text(CONTENT_TYPE).unwrap_or_else(|| "no content type".to_owned());
        let location = text(LOCATION);
        let body = Limited::new(response.into_body(), max_bytes).collect().await;
        let body = body.map_err(|error| broken_off(error, max_bytes))?.to_bytes();
        Ok(Self {
            body,
            content_type,
            location,
        })
    }

    /// The contract's meaning of a status other than 200 (docs/protocols/rpc.md, Over HTTP).
    fn refusal(&self, status: StatusCode) -> Status {
        let excerpt = self.excerpt();
        match status {
            StatusCode::UNAUTHORIZED => Status::new(
                Code::Unauthenticated,
                format!(
                    "the application answered 401: {excerpt}. Hint: --http_rpc_secret must be the secret that it expects"
                ),
            ),
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Status::new(
                Code::InvalidArgument,
                format!("the application answered {status}: {excerpt}"),
            ),
            StatusCode::NOT_FOUND => Status::unavailable(format!(
                "the application answered 404: {excerpt}. Hint: the path of --rpc_host must be the application's \
                 path for RPC over HTTP, for example http://localhost:3000/_anycable"
            )),
            _ if status.is_redirection() => Status::unavailable(format!(
                "the application answered {status} with a redirect to {:?}. Hint: redirects are not followed; set \
                 --rpc_host to the final URL",
                self.location.as_deref().unwrap_or_default()
            )),
            _ => Status::unavailable(format!("the application answered {status}: {excerpt}")),
        }
    }

    fn misunderstood(&self, method: proto::Method, error: &serde_json::Error) -> Status {
        Status::internal(format!(
            "the reply is not the JSON of a {method:?} reply ({error}); expected something like \
             {{\"status\":1,\"transmissions\":[]}}, got {}: {}",
            self.content_type,
            self.excerpt()
        ))
    }

    /// The beginning of the body, on one line.
    fn excerpt(&self) -> String {
        if self.body.is_empty() {
            return "an empty body".to_owned();
        }
        let text = String::from_utf8_lossy(&self.body);
        let excerpt: String = text.chars().take(EXCERPT).collect();
        format!("{excerpt:?}")
    }
}

fn bearer(secret: &str) -> Result<HeaderValue, StartError> {
    let value = HeaderValue::try_from(format!("Bearer {secret}"));
    let mut value = value.map_err(|_| StartError::Secret)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The status of a call without an answer. If no connection could be made, the call can be repeated. If a connection
/// broke, the application may already have worked on the call, so it is not repeated, as over gRPC.
fn unanswered(error: hyper_util::client::legacy::Error) -> Status {
    let status = if error.is_connect() {
        Status::unavailable("no connection to the application")
    } else {
        Status::unknown("the connection ended before there was an answer")
    };
    status.with_source(error)
}

fn broken_off(error: Box<dyn Error + Send + Sync>, max_bytes: usize) -> Status {
    if error.is::<LengthLimitError>() {
        too_long(max_bytes)
    } else {
        Status::unknown("the connection ended within the answer").with_source(error)
    }
}
