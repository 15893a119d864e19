//! What is asked for.

use std::time::Duration;

use http::Method;
use url::Url;

/// k6's default for how long a request may take.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// k6's default for redirects.
const DEFAULT_MAX_REDIRECTS: u32 = 10;

/// One request, and what is done about redirects.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// `http` or `https`. A user and a password in it are sent as [`Authentication`] says.
    pub url: Url,
    /// Fields that are sent as they are. `Host` takes the place of the URL's, `User-Agent` that of the settings';
    /// `Content-Length` and `Transfer-Encoding` are left out, because the body decides about them.
    pub headers: Vec<(String, String)>,
    /// The body, empty for none.
    pub body: Vec<u8>,
    /// Cookies beside those of the jar.
    pub cookies: Vec<RequestCookie>,
    /// How a user and a password are sent.
    pub authentication: Authentication,
    /// How long all of it may take, redirects included.
    pub timeout: Duration,
    /// How many redirects are followed. The answer that would be one more is given back.
    pub max_redirects: u32,
    /// What becomes of the body of the answer.
    pub keep: Keep,
}

/// A cookie of one request, which no jar remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestCookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether those of the same name in the jar are left out.
    pub replace: bool,
}

/// How a user and a password are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Authentication {
    /// With the request (RFC 7617).
    #[default]
    Basic,
    /// As an answer to the server's challenge (RFC 7616), so in a second exchange.
    Digest,
}

/// What becomes of the body of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// It is kept, with its content codings undone.
    #[default]
    Body,
    /// It is read and forgotten.
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
