//! A run of a script with groups, checks, metrics of all kinds, and thresholds on sub-metrics and on metrics without
//! samples.

use std::{sync::Arc, time::Duration};

use plimsoll_load::{
    metrics::{
        Contains, MetricSet, Recorder, Registry,
        built_in::{Data, Execution, Http},
    },
    run::{Iterations, RunResult, Stretch},
    threshold::{Rule, Rules, Thresholds},
};

use super::run;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Thresholds by metric.
const THRESHOLDS: [(&str, &[&str]); 10] = [
    ("acks_rcvd", &["count>1", "rate>1000"]),
    ("checks", &["rate>0.9"]),
    ("data_received", &["count>0"]),
    ("http_req_duration", &["p(99)<500", "max>1"]),
    ("http_req_duration{ kind:'a' }", &["p(95)<500", "avg<0.0001"]),
    ("http_reqs{kind:none}", &["count<5"]),
    ("never", &["count>0"]),
    ("never_timed", &["p(95)<1"]),
    ("ok_rate{kind:none}", &["rate>0.5"]),
    ("plain", &["med>0"]),
];

/// Ten seconds in which two users did three iterations each.
pub(crate) fn scripted() -> RunResult {
    let mut registry = Registry::new();
    let execution = Execution::register(&mut registry).unwrap();
    let http = Http::register(&mut registry).unwrap();
    let data = Data::register(&mut registry).unwrap();
    let acks = registry.counter("acks_rcvd", Contains::Default).unwrap();
    let level = registry.gauge("level", Contains::Default).unwrap();
    let ok = registry.rate("ok_rate").unwrap();
    let rtt = registry.trend("rtt").unwrap();
    let plain = registry.trend_of("plain", Contains::Default).unwrap();
    registry.counter("never", Contains::Default).unwrap();
    registry.trend("never_timed").unwrap();
    registry.trend("Zed_unused").unwrap();
    let mut thresholds = Thresholds::new(&rules(), &mut registry).unwrap();

    registry.break_down();

    let recorder = Recorder::new(MetricSet::new(Arc::new(registry)));
    for n in 0..6 {
        let scenario = recorder.with_tags([("scenario", if n < 4 { "chat" } else { "default" })]);
        let outer = scenario.with_tags([("group", "::outer"), ("kind", "a")]);
        let inner = scenario.with_tags([("group", "::outer::inner")]);
        recorder.group("::outer");
        outer.count(http.reqs, 1);
        outer.record(http.duration, MS(n + 1));
        outer.record(http.blocked, MS(0));
        outer.rate(http.failed, n == 5);
        outer.check_named("::outer", "is 200", n != 5);
        recorder.group("::outer::inner");
        inner.check_named("::outer::inner", "deep", true);
        inner.record(rtt, Duration::from_micros(250 * (n + 1)));
        recorder.group("::empty");
        scenario.check_named("", "root check", true);
        outer.record(execution.group_duration, MS(2 * n));
        scenario.count(acks, 1);
        scenario.set(level, n as f64);
        scenario.rate(ok, n < 2);
        scenario.record_number(plain, 3.125 * n as f64);
        scenario.count(execution.iterations, 1);
        scenario.record(execution.iteration_duration, MS(10 + n));
        scenario.count(data.sent, 100);
        scenario.count(data.received, 20_666);
    }
    recorder.set(execution.vus, 2.0);
    recorder.set(execution.vus_max, 2.0);

    let metrics = recorder.take();
    let duration = Duration::from_secs(10);
    thresholds.conclude(&metrics, duration);
    let rest = Stretch {
        metrics: metrics.clone(),
        end: duration,
        ..run().rest
    };
    RunResult {
        rest,
        metrics,
        duration,
        thresholds: thresholds.findings(),
        iterations: Iterations {
            n_complete: 6,
            n_interrupted: 0,
        },
        ..run()
    }
}

fn rules() -> Rules {
    let rule = |expression: &&str| Rule {
        expression: expression.parse().unwrap(),
        abort_on_fail: false,
        delay_abort_eval: Duration::ZERO,
    };
    THRESHOLDS
        .iter()
        .map(|(metric, expressions)| ((*metric).to_owned(), expressions.iter().map(rule).collect()))
        .collect()
}
