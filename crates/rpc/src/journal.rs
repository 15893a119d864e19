//! What the log says about calls: each failure once, floods in numbers, and when the application goes and comes back.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use plimsoll_telemetry::Dependency;
use tokio::time::{Instant, sleep};

use crate::{
    cause,
    proto::Method,
    status::{Code, Status},
};

/// At most one line in this time says the same.
const QUIET: Duration = Duration::from_secs(1);

/// The application is away when it has not answered anything for so long: single attempts fail for other reasons.
const AWAY_AFTER: Duration = Duration::from_secs(1);

/// Known causes have their own advice; this is for a peer that only closes connections.
const NEVER_ANSWERED: &str = ". Hint: nothing was ever answered there; if the application expects TLS, --rpc_enable_tls \
    is needed for gRPC, and https:// for HTTP";

/// Cheap to clone; all clones are the same journal.
#[derive(Clone)]
pub(crate) struct Journal {
    application: Arc<str>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Failures that were not logged since the last line of their kind. Bounded: three methods, seventeen codes.
    unsaid: HashMap<(Method, Code), Unsaid>,
    last_contact: Option<Instant>,
    /// When an attempt last showed whether the application is there.
    last_shown: Option<Instant>,
    away_since: Option<Instant>,
}

#[derive(Default)]
struct Unsaid {
    n_failures: u64,
    last_text: String,
}

impl Journal {
    /// `application` is what the lines call it, for example its address.
    pub(crate) fn new(application: &str) -> Self {
        Self {
            application: application.into(),
            state: Arc::default(),
        }
    }

    /// Learns from an attempt whether the application is there: any answer of it shows that, also an error.
    pub(crate) fn attempt_ended(&self, failure: Option<&Status>, dependency: &Dependency) {
        let now = Instant::now();
        let mut state = self.lock();
        if failure.is_some_and(is_broken_connection) {
            return;
        }
        state.last_shown = Some(now);
        let Some(failure) = failure.filter(|failure| failure.code() == Code::Unavailable) else {
            state.last_contact = Some(now);
            dependency.up();
            if let Some(since) = state.away_since.take() {
                let seconds = (now - since).as_secs_f32();
                tracing::info!(
                    "The application at {} is back after {seconds:.1} s.",
                    self.application
                );
            }
            return;
        };
        let is_missed = state.last_contact.is_none_or(|last| now - last >= AWAY_AFTER);
        if is_missed {
            dependency.down(cause::text(failure));
        }
        if is_missed && state.away_since.is_none() {
            state.away_since = Some(now);
            tracing::warn!(
                "The application at {} is away; clients that need it are refused until it is back, by itself: {}",
                self.application,
                cause::text(failure)
            );
        }
    }

    /// Whether an attempt in this time has shown that the application is there, or that it is not.
    pub(crate) fn knows_since(&self, time: Duration) -> bool {
        let last_shown = self.lock().last_shown;
        last_shown.is_some_and(|last| last.elapsed() < time)
    }

    /// Logs a failed call, now or with others like it.
    pub(crate) fn call_failed(&self, method: Method, sid: &str, failure: &Status) {
        let kind = (method, failure.code());
        if let Some(unsaid) = self.lock().unsaid.get_mut(&kind) {
            unsaid.n_failures += 1;
            unsaid.last_text = cause::text(failure);
            return;
        }
        let code = failure.code();
        let mut text = cause::text(failure);
        if is_broken_connection(failure) && self.lock().last_contact.is_none() {
            text.push_str(NEVER_ANSWERED);
        }
        tracing::warn!(sid, ?code, "{method:?} failed: {text}");
        self.lock().unsaid.insert(kind, Unsaid::default());
        tokio::spawn(self.clone().sum_up(kind));
    }

    /// One line per second for as long as there are failures of a kind.
    async fn sum_up(self, kind: (Method, Code)) {
        let (method, code) = kind;
        loop {
            sleep(QUIET).await;
            let unsaid = {
                let mut state = self.lock();
                match state.unsaid.get_mut(&kind).filter(|unsaid| unsaid.n_failures > 0) {
                    Some(unsaid) => std::mem::take(unsaid),
                    None => {
                        state.unsaid.remove(&kind);
                        return;
                    }
                }
            };
            let Unsaid {
                n_failures,
                last_text,
            } = unsaid;
            tracing::warn!(?code, "{method:?} failed {n_failures} more times: {last_text}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What is inside is valid after each of its changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a connection was there, and broke. The statuses that an application sends have no source.
fn is_broken_connection(failure: &Status) -> bool {
    failure.source().is_some() && failure.code() != Code::Unavailable
}

#[cfg(test)]
mod tests {
    use std::{
        io::{self, Write},
        sync::Arc,
    };

    use plimsoll_telemetry::Registry;

    use super::*;

    /// The lines of the log without levels, times and fields.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Log {
        fn start() -> (Self, tracing::subscriber::DefaultGuard) {
            let log = Self::default();
            let writer = log.clone();
            let subscriber = tracing_subscriber::fmt()
                .with_writer(move || writer.clone())
                .without_time()
                .with_level(false)
                .with_target(false)
                .with_ansi(false)
                .finish();
            (log, tracing::subscriber::set_default(subscriber))
        }

        fn take(&self) -> Vec<String> {
            let bytes = std::mem::take(&mut *self.0.lock().expect("no panic"));
            let text = String::from_utf8(bytes).expect("UTF-8");
            text.lines().map(|line| line.trim().to_owned()).collect()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_failures_is_one_line_and_then_one_per_second() {
        let (log, _guard) = Log::start();
        let journal = Journal::new("app:1");
        let fail = |method, text: &str| journal.call_failed(method, "s", &Status::internal(text));
        (0..1000).for_each(|n| fail(Method::Command, &format!("error {n}")));
        fail(Method::Connect, "another kind");
        assert_eq!(
            log.take(),
            [
                "Command failed: error 0 sid=\"s\" code=Internal",
                "Connect failed: another kind sid=\"s\" code=Internal"
            ]
        );
        sleep(QUIET * 3 / 2).await;
        assert_eq!(
            log.take(),
            ["Command failed 999 more times: error 999 code=Internal"]
        );
        fail(Method::Command, "late");
        sleep(QUIET * 10).await;
        assert_eq!(log.take(), ["Command failed 1 more times: late code=Internal"]);
        assert!(journal.lock().unsaid.is_empty());
        fail(Method::Command, "new");
        assert_eq!(log.take(), ["Command failed: new sid=\"s\" code=Internal"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_application_goes_and_comes_back_in_one_line_each() {
        let (log, _guard) = Log::start();
        let journal = Journal::new("app:1");
        let registry = Registry::default();
        let dependency = registry.dependency("rpc");
        let attempt_ended = |failure: Option<&Status>| journal.attempt_ended(failure, &dependency);
        let down = Status::unavailable("connection refused");
        attempt_ended(None);
        for _ in 0..1000 {
            // It answers others.
            attempt_ended(Some(&down));
            attempt_ended(Some(&Status::internal("no such table")));
        }
        assert_eq!(log.take(), [""; 0]);
        sleep(AWAY_AFTER).await;
        (0..1000).for_each(|_| attempt_ended(Some(&down)));
        let is_up = || registry.dependencies()[0].is_up();
        assert!(!is_up());
        // A connection can be made, and calls go on to fail.
        dependency.up();
        attempt_ended(Some(&down));
        assert!(!is_up());
        assert!(journal.knows_since(QUIET));
        sleep(Duration::from_millis(1500)).await;
        assert!(!journal.knows_since(QUIET));
        (0..1000).for_each(|_| attempt_ended(None));
        assert_eq!(
            log.take(),
            [
                "The application at app:1 is away; clients that need it are refused until it is back, by itself: \
                 connection refused",
                "The application at app:1 is back after 1.5 s."
            ]
        );
    }
}
