//! Requests of many tasks to one Redis server, or to the nodes of a Redis Cluster: over one connection to each.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use plimsoll_telemetry::Dependency;
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

use crate::{
    cluster::Redirection,
    resp::Reply,
    server::{Discovery, Server},
    supervisor::Link,
    target::Address,
};

mod foreign;
mod line;
mod lines;

pub use foreign::ForeignKeys;
pub use line::RequestError;
use line::{Line, LineError, LineSettings, Manner};
pub(crate) use line::{Replication, Request, Requests, Script};
use lines::{LineTasks, Lines};

/// The least time between two lines in the log that say that requests are refused for one reason.
const COMPLAINT_INTERVAL: Duration = Duration::from_secs(60);

/// The most reasons that are known of. Overflow rule: a further one is not logged until one of them is forgotten.
const MAX_COMPLAINTS: usize = 32;

/// The callers' end of the connections. A clone is the same pipeline.
#[derive(Debug, Clone)]
pub(crate) struct Pipeline {
    route: Route,
    complaints: Arc<Complaints>,
}

#[derive(Debug, Clone)]
enum Route {
    Server(Line),
    Cluster(Arc<Lines>),
}

/// The connections' end.
pub(crate) enum PipelineTasks {
    Server(Requests),
    Cluster(LineTasks),
}

impl Pipeline {
    /// A pipeline, and the work on its connections.
    pub(crate) fn new(
        server: Arc<Server>,
        scripts: &'static [&'static Script],
        replication: Option<Replication>,
    ) -> (Self, PipelineTasks) {
        let settings = LineSettings {
            scripts,
            replication,
            is_node: server.is_cluster(),
        };
        let (route, tasks) = match &server.discovery {
            Discovery::Cluster(topology) => {
                let lines = Lines::new(Arc::clone(topology), Arc::clone(&server), settings);
                let lines = Arc::new(lines);
                let tasks = LineTasks::new(Arc::clone(&lines));
                (Route::Cluster(lines), PipelineTasks::Cluster(tasks))
            }
            Discovery::Fixed | Discovery::Sentinels(_) => {
                let (line, requests) = Line::new(server, settings);
                (Route::Server(line), PipelineTasks::Server(requests))
            }
        };
        let complaints = Arc::new(Complaints::of("The Redis broker"));
        (Self { route, complaints }, tasks)
    }

    /// A pipeline for requests without scripts that any node of a cluster takes, and the work on its connection.
    pub(crate) fn to_any_node(server: Arc<Server>) -> (Self, Requests) {
        let settings = LineSettings {
            scripts: &[],
            replication: None,
            is_node: true,
        };
        let (line, requests) = Line::new(server, settings);
        let pipeline = Self {
            route: Route::Server(line),
            complaints: Arc::new(Complaints::of("Redis")),
        };
        (pipeline, requests)
    }

    /// Makes a request and waits for its answer. A request whose caller has given up is not sent. All keys of a request
    /// must have the same hash tag.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub(crate) async fn request(&self, request: Request, patience: Duration) -> Result<Reply, RequestError> {
        self.parsed(request, patience, Some).await
    }

    /// As [`request`](Self::request), and reads the answer. One that cannot be read, although all of it is there, comes from
    /// keys that have something else than Plimsoll writes there.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub(crate) async fn parsed<T>(
        &self,
        request: Request,
        patience: Duration,
        parse: impl FnOnce(Reply) -> Option<T>,
    ) -> Result<T, RequestError> {
        self.carry_out(request, patience, Manner::default(), parse).await
    }

    /// As [`parsed`](Self::parsed), and waits until as many replicas as the settings ask for have carried it out.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub(crate) async fn replicated<T>(
        &self,
        request: Request,
        patience: Duration,
        parse: impl FnOnce(Reply) -> Option<T>,
    ) -> Result<T, RequestError> {
        let manner = Manner {
            is_replicated: true,
            ..Manner::default()
        };
        self.carry_out(request, patience, manner, parse).await
    }

    async fn carry_out<T>(
        &self,
        request: Request,
        patience: Duration,
        manner: Manner,
        parse: impl FnOnce(Reply) -> Option<T>,
    ) -> Result<T, RequestError> {
        let request = Arc::new(request);
        let sent = Arc::clone(&request);
        let answer = match &self.route {
            Route::Server(line) => {
                let answered = timeout(patience, line.request(sent, manner)).await;
                answered.map_or(Err(RequestError::Late(patience)), |answer| {
                    answer.map_err(|error| match error {
                        LineError::Failed(error) => error,
                        LineError::Unsent => RequestError::Lost,
                    })
                })
            }
            Route::Cluster(lines) => lines.request(sent, manner, patience).await,
        };
        let result = match answer {
            Ok(reply) => {
                let is_cut = reply.is_cut();
                parse(reply).ok_or_else(|| {
                    if is_cut {
                        RequestError::Refused("TOOLONG the answer is too long to be read".to_owned())
                    } else {
                        ForeignKeys::unreadable(&request).into()
                    }
                })
            }
            Err(RequestError::Refused(error)) => Err(match ForeignKeys::of(&request, &error) {
                Some(foreign) => foreign.into(),
                None => RequestError::Refused(error),
            }),
            Err(error) => Err(error),
        };
        if let Err(error) = &result {
            self.complaints.add(error);
        }
        result
    }

    /// Makes a request to all nodes of a cluster but the one with this address, or to the only server. Returns when all
    /// have answered.
    pub(crate) async fn request_elsewhere(
        &self,
        request: Request,
        patience: Duration,
        here: Option<&Address>,
    ) {
        match &self.route {
            Route::Server(_) => drop(self.request(request, patience).await),
            Route::Cluster(lines) => lines.request_elsewhere(request, patience, here).await,
        }
    }
}

impl PipelineTasks {
    /// Stays connected until `stop` becomes true.
    pub(crate) async fn run(self, status: Dependency, stop: watch::Receiver<bool>) {
        match self {
            Self::Server(requests) => {
                let link = Link::with_words(
                    "Connected to the Redis broker",
                    "The Redis broker is away",
                    status,
                );
                requests.run(link, stop).await;
            }
            Self::Cluster(tasks) => tasks.run(status, stop).await,
        }
    }
}

/// What was logged of refusals: each of thousands of requests may be refused for the same reason.
#[derive(Debug)]
struct Complaints {
    /// Who refuses.
    name: &'static str,
    logged: Mutex<Vec<(Vec<u8>, Instant)>>,
}

impl Complaints {
    fn of(name: &'static str) -> Self {
        Self {
            name,
            logged: Mutex::default(),
        }
    }

    /// Logs a refusal whose reason is new, or was not logged for a while.
    fn add(&self, error: &RequestError) {
        let reason = match error {
            RequestError::Refused(text) if Redirection::of(text).is_none() => {
                text.split_whitespace().next().unwrap_or_default().as_bytes()
            }
            RequestError::Foreign(foreign) => &*foreign.key,
            RequestError::Unreplicated(_) => b"WAIT",
            _ => return,
        };
        if self.is_news(reason) {
            tracing::warn!("{} does not take all requests: {error}.", self.name);
        }
    }

    fn is_news(&self, reason: &[u8]) -> bool {
        // A panic under the lock is a bug in this function; the log goes on.
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        logged.retain(|(_, at)| at.elapsed() < COMPLAINT_INTERVAL);
        let is_news = logged.len() < MAX_COMPLAINTS && logged.iter().all(|(known, _)| known != reason);
        if is_news {
            logged.push((reason.to_owned(), Instant::now()));
        }
        is_news
    }
}

#[cfg(test)]
mod tests;
