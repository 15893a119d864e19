//! What an answer means that opens no WebSocket.

use plimsoll_clients::websocket::Response;

use crate::{Kind, Problem};

/// The meaning of a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: Kind,
    /// None if HTTP at this path is what the server is for.
    pub(crate) problem: Option<Problem>,
    /// Whether another path may have a WebSocket.
    pub(crate) may_be_elsewhere: bool,
}

/// Header fields by which servers and proxies name themselves.
const NAMES: [&str; 9] = [
    "Server",
    "Via",
    "X-Powered-By",
    "X-Served-By",
    "X-Cache",
    "CF-Ray",
    "Fly-Request-Id",
    "X-Amz-Cf-Id",
    "X-Envoy-Upstream-Service-Time",
];

/// The longest value that is shown, in characters.
const MAX_VALUE_CHARS: usize = 80;

/// The server and the proxies that the answer names, as `Name: value`.
pub(crate) fn on_the_way(response: &Response) -> Vec<String> {
    let fields = NAMES.iter().flat_map(|&name| {
        let values = response.head.values(name);
        values.map(move |value| {
            let shown: String = value.chars().take(MAX_VALUE_CHARS).collect();
            format!("{name}: {shown}")
        })
    });
    fields.collect()
}

/// Whether the port wants TLS, in the words of nginx, Apache and Go's library.
pub(crate) fn wants_tls(response: &Response) -> bool {
    let body = String::from_utf8_lossy(&response.body);
    response.head.status == 400
        && [
            "plain HTTP request was sent to HTTPS port",
            "speaking plain HTTP to an SSL-enabled",
            "HTTP request to an HTTPS server",
        ]
        .iter()
        .any(|words| body.contains(words))
}

/// Understands an answer with another status than 101.
pub(crate) fn understand(response: &Response) -> Refusal {
    let field = |name| response.head.values(name).next().map(str::to_owned);
    let status = response.head.status;
    let content_type = field("Content-Type").unwrap_or_default().to_ascii_lowercase();
    let of = |kind, problem, may_be_elsewhere| Refusal {
        kind,
        problem,
        may_be_elsewhere,
    };
    if status == 200 && content_type.starts_with("text/event-stream") {
        return of(Kind::Sse, None, false);
    }
    if content_type.starts_with("application/grpc") {
        return of(Kind::Grpc, None, false);
    }
    if is_engine_io(response) {
        return of(Kind::SocketIo, Some(Problem::NoWebSocket { status }), true);
    }
    let problem = match status {
        401 => Problem::Unauthorized {
            status: Some(status),
            challenge: field("WWW-Authenticate"),
        },
        426 => Problem::UpgradeDropped {
            server: field("Server"),
        },
        429 | 503 => Problem::Busy { status },
        502 | 504 => Problem::BadGateway { status },
        300..=399 => Problem::Redirect {
            location: field("Location").unwrap_or_default(),
        },
        _ => Problem::NoWebSocket { status },
    };
    let may_be_elsewhere = matches!(problem, Problem::NoWebSocket { .. });
    of(Kind::Http, Some(problem), may_be_elsewhere)
}

/// Whether Engine.IO refused the request, because the query has no transport: `{"code":0,"message":"Transport unknown"}`
/// (<https://socket.io/docs/v4/troubleshooting-connection-issues/>).
fn is_engine_io(response: &Response) -> bool {
    let body = String::from_utf8_lossy(&response.body);
    response.head.status == 400
        && (body.contains("Transport unknown") || body.contains("Bad handshake method"))
}

#[cfg(test)]
mod tests {
    use plimsoll_websocket::handshake::client::ResponseHead;

    use super::*;

    fn response(status: u16, headers: &[(&str, &str)], body: &str) -> Response {
        let headers = headers
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()));
        Response {
            head: ResponseHead {
                status,
                headers: headers.collect(),
            },
            body: body.into(),
        }
    }

    #[test]
    fn a_refusal_is_understood() {
        let check = |response: Response, kind: Kind, problem: Option<Problem>, may_be_elsewhere: bool| {
            let expected = Refusal {
                kind,
                problem,
                may_be_elsewhere,
            };
            assert_eq!(understand(&response), expected);
        };
        let stream = [("content-type", "text/event-stream; charset=utf-8")];
        check(response(200, &stream, "data: 1"), Kind::Sse, None, false);
        check(
            response(415, &[("Content-Type", "application/grpc")], ""),
            Kind::Grpc,
            None,
            false,
        );
        let no_websocket = |status| Some(Problem::NoWebSocket { status });
        check(
            response(400, &[], r#"{"code":0,"message":"Transport unknown"}"#),
            Kind::SocketIo,
            no_websocket(400),
            true,
        );
        check(response(200, &[], "hello"), Kind::Http, no_websocket(200), true);
        check(response(404, &[], ""), Kind::Http, no_websocket(404), true);
        let unauthorized = Problem::Unauthorized {
            status: Some(401),
            challenge: Some("Bearer".to_owned()),
        };
        let challenge = [("WWW-Authenticate", "Bearer")];
        check(
            response(401, &challenge, ""),
            Kind::Http,
            Some(unauthorized),
            false,
        );
        let dropped = Problem::UpgradeDropped {
            server: Some("nginx".to_owned()),
        };
        check(
            response(426, &[("Server", "nginx")], ""),
            Kind::Http,
            Some(dropped),
            false,
        );
        check(
            response(503, &[], ""),
            Kind::Http,
            Some(Problem::Busy { status: 503 }),
            false,
        );
        check(
            response(502, &[], ""),
            Kind::Http,
            Some(Problem::BadGateway { status: 502 }),
            false,
        );
        let redirect = Problem::Redirect {
            location: "https://a/".to_owned(),
        };
        check(
            response(301, &[("Location", "https://a/")], ""),
            Kind::Http,
            Some(redirect),
            false,
        );
    }

    #[test]
    fn proxies_are_named() {
        let headers = [
            ("server", "nginx/1.22.1"),
            ("via", "1.1 a"),
            ("Via", "1.1 b"),
            ("X-Other", "c"),
        ];
        assert_eq!(
            on_the_way(&response(200, &headers, "")),
            ["Server: nginx/1.22.1", "Via: 1.1 a", "Via: 1.1 b"]
        );
    }

    #[test]
    fn a_port_for_tls_is_noticed() {
        assert!(wants_tls(&response(
            400,
            &[],
            "<h1>The plain HTTP request was sent to HTTPS port</h1>"
        )));
        assert!(!wants_tls(&response(400, &[], "Bad Request")));
    }
}
