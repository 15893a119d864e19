//! From an accepted socket to a session: reads the request head and routes the connection.
//!
//! A WebSocket request is answered here, from the shard's buffer, because thousands of clients may arrive at once.
//! Everything else is HTTP and goes, with the bytes read so far, to [`crate::http`].

use std::{
    io::{self, IoSlice},
    net::SocketAddr,
    rc::Rc,
};

use http::StatusCode;
use plimsoll_cable::subprotocol::{self, Dialect, NotServed};
use plimsoll_hub::SessionId;
use plimsoll_websocket::{
    Decoder,
    deflate::Agreed,
    handshake::server::{HandshakeError, Request, Upgrade},
};
use tokio::{
    net::TcpStream,
    time::{Instant, timeout_at},
};

use crate::{
    application::{ConnectRequest, Environment, State},
    connection::Connection,
    encoding,
    endpoint::{Endpoint, Kind, cable::CableSession},
    open_connections::{Admission, OpenConnection},
    purpose::Purpose,
    session,
    shard::Shard,
    sid,
    stream::Stream,
    tls::Tls,
};

/// The destination of a request.
enum Route {
    WebSocket(Box<Accepted>),
    /// These bytes are the beginning of plain HTTP.
    Http(Vec<u8>),
}

/// A WebSocket request and its 101 answer.
struct Accepted {
    kind: Kind,
    response: Vec<u8>,
    deflate: Option<Agreed>,
    request: ConnectRequest,
    /// The protocol and the encoding of the connection.
    dialect: Dialect,
    /// The earlier session that the client names.
    earlier_sid: Option<String>,
    early: Box<[u8]>,
}

/// Why a connection ends before it becomes a session.
enum Refusal {
    /// The peer left, or sent nothing in time. There is no one to answer.
    Silent,
    /// An HTTP answer.
    Answer {
        status: StatusCode,
        headers: &'static [(&'static str, &'static str)],
        text: String,
    },
}

/// Reads the request and serves the connection to its end.
pub(crate) async fn receive(
    shard: Rc<Shard>,
    socket: TcpStream,
    peer: SocketAddr,
    purpose: Purpose,
    counted: OpenConnection,
) {
    shard.metrics.accepted_connections.increment();
    if counted.admission == Admission::Flood {
        shard.metrics.count_dropped();
        return;
    }
    let deadline = Instant::now() + shard.config.handshake_timeout;
    let tls = shard.config.tls.as_ref().map(Tls::config);
    let stream = match timeout_at(deadline, Stream::accept(socket, tls)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            shard.metrics.count_insecure();
            return tracing::debug!(%peer, %error, "A TLS handshake failed.");
        }
        Err(_) => {
            shard.metrics.count_refusal(StatusCode::REQUEST_TIMEOUT);
            return tracing::debug!(%peer, "A TLS handshake took too long.");
        }
    };
    let routed = timeout_at(deadline, read_head(&shard, &stream, peer, purpose)).await;
    let routed = routed.unwrap_or_else(|_| Err(Refusal::timeout()));
    match routed.and_then(|route| shard.admit(&counted, route)) {
        Ok(Route::WebSocket(accepted)) => open(shard, stream, *accepted, counted).await,
        Ok(Route::Http(bytes)) => {
            let from = crate::http::Source {
                peer,
                purpose,
                finds_no_room: counted.admission != Admission::Granted,
            };
            crate::http::serve(shard, stream, bytes, from, counted).await;
        }
        Err(refusal) => refusal.send(&stream, &shard),
    }
}

/// Sends the first bytes on a new WebSocket: the 101 answer and, usually in the same write, the welcome.
async fn open(shard: Rc<Shard>, stream: Stream, accepted: Accepted, counted: OpenConnection) {
    let Accepted {
        kind,
        response,
        deflate,
        request,
        dialect,
        earlier_sid,
        early,
    } = accepted;
    let sid: Rc<str> = request.sid.as_str().into();
    let speaks_cable = kind == Kind::Cable;
    let connection = Rc::new(Connection::new(stream, speaks_cable, Rc::clone(&sid), counted));
    let is_extended = dialect.is_extended;
    connection.hears_of_losses.set(is_extended);
    if is_extended || shard.config.native_pings {
        connection.liveness.demand_answers();
    }
    let format = encoding::websocket_format(deflate.as_ref(), dialect);
    let opened = shard.open_session(Rc::clone(&connection), format);
    let id = opened.id;
    shard.send_aside(id, response);
    let endpoint = match kind {
        Kind::Cable => Endpoint::Cable(open_cable(&shard, id, sid, request, is_extended, earlier_sid).await),
        Kind::Echo => Endpoint::Echo,
        Kind::Shootout(contract) => Endpoint::Shootout(contract),
    };
    endpoint.greet(&shard, id);
    shard.flush(id);
    let decoder = match &deflate {
        Some(agreed) => Decoder::with_deflate(&shard.codec.decoding, agreed),
        None => Decoder::new(),
    };
    // The session outlives this large future by hours, so it gets a small one of its own.
    tokio::task::spawn_local(session::serve(opened, connection, endpoint, decoder, early));
}

/// Goes on with an earlier session, or asks the application about a new one.
async fn open_cable(
    shard: &Rc<Shard>,
    id: SessionId,
    sid: Rc<str>,
    request: ConnectRequest,
    is_extended: bool,
    earlier_sid: Option<String>,
) -> CableSession {
    let mut session = match earlier_sid.filter(|_| is_extended) {
        Some(earlier) => resume_or_connect(shard, id, sid, request, &earlier).await,
        None => CableSession::connect(shard, id, sid, request).await,
    };
    if is_extended {
        session.may_be_resumed(shard, id);
    }
    session
}

async fn resume_or_connect(
    shard: &Rc<Shard>,
    id: SessionId,
    sid: Rc<str>,
    request: ConnectRequest,
    earlier_sid: &str,
) -> CableSession {
    let record = shard.claim(earlier_sid, &request).await;
    if let Some(mut record) = record
        && let Some(_heard) = shard.prepare_return(earlier_sid, &record).await
    {
        let absences = std::mem::take(&mut record.absences);
        let mut session = CableSession::resume(shard, id, sid, request, *record);
        session.come_back(shard, absences).await;
        return session;
    }
    CableSession::connect(shard, id, sid, request).await
}

/// Reads until the head is complete. Most heads arrive in one piece and are routed from the shared buffer; the pieces
/// of others are collected.
async fn read_head(
    shard: &Shard,
    stream: &Stream,
    peer: SocketAddr,
    purpose: Purpose,
) -> Result<Route, Refusal> {
    let mut collected = Vec::new();
    loop {
        stream.readable().await.map_err(|_| Refusal::Silent)?;
        let mut scratch = shard.codec.scratch.borrow_mut();
        let n_read = match stream.try_read(&mut scratch) {
            Ok(0) => return Err(Refusal::Silent),
            Ok(n_read) => n_read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(_) => return Err(Refusal::Silent),
        };
        let bytes = if collected.is_empty() {
            &scratch[..n_read]
        } else {
            collected.extend_from_slice(&scratch[..n_read]);
            &collected
        };
        if let Some(route) = shard.route(bytes, peer, purpose)? {
            return Ok(route);
        }
        if collected.is_empty() {
            collected = bytes.to_vec();
        }
    }
}

impl Shard {
    /// Checks whether a connection whose request was read has room. HTTP requests are admitted beyond the limit: a full
    /// server is alive, can be monitored, and takes broadcasts. A stopping server can be monitored, too, and answers
    /// other HTTP requests itself.
    fn admit(&self, counted: &OpenConnection, route: Route) -> Result<Route, Refusal> {
        let is_http = matches!(route, Route::Http(_));
        match counted.admission {
            Admission::TooManyOfAddress => Err(Refusal::too_many_of_address()),
            Admission::Granted | Admission::TooMany if is_http => Ok(route),
            _ if self.is_stopping() => Err(Refusal::stopping()),
            Admission::Granted => Ok(route),
            Admission::TooMany | Admission::Flood => Err(Refusal::unavailable()),
        }
    }

    /// Routes a request. `None` while the head is incomplete.
    fn route(&self, bytes: &[u8], peer: SocketAddr, purpose: Purpose) -> Result<Option<Route>, Refusal> {
        let Some((request, head_len)) = Request::parse(bytes)? else {
            return Ok(None);
        };
        let kind = Kind::of_path(request.path(), &self.config);
        let Some(kind) = kind.filter(|_| request.is_upgrade() && purpose == Purpose::Clients) else {
            return Ok(Some(Route::Http(bytes.to_vec())));
        };
        if !self.config.allowed_origins.allows(request.header("Origin")) {
            return Err(Refusal::foreign_origin());
        }
        let upgrade = Upgrade::from_request(&request)?;
        let protocol = match kind {
            Kind::Cable => {
                subprotocol::choose(upgrade.protocols()).map_err(|error| self.not_served(&error))?
            }
            Kind::Echo | Kind::Shootout(_) => None,
        };
        let deflate = self
            .codec
            .decoding
            .deflate
            .as_ref()
            .and_then(|wanted| upgrade.negotiate(wanted));
        Ok(Some(Route::WebSocket(Box::new(Accepted {
            kind,
            response: upgrade.response(protocol, deflate.as_ref(), &[]),
            deflate,
            request: self.connect_request(&request, peer),
            dialect: Dialect::of(protocol),
            earlier_sid: earlier_sid(&request),
            early: bytes[head_len..].into(),
        }))))
    }

    /// A client that speaks none of our sub-protocols is told, and so is the operator: the first time, and then ever
    /// more rarely.
    fn not_served(&self, error: &NotServed) -> Refusal {
        let served = Dialect::names().collect::<Vec<_>>().join(", ");
        let n_refused = self.not_served.get() + 1;
        self.not_served.set(n_refused);
        if n_refused.is_power_of_two() {
            tracing::warn!(
                n_refused,
                offered = error.offered,
                "A client is refused because it offers only sub-protocols that are not served. Served are {served}."
            );
        }
        Refusal::Answer {
            status: StatusCode::BAD_REQUEST,
            headers: &[],
            text: format!("None of the offered sub-protocols is served here. Served are {served}."),
        }
    }

    /// The application's view of a connecting client, for every transport.
    pub(crate) fn connect_request(&self, request: &Request<'_>, peer: SocketAddr) -> ConnectRequest {
        let host = request.header("Host").unwrap_or_default();
        ConnectRequest {
            shard: self.number,
            sid: sid::generate(),
            environment: Environment {
                url: format!("{}://{host}{}", self.config.http_scheme(), request.target()),
                headers: self.config.proxied_headers.select(request, peer.ip()),
                cstate: State::EMPTY,
            },
        }
    }
}

/// The earlier session that a client names: in the header, else in the query.
fn earlier_sid(request: &Request<'_>) -> Option<String> {
    let header = request.header("X-ANYCABLE-RESTORE-SID").map(str::to_owned);
    let in_query = || {
        let query = request.query().unwrap_or_default();
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find_map(|(name, value)| (name == "sid").then(|| value.into_owned()))
    };
    header.or_else(in_query).filter(|sid| !sid.is_empty())
}

impl Refusal {
    fn timeout() -> Self {
        let text = "The request head did not arrive in time.".to_owned();
        Self::Answer {
            status: StatusCode::REQUEST_TIMEOUT,
            headers: &[],
            text,
        }
    }

    fn foreign_origin() -> Self {
        let text = "Pages of this origin are not allowed to connect; see --allowed_origins.".to_owned();
        Self::Answer {
            status: StatusCode::FORBIDDEN,
            headers: &[],
            text,
        }
    }

    fn too_many_of_address() -> Self {
        let text = "There are too many connections from this address; see --max_conn_per_ip.".to_owned();
        Self::Answer {
            status: StatusCode::TOO_MANY_REQUESTS,
            headers: &[],
            text,
        }
    }

    fn unavailable() -> Self {
        Self::try_again("The server accepts no more connections.")
    }

    fn stopping() -> Self {
        Self::try_again("The server is stopping.")
    }

    fn try_again(text: &str) -> Self {
        Self::Answer {
            status: StatusCode::SERVICE_UNAVAILABLE,
            headers: &[("Retry-After", "1")],
            text: text.to_owned(),
        }
    }

    /// Sends the answer, best effort: a peer whose socket does not take a few hundred bytes at once gets none.
    fn send(self, stream: &Stream, shard: &Shard) {
        let Self::Answer {
            status,
            headers,
            text,
        } = self
        else {
            return;
        };
        shard.metrics.count_refusal(status);
        let mut answer = format!("HTTP/1.1 {status}\r\n");
        for (name, value) in headers {
            answer.push_str(&format!("{name}: {value}\r\n"));
        }
        let length = text.len() + 1;
        answer.push_str(&format!(
            "Content-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}\n"
        ));
        if stream.try_write(&[IoSlice::new(answer.as_bytes())]).is_ok() {
            stream.finish();
        }
    }
}

impl From<HandshakeError> for Refusal {
    fn from(error: HandshakeError) -> Self {
        let (status, text) = error.response();
        let status = StatusCode::from_u16(status).expect("the codec knows its HTTP statuses");
        Self::Answer {
            status,
            headers: error.headers(),
            text,
        }
    }
}
