//! One request to the webhook, and what its answer means.

use std::time::Duration;

use bytes::Bytes;
use http::{
    HeaderValue, Request, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER},
};
use http_body_util::{BodyExt, Full, Limited};
use plimsoll_trust::NoAuthorities;

use super::url::WebhookUrl;
use crate::https::{self, Client, with_causes};

/// How long a connection is kept between two requests. Servers close idle connections, too; the shortest common timeout
/// is gunicorn's 2 s.
const IDLE: Duration = Duration::from_millis(1500);

/// The longest body of an answer that is read, so that its connection can be used again.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// The receiver of joins and leaves.
#[derive(Debug, Clone)]
pub struct Webhook {
    url: WebhookUrl,
    authorization: Option<HeaderValue>,
    client: Client,
}

/// Why the webhook cannot be called.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// Without certificate authorities no https server can be trusted.
    #[error(transparent)]
    NoAuthorities(#[from] NoAuthorities),
    /// The key cannot be sent in a header.
    #[error("the key has characters that an HTTP header cannot have; use printable ASCII")]
    Key,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// A later attempt may succeed.
    Passing {
        reason: String,
        /// How long the receiver asks to wait.
        retry_after: Option<Duration>,
    },
    /// The receiver will never take this batch.
    Final { reason: String },
}

/// Sends bodies. Tests have another one.
pub(super) trait Post {
    /// Sends the body of a batch, whose key is the same in each attempt.
    fn post(&self, key: &str, body: Bytes) -> impl Future<Output = Result<(), Failure>> + Send;
}

impl Webhook {
    /// A webhook with the key that it is told (`Authorization: Bearer`).
    ///
    /// # Errors
    /// See [`WebhookError`].
    pub fn new(url: WebhookUrl, key: Option<&str>) -> Result<Self, WebhookError> {
        let authorization = match key.map(|key| HeaderValue::try_from(format!("Bearer {key}"))) {
            None => None,
            Some(Ok(mut value)) => {
                value.set_sensitive(true);
                Some(value)
            }
            Some(Err(_)) => return Err(WebhookError::Key),
        };
        Ok(Self {
            client: https::client(url.uri(), IDLE)?,
            url,
            authorization,
        })
    }

    /// The URL.
    pub fn url(&self) -> &WebhookUrl {
        &self.url
    }
}

impl Post for Webhook {
    async fn post(&self, key: &str, body: Bytes) -> Result<(), Failure> {
        let mut request = Request::post(self.url.uri())
            .header(CONTENT_TYPE, "application/json")
            .header("idempotency-key", key)
            .body(Full::from(body))
            .expect("the URL was parsed, and the key is ASCII");
        if let Some(authorization) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        let sent = self.client.request(request).await;
        let response = sent.map_err(|error| Failure::Passing {
            reason: with_causes(&error),
            retry_after: None,
        })?;
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(seconds);
        // The answer's text means nothing; without it the connection could not be used again.
        let _ignored = Limited::new(response.into_body(), MAX_ANSWER_BYTES)
            .collect()
            .await;
        judge(status, retry_after)
    }
}

fn judge(status: StatusCode, retry_after: Option<Duration>) -> Result<(), Failure> {
    let reason = format!("the answer is {status}");
    match status {
        _ if status.is_success() => Ok(()),
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
            Err(Failure::Final { reason })
        }
        _ => Err(Failure::Passing { reason, retry_after }),
    }
}

fn seconds(value: &HeaderValue) -> Option<Duration> {
    value.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_says_whether_a_later_attempt_may_succeed() {
        for (status, expected) in [
            (200, "taken"),
            (204, "taken"),
            (302, "later"),
            (400, "never"),
            (401, "later"),
            (404, "later"),
            (413, "never"),
            (422, "never"),
            (429, "later"),
            (500, "later"),
            (503, "later"),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            let found = match judge(status, None) {
                Ok(()) => "taken",
                Err(Failure::Passing { .. }) => "later",
                Err(Failure::Final { .. }) => "never",
            };
            assert_eq!(found, expected, "{status}");
        }
    }

    #[test]
    fn a_key_must_fit_into_a_header() {
        let url: WebhookUrl = "http://localhost/".parse().expect("a URL");
        assert!(Webhook::new(url.clone(), Some("s3cret")).is_ok());
        assert!(matches!(Webhook::new(url, Some("a\nb")), Err(WebhookError::Key)));
    }
}
