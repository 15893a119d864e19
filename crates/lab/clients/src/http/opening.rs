//! Makes a connection: TCP, a tunnel through the proxy if there is one, then TLS if the origin uses it, with the time of
//! each phase.

use std::{net::IpAddr, rc::Rc};

use super::{HttpError, Settings, TlsFacts, connection::Connection, exchange::Marks, pool::Origin};
use crate::{
    dial::{Route, Traffic},
    stream::Stream,
    tls::{Application, TlsVersion, suite_name},
};

/// The settings for making connections.
pub(super) struct Opening<'a> {
    pub(super) settings: &'a Settings,
    pub(super) source: Option<IpAddr>,
    pub(super) traffic: &'a Rc<Traffic>,
    /// What is offered to a server over TLS.
    pub(super) application: Application,
}

impl Opening<'_> {
    /// The connection, and whether the server chose HTTP/2 for it. Without TLS there is no choice.
    pub(super) async fn run(
        &self,
        origin: &Origin,
        route: &Route,
        marks: &mut Marks,
    ) -> Result<(Connection, bool), HttpError> {
        let address = route.address;
        marks.connecting.begin();
        let dialed = self
            .settings
            .dialer
            .connect(address, self.source, self.traffic)
            .await;
        let dialed = match (dialed, &route.proxy) {
            (Ok(mut tcp), Some(proxy)) if self.settings.dialer.proxies.tunnels_to(origin.is_tls) => {
                let tunnel = proxy.tunnel(&mut tcp, &origin.host, origin.port).await;
                tunnel.map(|()| tcp)
            }
            (dialed, _) => dialed,
        };
        marks.connecting.end();
        let tcp = dialed?;
        if !origin.is_tls {
            return Ok((Connection::new(Stream::Plain(tcp), address, None), false));
        }
        marks.tls_handshaking.begin();
        let shaken = self
            .settings
            .tls
            .connect(&origin.host, self.application, tcp)
            .await;
        marks.tls_handshaking.end();
        let stream = shaken?;
        let (_, session) = stream.get_ref();
        let is_http2 = session.alpn_protocol() == Some(b"h2");
        let facts = TlsFacts {
            version: session
                .protocol_version()
                .map_or(TlsVersion::Tls12, TlsVersion::of),
            cipher_suite: session
                .negotiated_cipher_suite()
                .map(suite_name)
                .unwrap_or_default(),
        };
        let connection = Connection::new(Stream::Tls(Box::new(stream)), address, Some(facts));
        Ok((connection, is_http2))
    }
}
