//! Descriptions of failures for people: what happened, and what to do next.

use std::io::ErrorKind;

use plimsoll_clients::{
    dial::DialError,
    http::{HttpError, Url},
    tls::HandshakeError,
};

/// The description of the failure.
pub(crate) fn words(error: &HttpError) -> String {
    match error {
        HttpError::Timeout { after } => format!("no whole response within {} s", after.as_secs_f64()),
        error => error.to_string(),
    }
}

/// Advice to append to the description; empty if there is none.
pub(crate) fn hint(error: &HttpError, url: &Url) -> &'static str {
    let is_tls = url.scheme() == "https";
    match error {
        HttpError::Dial(DialError::NoSuchHost(_)) => "; check the spelling of the host, or use an IP address",
        HttpError::Dial(DialError::Connect { source, .. })
            if source.kind() == ErrorKind::AddrNotAvailable =>
        {
            "; -B needs an address of this machine; without -B, no local port is free, and -k reuses connections"
        }
        HttpError::Dial(DialError::Connect { .. }) => "; is the server running, and is this its address?",
        HttpError::Handshake(HandshakeError::NotTls | HandshakeError::Ended | HandshakeError::Lost(_)) => {
            "; write http:// for a server without TLS"
        }
        HttpError::Handshake(
            HandshakeError::UnknownAuthority | HandshakeError::WrongHost | HandshakeError::Certificate(_),
        ) => "; --insecure accepts any certificate, SSL_CERT_FILE names the trusted authorities",
        HttpError::Dial(DialError::Proxy { .. }) => "; check the proxy (-X), and its user and password (-P)",
        HttpError::NoHttp2 => "; remove --http2",
        HttpError::Http2(_) if !is_tls => {
            "; if the server does not speak HTTP/2 without TLS, remove --http2 or write https://"
        }
        HttpError::Malformed(_) if !is_tls => "; is it an HTTP server? Write https:// for a server with TLS",
        HttpError::Timeout { .. } => "; raise the limit with -s",
        HttpError::Unanswered if !is_tls => "; look at the server's log; a server with TLS needs https://",
        HttpError::Lost { .. } | HttpError::Unanswered | HttpError::Ended => "; look at the server's log",
        _ => "",
    }
}
