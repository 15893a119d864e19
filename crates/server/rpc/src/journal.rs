//! Log lines about calls: single failures, counts of repeated ones, and when the application goes away and comes back.

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

/// The least time between two equal lines.
const QUIET: Duration = Duration::from_secs(1);

/// The application is away if it has not answered anything for this long. Single attempts fail for other reasons.
const AWAY_AFTER: Duration = Duration::from_secs(1);

/// The application is down if it accepts calls and has answered none of them for this long. It takes at least this
/// number of calls, because a single one may be slow for a reason of its own.
const SILENT_AFTER: Duration = Duration::from_secs(5);
const MIN_SILENT_CALLS: u32 = 2;

/// After this long without a call, a connection is enough again. A server that gets no clients because it is not ready
/// makes no calls that could be answered.
const SILENCE_COUNTS: Duration = Duration::from_secs(30);

/// Advice for a peer that only closes connections. Known causes have their own advice.
const NEVER_ANSWERED: &str = ". Hint: the application has never answered; if it expects TLS, use --rpc_enable_tls \
    for gRPC, or https:// for HTTP";

/// The journal. Cheap to clone; all clones are the same journal.
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
    /// When an attempt last showed whether the application is reachable.
    last_shown: Option<Instant>,
    away_since: Option<Instant>,
    /// The silence since the last answer.
    silence: Option<Silence>,
}

/// Calls that timed out while no call was answered.
struct Silence {
    /// When the first of them began.
    since: Instant,
    /// When the last of them timed out.
    last: Instant,
    n_calls: u32,
}

impl Silence {
    /// Whether more than one slow call timed out.
    fn is_down(&self) -> bool {
        self.n_calls >= MIN_SILENT_CALLS && self.last - self.since >= SILENT_AFTER
    }
}

#[derive(Default)]
struct Unsaid {
    n_failures: u64,
    last_text: String,
}

impl Journal {
    /// `application` is the application's name in log lines, for example its address.
    pub(crate) fn new(application: &str) -> Self {
        Self {
            application: application.into(),
            state: Arc::default(),
        }
    }

    /// Records whether an attempt reached the application. Any answer, also an error, shows that it is reachable. A
    /// timeout shows neither, whichever side reports it; use [`call_unanswered`](Self::call_unanswered) for it.
    pub(crate) fn attempt_ended(&self, failure: Option<&Status>, dependency: &Dependency) {
        let now = Instant::now();
        let mut state = self.lock();
        if failure.is_some_and(|failure| is_broken_connection(failure) || is_overdue(failure)) {
            return;
        }
        state.last_shown = Some(now);
        let Some(failure) = failure.filter(|failure| failure.code() == Code::Unavailable) else {
            state.last_contact = Some(now);
            state.silence = None;
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
                "The application at {} is away. New connections are refused and subscriptions wait until it is back: {}",
                self.application,
                cause::text(failure)
            );
        }
    }

    /// Records that a call, begun at `start`, timed out. If other calls time out, too, the application hangs, and is
    /// down until its next answer.
    pub(crate) fn call_unanswered(&self, start: Instant, dependency: &Dependency) {
        let now = Instant::now();
        let mut state = self.lock();
        if state.last_contact.is_some_and(|last| last > start) {
            return;
        }
        let silence = state.silence.get_or_insert(Silence {
            since: start,
            last: now,
            n_calls: 0,
        });
        silence.last = now;
        silence.n_calls += 1;
        if !silence.is_down() {
            return;
        }
        let seconds = (now - silence.since).as_secs();
        dependency.down(format!("no call was answered for {seconds} s"));
        if state.away_since.is_none() {
            state.away_since = Some(now);
            tracing::warn!(
                "The application at {} has accepted calls but answered none for {seconds} s; the server is not ready \
                 until the next answer.",
                self.application
            );
        }
    }

    /// Records that a connection to the application can be made. That does not count while it answers no calls.
    pub(crate) fn connected(&self, dependency: &Dependency) {
        let mut state = self.lock();
        let is_silent = |silence: &Silence| silence.is_down() && silence.last.elapsed() < SILENCE_COUNTS;
        if !state.silence.as_ref().is_some_and(is_silent) {
            state.silence = None;
            dependency.up();
        }
    }

    /// Whether an attempt in the last `time` has shown that the application is reachable, or that it is not.
    pub(crate) fn knows_since(&self, time: Duration) -> bool {
        let last_shown = self.lock().last_shown;
        last_shown.is_some_and(|last| last.elapsed() < time)
    }

    /// Logs a failed call, at once or together with others of its kind.
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

    /// Writes one line per second for as long as there are failures of a kind.
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
        // Each change leaves the state valid, so a poisoned lock is harmless.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an existing connection broke. The statuses that an application sends have no source.
fn is_broken_connection(failure: &Status) -> bool {
    failure.source().is_some() && failure.code() != Code::Unavailable
}

/// Whether the call timed out.
pub(crate) fn is_overdue(failure: &Status) -> bool {
    failure.code() == Code::DeadlineExceeded
}

#[cfg(test)]
mod tests {
    use std::{
        io::{self, Write},
        sync::Arc,
    };

    use plimsoll_telemetry::Registry;

    use super::*;

    /// Log lines without levels, times and fields.
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
            // The application answers other calls.
            attempt_ended(Some(&down));
            attempt_ended(Some(&Status::internal("no such table")));
        }
        assert_eq!(log.take(), [""; 0]);
        sleep(AWAY_AFTER).await;
        (0..1000).for_each(|_| attempt_ended(Some(&down)));
        let is_up = || registry.dependencies()[0].is_up();
        assert!(!is_up());
        // A connection can be made, and calls still fail.
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
                "The application at app:1 is away. New connections are refused and subscriptions wait until it is back: \
                 connection refused",
                "The application at app:1 is back after 1.5 s."
            ]
        );
    }

    /// Makes a call every `seconds`, each unanswered for three seconds. Returns after which calls the application was
    /// down.
    async fn down_after(
        journal: &Journal,
        dependency: &Dependency,
        registry: &Registry,
        seconds: u64,
    ) -> u32 {
        for n_calls in 1..100 {
            let start = Instant::now();
            sleep(Duration::from_secs(3)).await;
            journal.attempt_ended(Some(&Status::deadline_exceeded("")), dependency);
            journal.call_unanswered(start, dependency);
            if !registry.dependencies()[0].is_up() {
                return n_calls;
            }
            sleep(Duration::from_secs(seconds) - Duration::from_secs(3)).await;
        }
        panic!("it stays up");
    }

    #[tokio::test(start_paused = true)]
    async fn an_application_that_answers_no_call_is_down_until_its_next_answer() {
        let (log, _guard) = Log::start();
        let journal = Journal::new("app:1");
        let registry = Registry::default();
        let dependency = registry.dependency("rpc");
        let reason = || registry.dependencies()[0].down_because.clone();
        journal.attempt_ended(None, &dependency);
        for (seconds, n_calls, expected) in [(3, 2, "6 s"), (10, 2, "13 s")] {
            assert_eq!(
                down_after(&journal, &dependency, &registry, seconds).await,
                n_calls
            );
            assert_eq!(reason(), Some(format!("no call was answered for {expected}")));
            // A connection shows nothing; an answer shows that the application is up.
            journal.connected(&dependency);
            assert!(reason().is_some());
            journal.attempt_ended(Some(&Status::internal("no such table")), &dependency);
            assert_eq!(reason(), None);
        }
        let said = log.take();
        assert_eq!(said.len(), 4, "{said:?}");
        assert!(said[0].ends_with("answered none for 6 s; the server is not ready until the next answer."));
    }

    #[tokio::test(start_paused = true)]
    async fn one_slow_call_and_calls_beside_answered_ones_show_nothing() {
        let journal = Journal::new("app:1");
        let registry = Registry::default();
        let dependency = registry.dependency("rpc");
        dependency.up();
        let start = Instant::now();
        sleep(Duration::from_secs(60)).await;
        journal.call_unanswered(start, &dependency);
        assert!(registry.dependencies()[0].is_up(), "a single call");
        for _ in 0..100 {
            let start = Instant::now();
            sleep(Duration::from_secs(2)).await;
            journal.attempt_ended(None, &dependency);
            sleep(Duration::from_secs(1)).await;
            journal.call_unanswered(start, &dependency);
        }
        assert!(registry.dependencies()[0].is_up(), "others are answered");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_counts_again_when_there_are_no_calls() {
        let journal = Journal::new("app:1");
        let registry = Registry::default();
        let dependency = registry.dependency("rpc");
        dependency.up();
        down_after(&journal, &dependency, &registry, 3).await;
        sleep(SILENCE_COUNTS - QUIET).await;
        journal.connected(&dependency);
        assert!(!registry.dependencies()[0].is_up());
        sleep(QUIET).await;
        journal.connected(&dependency);
        assert!(registry.dependencies()[0].is_up());
    }
}
