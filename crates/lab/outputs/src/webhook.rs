//! Webhooks: sends one message, as JSON, to a URL. The URL is a secret, because it is all that a sender needs.

use std::time::Duration;

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Uri,
    header::{CONTENT_TYPE, USER_AGENT},
};

use crate::{
    OutputError,
    post::Post,
    tls::{SINCE_1_2, Tls},
};

/// The time limit of a message. Reason: a person waits for the end of the command.
const LIMIT: Duration = Duration::from_secs(10);

/// What errors call the server.
const ALIAS: &str = "the webhook";

/// A server that takes messages.
pub struct Webhook(Post);

impl Webhook {
    /// # Errors
    /// This is not a URL, or TLS cannot be used. The error does not show the URL.
    pub fn new(url: &str) -> Result<Self, OutputError> {
        let invalid = || OutputError::Variable {
            variable: "webhook".to_owned(),
            value: crate::settings::HIDDEN.to_owned(),
            expected: "a URL".to_owned(),
        };
        let url: Uri = url.parse().map_err(|_| invalid())?;
        let tls = Tls {
            versions: SINCE_1_2,
            believes_anybody: false,
            authorities: None,
            identity: None,
        };
        let tls = tls.for_url(&url)?;
        let headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (
                USER_AGENT,
                HeaderValue::from_static(concat!("plimsoll/", env!("CARGO_PKG_VERSION"))),
            ),
        ]);
        Ok(Self(Post::new(url, headers, tls, LIMIT).secretly(ALIAS)))
    }

    /// Sends a message, once, and waits for the answer up to ten seconds. Redirects are not followed.
    ///
    /// # Errors
    /// The server did not take it. The text is for people, and shows nothing of the URL.
    pub async fn send(&self, json: String) -> Result<(), String> {
        let sent = self.0.send(Bytes::from(json)).await;
        sent.map(drop).map_err(|refusal| refusal.reason)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    async fn sent(answer: &'static str) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/services/T0/B0/secret", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"{}") {
                stream.read_buf(&mut request).await.unwrap();
            }
            assert!(request.starts_with(b"POST /services/T0/B0/secret HTTP/1.1\r\n"));
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        Webhook::new(&url).unwrap().send("{}".to_owned()).await
    }

    #[tokio::test]
    async fn errors_show_nothing_of_the_url() {
        assert_eq!(
            sent("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await,
            Ok(())
        );
        for (answer, reason) in [
            (
                "HTTP/1.1 400 Bad Request\r\nContent-Length: 15\r\n\r\ninvalid_payload",
                "the webhook answered 400 Bad Request: invalid_payload",
            ),
            (
                "HTTP/1.1 404 Not Found\r\nContent-Length: 34\r\n\r\nCannot POST /services/T0/B0/secret",
                "the webhook answered 404 Not Found",
            ),
            (
                "HTTP/1.1 302 Found\r\nLocation: /services/T0/B0/secret\r\nContent-Length: 0\r\n\r\n",
                "the webhook answered 302 Found",
            ),
        ] {
            assert_eq!(sent(answer).await, Err(reason.to_owned()));
        }
        let lost = sent("").await.unwrap_err();
        assert!(lost.starts_with("the webhook: "), "{lost}");
        let refused = Webhook::new("http://127.0.0.1:1/secret").unwrap();
        let refused = refused.send(String::new()).await.unwrap_err();
        for text in [
            lost,
            refused,
            Webhook::new("no url: secret").err().unwrap().to_string(),
        ] {
            assert!(!text.contains("secret"), "{text}");
        }
    }
}
