//! Parsing objectives, and judging samples with them.

use std::sync::Arc;

use super::*;

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.trend("rtt").unwrap();
    registry.trend_of("size", Contains::Data).unwrap();
    registry.rate("checks").unwrap();
    registry.counter("errors", Contains::Default).unwrap();
    registry.counter("lost", Contains::Default).unwrap();
    registry.gauge("vus", Contains::Default).unwrap();
    registry
}

#[test]
fn objectives_are_metrics_with_expressions() {
    for (text, title, concern) in [
        ("rtt p(95)<500", "rtt p(95)", Concern::Latency),
        (" rtt  max <= 1000 ", "rtt max", Concern::Latency),
        (
            "rtt{room:a b,kind:x} p(99) <500",
            "rtt{room:a b,kind:x} p(99)",
            Concern::Latency,
        ),
        ("checks rate>0.99", "checks", Concern::Errors),
        ("checks>0.99", "checks", Concern::Errors),
        ("errors==0", "errors", Concern::Errors),
        ("errors count<5", "errors", Concern::Errors),
        ("lost == 0", "lost", Concern::Losses),
        ("size max<10", "size max", Concern::Other),
        ("vus<10", "vus", Concern::Other),
    ] {
        let objective = Objective::parse(text, &registry()).unwrap();
        assert_eq!(
            (objective.title().as_str(), objective.concern()),
            (title, concern)
        );
        assert_eq!(objective.text(), text.trim());
    }
}

#[test]
fn what_cannot_be_judged_is_told_before_the_search() {
    for (text, expected) in [
        ("rtt", "it has no comparison operator"),
        ("<5", "it has no metric"),
        (
            "rtt<500",
            "`rtt` is a distribution, so it needs an aggregation: avg, min, med, max or p(95)",
        ),
        (
            "rrt p(95)<500",
            "uses the metric `rrt`, which this test does not have; did you mean `rtt`?",
        ),
        (
            "latency p(95)<5",
            "does not have; it has: rtt, size, checks, errors, lost, vus",
        ),
        (
            "rtt rate<5",
            "a trend has no `rate`; expected one of avg, min, med, max",
        ),
        ("rtt p(95)<fast", "`fast` is not a number"),
        ("rtt p(950)<5", "`p(950)` is not an aggregation"),
        ("rtt{room} p(95)<5", "`room` has no `:`"),
    ] {
        let error = Objective::parse(text, &registry()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

fn judge(text: &str, record: impl FnOnce(&mut MetricSet)) -> (Finding, String) {
    let mut registry = registry();
    let rtt = registry.trend("rtt").unwrap();
    let errors = registry.counter("errors", Contains::Default).unwrap();
    let checks = registry.rate("checks").unwrap();
    let objective = Objective::parse(text, &registry).unwrap();
    let mut all = MetricSet::new(Arc::new(registry));
    (0..100).for_each(|ms| all.record(rtt, Duration::from_millis(ms)));
    all.count(errors, 30);
    all.rate(checks, true);
    all.rate(checks, false);
    record(&mut all);
    let mut within = all.empty();
    within.count(errors, 20);
    let finding = objective.judge(Samples {
        all: &all,
        within: &within,
        elapsed: Duration::from_secs(10),
    });
    let complaint = objective.complaint(finding.value);
    (finding, complaint)
}

#[test]
fn an_objective_holds_or_says_what_was_found() {
    for (text, held, complaint) in [
        ("rtt p(95)<95", true, "rtt p(95) 94.1ms of 95ms allowed"),
        ("rtt p(95)<50", false, "rtt p(95) 94.1ms of 50ms allowed"),
        ("errors==0", false, "errors 30, none allowed"),
        ("errors<=30", true, "errors 30 of 30 allowed"),
        // Per second of the steady part, not of the time that its end took.
        ("errors rate<3", true, "errors 2 of 3 allowed"),
        ("checks>0.99", false, "checks 50.00%, at least 99.00% required"),
        ("lost==0", true, "lost 0, none allowed"),
        // A target without samples was not fast.
        ("size max<10", false, "size max: nothing was measured"),
        ("vus<10", false, "vus: nothing was measured"),
    ] {
        let (finding, found) = judge(text, |_| {});
        assert_eq!((finding.held, found.as_str()), (held, complaint), "{text}");
    }
}

#[test]
fn a_complaint_has_the_words_of_its_operator() {
    for (text, value, expected) in [
        ("errors<5", Some(7.0), "errors 7 of 5 allowed"),
        ("errors<=5", Some(7.0), "errors 7 of 5 allowed"),
        ("errors>5", Some(3.0), "errors 3, at least 5 required"),
        ("errors>=5", Some(3.0), "errors 3, at least 5 required"),
        ("errors==0", Some(3.0), "errors 3, none allowed"),
        ("errors==5", Some(3.0), "errors 3 instead of 5"),
        ("errors!=5", Some(5.0), "errors is 5"),
        ("vus<10", Some(12.346), "vus 12.35 of 10 allowed"),
        (
            "size max<1000",
            Some(2_500_000.0),
            "size max 2.5 MB of 1.0 kB allowed",
        ),
        ("rtt max<1", None, "rtt max: nothing was measured"),
    ] {
        let objective = Objective::parse(text, &registry()).unwrap();
        assert_eq!(objective.complaint(value), expected);
    }
}

#[test]
fn charts_know_measure_and_limit() {
    for (text, measure, limit) in [
        ("rtt p(95)<500", Measure::Milliseconds, 500.0),
        ("size max<1000", Measure::Bytes, 1000.0),
        ("checks>0.99", Measure::Share, 0.99),
        ("errors==0", Measure::Number, 0.0),
        ("vus<10", Measure::Number, 10.0),
    ] {
        let objective = Objective::parse(text, &registry()).unwrap();
        assert_eq!(
            (objective.measure(), objective.limit()),
            (measure, limit),
            "{text}"
        );
    }
}

#[test]
fn durations_have_three_digits() {
    for (ms, expected_us) in [
        (0.0, 0),
        (-1.0, 0),
        (0.0004, 0),
        (0.001, 1),
        (0.999, 999),
        (1.234, 1_230),
        (1.235_1, 1_240),
        (9.996, 10_000),
        (123.456, 123_000),
        (94.06, 94_100),
        (12_345.0, 12_300_000),
    ] {
        assert_eq!(rounded(ms), Duration::from_micros(expected_us), "{ms}");
    }
}

#[test]
fn concerns_go_by_the_name_without_tags() {
    let mut registry = registry();
    registry.rate("http_req_failed").unwrap();
    registry.counter("failed_a", Contains::Default).unwrap();
    for (text, concern, is_about_errors) in [
        ("errors==0", Concern::Errors, true),
        ("errors{room:a}==0", Concern::Errors, false),
        ("checks{room:a}>0.5", Concern::Errors, false),
        ("http_req_failed<0.1", Concern::Errors, false),
        ("failed_a==0", Concern::Other, false),
        ("lost{room:a}==0", Concern::Losses, false),
    ] {
        let objective = Objective::parse(text, &registry).unwrap();
        assert_eq!(
            (objective.concern(), objective.is_about_errors()),
            (concern, is_about_errors),
            "{text}"
        );
    }
}

#[test]
fn a_threshold_of_a_run_can_be_an_objective() {
    let given = Objective::parse("rtt{room:a} p(95)<500", &registry()).unwrap();
    let (metric, rules) = rules([&given]).pop_first().unwrap();
    let found = Objective::of_threshold(&metric, &rules[0], &registry()).unwrap();
    assert_eq!(found.title(), given.title());
    assert_eq!((found.limit(), found.text()), (500.0, "rtt{room:a} p(95)<500"));
}

#[test]
fn a_default_does_not_mind_what_a_test_does_not_measure() {
    let objective = Objective::parse("size max<10", &registry()).unwrap().lenient();
    let empty = MetricSet::new(Arc::new(registry()));
    let samples = Samples {
        all: &empty,
        within: &empty,
        elapsed: Duration::ZERO,
    };
    assert!(objective.judge(samples).held);
}

#[test]
fn parts_of_metrics_are_kept_by_the_run_that_is_judged() {
    let objectives =
        ["rtt p(95)<5", "rtt{room:a} max<9"].map(|text| Objective::parse(text, &registry()).unwrap());
    let rules = rules(&objectives);
    assert_eq!(rules.keys().collect::<Vec<_>>(), ["rtt", "rtt{room:a}"]);
}
