//! Thresholds: accepted and refused ones with reasons, and their results.

use std::sync::Arc;

use super::*;
use crate::metrics::{Contains, Recorder};

fn rules(rules: &[(&str, &str)]) -> Rules {
    let mut all = Rules::new();
    for &(metric, expression) in rules {
        let rule = Rule {
            expression: expression.parse().unwrap(),
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
        };
        all.entry(metric.to_owned()).or_default().push(rule);
    }
    all
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.counter("reqs", Contains::Default).unwrap();
    registry.gauge("vus", Contains::Default).unwrap();
    registry.rate("checks").unwrap();
    registry.trend("http_req_duration").unwrap();
    registry
}

#[test]
fn expressions_read_as_in_k6() {
    use {Aggregation as A, Operator as O};
    for (text, aggregation, operator, limit) in [
        ("p(95)<500", A::Percentile(95.0), O::Less, 500.0),
        (" p( 99.9 ) <= 1e3 ", A::Percentile(99.9), O::LessOrEqual, 1000.0),
        ("rate>0.9", A::Rate, O::Greater, 0.9),
        ("count >= 10", A::Count, O::GreaterOrEqual, 10.0),
        ("value==-1", A::Value, O::Equal, -1.0),
        ("med===5", A::Median, O::Equal, 5.0),
        ("avg!=.5", A::Average, O::NotEqual, 0.5),
        ("min<1", A::Min, O::Less, 1.0),
        ("max<1", A::Max, O::Less, 1.0),
    ] {
        let expression: Expression = text.parse().unwrap();
        assert_eq!(
            (expression.aggregation, expression.operator, expression.limit),
            (aggregation, operator, limit),
            "{text}"
        );
        assert_eq!(expression.to_string(), text);
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (text, problem) in [
        ("", "it has no comparison operator"),
        ("p(95)", "it has no comparison operator"),
        (
            "p(95)=500",
            "the comparison operator is not one of < <= > >= == === !=",
        ),
        ("p95<500", "`p95` is not an aggregation"),
        ("p(101)<500", "`p(101)` is not an aggregation"),
        ("p(-1)<5", "`p(-1)` is not an aggregation"),
        ("<5", "`` is not an aggregation"),
        ("avg<", "`` is not a number"),
        ("avg<=5ms", "`5ms` is not a number"),
        ("avg<inf", "`inf` is not a number"),
    ] {
        let error = text.parse::<Expression>().unwrap_err().to_string();
        assert!(error.contains(problem), "{text}: {error}");
    }
    for (metric, expression, message) in [
        (
            "http_req_durations",
            "avg<5",
            "a threshold uses the metric `http_req_durations`, which does not exist; did you mean \
             `http_req_duration`?",
        ),
        (
            "whatever",
            "avg<5",
            "a threshold uses the metric `whatever`, which does not exist; a metric of the script must be created \
             in its init context",
        ),
        (
            "checks",
            "avg<5",
            "threshold `avg<5` on `checks`: a rate has no `avg`; expected one of rate",
        ),
        (
            "http_req_duration{a:b}",
            "count>5",
            "threshold `count>5` on `http_req_duration{a:b}`: a trend has no `count`; expected one of avg, min, med, \
             max, p(0) to p(100)",
        ),
        (
            "reqs{a:b",
            "count>5",
            "`reqs{a:b` does not name a metric: the closing `}` is missing; expected something like \
             `http_req_duration{status:200}`",
        ),
        (
            "reqs{a}",
            "count>5",
            "`reqs{a}` does not name a metric: `a` has no `:`; expected something like \
             `http_req_duration{status:200}`",
        ),
    ] {
        let error = Thresholds::new(&rules(&[(metric, expression)]), &mut registry()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

/// The result of each rule for a small run of ten seconds.
fn findings(
    written: &[(&str, &str)],
    record: impl Fn(&Recorder, &Registry),
) -> Vec<(String, Option<f64>, bool)> {
    let mut registry = registry();
    let mut thresholds = Thresholds::new(&rules(written), &mut registry).unwrap();
    let recorder = Recorder::new(MetricSet::new(Arc::new(registry.clone())));
    record(&recorder, &registry);
    thresholds.conclude(&recorder.take(), Duration::from_secs(10));
    let findings = thresholds.findings().into_iter();
    findings
        .map(|finding| (finding.expression, finding.value, finding.passed))
        .collect()
}

fn small_run(recorder: &Recorder, registry: &Registry) {
    let mut registry = registry.clone();
    recorder.count(registry.counter("reqs", Contains::Default).unwrap(), 50);
    recorder.set(registry.gauge("vus", Contains::Default).unwrap(), 7.0);
    let checks = registry.rate("checks").unwrap();
    let duration = registry.trend("http_req_duration").unwrap();
    for ms in 1..=100 {
        let status = if ms % 2 == 0 { "200" } else { "500" };
        let tagged = recorder.with_tags([("status", status)]);
        tagged.record(duration, Duration::from_millis(ms));
        tagged.rate(checks, ms > 1);
    }
}

#[test]
fn rules_hold_or_not() {
    let found = findings(
        &[
            ("reqs", "count==50"),
            ("reqs", "rate<5"),
            ("vus", "value>7"),
            ("checks", "rate>=0.99"),
            ("checks{status:500}", "rate>=0.99"),
            ("http_req_duration", "avg<=50.5"),
            ("http_req_duration", "max<100"),
            ("http_req_duration{ status : \"200\" }", "min==2"),
            ("http_req_duration{status:404}", "max<100"),
        ],
        small_run,
    );
    let expected: [(&str, Option<f64>, bool); 9] = [
        ("rate>=0.99", Some(0.99), true),
        ("rate>=0.99", Some(0.98), false),
        ("avg<=50.5", Some(50.5), true),
        ("max<100", Some(100.0), false),
        ("min==2", Some(2.0), true),
        ("max<100", None, true),
        ("count==50", Some(50.0), true),
        ("rate<5", Some(5.0), false),
        ("value>7", Some(7.0), false),
    ];
    assert_eq!(
        found,
        expected.map(|(text, value, passed)| (text.to_owned(), value, passed))
    );
    let [(_, Some(p95), passed)] = &findings(&[("http_req_duration", "p(95)<94")], small_run)[..] else {
        panic!()
    };
    assert!((p95 - 95.0).abs() < 0.1 && !passed);
}

#[test]
fn without_samples_a_rate_holds_and_a_counter_is_zero() {
    let found = findings(
        &[
            ("checks", "rate>0.9"),
            ("reqs", "count>0"),
            ("http_req_duration", "max<1"),
        ],
        |_, _| (),
    );
    let verdicts: Vec<_> = found.iter().map(|(_, value, passed)| (*value, *passed)).collect();
    assert_eq!(verdicts, [(None, true), (None, true), (Some(0.0), false)]);
}

#[test]
fn a_run_is_ended_only_after_the_delay_and_only_by_a_failure() {
    let mut registry = registry();
    let reqs = registry.counter("reqs", Contains::Default).unwrap();
    let rule = Rule {
        expression: "count<10".parse().unwrap(),
        abort_on_fail: true,
        delay_abort_eval: Duration::from_secs(5),
    };
    let rules = Rules::from([("reqs".to_owned(), vec![rule])]);
    let mut thresholds = Thresholds::new(&rules, &mut registry).unwrap();
    let mut set = MetricSet::new(Arc::new(registry));
    let secs = Duration::from_secs;
    assert!(!thresholds.evaluate(&set, secs(60)), "no samples");
    set.count(reqs, 9);
    assert!(!thresholds.evaluate(&set, secs(60)), "holds");
    set.count(reqs, 1);
    assert!(!thresholds.evaluate(&set, secs(4)), "too early");
    assert!(thresholds.evaluate(&set, secs(6)));
    assert!(thresholds.findings()[0].aborted);
}
