//! One request, again and again, over one connection: for benches.
//!
//! A [`Client`](super::Client) prepares a request for each exchange: cookies, authentication, redirects, a pool of
//! connections. Here a [`Template`] has all of it, so an exchange costs little more than its system calls.

use std::{cell::RefCell, io, net::IpAddr, rc::Rc, sync::Arc, time::Instant};

use bytes::Bytes;
use tokio::{sync::Mutex, time::timeout};

use super::{
    Headers, HttpError, Keep, KeptBodies, Settings, Template, Timings, TlsFacts,
    connection::{Broken, Connection},
    exchange::Marks,
    http2::{Http2, fields},
    opening::Opening,
    response_reader::{ResponseReader, Sink},
};
use crate::{dial::Traffic, tls::Application};

/// The state that the repeaters of one thread share, including kept HTTP/1.1 connections.
///
/// The most recently used connection is used next. So in a load with pauses few connections do all the work, as in
/// browsers and proxies, and no connection idles until the server closes it.
#[derive(Debug)]
pub struct Connections {
    template: Arc<Template>,
    settings: Arc<Settings>,
    source: Option<IpAddr>,
    traffic: Rc<Traffic>,
    /// Kept connections, at most one per repeater.
    kept: RefCell<Vec<Connection>>,
}

/// A place that runs one request at a time.
#[derive(Debug)]
pub struct Repeater {
    connections: Rc<Connections>,
    line: Line,
}

/// What the requests of a repeater go over.
#[derive(Debug)]
enum Line {
    /// Kept connections and new ones.
    Http1,
    /// A connection that several repeaters share. A repeater that finds none makes it while the others wait.
    Http2(Rc<Mutex<Option<Rc<Http2>>>>),
}

/// A request, sent or not.
#[derive(Debug)]
pub struct Attempt {
    /// The durations of the phases.
    pub timings: Timings,
    /// Whether there was a connection to send it over.
    pub is_connected: bool,
    /// Whether a connection was used that stood before.
    pub is_reused: bool,
    /// Whether it was sent twice, because the server closed the connection at the same time.
    pub is_repeated: bool,
    /// The response, or the reason why there is none.
    pub outcome: Result<Reply, HttpError>,
}

/// A response that was read completely and is not kept.
#[derive(Debug)]
pub struct Reply {
    /// The status, 200 to 999.
    pub status: u16,
    /// The length of the body, with its content codings.
    pub n_body_bytes: u64,
    /// Whether the connection can be used again.
    pub is_persistent: bool,
    /// Further details, if requested.
    pub details: Option<Box<Details>>,
}

/// Details of one response, for a bench.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// The fields of the head.
    pub headers: Headers,
    /// What TLS agreed on.
    pub tls: Option<TlsFacts>,
}

/// The progress within a time limit, kept outside the future that the limit may drop.
struct Progress {
    marks: Marks,
    is_reused: bool,
    is_repeated: bool,
}

impl Connections {
    /// None yet. `source` is the address that they come from.
    pub fn new(template: Arc<Template>, settings: Arc<Settings>, source: Option<IpAddr>) -> Rc<Self> {
        Rc::new(Self {
            template,
            settings,
            source,
            traffic: Rc::default(),
            kept: RefCell::default(),
        })
    }

    /// `n` repeaters, which share one connection where the version allows it.
    pub fn repeaters(self: &Rc<Self>, n: usize) -> impl Iterator<Item = Repeater> + use<'_> {
        let shared = Rc::new(Mutex::new(None));
        (0..n).map(move |_| Repeater {
            connections: Rc::clone(self),
            line: match self.template.http2 {
                None => Line::Http1,
                Some(_) => Line::Http2(Rc::clone(&shared)),
            },
        })
    }

    /// Bytes sent and received over all connections since the last call.
    pub fn take_traffic(&self) -> (u64, u64) {
        self.traffic.take()
    }

    fn take_kept(&self) -> Option<Connection> {
        self.kept.borrow_mut().pop()
    }

    async fn open(
        &self,
        application: Application,
        marks: &mut Marks,
    ) -> Result<(Connection, bool), HttpError> {
        let opening = Opening {
            settings: &self.settings,
            source: self.source,
            traffic: &self.traffic,
            application,
        };
        opening
            .run(&self.template.origin, &self.template.route, marks)
            .await
    }
}

impl Repeater {
    /// Sends the request and reads the response, with its [`Details`] if requested.
    ///
    /// If the server closed the connection before it got any byte of the request, the connection is replaced, once, as
    /// in browsers. If the server may have got the request, that happens only if the method allows it (RFC 9110
    /// §9.2.2).
    pub async fn send(&self, wants_details: bool) -> Attempt {
        let mut progress = Progress {
            marks: Marks::start(),
            is_reused: false,
            is_repeated: false,
        };
        let after = self.connections.template.timeout;
        let outcome = match timeout(after, self.exchange(&mut progress, wants_details)).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => Err(HttpError::Timeout { after }),
        };
        Attempt {
            timings: progress.marks.timings(Instant::now()),
            is_connected: progress.marks.connected.is_some(),
            is_reused: progress.is_reused,
            is_repeated: progress.is_repeated,
            outcome,
        }
    }

    async fn exchange(&self, progress: &mut Progress, wants_details: bool) -> Result<Reply, HttpError> {
        match &self.line {
            Line::Http1 => self.over_http1(progress, wants_details).await,
            // Rare and large, so on the heap and not in the future of each request.
            Line::Http2(shared) => Box::pin(self.over_http2(shared, progress, wants_details)).await,
        }
    }

    async fn over_http1(&self, progress: &mut Progress, wants_details: bool) -> Result<Reply, HttpError> {
        while let Some(mut connection) = self.connections.take_kept() {
            if !connection.is_idle().await {
                continue;
            }
            progress.is_reused = true;
            match self.once(connection, &mut progress.marks, wants_details).await {
                Err(broken) if self.may_repeat(&broken) => {
                    progress.is_repeated = true;
                    progress.marks.restart();
                    break;
                }
                outcome => return outcome.map_err(|broken| broken.error),
            }
        }
        progress.is_reused = false;
        let (connection, _) =
            Box::pin(self.connections.open(Application::Http1, &mut progress.marks)).await?;
        let outcome = self.once(connection, &mut progress.marks, wants_details).await;
        outcome.map_err(|broken| broken.error)
    }

    async fn once(
        &self,
        mut connection: Connection,
        marks: &mut Marks,
        wants_details: bool,
    ) -> Result<Reply, Broken> {
        marks.connected = Some(Instant::now());
        let template = &*self.connections.template;
        let mut reader = ResponseReader::new(template.is_head, nothing_kept());
        if !wants_details {
            reader = reader.without_fields();
        }
        connection
            .exchange(&template.head, &template.body, &mut reader, marks)
            .await?;
        let n_body_bytes = reader.n_body_bytes();
        let tls = connection.tls.clone().filter(|_| wants_details);
        let is_persistent = marks.sent.is_some() && reader.is_persistent() && !template.asks_to_close;
        if is_persistent {
            self.connections.kept.borrow_mut().push(connection);
        }
        let response = reader.into_response().map_err(|error| Broken {
            error,
            has_response: true,
        })?;
        let details = || {
            Box::new(Details {
                headers: response.headers,
                tls,
            })
        };
        Ok(Reply {
            status: response.status,
            n_body_bytes,
            is_persistent,
            details: wants_details.then(details),
        })
    }

    /// Whether the server may get the request again.
    fn may_repeat(&self, broken: &Broken) -> bool {
        let is_closed = match &broken.error {
            HttpError::Unanswered | HttpError::Ended => true,
            HttpError::Lost { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::NotConnected
            ),
            _ => false,
        };
        is_closed && !broken.has_response && self.connections.template.is_replayable
    }

    async fn over_http2(
        &self,
        shared: &Mutex<Option<Rc<Http2>>>,
        progress: &mut Progress,
        wants_details: bool,
    ) -> Result<Reply, HttpError> {
        let connection = self.shared_connection(shared, progress).await?;
        progress.marks.connected = Some(Instant::now());
        let template = &*self.connections.template;
        let request = template.http2.clone().unwrap_or_default();
        let body = Bytes::clone(&template.body);
        let transferred = connection
            .transfer(request, body, nothing_kept(), &mut progress.marks)
            .await;
        let (head, sink) = transferred?;
        let details = || {
            Box::new(Details {
                headers: fields(&head),
                tls: connection.tls.clone(),
            })
        };
        Ok(Reply {
            status: head.status.as_u16(),
            n_body_bytes: sink.n_bytes(),
            is_persistent: true,
            details: wants_details.then(details),
        })
    }

    async fn shared_connection(
        &self,
        shared: &Mutex<Option<Rc<Http2>>>,
        progress: &mut Progress,
    ) -> Result<Rc<Http2>, HttpError> {
        let mut place = shared.lock().await;
        if let Some(connection) = &*place
            && connection.is_open().await
        {
            progress.is_reused = true;
            return Ok(Rc::clone(connection));
        }
        *place = None;
        let (connection, is_http2) = self
            .connections
            .open(Application::Http2, &mut progress.marks)
            .await?;
        if self.connections.template.origin.is_tls && !is_http2 {
            return Err(HttpError::NoHttp2);
        }
        let connection = Rc::new(Http2::open(connection).await?);
        *place = Some(Rc::clone(&connection));
        Ok(connection)
    }
}

fn nothing_kept() -> Sink {
    Sink::new(Keep::Nothing, 0, &KeptBodies::new(0))
}
