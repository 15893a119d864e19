//! Actions at a fixed rate, each timed from the moment when it was due: a server that stalls delays the actions behind
//! the stall too, and their waiting is part of the figure.

use std::{
    io,
    net::SocketAddr,
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use serde_json::Value;

use crate::bench::{
    poller::Poller,
    swarm::{self, Member},
};

/// What to do.
#[derive(Clone, Copy)]
pub(super) struct Workload {
    /// They take turns.
    pub(super) n_clients: usize,
    /// Between two actions; below a second.
    pub(super) interval: Duration,
    pub(super) n_calls: usize,
}

/// What came of it.
#[derive(Default)]
pub(super) struct Answers {
    /// From the moment when an action was due until its answer was read, without the application's own time.
    pub(super) added: Vec<Duration>,
    /// The application's own time, as it says itself.
    pub(super) in_application: Vec<Duration>,
    pub(super) n_unanswered: usize,
}

/// The poller's index of the timer; the clients count from 0.
const TIMER: usize = usize::MAX;

/// How long after the last action answers are waited for; longer than the server gives a call.
const PATIENCE: Duration = Duration::from_secs(5);

impl Workload {
    pub(super) fn rate_per_s(&self) -> f64 {
        1.0 / self.interval.as_secs_f64()
    }

    /// When an action is due, from the start on. The first one is with the first tick.
    fn due(&self, n: usize) -> Duration {
        self.interval * u32::try_from(n + 1).expect("a run of some minutes")
    }
}

/// Subscribes the clients and performs the actions; an action that failed has no answer.
pub(super) fn perform(address: SocketAddr, workload: Workload) -> io::Result<Answers> {
    let mut clients = swarm::gather(address, workload.n_clients)?;
    let mut poller = Poller::new()?;
    for (index, client) in clients.iter().enumerate() {
        poller.add(client, index)?;
    }
    let timer = tick_every(workload.interval)?;
    poller.add(&timer, TIMER)?;
    let start = Instant::now();
    let mut answers = Answers::default();
    let mut n_sent = 0;
    while answers.added.len() < workload.n_calls
        && start.elapsed() < workload.due(workload.n_calls) + PATIENCE
    {
        let ready: Vec<usize> = poller.wait()?.collect();
        for index in ready {
            if index == TIMER {
                acknowledge(&timer)?;
                continue;
            }
            for frame in clients[index].read_frames()? {
                answers.add(&frame, start.elapsed(), workload);
            }
        }
        while n_sent < workload.n_calls && workload.due(n_sent) <= start.elapsed() {
            send(&mut clients[n_sent % workload.n_clients], n_sent)?;
            n_sent += 1;
        }
    }
    answers.n_unanswered = workload.n_calls - answers.added.len();
    Ok(answers)
}

/// The payload is the action's number.
fn send(client: &mut Member, n: usize) -> io::Result<()> {
    let data = format!(r#"{{\"action\":\"echo\",\"payload\":{n}}}"#);
    let identifier = r#"{\"channel\":\"BenchmarkChannel\"}"#;
    client.send(&format!(
        r#"{{"command":"message","identifier":"{identifier}","data":"{data}"}}"#
    ))
}

impl Answers {
    /// Takes in a frame that arrived at this time from the start on; others than answers are passed over.
    fn add(&mut self, frame: &[u8], arrived: Duration, workload: Workload) {
        let Some((n, in_application)) = read_answer(frame) else {
            return;
        };
        let round_trip = arrived.saturating_sub(workload.due(n));
        self.added.push(round_trip.saturating_sub(in_application));
        self.in_application.push(in_application);
    }
}

/// The action's number, and how long the application had it.
fn read_answer(frame: &[u8]) -> Option<(usize, Duration)> {
    let frame: Value = serde_json::from_slice(frame).ok()?;
    let message = frame.get("message")?;
    let n = message.get("payload")?.as_u64()?;
    let app_ns = message.get("app_ns")?.as_u64()?;
    Some((usize::try_from(n).ok()?, Duration::from_nanos(app_ns)))
}

/// A descriptor that can be read whenever the interval has passed again. Waiting for it is exact to some microseconds,
/// where the time limit of a wait is in milliseconds.
fn tick_every(interval: Duration) -> io::Result<OwnedFd> {
    let timer = timerfd_create(
        TimerfdClockId::Monotonic,
        TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
    )?;
    let interval = Timespec::try_from(interval).expect("an interval is short");
    let times = Itimerspec {
        it_interval: interval,
        it_value: interval,
    };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &times)?;
    Ok(timer)
}

fn acknowledge(timer: &OwnedFd) -> io::Result<()> {
    let mut n_ticks = [0; 8];
    rustix::io::read(timer, &mut n_ticks)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_other_frames() {
        let answer = br#"{"identifier":"x","message":{"action":"echo","payload":7,"app_ns":1500}}"#;
        assert_eq!(read_answer(answer), Some((7, Duration::from_nanos(1500))));
        assert_eq!(read_answer(br#"{"type":"ping","message":1763764000}"#), None);
    }

    #[test]
    fn waiting_counts_from_the_moment_when_an_action_was_due() {
        let workload = Workload {
            n_clients: 1,
            interval: Duration::from_millis(1),
            n_calls: 3,
        };
        let mut answers = Answers::default();
        let frame = br#"{"message":{"payload":2,"app_ns":500000}}"#;
        answers.add(frame, Duration::from_millis(13), workload);
        assert_eq!(answers.added, [Duration::from_micros(9500)]);
        assert_eq!(answers.in_application, [Duration::from_micros(500)]);
    }
}
