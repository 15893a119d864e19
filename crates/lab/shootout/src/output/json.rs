//! A run as one JSON object: websocket-bench's `messages` and `steps`, so that its chart script reads it, and all
//! further figures under `plimsoll`.

use std::{collections::BTreeMap, time::Duration};

use plimsoll_load::{causes::Causes, generator::Health};
use plimsoll_report::{
    Distribution, rfc3339,
    summary::{Target, Threshold},
};
use serde::Serialize;

use super::text::millis;
use crate::{
    meter::{Period, Watched, seconds},
    options::Model,
    outcome::{Connecting, DeliveryCounts, NodeDeliveries, Outcome, Step},
    remote::Share,
    samples::Rtt,
};

/// The whole document.
#[derive(Serialize)]
struct Document<'a> {
    messages: &'a [String],
    steps: Vec<StepObject<'a>>,
    plimsoll: RunObject<'a>,
}

#[derive(Serialize)]
struct RunObject<'a> {
    version: &'static str,
    workload: &'static str,
    target: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    nodes: &'a [String],
    server_type: String,
    workers: usize,
    seed: u64,
    seconds: f64,
    interrupted: bool,
    faulty: bool,
    generator_doubtful: bool,
    deliveries: Option<CountsObject>,
    n_foreign: u64,
    n_stray_answers: u64,
    n_altered: u64,
    load: Option<LoadObject>,
    targets: &'a [Target],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    thresholds: Vec<ThresholdObject>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<AgentObject<'a>>,
}

/// What one agent did.
#[derive(Serialize)]
struct AgentObject<'a> {
    name: &'a str,
    clients: u32,
    n_complete: u64,
    generator_cpu_seconds: f64,
    rss_bytes: Option<u64>,
    lost_at_seconds: Option<f64>,
}

/// When messages are sent.
#[derive(Serialize)]
#[serde(tag = "model", rename_all = "lowercase")]
enum LoadObject {
    Closed { concurrent: usize, sample_size: usize },
    Open { rate_per_second: f64, seconds: f64 },
}

#[derive(Serialize)]
struct ThresholdObject {
    threshold: String,
    value: Option<f64>,
    passed: bool,
}

/// websocket-bench's figures in whole milliseconds, `null` when nothing was answered.
#[derive(Serialize)]
struct StepObject<'a> {
    time: String,
    clients: usize,
    limit_per: u8,
    #[serde(rename = "per-rtt")]
    percentile_ms: Option<u64>,
    #[serde(rename = "min-rtt")]
    min_ms: Option<u64>,
    #[serde(rename = "median-rtt")]
    median_ms: Option<u64>,
    #[serde(rename = "max-rtt")]
    max_ms: Option<u64>,
    #[serde(flatten)]
    delivery: Option<DeliveryObject>,
    plimsoll: DetailObject<'a>,
}

/// The first line of the text: deliveries to listeners, in whole milliseconds.
#[derive(Serialize)]
struct DeliveryObject {
    #[serde(rename = "per-delivery")]
    percentile_ms: u64,
    #[serde(rename = "min-delivery")]
    min_ms: u64,
    #[serde(rename = "median-delivery")]
    median_ms: u64,
    #[serde(rename = "max-delivery")]
    max_ms: u64,
}

#[derive(Serialize)]
struct DetailObject<'a> {
    connect: ConnectObject,
    sampling: Option<PeriodObject>,
    n_dropped: u64,
    drops: BTreeMap<String, u64>,
    #[serde(flatten)]
    exchange: Option<ExchangeObject>,
    #[serde(flatten)]
    deliveries: Option<DeliveriesObject>,
    generator: &'a Health,
}

#[derive(Serialize)]
struct ConnectObject {
    #[serde(flatten)]
    period: PeriodObject,
    n_connected: u64,
    n_failed: u64,
    failures: BTreeMap<String, u64>,
    latency_us: Distribution,
    tcp_connect_us: Distribution,
    upgrade_us: Distribution,
    welcome_us: Distribution,
    subscribe_us: Distribution,
}

#[derive(Serialize)]
struct PeriodObject {
    seconds: f64,
    generator_cpu_seconds: f64,
    watch: Option<Watched>,
}

/// `acknowledgement_us` is the sender's round trip: `broadcastResult`, or the echo.
#[derive(Serialize)]
struct ExchangeObject {
    n_sent: u64,
    n_unanswered: u64,
    acknowledgement_us: Distribution,
    /// How late messages of a schedule were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    send_lateness_us: Option<Distribution>,
}

#[derive(Serialize)]
struct DeliveriesObject {
    n_broadcasts: u64,
    #[serde(flatten)]
    counts: CountsObject,
    last_delivery_us: Distribution,
    listener_us: Distribution,
    /// Times of the two distributions from here on are lower bounds.
    lower_bounds_from_us: Option<u64>,
    /// By how much they are wrong at most, because the clocks of agents are not known better.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_uncertainty_us: Option<u64>,
    in_flight: InFlightObject,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<NodeObject>,
}

/// The part of one server of a cluster, in the order of `target` and `nodes`.
#[derive(Serialize)]
struct NodeObject {
    n_deliveries_expected: u64,
    n_deliveries: u64,
    n_lost: u64,
    listener_us: Distribution,
}

#[derive(Serialize)]
struct InFlightObject {
    max: u64,
    mean: f64,
}

#[derive(Serialize)]
struct CountsObject {
    n_deliveries_expected: u64,
    n_deliveries: u64,
    n_late: u64,
    n_lost: u64,
    n_duplicated: u64,
    n_out_of_order: u64,
}

/// The document with a line feed behind it.
pub(super) fn document(outcome: &Outcome) -> String {
    let Outcome { setting, .. } = outcome;
    let document = Document {
        messages: &outcome.messages,
        steps: outcome.steps.iter().map(StepObject::of).collect(),
        plimsoll: RunObject {
            version: env!("CARGO_PKG_VERSION"),
            workload: outcome.workload.name(),
            target: &setting.target,
            nodes: &setting.nodes,
            server_type: setting.server_type.to_string(),
            workers: setting.n_workers,
            seed: setting.seed,
            seconds: seconds(outcome.elapsed),
            interrupted: outcome.is_interrupted,
            faulty: outcome.is_faulty(),
            generator_doubtful: outcome.is_doubtful(),
            deliveries: outcome.deliveries().map(|it| CountsObject::of(&it)),
            n_foreign: outcome.n_foreign,
            n_stray_answers: outcome.n_stray_answers,
            n_altered: outcome.n_altered,
            load: setting.model.as_ref().map(LoadObject::of),
            targets: &outcome.targets,
            thresholds: outcome.thresholds.iter().map(ThresholdObject::of).collect(),
            agents: outcome.shares.iter().map(AgentObject::of).collect(),
        },
    };
    let json = serde_json::to_string_pretty(&document).expect("the keys are strings and no value can fail");
    json + "\n"
}

impl<'a> AgentObject<'a> {
    fn of(share: &'a Share) -> Self {
        Self {
            name: &share.agent.name,
            clients: share.agent.max_vus,
            n_complete: share.agent.n_iterations_complete,
            generator_cpu_seconds: seconds(share.evidence.cpu),
            rss_bytes: share.agent.generator.whole.rss_bytes,
            lost_at_seconds: share.agent.lost_at.map(seconds),
        }
    }
}

impl LoadObject {
    fn of(model: &Model) -> Self {
        match model {
            Model::Closed { n_samples, width } => Self::Closed {
                concurrent: *width,
                sample_size: *n_samples,
            },
            Model::Open(schedule) => Self::Open {
                rate_per_second: schedule.rate().per_second(),
                seconds: seconds(schedule.duration()),
            },
        }
    }
}

impl DeliveryObject {
    fn of(delivery: &Rtt) -> Self {
        Self {
            percentile_ms: millis(delivery.percentile),
            min_ms: millis(delivery.min),
            median_ms: millis(delivery.median),
            max_ms: millis(delivery.max),
        }
    }
}

impl ThresholdObject {
    fn of(threshold: &Threshold) -> Self {
        Self {
            threshold: format!("{}:{}", threshold.metric, threshold.expression),
            value: threshold.value,
            passed: threshold.passed,
        }
    }
}

impl<'a> StepObject<'a> {
    fn of(step: &'a Step) -> Self {
        let rtt = |pick: fn(&Rtt) -> Duration| step.rtt.as_ref().map(|rtt| millis(pick(rtt)));
        Self {
            time: rfc3339(step.time),
            clients: step.n_clients,
            limit_per: step.limit_percentile,
            percentile_ms: rtt(|it| it.percentile),
            min_ms: rtt(|it| it.min),
            median_ms: rtt(|it| it.median),
            max_ms: rtt(|it| it.max),
            delivery: step.delivery.as_ref().map(DeliveryObject::of),
            plimsoll: DetailObject::of(step),
        }
    }
}

impl<'a> DetailObject<'a> {
    fn of(step: &'a Step) -> Self {
        let sampling = step.sampling.as_ref();
        Self {
            connect: ConnectObject::of(&step.connect),
            sampling: sampling.map(|it| PeriodObject::of(&it.period)),
            n_dropped: step.drops.total(),
            drops: groups(&step.drops),
            exchange: sampling.map(|it| ExchangeObject {
                n_sent: it.n_sent,
                n_unanswered: it.n_unanswered,
                acknowledgement_us: it.answer,
                send_lateness_us: it.lateness,
            }),
            deliveries: sampling.and_then(|it| {
                it.deliveries.as_ref().map(|deliveries| DeliveriesObject {
                    n_broadcasts: it.n_sent,
                    counts: CountsObject::of(&deliveries.counts),
                    last_delivery_us: deliveries.last_delivery,
                    listener_us: deliveries.listener,
                    lower_bounds_from_us: deliveries
                        .waited
                        .map(|it| u64::try_from(it.as_micros()).unwrap_or(u64::MAX)),
                    clock_uncertainty_us: deliveries
                        .uncertainty
                        .map(|it| u64::try_from(it.as_micros()).unwrap_or(u64::MAX)),
                    in_flight: InFlightObject {
                        max: deliveries.in_flight.max,
                        mean: (deliveries.in_flight.mean * 1e3).round() / 1e3,
                    },
                    nodes: deliveries.by_node.iter().map(NodeObject::of).collect(),
                })
            }),
            generator: &step.health,
        }
    }
}

impl ConnectObject {
    fn of(connect: &Connecting) -> Self {
        Self {
            period: PeriodObject::of(&connect.period),
            n_connected: connect.n_connected,
            n_failed: connect.failures.total(),
            failures: groups(&connect.failures),
            latency_us: connect.total,
            tcp_connect_us: connect.tcp_connect,
            upgrade_us: connect.upgrade,
            welcome_us: connect.welcome,
            subscribe_us: connect.subscribe,
        }
    }
}

impl PeriodObject {
    fn of(period: &Period) -> Self {
        Self {
            seconds: seconds(period.elapsed),
            generator_cpu_seconds: seconds(period.generator_cpu),
            watch: period.watched,
        }
    }
}

impl NodeObject {
    fn of(node: &NodeDeliveries) -> Self {
        Self {
            n_deliveries_expected: node.n_expected,
            n_deliveries: node.n_delivered,
            n_lost: node.n_expected.saturating_sub(node.n_delivered),
            listener_us: node.listener,
        }
    }
}

impl CountsObject {
    fn of(counts: &DeliveryCounts) -> Self {
        Self {
            n_deliveries_expected: counts.n_expected,
            n_deliveries: counts.n_delivered,
            n_late: counts.n_late,
            n_lost: counts.n_lost(),
            n_duplicated: counts.n_duplicated,
            n_out_of_order: counts.n_out_of_order,
        }
    }
}

fn groups(causes: &Causes) -> BTreeMap<String, u64> {
    causes.by_count().into_iter().collect()
}

#[cfg(test)]
mod tests;
