//! A request that is sent many times, prepared once.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;

use crate::dial::Route;

use super::{
    HttpError, Request, Settings,
    client::asks_to_close,
    credentials,
    head::{self, Additions},
    pool::Origin,
};

/// What is spoken on the connections of a bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.1.
    Http11,
    /// HTTP/2: chosen in the TLS handshake, or used at once without TLS ("prior knowledge", RFC 9113 §3.3).
    Http2,
}

/// An encoded request.
#[derive(Debug)]
pub struct Template {
    pub(super) origin: Origin,
    pub(super) route: Route,
    pub(super) head: Vec<u8>,
    pub(super) body: Bytes,
    /// The head for HTTP/2, if that is used.
    pub(super) http2: Option<http::Request<()>>,
    pub(super) is_head: bool,
    pub(super) is_replayable: bool,
    /// Whether the request itself ends its connection.
    pub(super) asks_to_close: bool,
    pub(super) timeout: Duration,
}

/// A request as it is sent, wherever its server is.
struct Encoded {
    origin: Origin,
    head: Vec<u8>,
    http2: Option<http::Request<()>>,
}

impl Encoded {
    fn of(request: &Request, version: Version, settings: &Settings) -> Result<Self, HttpError> {
        let origin = Origin::of(&request.url)?;
        let proxy = origin.plain_proxy(settings);
        if proxy.is_some() && version == Version::Http2 {
            return Err(HttpError::Http2OverProxy);
        }
        let head = head::write(
            request,
            &Additions {
                cookies: "",
                authorization: credentials::basic(request).as_deref(),
                hides_authorization: false,
                referer: None,
                proxy: proxy.map(|proxy| &**proxy),
                user_agent: &settings.user_agent,
            },
        )?;
        let http2 = match version {
            Version::Http11 => None,
            Version::Http2 => Some(head::for_http2(request, &head)?),
        };
        Ok(Self { origin, head, http2 })
    }
}

impl Template {
    /// Resolves the host and encodes the head: the request, and the user and password of its URL. Redirects and digest
    /// authentication do not apply.
    ///
    /// # Errors
    /// The URL cannot be requested, its host has no address, or a field cannot be sent.
    pub async fn prepare(
        request: &Request,
        version: Version,
        settings: &Settings,
    ) -> Result<Self, HttpError> {
        let Encoded { origin, head, http2 } = Encoded::of(request, version, settings)?;
        Ok(Self {
            route: settings
                .dialer
                .route(origin.is_tls, &origin.host, origin.port)
                .await?,
            origin,
            head,
            body: request.body.clone().into(),
            http2,
            is_head: request.method == http::Method::HEAD,
            is_replayable: Request::is_replayable(&request.method),
            asks_to_close: asks_to_close(request),
            timeout: request.timeout,
        })
    }

    /// Checks all that [`Self::prepare`] checks before it looks for the host.
    ///
    /// # Errors
    /// The URL cannot be requested, or a field cannot be sent.
    pub fn check(request: &Request, version: Version, settings: &Settings) -> Result<(), HttpError> {
        Encoded::of(request, version, settings).map(drop)
    }

    /// The address to connect to: the server's, or that of the proxy before it.
    pub fn address(&self) -> SocketAddr {
        self.route.address
    }

    /// Whether a proxy is between this machine and the server.
    pub fn has_proxy(&self) -> bool {
        self.route.proxy.is_some()
    }

    /// The bytes of the request as HTTP/1.1 sends them, head and body.
    pub fn bytes(&self) -> Vec<u8> {
        [&self.head[..], &self.body[..]].concat()
    }
}
