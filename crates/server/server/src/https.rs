//! The HTTP client of the server's own requests: to an identity provider, and to the webhook of presence.

use std::{error::Error, time::Duration};

use bytes::Bytes;
use http::Uri;
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use plimsoll_trust::{NoAuthorities, believing, system_authorities};
use rustls::RootCertStore;

/// A client for one place.
pub(crate) type Client = legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Creates a client for a place, which keeps a connection for `idle` after a request. An https server needs a
/// certificate of one of the system's authorities, which are read only for https.
///
/// # Errors
/// The system has no list of authorities.
pub(crate) fn client(uri: &Uri, idle: Duration) -> Result<Client, NoAuthorities> {
    let authorities = match uri.scheme_str() {
        Some("https") => system_authorities()?,
        _ => RootCertStore::empty().into(),
    };
    let tls = believing(authorities).with_no_client_auth();
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .build();
    Ok(legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(idle)
        .pool_max_idle_per_host(usize::from(!idle.is_zero()))
        .build(connector))
}

/// An error with its causes. hyper's own text is only `client error (Connect)`; the causes say more.
pub(crate) fn with_causes(error: &legacy::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
