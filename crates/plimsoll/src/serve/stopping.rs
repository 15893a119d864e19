//! The end of `plimsoll serve`: signals, and the flags about the time limits.

use std::{
    io::{self, Read},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use clap::Args;
use plimsoll_telemetry::Dependency;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::{Notify, oneshot},
};

/// The longest time for clients to close their connections. They learn of the end within milliseconds, and a client
/// that has not answered after two seconds will not. The whole stop stays under three seconds, which process
/// supervisors and the Action Cable conformance suite allow.
const MAX_DRAIN: Duration = Duration::from_secs(2);

/// The time limits of stopping.
#[derive(Debug, Args)]
#[command(next_help_heading = "Stopping")]
#[group(id = "stopping")]
pub(super) struct StoppingOptions {
    /// Time limit for stopping, in seconds. Clients get two seconds to leave; the rest is for calls to the
    /// application in progress, and for Disconnect calls.
    #[arg(long, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    shutdown_timeout: u64,
    /// Seconds between the signal and the beginning of the stop. In this time the server works as usual, but
    /// --ready_path answers 503, so that a load balancer sends no new clients.
    #[arg(long, default_value_t = 0, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=3600))]
    shutdown_delay: u64,
    /// Send clients away one after the other before the stop, over the time of --shutdown_timeout.
    /// --shutdown_slowdrain_period sets another time.
    #[arg(long)]
    shutdown_slowdrain: bool,
    /// Seconds over which clients are sent away one after the other before the stop, so that they do not come back all at
    /// once. New clients are answered 503; clients that are still connected are served. With few clients it takes less time:
    /// at most half a second lies between two of them.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=3600))]
    shutdown_slowdrain_period: Option<u64>,
    /// Stop when standard input ends: a parent process that dies takes its server with it.
    #[arg(long, hide = true)]
    exit_with_stdin: bool,
}

/// The orders to the process from outside.
pub(super) struct Orders {
    /// The order to stop, with its reason.
    pub(super) stop: oneshot::Receiver<&'static str>,
    /// The order to end at once: a second signal.
    pub(super) end: oneshot::Receiver<&'static str>,
}

/// The order to stop that comes from the page of operators.
#[derive(Debug, Default)]
pub(super) struct OperatorsStop {
    /// Whether the stop has begun, for whatever reason.
    has_begun: AtomicBool,
    ordered: Notify,
}

impl OperatorsStop {
    /// Orders the stop. `false`: it has begun already.
    pub(super) fn order(&self) -> bool {
        let is_first = self.begin();
        if is_first {
            self.ordered.notify_one();
        }
        is_first
    }

    /// Notes that the stop begins. Returns whether it had not begun.
    fn begin(&self) -> bool {
        !self.has_begun.swap(true, Ordering::Relaxed)
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// The order of an operator, which is none after another reason.
    operator: Arc<OperatorsStop>,
    /// Receives the end of standard input, if that is a reason to stop.
    stdin: Option<oneshot::Receiver<()>>,
}

impl StoppingOptions {
    pub(super) fn drain_timeout(&self) -> Duration {
        MAX_DRAIN.min(self.shutdown_timeout())
    }

    pub(super) fn shutdown_timeout(&self) -> Duration {
        Duration::from_secs(self.shutdown_timeout)
    }

    /// The time over which clients are sent away before the stop.
    pub(super) fn slow_drain(&self) -> Duration {
        let by_default = if self.shutdown_slowdrain {
            self.shutdown_timeout
        } else {
            0
        };
        Duration::from_secs(self.shutdown_slowdrain_period.unwrap_or(by_default))
    }

    /// Handles signals from now on.
    pub(super) fn listen(&self, operator: Arc<OperatorsStop>) -> io::Result<Orders> {
        let mut signals = Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            operator,
            stdin: self.exit_with_stdin.then(stdin_end),
        };
        let (stop, stop_order) = oneshot::channel();
        let (end, end_order) = oneshot::channel();
        tokio::spawn(async move {
            let _the_server_may_be_gone = stop.send(signals.next().await);
            let _the_server_may_be_gone = end.send(signals.next().await);
        });
        Ok(Orders {
            stop: stop_order,
            end: end_order,
        })
    }

    /// Completes when the stop is to begin. Before a delay, `server` says that it is about to.
    pub(super) async fn wait(&self, stop: oneshot::Receiver<&'static str>, server: &Dependency) {
        let reason = stop
            .await
            .expect("the task that sends it lives as long as the runtime");
        tracing::info!(delay_s = self.shutdown_delay, "Stopping because of {reason}.");
        server.down(format!("stopping because of {reason}"));
        tokio::time::sleep(Duration::from_secs(self.shutdown_delay)).await;
    }
}

impl Signals {
    /// Waits for the next reason to stop, and names it.
    async fn next(&mut self) -> &'static str {
        let stdin_ended = async {
            match self.stdin.as_mut() {
                Some(end) => drop(end.await),
                None => std::future::pending().await,
            }
        };
        let reason = tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            () = stdin_ended => "the end of standard input",
            () = self.operator.ordered.notified() => "an operator's order",
        };
        self.operator.begin();
        // It ends once. After a signal it is no second one: a parent that stopped us may die before us.
        self.stdin = None;
        reason
    }
}

/// Standard input can only be awaited by a thread; it ends with the process.
fn stdin_end() -> oneshot::Receiver<()> {
    let (ended, end) = oneshot::channel();
    thread::spawn(move || {
        // An error ends the input as well.
        let _end_or_error = io::copy(&mut io::stdin().lock().by_ref(), &mut io::sink());
        let _the_server_may_have_stopped = ended.send(());
    });
    end
}
