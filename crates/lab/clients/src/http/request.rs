//! A request.

use std::time::Duration;

use http::Method;
use url::Url;

/// k6's default time limit of a request.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// k6's default for redirects.
const DEFAULT_MAX_REDIRECTS: u32 = 10;

/// One request, and how its redirects are handled.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// `http` or `https`. Its user and password are sent as [`Authentication`] says.
    pub url: Url,
    /// Fields that are sent unchanged. `Host` replaces the URL's, `User-Agent` that of the settings. `Content-Length`
    /// and `Transfer-Encoding` are ignored, because the body decides them.
    pub headers: Vec<(String, String)>,
    /// The body, empty for none.
    pub body: Vec<u8>,
    /// Cookies in addition to those of the jar.
    pub cookies: Vec<RequestCookie>,
    /// How the user and password are sent.
    pub authentication: Authentication,
    /// The time limit for the whole request, including redirects.
    pub timeout: Duration,
    /// The most redirects to follow.
    pub max_redirects: u32,
    /// How redirects are followed.
    pub redirects: Redirects,
    /// What to do with the body of the answer.
    pub keep: Keep,
}

/// A cookie of one request, which is not stored in a jar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestCookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether it replaces cookies of the jar with its name.
    pub replace: bool,
}

/// Whose rules for redirects are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Redirects {
    /// Those of Go's client, and so of k6: 301, 302 and 303 become GET, the next request has a `Referer`, and the
    /// redirect beyond the limit is the answer.
    #[default]
    Go,
    /// Those of npm `got`, and so of Artillery: only 303 becomes GET, there is no `Referer`, and the redirect beyond the
    /// limit is an error.
    Got,
}

/// How the user and password are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Authentication {
    /// With the request (RFC 7617).
    #[default]
    Basic,
    /// As an answer to the server's challenge (RFC 7616), in a second exchange.
    Digest,
    /// With NTLM (MS-NLMP): up to two more exchanges sign the connection in, and later requests over it need none. Such a
    /// request goes over HTTP/1.1. An `Authorization: Basic …` field of the request comes before the URL.
    Ntlm,
}

/// What to do with the body of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// The body is kept, without its content codings.
    #[default]
    Body,
    /// The body is read and discarded.
    Nothing,
}

impl Request {
    /// A request without a body and with k6's defaults.
    pub fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            headers: Vec::new(),
            body: Vec::new(),
            cookies: Vec::new(),
            authentication: Authentication::default(),
            timeout: DEFAULT_TIMEOUT,
            max_redirects: DEFAULT_MAX_REDIRECTS,
            redirects: Redirects::default(),
            keep: Keep::default(),
        }
    }

    /// Whether the server may get it twice (RFC 9110 §9.2.2, without PUT and DELETE, as Go's client has it).
    pub(super) fn is_replayable(method: &Method) -> bool {
        matches!(
            *method,
            Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE
        )
    }
}
