//! TCP connections to the servers of modules and secrets, through a proxy where the environment names one.

use std::{
    error::Error,
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioIo,
};
use plimsoll_clients::dial::Proxies;
use plimsoll_trust::{Authorities, believing};
use tokio::net::TcpStream;
use tower_service::Service;

/// Any failure of a connection.
type Failure = Box<dyn Error + Send + Sync>;

/// The port of a URL without a port.
const HTTPS_PORT: u16 = 443;

/// Connects to the server of a URL. Only `https` goes through a proxy.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    direct: HttpConnector,
    proxies: Proxies,
}

/// The schemes of URLs that a client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schemes {
    /// `https`.
    Https,
    /// `https` and `http`.
    HttpsAndHttp,
}

/// Connections to servers that these authorities trust.
pub(crate) fn over_tls(
    authorities: Authorities,
    proxies: &Proxies,
    schemes: Schemes,
) -> HttpsConnector<Connector> {
    let builder = HttpsConnectorBuilder::new().with_tls_config(believing(authorities).with_no_client_auth());
    let builder = match schemes {
        Schemes::Https => builder.https_only(),
        Schemes::HttpsAndHttp => builder.https_or_http(),
    };
    builder
        .enable_http1()
        .wrap_connector(Connector::new(proxies.clone()))
}

/// The text of an error with its causes. hyper's own words are only `client error (Connect)`; what matters is behind them.
pub(crate) fn with_causes(error: &legacy::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

impl Connector {
    fn new(proxies: Proxies) -> Self {
        let mut direct = HttpConnector::new();
        // TLS comes on top.
        direct.enforce_http(false);
        Self { direct, proxies }
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Failure>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.direct.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let host = url.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let port = url.port_u16().unwrap_or(HTTPS_PORT);
        let is_secure = url.scheme_str() == Some("https");
        let proxy = self.proxies.choose(true, &host, port).filter(|_| is_secure);
        let Some(proxy) = proxy.cloned() else {
            let connecting = self.direct.call(url);
            return Box::pin(async move { connecting.await.map_err(Into::into) });
        };
        Box::pin(async move {
            let connecting = TcpStream::connect((proxy.host(), proxy.port()));
            let refused = |error: io::Error| Failure::from(format!("proxy {proxy}: {error}"));
            let mut stream = connecting.await.map_err(refused)?;
            proxy.tunnel(&mut stream, &host, port).await?;
            Ok(TokioIo::new(stream))
        })
    }
}
