//! From a URL to a session, with its samples.

use std::{
    net::SocketAddr,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::LocalBoxFuture;
use plimsoll_clients::{
    cable::{
        ConnectError, check_agreed,
        session::{Reader, Session},
    },
    dial::{DialError, Traffic},
    target::{Target, TargetError},
    websocket::{self, Attempt},
};
use plimsoll_load::metrics::Recorder;

use super::{meter::Meter, options::ConnectOptions};
use crate::{host::Host, network::NetworkError, tags};

/// Far beyond any broadcast, and an end for a server that sends without one.
const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// A session that has got its welcome.
pub(super) struct Connected {
    pub(super) session: Session,
    pub(super) reader: Reader,
    pub(super) meter: Rc<Meter>,
}

/// The reason why there is no session.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectFailure {
    #[error(transparent)]
    Url(#[from] TargetError),
    #[error(transparent)]
    Dial(#[from] DialError),
    #[error(transparent)]
    Cable(#[from] ConnectError),
    #[error(transparent)]
    Options(#[from] NetworkError),
    #[error("timed out after {0:?} in the name lookup")]
    LookUpTimedOut(Duration),
}

impl ConnectFailure {
    /// The cause with the next step, for the list of causes.
    fn described(&self) -> String {
        match self {
            Self::Cable(error) => error.cause().described(),
            error => error.to_string(),
        }
    }
}

/// Connects and waits for the welcome. Records `ws_sessions` and `ws_connecting`, even on failure.
///
/// The future is boxed and the function is not inlined, because the future takes kilobytes and the caller runs on a
/// script's stack.
#[inline(never)]
pub(super) fn connect<'a>(
    host: &'a Host,
    url: &'a str,
    options: &'a ConnectOptions,
    recorder: Recorder,
) -> LocalBoxFuture<'a, Result<Connected, ConnectFailure>> {
    Box::pin(open(host, url, options, recorder))
}

async fn open(
    host: &Host,
    url: &str,
    options: &ConnectOptions,
    recorder: Recorder,
) -> Result<Connected, ConnectFailure> {
    let opened = try_to_open(host, url, options, &recorder).await;
    recorder.connection(opened.is_err());
    if let Err(failure) = &opened {
        // The query may hold a token, and is different for each user.
        let address = url.split('?').next().unwrap_or_default();
        let example = format!("cable client of {}: {failure}", plimsoll_redacted::url(address));
        recorder.fault(&format!("cable client: {}", failure.described()), &example);
    }
    opened
}

async fn try_to_open(
    host: &Host,
    url: &str,
    options: &ConnectOptions,
    recorder: &Recorder,
) -> Result<Connected, ConnectFailure> {
    let started = Instant::now();
    let target = Target::parse(url)?;
    let traffic = Rc::new(Traffic::default());
    let attempt = attempt(host, &target, options, &traffic).await;
    let took = started.elapsed();
    let user = recorder.clone();
    let recorder = tagged(host, url, options, &user, attempt.as_ref().ok());
    let websocket = host.metrics().websocket;
    recorder.count(websocket.sessions, 1);
    recorder.record(websocket.connecting, took);
    let meter = Meter::new(host, recorder, user, started, traffic);
    let (connection, _) = attempt?.outcome.map_err(ConnectError::from)?;
    let left = options.handshake_timeout.saturating_sub(took);
    check_agreed(&connection, options.dialect())?;
    let (session, reader) = Session::open(connection, left, options.resumption.clone()).await?;
    meter.begin(&session);
    Ok(Connected {
        session,
        reader,
        meter,
    })
}

async fn attempt(
    host: &Host,
    target: &Target,
    options: &ConnectOptions,
    traffic: &Rc<Traffic>,
) -> Result<Attempt, ConnectFailure> {
    let started = Instant::now();
    let network = host.program.network()?;
    let host_name = target.host();
    let located = network
        .dialer
        .route(target.is_secure(), &host_name, target.port());
    let located = tokio::time::timeout(options.handshake_timeout, located).await;
    let route = located.map_err(|_| ConnectFailure::LookUpTimedOut(options.handshake_timeout))??;
    let mut upgrade = upgrade(target, route.address, options);
    upgrade.proxy = route.proxy;
    let names_itself = options
        .headers
        .keys()
        .any(|name| name.eq_ignore_ascii_case("user-agent"));
    if !names_itself && !network.user_agent.is_empty() {
        upgrade
            .headers
            .push(("User-Agent".to_owned(), network.user_agent.clone()));
    }
    upgrade.tls = Some(Arc::clone(&network.tls));
    upgrade.local_address = network.source_of(host.vu);
    upgrade.deadline = options.handshake_timeout.saturating_sub(started.elapsed());
    Ok(Attempt::make(&upgrade, traffic).await)
}

/// The headers of the request: the script's headers, its cookies, the origin, and the session to resume.
fn upgrade(target: &Target, address: SocketAddr, options: &ConnectOptions) -> websocket::Options {
    let scheme = if target.is_secure() { "https" } else { "http" };
    let mut upgrade = websocket::Options::new(target.clone(), vec![address]);
    upgrade.origin = Some(format!("{scheme}://{}", target.authority()));
    upgrade.protocols = vec![options.dialect().subprotocol().to_owned()];
    upgrade.max_message_bytes = MAX_MESSAGE_BYTES;
    for (name, value) in &options.headers {
        match name.to_ascii_lowercase().as_str() {
            "origin" => upgrade.origin = Some(value.clone()),
            "host" => upgrade.host = Some(value.clone()),
            "cookie" if !options.cookies.is_empty() => {}
            _ => upgrade.headers.push((name.clone(), value.clone())),
        }
    }
    if !options.cookies.is_empty() {
        upgrade
            .headers
            .push(("Cookie".to_owned(), options.cookies.clone()));
    }
    if let Some(resumption) = &options.resumption {
        let sid = resumption.sid().to_owned();
        upgrade.headers.push(("X-ANYCABLE-RESTORE-SID".to_owned(), sid));
    }
    upgrade
}

/// The tags of all samples of a client: those that k6 gives WebSockets, and those of its options.
fn tagged(
    host: &Host,
    url: &str,
    options: &ConnectOptions,
    recorder: &Recorder,
    attempt: Option<&Attempt>,
) -> Recorder {
    if !recorder.reads_tags() {
        return recorder.clone();
    }
    let status = attempt
        .and_then(|attempt| attempt.response.as_ref())
        .map(|response| response.head.status);
    let status = status.map(|status| status.to_string());
    let protocol = attempt.and_then(|attempt| Some(attempt.outcome.as_ref().ok()?.0.protocol()?.to_owned()));
    let ip = attempt
        .and_then(|attempt| attempt.remote)
        .map(|remote| remote.ip().to_string());
    let system = [
        ("url", Some(url)),
        ("status", status.as_deref()),
        ("subproto", protocol.as_deref()),
        ("ip", ip.as_deref()),
    ];
    let system = system
        .into_iter()
        .filter(|(name, _)| host.program.has_system_tag(name));
    let system = system.filter_map(|(name, value)| Some((name, value?)));
    recorder.with_tags(system.chain(tags::pairs(&options.tags)))
}
