//! Keeps an adapter connected: one attempt after the other, for as long as the process lives.
//!
//! AnyCable gives up after five attempts and exits. A server with thousands of clients must outlive its Redis.

use std::{
    fmt::{self, Display},
    future::Future,
    time::Duration,
};

use plimsoll_telemetry::Dependency;
use tokio::{sync::watch, time::Instant};

use crate::backoff::Backoff;

/// How long a connection has to last before the next wait is a short one again. A server that accepts connections and
/// drops them at once is retried, and logged, less and less often.
const STABLE: Duration = Duration::from_secs(10);

/// Becomes true, or loses its sender, when the adapter has to stop.
pub(crate) type Stop = watch::Receiver<bool>;

/// The work on one connection.
pub(crate) trait Session: Send {
    /// Why a connection cannot be used any more: a lowercase fragment without a full stop.
    type Error: Display + Send;

    /// Connects, reports that to `link`, and works until it is told to stop.
    ///
    /// # Errors
    /// The connection could not be made or was lost.
    fn run(
        &mut self,
        link: &mut Link,
        stop: &mut Stop,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// Makes connections of one kind.
pub(crate) trait Connector: Send {
    /// A connection; its drop ends it.
    type Connection: Send;
    /// As [`Session::Error`].
    type Error: Display + Send;

    /// Connects.
    ///
    /// # Errors
    /// The connection could not be made.
    fn connect(&mut self) -> impl Future<Output = Result<Self::Connection, Self::Error>> + Send;
}

/// A session that connects and does nothing else: it finds out whether an adapter could work.
pub(crate) struct Reach<C>(pub(crate) C);

impl<C: Connector> Session for Reach<C> {
    type Error = C::Error;

    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), C::Error> {
        let _connection = tokio::select! {
            connected = self.0.connect() => connected?,
            () = stopped(stop) => return Ok(()),
        };
        link.is_up();
        stopped(stop).await;
        Ok(())
    }
}

/// The status of a connection, for those who watch the server.
pub(crate) trait Status: fmt::Debug + Send {
    /// The connection works.
    fn up(&self);
    /// The connection does not work, for this reason.
    fn down(&self, reason: String);
}

impl Status for Dependency {
    fn up(&self) {
        Self::up(self);
    }

    fn down(&self, reason: String) {
        Self::down(self, reason);
    }
}

/// The reported state of the connection: one log line when it is lost, one when it is up (again), and its status at any
/// time.
#[derive(Debug)]
pub(crate) struct Link {
    name: &'static str,
    /// The beginnings of the log lines.
    up_words: String,
    down_words: String,
    status: Box<dyn Status>,
    is_reported_down: bool,
    up_since: Option<Instant>,
    backoff: Backoff,
}

impl Link {
    /// A connection that receives broadcasts from `name`.
    pub(crate) fn new(name: &'static str, status: Dependency) -> Self {
        let words =
            ["Receiving broadcasts from", "No broadcasts from"].map(|words| format!("{words} {name}"));
        Self::of(name, words, status)
    }

    /// A connection that sends broadcasts to `name`.
    pub(crate) fn outgoing(name: &'static str, status: Dependency) -> Self {
        let words = ["Sending broadcasts to", "No broadcasts to"].map(|words| format!("{words} {name}"));
        Self::of(name, words, status)
    }

    fn of(name: &'static str, [up_words, down_words]: [String; 2], status: Dependency) -> Self {
        Self {
            name,
            ..Self::with_words(up_words, down_words, status)
        }
    }

    /// A connection that is logged with these beginnings of lines.
    pub(crate) fn with_words(
        up: impl Into<String>,
        down: impl Into<String>,
        status: impl Status + 'static,
    ) -> Self {
        Self {
            name: "",
            up_words: up.into(),
            down_words: down.into(),
            status: Box::new(status),
            is_reported_down: false,
            up_since: None,
            backoff: Backoff::default(),
        }
    }

    /// Reports that the session works.
    pub(crate) fn is_up(&mut self) {
        tracing::info!("{}.", self.up_words);
        self.status.up();
        self.is_reported_down = false;
        self.up_since = Some(Instant::now());
    }

    /// Reports that the session is connected and takes no messages for this long.
    pub(crate) fn is_holding(&mut self, wait: Duration) {
        tracing::info!(
            "Messages of {} wait {:.0} s, so that clients can come back first.",
            self.name,
            wait.as_secs_f64()
        );
        self.status.up();
    }

    /// Reports that the session ended. Returns how long to wait.
    fn is_down(&mut self, error: &impl Display, jitter: f64) -> Duration {
        self.status.down(error.to_string());
        if self.is_reported_down {
            tracing::debug!(%error, "{}, still.", self.down_words);
        } else {
            tracing::warn!("{}: {error}. Trying again until it is back.", self.down_words);
            self.is_reported_down = true;
        }
        if self
            .up_since
            .take()
            .is_some_and(|since| since.elapsed() >= STABLE)
        {
            self.backoff.reset();
        }
        self.backoff.next(jitter)
    }
}

/// Runs sessions until one ends because it was told to.
pub(crate) async fn keep(mut link: Link, mut session: impl Session, mut stop: Stop) {
    while let Err(error) = session.run(&mut link, &mut stop).await {
        let wait = link.is_down(&error, fastrand::f64());
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = stopped(&mut stop) => return,
        }
    }
}

/// Completes when the adapter has to stop.
pub(crate) async fn stopped(stop: &mut Stop) {
    // If the sender is gone, the adapter stops, too.
    let _told_or_orphaned = stop.wait_for(|is_stopping| *is_stopping).await;
}

#[cfg(test)]
mod tests {
    use plimsoll_telemetry::Registry;

    use super::*;
    use crate::connection::ConnectionError;

    fn link(registry: &Registry) -> Link {
        Link::new("a test", registry.dependency("redis"))
    }

    /// Fails at once, `n_failures` times. Then is up for a while and fails once more. Then stays up.
    struct Flaky {
        n_failures: usize,
        uptime: Duration,
        attempts: Vec<Instant>,
        report: tokio::sync::mpsc::UnboundedSender<Vec<Instant>>,
    }

    impl Session for Flaky {
        type Error = ConnectionError;

        async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
            self.attempts.push(Instant::now());
            if self.attempts.len() > self.n_failures {
                link.is_up();
                tokio::time::sleep(self.uptime).await;
            }
            if self.attempts.len() <= self.n_failures + 1 {
                return Err(ConnectionError::Silent(Duration::ZERO));
            }
            self.report.send(self.attempts.clone()).expect("the test listens");
            stopped(stop).await;
            Ok(())
        }
    }

    /// The waits between attempts if a server is away for 30 of them and then up for `uptime`.
    async fn waits(uptime: Duration) -> Vec<Duration> {
        let (report, mut reports) = tokio::sync::mpsc::unbounded_channel();
        let (stop, stopped) = watch::channel(false);
        let session = Flaky {
            n_failures: 30,
            uptime,
            attempts: Vec::new(),
            report,
        };
        let kept = tokio::spawn(keep(link(&Registry::default()), session, stopped));
        let attempts = reports.recv().await.expect("a report");
        stop.send_replace(true);
        kept.await.expect("the adapter stops");
        attempts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[track_caller]
    fn check_wait(wait: Duration, whole_ms: u64) {
        let whole = Duration::from_millis(whole_ms);
        // tokio's timers have a resolution of a millisecond.
        let allowed = whole / 2..=whole + Duration::from_millis(2);
        assert!(allowed.contains(&wait), "{wait:?} is not in {allowed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_go_on_for_ever_at_growing_distances_and_start_over_after_success() {
        let uptime = Duration::from_secs(60);
        let waits = waits(uptime).await;
        for (n, wait) in waits[..30].iter().enumerate() {
            check_wait(*wait, 250 << n.min(5));
        }
        check_wait(waits[30] - uptime, 250);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_is_dropped_at_once_is_no_success() {
        check_wait(waits(Duration::ZERO).await[30], 8000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_ends_the_wait_for_a_server_that_is_away() {
        let (report, _reports) = tokio::sync::mpsc::unbounded_channel();
        let (stop, stopped) = watch::channel(false);
        let session = Flaky {
            n_failures: usize::MAX - 1,
            uptime: Duration::ZERO,
            attempts: Vec::new(),
            report,
        };
        let registry = Registry::default();
        let kept = tokio::spawn(keep(link(&registry), session, stopped));
        tokio::time::sleep(Duration::from_secs(60)).await;
        let [status] = &registry.dependencies()[..] else {
            panic!("there is one dependency");
        };
        assert_eq!(
            status.down_because.as_deref(),
            Some("Redis did not answer within 0 s")
        );
        let asked = Instant::now();
        stop.send_replace(true);
        kept.await.expect("the adapter stops");
        assert_eq!(asked.elapsed(), Duration::ZERO);
    }
}
