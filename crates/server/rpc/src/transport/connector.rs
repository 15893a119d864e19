//! TCP connections, with TLS if the URL asks for it.

use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::ClientConfig;
use tower_service::Service;

use crate::{cause, status::Status};

/// Makes one connection to this URL.
pub(super) async fn connect(connector: &HttpsConnector<HttpConnector>, url: Uri) -> Result<(), String> {
    let connected = connector.clone().call(url).await;
    connected
        .map(drop)
        .map_err(|error| cause::text(&Status::unavailable("no connection").with_source(error)))
}

/// The HTTP version of a connection.
pub(super) enum Version {
    Http1,
    Http2,
}

/// A connector for TCP, and for TLS if the URL asks for it.
pub(super) fn connector<R>(
    mut tcp: HttpConnector<R>,
    config: ClientConfig,
    version: &Version,
    connect_timeout: Duration,
) -> HttpsConnector<HttpConnector<R>> {
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(connect_timeout));
    let builder = HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http();
    match version {
        Version::Http1 => builder.enable_http1().wrap_connector(tcp),
        Version::Http2 => builder.enable_http2().wrap_connector(tcp),
    }
}
