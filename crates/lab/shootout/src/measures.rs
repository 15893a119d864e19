//! The measures of `broadcast`, `echo` and `connect`, under the names in their summary.

use std::{sync::Arc, time::Duration};

use plimsoll_load::metrics::{Contains, CounterId, GaugeId, MetricSet, Registry, TrendId};

mod singles;

pub(crate) use self::singles::Singles;
use crate::{ledger::Harvest, outcome::Workload, worker::Opening};

/// Handles of all metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measures {
    sent: CounterId,
    deliveries: CounterId,
    rtt: TrendId,
    delivery: TrendId,
    listener_delivery: TrendId,
    connect: TrendId,
    phases: [TrendId; 4],
    deliveries_in_flight: GaugeId,
    broadcasts_in_flight: GaugeId,
    /// The gauge in single samples. Summaries have the number of clients in their timeline.
    users: GaugeId,
}

/// Messages that were sent.
const SENT: &str = "messages_sent";

/// Arrivals of broadcasts at listeners.
const DELIVERIES: &str = "deliveries";

/// The time from a send to the sender's answer.
pub(crate) const RTT: &str = "rtt";

/// Deliveries that are expected and have not arrived.
const DELIVERIES_IN_FLIGHT: &str = "deliveries_in_flight";

/// Broadcasts that have not reached all listeners.
const BROADCASTS_IN_FLIGHT: &str = "broadcasts_in_flight";

/// The time from a send to the last listener. A broadcast that did not reach all counts with the time that was waited.
pub(crate) const DELIVERY: &str = "delivery";

/// The time from a send to each listener. A missing delivery counts with the time that was waited for it.
pub(crate) const LISTENER_DELIVERY: &str = "listener_delivery";

/// The time from the TCP connect until a client is ready.
pub(crate) const CONNECT: &str = "connect";

/// The parts of [`CONNECT`]: the TCP connect, the upgrade, the welcome, the subscription.
pub(crate) const PHASES: [&str; 4] = [
    "ws_tcp_connecting",
    "ws_upgrading",
    "ws_welcome",
    "ws_subscribing",
];

impl Measures {
    /// The handles, and an empty set of their metrics.
    pub(crate) fn new() -> (Self, MetricSet) {
        const PROOF: &str = "all names are valid and different";
        let mut registry = Registry::new();
        let mut trend = |name| registry.trend(name).expect(PROOF);
        let [rtt, delivery, listener_delivery, connect] =
            [RTT, DELIVERY, LISTENER_DELIVERY, CONNECT].map(&mut trend);
        let phases = PHASES.map(&mut trend);
        let mut gauge = |name| registry.gauge(name, Contains::Default).expect(PROOF);
        let [users, deliveries_in_flight, broadcasts_in_flight] =
            ["vus", DELIVERIES_IN_FLIGHT, BROADCASTS_IN_FLIGHT].map(&mut gauge);
        let mut counter = |name| registry.counter(name, Contains::Default).expect(PROOF);
        let measures = Self {
            sent: counter(SENT),
            deliveries: counter(DELIVERIES),
            rtt,
            delivery,
            listener_delivery,
            connect,
            phases,
            deliveries_in_flight,
            broadcasts_in_flight,
            users,
        };
        (measures, MetricSet::new(Arc::new(registry)))
    }

    /// The names of a workload's metrics that thresholds can use.
    pub(crate) fn names(workload: Workload) -> Vec<&'static str> {
        let own: &[_] = match workload {
            Workload::Broadcast => &[
                LISTENER_DELIVERY,
                DELIVERY,
                RTT,
                SENT,
                DELIVERIES,
                DELIVERIES_IN_FLIGHT,
                BROADCASTS_IN_FLIGHT,
            ],
            Workload::Echo => &[RTT, SENT],
            Workload::Connect => &[],
        };
        [own, &[CONNECT], &PHASES].concat()
    }

    /// A client got ready.
    pub(crate) fn opened(&self, metrics: &mut MetricSet, opening: &Opening) {
        for (trend, time) in self.times(opening) {
            metrics.record(trend, time);
        }
    }

    /// The time of a client in total, and in each of its phases.
    fn times(&self, opening: &Opening) -> impl Iterator<Item = (TrendId, Duration)> {
        let phases = [
            Some(opening.tcp_connect),
            Some(opening.upgrade),
            opening.welcome,
            opening.subscribe,
        ];
        let phases = self.phases.into_iter().zip(phases);
        let phases = phases.filter_map(|(phase, time)| Some((phase, time?)));
        [(self.connect, opening.total)].into_iter().chain(phases)
    }

    /// A message goes out.
    pub(crate) fn sent(&self, metrics: &mut MetricSet) {
        metrics.count(self.sent, 1);
    }

    /// The sender has its answer.
    pub(crate) fn answered(&self, metrics: &mut MetricSet, latency: Duration) {
        metrics.record(self.rtt, latency);
    }

    /// A broadcast has reached all listeners, or was waited for so long.
    pub(crate) fn reached_all(&self, metrics: &mut MetricSet, latency: Duration) {
        metrics.record(self.delivery, latency);
    }

    /// Broadcasts have reached listeners of a worker.
    pub(crate) fn delivered(&self, metrics: &mut MetricSet, harvest: &Harvest) {
        metrics.record_all(self.listener_delivery, &harvest.latency);
        metrics.record_all(self.listener_delivery, &harvest.missing);
        metrics.count(self.deliveries, harvest.n_delivered);
    }

    /// So many deliveries and broadcasts are on their way.
    pub(crate) fn in_flight(&self, metrics: &mut MetricSet, n_deliveries: u64, n_broadcasts: usize) {
        metrics.set(self.deliveries_in_flight, n_deliveries as f64);
        metrics.set(self.broadcasts_in_flight, n_broadcasts as f64);
    }
}
