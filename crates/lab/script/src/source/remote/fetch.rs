//! GET over TLS, as k6 does it (docs/protocols/k6.md, Imports).

use std::{error::Error, string::FromUtf8Error, sync::OnceLock, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper_rustls::HttpsConnector;
use hyper_util::{client::legacy, rt::TokioExecutor};
use plimsoll_clients::dial::Proxies;
use plimsoll_trust::{NoAuthorities, system_authorities};
use rustls::RootCertStore;
use tokio::time::timeout;
use url::Url;

use super::super::{MAX_SOURCE_BYTES, Specifier};
use crate::connector::{Connector, Schemes, over_tls, with_causes};

/// Time for one module with all its redirections (k6's).
const DEADLINE: Duration = Duration::from_secs(60);

/// A package registry needs two: to a version, and to a file.
const MAX_REDIRECTIONS: usize = 5;

/// Tells a server that a load test asks, as k6 does, so that it answers with the module and not with a page.
const MARK: &str = "_k6=1";

type Client = legacy::Client<HttpsConnector<Connector>, Empty<Bytes>>;
type Body = hyper::body::Incoming;

/// Why an answer is not a module.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Without authorities no server can be trusted.
    #[error(transparent)]
    NoAuthorities(#[from] NoAuthorities),
    /// No connection, or no answer.
    #[error("{}", with_causes(.0))]
    Request(#[from] legacy::Error),
    /// It took too long.
    #[error("no complete answer within {} s", DEADLINE.as_secs())]
    Deadline,
    /// Another answer than the module.
    #[error("the answer is {0} instead of 200; open the URL in a browser")]
    Status(StatusCode),
    /// The redirection has no target, or an untrusted one.
    #[error("it redirects to {to:?}, but only redirects to https:// are followed")]
    Redirection {
        /// The unmodified header.
        to: String,
    },
    /// It leads in circles.
    #[error("it redirects more than {MAX_REDIRECTIONS} times")]
    Redirections,
    /// The answer breaks off.
    #[error("the answer is incomplete: {0}")]
    Body(Box<dyn Error + Send + Sync>),
    /// No module is this large.
    #[error("the answer has more than {MAX_SOURCE_BYTES} bytes")]
    TooLarge,
    /// A source is UTF-8.
    #[error("the answer is not UTF-8")]
    Encoding(#[from] FromUtf8Error),
}

/// Asks servers.
#[derive(Debug)]
pub(super) struct Fetcher {
    authorities: Option<RootCertStore>,
    proxies: Proxies,
    /// Made when it is needed first: most scripts fetch nothing.
    client: OnceLock<Client>,
}

impl Fetcher {
    pub(super) fn through(self, proxies: Proxies) -> Self {
        Self { proxies, ..self }
    }

    pub(super) fn new(authorities: Option<RootCertStore>) -> Self {
        Self {
            authorities,
            proxies: Proxies::default(),
            client: OnceLock::new(),
        }
    }

    /// The module's text, asked for with the mark first, and without it when that gets another answer than 200.
    pub(super) async fn fetch(&self, module: &Specifier) -> Result<String, FetchError> {
        let client = self.client()?;
        let marked = async {
            match get(client, marked(module.url())).await {
                Err(FetchError::Status(_)) => get(client, module.url().clone()).await,
                other => other,
            }
        };
        let bytes = timeout(DEADLINE, marked)
            .await
            .map_err(|_| FetchError::Deadline)??;
        let text = String::from_utf8(bytes)?;
        Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        })
    }

    fn client(&self) -> Result<&Client, FetchError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let authorities = match &self.authorities {
            Some(authorities) => authorities.clone().into(),
            None => system_authorities()?,
        };
        Ok(self.client.get_or_init(|| {
            let connector = over_tls(authorities, &self.proxies, Schemes::Https);
            legacy::Client::builder(TokioExecutor::new()).build(connector)
        }))
    }
}

fn marked(url: &Url) -> Url {
    let mut url = url.clone();
    let query = match url.query() {
        Some(query) => format!("{query}&{MARK}"),
        None => MARK.to_owned(),
    };
    url.set_query(Some(&query));
    url
}

async fn get(client: &Client, mut url: Url) -> Result<Vec<u8>, FetchError> {
    for _ in 0..=MAX_REDIRECTIONS {
        let request = Request::get(url.as_str())
            .header(
                header::ACCEPT,
                "text/javascript, application/javascript, */*;q=0.5",
            )
            .header(
                header::USER_AGENT,
                concat!("plimsoll/", env!("CARGO_PKG_VERSION")),
            )
            .body(Empty::new())
            .expect("every URL with a host is a URI, and the headers are valid");
        let response = client.request(request).await?;
        match response.status() {
            StatusCode::OK => return body(response).await,
            status if status.is_redirection() => url = target(&url, &response)?,
            status => return Err(FetchError::Status(status)),
        }
    }
    Err(FetchError::Redirections)
}

fn target(from: &Url, response: &Response<Body>) -> Result<Url, FetchError> {
    let Some(location) = response.headers().get(header::LOCATION) else {
        return Err(FetchError::Status(response.status()));
    };
    let location = String::from_utf8_lossy(location.as_bytes());
    let target = from.join(&location).ok().filter(|url| url.scheme() == "https");
    target.ok_or_else(|| FetchError::Redirection {
        to: location.into_owned(),
    })
}

async fn body(response: Response<Body>) -> Result<Vec<u8>, FetchError> {
    let body = Limited::new(response.into_body(), MAX_SOURCE_BYTES)
        .collect()
        .await;
    match body {
        Ok(body) => Ok(body.to_bytes().into()),
        Err(error) if error.is::<LengthLimitError>() => Err(FetchError::TooLarge),
        Err(error) => Err(FetchError::Body(error)),
    }
}
