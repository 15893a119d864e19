//! The connections of one client: idle ones, and how new ones are made.

use std::{cell::RefCell, net::IpAddr, rc::Rc, sync::Arc};

use url::Url;

use super::{
    HttpError, Settings, connection::Connection, exchange::Underway, http2::Http2, opening::Opening,
};
use crate::{
    dial::{Proxy, Traffic},
    tls::Application,
};

/// Connections, and the settings for new ones.
#[derive(Debug)]
pub(super) struct Pool {
    settings: Arc<Settings>,
    source: Option<IpAddr>,
    pub(super) traffic: Rc<Traffic>,
    /// Idle connections, the most recently used one last.
    idle: RefCell<Vec<(Origin, Connection)>>,
    /// HTTP/2 connections, at most one per origin, shared by requests.
    http2: RefCell<Vec<(Origin, Rc<Http2>)>>,
}

/// The server of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) is_tls: bool,
    pub(super) port: u16,
    /// Without brackets.
    pub(super) host: Box<str>,
}

/// A connection to send a request over.
pub(super) enum Lease {
    Http1(Connection),
    Http2(Rc<Http2>),
}

impl Origin {
    /// The proxy that gets requests without TLS to this server, which name the server in their first line.
    pub(super) fn plain_proxy<'a>(&self, settings: &'a Settings) -> Option<&'a Arc<Proxy>> {
        let proxies = &settings.dialer.proxies;
        proxies
            .choose(false, &self.host, self.port)
            .filter(|_| !proxies.tunnels_to(self.is_tls))
    }

    pub(super) fn of(url: &Url) -> Result<Self, HttpError> {
        let unusable = |reason: &str| HttpError::Url {
            url: plimsoll_redacted::url_with_query(url.as_str()).into_owned(),
            reason: reason.to_owned(),
        };
        let is_tls = match url.scheme() {
            "http" => false,
            "https" => true,
            scheme => return Err(HttpError::Scheme(scheme.to_owned())),
        };
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| unusable("no host"))?;
        Ok(Self {
            is_tls,
            port: url.port_or_known_default().unwrap_or_default(),
            host: host.trim_matches(['[', ']']).into(),
        })
    }
}

impl Pool {
    pub(super) fn new(settings: Arc<Settings>, source: Option<IpAddr>) -> Self {
        Self {
            settings,
            source,
            traffic: Rc::default(),
            idle: RefCell::default(),
            http2: RefCell::default(),
        }
    }

    /// A used connection that is still open.
    pub(super) async fn reuse(&self, origin: &Origin) -> Option<Lease> {
        let shared = self.http2_to(origin);
        if let Some(connection) = shared {
            if connection.is_open().await {
                return Some(Lease::Http2(connection));
            }
            self.http2.borrow_mut().retain(|(other, _)| other != origin);
        }
        self.reuse_http1(origin).await.map(Lease::Http1)
    }

    /// A used connection of HTTP/1.1 that is still open.
    pub(super) async fn reuse_http1(&self, origin: &Origin) -> Option<Connection> {
        while let Some(mut connection) = self.take_idle(origin) {
            if connection.is_idle().await {
                return Some(connection);
            }
        }
        None
    }

    fn http2_to(&self, origin: &Origin) -> Option<Rc<Http2>> {
        let all = self.http2.borrow();
        all.iter()
            .find(|(other, _)| other == origin)
            .map(|(_, connection)| Rc::clone(connection))
    }

    fn take_idle(&self, origin: &Origin) -> Option<Connection> {
        let mut idle = self.idle.borrow_mut();
        let position = idle.iter().rposition(|(other, _)| other == origin)?;
        Some(idle.remove(position).1)
    }

    /// Connects. Addresses and phases go into `underway` as they are known.
    pub(super) async fn connect(&self, origin: &Origin, underway: &mut Underway) -> Result<Lease, HttpError> {
        let application = if self.settings.http2 {
            Application::Http2
        } else {
            Application::Http1
        };
        let (connection, is_http2) = self.open(origin, application, underway).await?;
        if !is_http2 {
            return Ok(Lease::Http1(connection));
        }
        let connection = Rc::new(Http2::open(connection).await?);
        if self.settings.reuse_connections {
            let mut all = self.http2.borrow_mut();
            if !all.iter().any(|(other, _)| other == origin) {
                all.push((origin.clone(), Rc::clone(&connection)));
                let n_over = all.len().saturating_sub(self.settings.max_idle);
                all.drain(..n_over);
            }
        }
        Ok(Lease::Http2(connection))
    }

    /// Connects for HTTP/1.1, whatever the settings say.
    pub(super) async fn connect_http1(
        &self,
        origin: &Origin,
        underway: &mut Underway,
    ) -> Result<Connection, HttpError> {
        let (connection, _) = self.open(origin, Application::Http1, underway).await?;
        Ok(connection)
    }

    async fn open(
        &self,
        origin: &Origin,
        application: Application,
        underway: &mut Underway,
    ) -> Result<(Connection, bool), HttpError> {
        let route = self
            .settings
            .dialer
            .route(origin.is_tls, &origin.host, origin.port);
        let route = route.await?;
        underway.remote = Some(route.address);
        let opening = Opening {
            settings: &self.settings,
            source: self.source,
            traffic: &self.traffic,
            application,
        };
        opening.run(origin, &route, &mut underway.marks).await
    }

    /// Returns a reusable connection to the pool. The oldest ones are closed to make room.
    pub(super) fn put_back(&self, origin: Origin, connection: Connection) {
        if !self.settings.reuse_connections || self.settings.max_idle == 0 {
            return;
        }
        let mut idle = self.idle.borrow_mut();
        let n_same = idle.iter().filter(|(other, _)| *other == origin).count();
        if n_same >= self.settings.max_idle_per_host.max(1)
            && let Some(position) = idle.iter().position(|(other, _)| *other == origin)
        {
            idle.remove(position);
        }
        if idle.len() >= self.settings.max_idle {
            idle.remove(0);
        }
        idle.push((origin, connection));
    }

    /// Closes idle connections.
    pub(super) fn close_idle(&self) {
        self.idle.borrow_mut().clear();
        self.http2.borrow_mut().clear();
    }
}
