//! A timed HTTP client for load: each phase of each exchange on a monotonic clock, connections of one virtual user.
//!
//! A [`Client`] stands for one person: it has its own connections, kept open between requests (HTTP/1.1, and HTTP/2 if
//! a server over TLS supports it). It has no tasks: a connection makes progress only while a request is polled. So an
//! idle connection answers no HTTP/2 ping. If the server closed it, the next request notices that and uses another
//! connection.
//!
//! A [`Repeater`] is for benches: one request, which a [`Template`] holds, over one connection.

mod chunked;
mod client;
mod connection;
mod content_coding;
mod cookies;
mod credentials;
mod digest;
mod error;
mod exchange;
mod framing;
mod head;
mod headers;
mod http2;
mod kept_bodies;
mod multipart;
mod negotiation;
mod ntlm;
mod opening;
mod pool;
mod redirect;
mod repeater;
mod request;
mod response_reader;
mod settings;
mod template;

pub use http::Method;
pub use url::Url;

pub use self::{
    client::Client,
    content_coding::{Coding, UnknownCoding},
    cookies::{Cookie, CookieJar, parse_date},
    error::HttpError,
    exchange::{Exchange, Expectation, Protocol, Response, Timings, TlsFacts},
    headers::Headers,
    kept_bodies::KeptBodies,
    multipart::{FormPart, multipart},
    ntlm::NtlmError,
    repeater::{Attempt, Connections, Details, Repeater, Reply},
    request::{Authentication, Keep, Redirects, Request, RequestCookie},
    settings::Settings,
    template::{Template, Version},
};

#[cfg(test)]
mod tests;
