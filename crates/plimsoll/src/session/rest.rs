//! The REST interface of a run (k6's `--address`): its state, and orders to pause, resume, scale and stop.
//!
//! Only for this machine, unless other host names are given: it listens on loopback addresses, answers nothing that comes
//! under another host name, and takes orders as JSON only, so that no web page can give them.

use std::{
    convert::Infallible,
    io,
    net::{self, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, Response, body::Incoming, header, service::service_fn};
use hyper_util::rt::TokioIo;
use plimsoll_load::run::Progress;
use plimsoll_loopback::{ListenError, REQUEST_TIMEOUT, accept, protocol};
use tokio::net::{TcpListener, TcpStream};

mod answers;
mod hosts;
mod orders;
mod snapshot;

use self::answers::{Answer, Question};
pub(crate) use self::hosts::HostName;
pub(super) use self::{orders::Orders, snapshot::Snapshot};

/// The default address of k6's interface, where our own commands look for it.
pub(crate) const USUAL_ADDRESS: &str = "localhost:6565";

/// The longest body. An order has about a hundred bytes.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Why the interface cannot be there. k6 ends with exit code 106.
#[derive(Debug, thiserror::Error)]
pub(super) enum RestError {
    /// The address is not one.
    #[error("--address {address}: {source}; expected a host and a port, for example {USUAL_ADDRESS}")]
    Address { address: String, source: io::Error },
    /// Others could reach it.
    #[error(
        "--address {address}: {found} is reachable from other machines, but every client of the interface can \
         control the run; expected a loopback address, for example {USUAL_ADDRESS}, or the names of this machine in \
         --address-hosts"
    )]
    NotLoopback { address: String, found: SocketAddr },
    /// The port is taken.
    #[error("--address {address}: cannot listen: {source}")]
    Bind { address: String, source: io::Error },
}

/// The interface, bound and not answering yet.
pub(super) struct Rest {
    listener: TcpListener,
    state: Arc<State>,
}

/// What all connections share.
struct State {
    snapshot: Mutex<Snapshot>,
    orders: Orders,
    /// Names of this machine for others. Empty: only this machine may use the interface.
    hosts: Vec<HostName>,
}

impl State {
    fn snapshot(&self) -> MutexGuard<'_, Snapshot> {
        // A panic during a write leaves at worst a second that is half new.
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the run tells how it is doing.
#[derive(Clone)]
pub(super) struct Reporter(Arc<State>);

impl Reporter {
    /// Takes in the state of the run.
    pub(super) fn report(&self, progress: &Progress<'_>) {
        self.0.snapshot().update(progress);
    }

    /// The run is over.
    pub(super) fn end(&self) {
        self.0.snapshot().end();
    }
}

impl Rest {
    /// Listens on `address`, `host:port`; one that other machines can reach needs `hosts`. To be called in a runtime.
    pub(super) fn bind(
        address: &str,
        hosts: &[HostName],
        orders: Orders,
        snapshot: Snapshot,
    ) -> Result<Self, RestError> {
        let listener = if hosts.is_empty() {
            listen(address)?
        } else {
            listen_anywhere(address)?
        };
        let listener = TcpListener::from_std(listener).map_err(|source| RestError::Bind {
            address: address.to_owned(),
            source,
        })?;
        Ok(Self {
            listener,
            state: Arc::new(State {
                snapshot: Mutex::new(snapshot),
                orders,
                hosts: hosts.to_vec(),
            }),
        })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    pub(super) fn reporter(&self) -> Reporter {
        Reporter(Arc::clone(&self.state))
    }

    /// Answers forever. To be polled on a `LocalSet`.
    pub(super) async fn serve(self) -> Infallible {
        let Self { listener, state } = self;
        accept(listener, |stream| converse(stream, Arc::clone(&state))).await
    }
}

/// Listens on `address`, in the words of this interface.
fn listen(address: &str) -> Result<net::TcpListener, RestError> {
    plimsoll_loopback::listen(address).map_err(|error| {
        let address = address.to_owned();
        match error {
            ListenError::Address(source) => RestError::Address { address, source },
            ListenError::NotLoopback(found) => RestError::NotLoopback { address, found },
            ListenError::Listen(source) => RestError::Bind { address, source },
        }
    })
}

/// Listens on an address that other machines may reach.
fn listen_anywhere(address: &str) -> Result<net::TcpListener, RestError> {
    let failed = |source: io::Error| {
        let address = address.to_owned();
        match source.kind() {
            io::ErrorKind::InvalidInput => RestError::Address { address, source },
            _ => RestError::Bind { address, source },
        }
    };
    let listener = net::TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

async fn converse(stream: TcpStream, state: Arc<State>) {
    let service = service_fn(|request| {
        let state = Arc::clone(&state);
        async move { Ok::<_, Infallible>(respond(request, &state).await) }
    });
    let served = protocol().serve_connection(TokioIo::new(stream), service).await;
    if let Err(error) = served {
        tracing::debug!(%error, "A connection of the REST interface ended early.");
    }
}

async fn respond(request: Request<Incoming>, state: &State) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let body = tokio::time::timeout(REQUEST_TIMEOUT, Limited::new(body, MAX_BODY_BYTES).collect()).await;
    let header = |name| {
        head.headers
            .get(name)
            .and_then(|value: &header::HeaderValue| value.to_str().ok())
    };
    let Answer { status, document } = match body {
        Ok(Ok(body)) => answers::answer(
            &Question {
                method: head.method.as_str(),
                path: head.uri.path(),
                is_expected: header(header::HOST).is_some_and(|host| hosts::is_expected(host, &state.hosts)),
                content_type: header(header::CONTENT_TYPE),
                body: &body.to_bytes(),
            },
            &state.snapshot(),
            &state.orders,
        ),
        Ok(Err(error)) => Answer::refusal(413, &format!("the body cannot be read: {error}")),
        Err(_) => Answer::refusal(408, "the body took too long to arrive"),
    };
    let body = document.map_or_else(Bytes::new, |document| document.to_string().into());
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    let content_type = header::HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_may_control_a_run() {
        for (address, expected) in [
            ("127.0.0.1:0", "127.0.0.1"),
            ("127.8.8.8:0", "127.8.8.8"),
            (
                "0.0.0.0:6565",
                "--address 0.0.0.0:6565: 0.0.0.0:6565 is reachable from other machines, but every client of the \
                 interface can control the run; expected a loopback address, for example localhost:6565, or the names of \
                 this machine in --address-hosts",
            ),
            (
                "10.0.0.1:6565",
                "--address 10.0.0.1:6565: 10.0.0.1:6565 is reachable from other machines, but every client of the \
                 interface can control the run; expected a loopback address, for example localhost:6565, or the names of \
                 this machine in --address-hosts",
            ),
            (
                "6565",
                "--address 6565: invalid socket address; expected a host and a port, for example localhost:6565",
            ),
        ] {
            let found = match listen(address) {
                Ok(listener) => listener.local_addr().unwrap().ip().to_string(),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{address}");
        }
    }
}
