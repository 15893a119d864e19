//! The signs of life of the servers that share a broker.

use std::time::Duration;

use plimsoll_telemetry::{Gauge, Histogram, Registry};
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval, timeout},
};

use crate::supervisor::stopped;

/// The time between two signs of life of a server.
const BEAT: Duration = Duration::from_millis(500);

/// The time for which one counts.
pub(crate) const ALIVE_FOR: Duration = Duration::from_secs(2);

/// What this server learns when it says that it is there.
#[derive(Debug)]
pub(crate) struct Pulse {
    n_servers: Gauge,
    round_trip: Histogram,
}

impl Pulse {
    pub(crate) fn new(registry: &Registry) -> Self {
        Self {
            n_servers: registry.gauge(
                "broker_servers_num",
                "Servers that share the broker, this one included",
            ),
            round_trip: registry.histogram(
                "broker_round_trip_seconds",
                "Time in which the broker answers; one that does not answer counts with the time it was waited for",
                &[],
            ),
        }
    }

    /// Lets `beat` say again and again that this server is there, until `stop` becomes true. It returns the number of
    /// servers when the broker has answered; `None`: it did not.
    pub(crate) async fn run<F: Future<Output = Option<usize>>>(
        &self,
        beat: impl FnMut() -> F,
        mut stop: watch::Receiver<bool>,
    ) {
        tokio::select! {
            () = self.go_on(beat) => {}
            () = stopped(&mut stop) => {}
        }
    }

    async fn go_on<F: Future<Output = Option<usize>>>(&self, mut beat: impl FnMut() -> F) {
        let mut beats = interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beats.tick().await;
            let started = Instant::now();
            // The connection says what is wrong.
            if let Ok(Some(n_servers)) = timeout(ALIVE_FOR, beat()).await {
                self.n_servers.set(i64::try_from(n_servers).unwrap_or(i64::MAX));
            }
            self.round_trip.observe(started.elapsed());
        }
    }
}

/// A name for this process among those that share a broker.
pub(crate) fn new_name() -> String {
    std::iter::repeat_with(fastrand::alphanumeric).take(16).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use plimsoll_telemetry::Value;
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_broker_that_does_not_answer_counts_with_the_time_it_was_waited_for() {
        let registry = Registry::default();
        let pulse = Pulse::new(&registry);
        let turn = Cell::new(0);
        let beat = || {
            turn.set(turn.get() + 1);
            let turn = turn.get();
            async move {
                let takes_ms = if turn == 2 { 60_000 } else { 4 };
                sleep(Duration::from_millis(takes_ms)).await;
                Some(turn)
            }
        };
        let (_stop, stopped) = watch::channel(false);
        let ended = timeout(Duration::from_millis(2900), pulse.run(beat, stopped)).await;
        assert!(ended.is_err(), "it goes on");
        let snapshot = registry.snapshot();
        let value = |name| {
            snapshot.metric(name).expect("it is registered").series[0]
                .value
                .clone()
        };
        assert_eq!(value("broker_servers_num"), Value::Gauge(3.0));
        let Value::Histogram(round_trips) = value("broker_round_trip_seconds") else {
            panic!("it is a histogram");
        };
        assert_eq!(round_trips.counts.iter().sum::<u64>(), 3);
        assert_eq!(round_trips.sum, Duration::from_millis(4 + 2000 + 4));
    }
}
