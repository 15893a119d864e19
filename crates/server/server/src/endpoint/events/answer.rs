//! Answers to a request for an event stream: the head of an endless stream, or a refusal.
//!
//! A stream has neither length nor chunks and ends with its connection. So its frames are the same for every client,
//! including HTTP/1.0 clients, and the hub can share them.

use http::{HeaderMap, StatusCode};

/// The headers forbid caches and proxies to keep events: they are private, and late ones are useless. nginx obeys
/// `X-Accel-Buffering`.
const STREAM_HEADERS: &str = "\
Content-Type: text/event-stream; charset=utf-8\r\n\
Cache-Control: private, no-cache, no-store, must-revalidate, max-age=0\r\n\
X-Accel-Buffering: no\r\n\
X-Content-Type-Options: nosniff\r\n\
Connection: close\r\n";

/// Why an event stream is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The application refused the client.
    Unauthorized,
    /// The application could not be reached to identify the client, or did not decide about a subscription for minutes.
    NotDecided,
    /// The application rejected this subscription.
    Rejected(Box<str>),
    /// The server is about to stop.
    Draining,
}

/// The head of a stream. Events follow.
pub(super) fn head(cors: &HeaderMap) -> Vec<u8> {
    answer(StatusCode::OK, STREAM_HEADERS, cors, "")
}

impl Refusal {
    /// The whole answer. A browser does not retry after any of them (HTML Standard §9.2.3).
    pub(super) fn answer(&self, cors: &HeaderMap) -> Vec<u8> {
        let (status, more, text) = match self {
            Self::Unauthorized => (
                StatusCode::UNAUTHORIZED,
                "WWW-Authenticate: Bearer\r\n",
                "The application refused the connection.\n".to_owned(),
            ),
            Self::NotDecided => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Retry-After: 1\r\n",
                "The application could not be reached. Try again.\n".to_owned(),
            ),
            Self::Rejected(identifier) => (
                StatusCode::BAD_REQUEST,
                "",
                format!("The subscription to {identifier} was rejected.\n"),
            ),
            Self::Draining => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Retry-After: 1\r\n",
                "The server accepts no more connections.\n".to_owned(),
            ),
        };
        let length = text.len();
        let headers = format!(
            "Content-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n{more}"
        );
        answer(status, &headers, cors, &text)
    }
}

fn answer(status: StatusCode, headers: &str, cors: &HeaderMap, body: &str) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 {status}\r\n{headers}").into_bytes();
    for (name, value) in cors {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            answer.extend_from_slice(part);
        }
    }
    answer.extend_from_slice(b"\r\n");
    answer.extend_from_slice(body.as_bytes());
    answer
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use http::{HeaderValue, header};

    use super::*;

    #[track_caller]
    fn check(answer: &[u8], expected: &Expect) {
        expected.assert_eq(&String::from_utf8_lossy(answer).replace("\r\n", "\n"));
    }

    #[test]
    fn answers_say_who_may_read_them() {
        let allowed = HeaderValue::from_static("*");
        let cors = HeaderMap::from_iter([(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed)]);
        check(
            &head(&cors),
            &expect![[r#"
            HTTP/1.1 200 OK
            Content-Type: text/event-stream; charset=utf-8
            Cache-Control: private, no-cache, no-store, must-revalidate, max-age=0
            X-Accel-Buffering: no
            X-Content-Type-Options: nosniff
            Connection: close
            access-control-allow-origin: *

        "#]],
        );
        check(
            &Refusal::Unauthorized.answer(&cors),
            &expect![[r#"
            HTTP/1.1 401 Unauthorized
            Content-Type: text/plain; charset=utf-8
            Content-Length: 40
            Connection: close
            WWW-Authenticate: Bearer
            access-control-allow-origin: *

            The application refused the connection.
        "#]],
        );
        check(
            &Refusal::Rejected("{\"channel\":\"X\"}".into()).answer(&cors),
            &expect![[r#"
                HTTP/1.1 400 Bad Request
                Content-Type: text/plain; charset=utf-8
                Content-Length: 50
                Connection: close
                access-control-allow-origin: *

                The subscription to {"channel":"X"} was rejected.
            "#]],
        );
    }
}
