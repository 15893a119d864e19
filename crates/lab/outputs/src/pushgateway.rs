//! A Pushgateway of Prometheus, which keeps figures of programs that end before they are scraped.
//!
//! Every push has all figures, so one that fails costs nothing as soon as a later one succeeds, and nothing waits in a queue:
//! the newest figures replace those that are not sent yet.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Uri,
    header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT},
    uri::Authority,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tokio::{sync::watch, task::JoinHandle};

mod exposition;

pub use self::exposition::Exposition;
use crate::{
    OutputError,
    post::Post,
    settings::{HIDDEN, secret},
    tls::{PemFile, SINCE_1_2, Tls},
};

/// The time limit of a push, as in Artillery.
const LIMIT: Duration = Duration::from_secs(5);

/// Bytes of a job that a path cannot have.
const NOT_IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The address of a Pushgateway.
#[derive(Clone, Copy, Debug)]
pub struct PushgatewayAddress<'a> {
    /// Its URL, which may hold user and password.
    pub url: &'a str,
    /// The group of figures. Each run has its own.
    pub job: &'a str,
    /// A PEM file of the authorities that may vouch for the server; `None` for the system's.
    pub authorities: Option<&'a str>,
}

/// A Pushgateway.
pub struct Pushgateway(Post);

/// Pushes in the background, on the runtime that began them.
pub struct Pushing {
    newest: watch::Sender<Bytes>,
    task: JoinHandle<()>,
}

impl Pushgateway {
    /// # Errors
    /// This is not a URL, or a file is invalid. The error does not show the URL.
    pub fn new(address: PushgatewayAddress<'_>) -> Result<Self, OutputError> {
        let invalid = || OutputError::Variable {
            variable: "pushgateway".to_owned(),
            value: HIDDEN.to_owned(),
            expected: "a URL, for example `http://localhost:9091`".to_owned(),
        };
        let (url, authorization) = split(address).ok_or_else(invalid)?;
        let tls = Tls {
            versions: SINCE_1_2,
            believes_anybody: false,
            authorities: address.authorities.map(|path| PemFile::named("ca", path)),
            identity: None,
        };
        let tls = tls.for_url(&url)?;
        let mut headers = HeaderMap::from_iter([
            (
                CONTENT_TYPE,
                HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"),
            ),
            (
                USER_AGENT,
                HeaderValue::from_static(concat!("plimsoll/", env!("CARGO_PKG_VERSION"))),
            ),
        ]);
        headers.extend(authorization.map(|value| (AUTHORIZATION, value)));
        Ok(Self(Post::new(url, headers, tls, LIMIT)))
    }

    /// Starts to push. Failures are warnings.
    pub fn begin(self) -> Pushing {
        let (newest, mut pushes) = watch::channel(Bytes::new());
        let task = tokio::spawn(async move {
            // The last figures are seen although their sender is gone.
            while pushes.changed().await.is_ok() {
                let figures = pushes.borrow_and_update().clone();
                if let Err(refusal) = self.0.send(figures).await {
                    tracing::warn!("The Pushgateway did not take the figures: {}", refusal.reason);
                }
            }
        });
        Pushing { newest, task }
    }
}

impl Pushing {
    /// Pushes these figures as soon as the push in progress has ended.
    pub fn push(&self, figures: String) {
        self.newest.send_replace(Bytes::from(figures));
    }

    /// Waits until the last figures are pushed: at most for two pushes of five seconds.
    pub async fn finish(self) {
        drop(self.newest);
        // A panic has told of itself.
        let _ended = self.task.await;
    }
}

/// The URL of pushes without user and password, and these as a header field.
fn split(address: PushgatewayAddress<'_>) -> Option<(Uri, Option<HeaderValue>)> {
    let url: Uri = address.url.parse().ok()?;
    let scheme = url
        .scheme_str()
        .filter(|scheme| ["http", "https"].contains(scheme))?;
    let whole = url.authority()?.as_str();
    let (credentials, host) = match whole.rsplit_once('@') {
        Some((credentials, host)) => (Some(credentials), host),
        None => (None, whole),
    };
    let host: Authority = host.parse().ok()?;
    let authorization = match credentials {
        Some(credentials) => Some(secret(&format!(
            "Basic {}",
            BASE64_STANDARD.encode(decoded(credentials))
        ))?),
        None => None,
    };
    let path = url.path().trim_end_matches('/');
    let job = utf8_percent_encode(address.job, NOT_IN_PATHS);
    let target = format!("{scheme}://{host}{path}/metrics/job/{job}");
    Some((target.parse().ok()?, authorization))
}

/// `user:password` without percent signs for other characters.
fn decoded(credentials: &str) -> Vec<u8> {
    percent_decode_str(credentials).collect()
}

#[cfg(test)]
mod tests;
