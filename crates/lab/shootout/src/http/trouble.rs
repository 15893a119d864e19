//! A failure in words for the person who started the run: what happened, and what to do next.

use std::io::ErrorKind;

use plimsoll_clients::{
    dial::DialError,
    http::{HttpError, Url},
    tls::HandshakeError,
};

/// What happened.
pub(crate) fn words(error: &HttpError) -> String {
    match error {
        HttpError::Timeout { after } => format!("no whole response within {} s", after.as_secs_f64()),
        error => error.to_string(),
    }
}

/// What to do next, to be put behind the words; empty where they say all.
pub(crate) fn hint(error: &HttpError, url: &Url) -> &'static str {
    let is_tls = url.scheme() == "https";
    match error {
        HttpError::Dial(DialError::NoSuchHost(_)) => "; check the spelling of the host, or use an IP address",
        HttpError::Dial(DialError::Connect { source, .. })
            if source.kind() == ErrorKind::AddrNotAvailable =>
        {
            "; -B takes an address of this machine; without -B it has no free port left: -k keeps connections"
        }
        HttpError::Dial(DialError::Connect { .. }) => "; is the server running, and is this its address?",
        HttpError::Handshake(HandshakeError::NotTls | HandshakeError::Ended | HandshakeError::Lost(_)) => {
            "; write http:// for a server without TLS"
        }
        HttpError::Handshake(
            HandshakeError::UnknownAuthority | HandshakeError::WrongHost | HandshakeError::Certificate(_),
        ) => "; --insecure takes any certificate, SSL_CERT_FILE names the authorities that are believed",
        HttpError::NoHttp2 => "; leave --http2 out",
        HttpError::Http2(_) if !is_tls => {
            "; if the server speaks no HTTP/2 without TLS, leave --http2 out or write https://"
        }
        HttpError::Malformed(_) if !is_tls => "; is it an HTTP server? Write https:// for one with TLS",
        HttpError::Timeout { .. } => "; -s allows more time",
        HttpError::Unanswered if !is_tls => "; look at the server's log; a server with TLS needs https://",
        HttpError::Lost { .. } | HttpError::Unanswered | HttpError::Ended => "; look at the server's log",
        _ => "",
    }
}
