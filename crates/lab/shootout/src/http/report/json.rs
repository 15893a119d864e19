//! A run as one JSON object.

use std::{collections::BTreeMap, time::Duration};

use plimsoll_clients::http::Version;
use plimsoll_load::generator::Health;
use plimsoll_report::{Distribution, rfc3339, summary::Target};
use serde::Serialize;

use super::percentiles::{FINE, at_ms, bars};
use crate::{
    http::{Rate, failures::Kind, outcome::HttpOutcome, phase::Phase},
    meter::{Watched, seconds},
    remote::Share,
};

#[derive(Serialize)]
struct Document<'a> {
    version: &'static str,
    workload: &'static str,
    url: &'a str,
    proxy: Option<&'a str>,
    method: &'a str,
    http_version: &'static str,
    began: String,
    seconds: f64,
    concurrency: usize,
    streams: usize,
    keepalive: bool,
    workers: usize,
    rate: Option<f64>,
    warm_up_seconds: f64,
    server_software: Option<&'a str>,
    tls: Option<TlsObject<'a>>,
    document_bytes: Option<u64>,
    complete: u64,
    failed: u64,
    failed_connect: u64,
    failed_receive: u64,
    failed_length: u64,
    failed_exceptions: u64,
    causes: BTreeMap<String, u64>,
    unsent: u64,
    abandoned: u64,
    repeated: u64,
    held_back: u64,
    non_2xx: u64,
    keepalive_requests: u64,
    warm_up_requests: u64,
    bytes_received: u64,
    bytes_sent: u64,
    body_bytes: u64,
    requests_per_second: f64,
    latency_us: Distribution,
    percentiles_ms: BTreeMap<String, f64>,
    histogram: Vec<BarObject>,
    queueing_us: Option<Distribution>,
    connect_us: Distribution,
    processing_us: Distribution,
    waiting_us: Distribution,
    thresholds: Vec<ThresholdObject<'a>>,
    generator: GeneratorObject<'a>,
    watch: Option<Watched>,
    targets: &'a [Target],
    ended_by: Option<&'a str>,
    interrupted: bool,
    faulty: bool,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<AgentObject<'a>>,
}

/// What one agent did.
#[derive(Serialize)]
struct AgentObject<'a> {
    name: &'a str,
    concurrency: u32,
    requests: u64,
    generator_cpu_seconds: f64,
    rss_bytes: Option<u64>,
    lost_at_seconds: Option<f64>,
}

#[derive(Serialize)]
struct TlsObject<'a> {
    version: &'static str,
    cipher_suite: &'a str,
}

#[derive(Serialize)]
struct BarObject {
    from_us: u128,
    to_us: u128,
    count: u64,
}

#[derive(Serialize)]
struct ThresholdObject<'a> {
    threshold: &'a str,
    value: f64,
    passed: bool,
}

#[derive(Serialize)]
struct GeneratorObject<'a> {
    cpu_seconds: f64,
    cpu_us_per_request: f64,
    #[serde(flatten)]
    health: &'a Health,
}

/// The document, with a line feed at the end.
pub(crate) fn document(outcome: &HttpOutcome) -> String {
    let document = object(outcome);
    let text = serde_json::to_string_pretty(&document)
        .expect("numbers, texts and maps with text keys always serialize");
    text + "\n"
}

fn object(outcome: &HttpOutcome) -> Document<'_> {
    let (setting, tally) = (&outcome.setting, &outcome.tally);
    let histogram = &tally.total.histogram;
    let generator_cpu = outcome.period.generator_cpu;
    let first = outcome.document.as_ref();
    let causes = tally.failures.causes();
    Document {
        version: env!("CARGO_PKG_VERSION"),
        workload: "http",
        url: setting.url.as_str(),
        proxy: setting.proxy.as_deref(),
        method: &setting.method,
        http_version: match setting.version {
            Version::Http11 => "1.1",
            Version::Http2 => "2",
        },
        began: rfc3339(outcome.began),
        seconds: outcome.elapsed.as_secs_f64(),
        concurrency: setting.concurrency,
        streams: setting.n_streams,
        keepalive: setting.keeps_alive,
        workers: setting.n_workers,
        rate: setting.rate.map(Rate::per_second),
        warm_up_seconds: setting.warm_up.as_secs_f64(),
        server_software: first.map(|document| &*document.server_software),
        tls: first
            .and_then(|document| document.tls.as_ref())
            .map(|tls| TlsObject {
                version: tls.version.name(),
                cipher_suite: &tls.cipher_suite,
            }),
        document_bytes: first.map(|document| document.n_bytes),
        complete: tally.n_complete,
        failed: tally.failures.total(),
        failed_connect: tally.failures.of(Kind::Connect),
        failed_receive: tally.failures.of(Kind::Receive),
        failed_length: tally.failures.of(Kind::Length),
        failed_exceptions: tally.failures.of(Kind::Exceptions),
        causes: causes
            .map(|(kind, cause, n)| (format!("{}: {cause}", kind.name()), n))
            .collect(),
        unsent: outcome.n_unsent,
        abandoned: outcome.n_abandoned,
        repeated: tally.n_repeated,
        held_back: tally.n_held_back,
        non_2xx: tally.n_non_2xx,
        keepalive_requests: tally.n_kept_alive,
        warm_up_requests: tally.n_warm_up,
        bytes_received: tally.n_bytes_received,
        bytes_sent: tally.n_bytes_sent,
        body_bytes: tally.n_body_bytes,
        requests_per_second: outcome.per_second(),
        latency_us: distribution(&tally.total),
        percentiles_ms: FINE
            .iter()
            .map(|percent| (percent.to_string(), at_ms(histogram, *percent)))
            .collect(),
        histogram: bars(histogram)
            .iter()
            .map(|bar| BarObject {
                from_us: bar.from.as_micros(),
                to_us: bar.to.as_micros(),
                count: bar.n,
            })
            .collect(),
        queueing_us: setting.rate.map(|_| distribution(&tally.queueing)),
        connect_us: distribution(&tally.connect),
        processing_us: distribution(&tally.processing),
        waiting_us: distribution(&tally.waiting),
        thresholds: outcome
            .findings
            .iter()
            .map(|finding| ThresholdObject {
                threshold: &finding.threshold,
                value: finding.value,
                passed: finding.passed,
            })
            .collect(),
        generator: GeneratorObject {
            cpu_seconds: seconds(generator_cpu),
            cpu_us_per_request: per_request_us(generator_cpu, tally.n_started),
            health: &outcome.health,
        },
        watch: outcome.period.watched,
        targets: &outcome.targets,
        ended_by: outcome.trouble.as_deref(),
        interrupted: outcome.is_interrupted,
        faulty: outcome.is_faulty(),
        notes: outcome.remarks(),
        agents: outcome.shares.iter().map(AgentObject::of).collect(),
    }
}

impl<'a> AgentObject<'a> {
    fn of(share: &'a Share) -> Self {
        Self {
            name: &share.agent.name,
            concurrency: share.agent.max_vus,
            requests: share.agent.n_iterations_complete,
            generator_cpu_seconds: seconds(share.evidence.cpu),
            rss_bytes: share.agent.generator.whole.rss_bytes,
            lost_at_seconds: share.agent.lost_at.map(seconds),
        }
    }
}

fn distribution(phase: &Phase) -> Distribution {
    Distribution::from(&phase.histogram)
}

fn per_request_us(cpu: Duration, n: u64) -> f64 {
    cpu.as_secs_f64() * 1e6 / n.max(1) as f64
}
