//! Runs that several instances make: merged, they are the run of one instance.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::{
    metrics::{Registry, Value as Sum},
    plan::{Options, Plan},
    run::{
        Combined, LastPart, Part, RunEnd, RunResult,
        simulation::{Actors, Outcome, Simulation},
    },
};

/// The plan of the instance number `at` of `n`; of the whole for one instance.
fn plan(scenario: &Value, at: usize, n: usize) -> Plan {
    let ends: Vec<_> = (0..=n).map(|end| format!("{end}/{n}")).collect();
    let mut options = json!({ "scenarios": { "a": scenario } });
    if n > 1 {
        options["executionSegment"] = format!("{}:{}", ends[at], ends[at + 1]).into();
        options["executionSegmentSequence"] = ends.join(",").into();
    }
    Plan::from_options(&Options::from_json(&options).unwrap().options).unwrap()
}

/// Iterations that take as long as their number in the whole test says; each 41st fails.
fn actors() -> Actors {
    Actors::that(|context| {
        let number = context.scenario_iteration_in_test;
        let failed = (number % 41 == 40).then(|| crate::vu::IterationError::new("the 41st"));
        (
            Duration::from_micros(7_321 * (number % 37)),
            failed.map_or(Ok(()), Err),
        )
    })
}

async fn simulate(plan: Plan) -> Outcome {
    Simulation::of(plan, actors()).run().await
}

/// What comes out at the other end of a connection.
fn sent<T: serde::Serialize + serde::de::DeserializeOwned>(told: &T) -> T {
    serde_json::from_str(&serde_json::to_string(told).unwrap()).unwrap()
}

/// Takes the parts of all instances, second by second, as they would come.
fn take_all(combined: &mut Combined, outcomes: &[Outcome]) -> Vec<Duration> {
    let mut ends = Vec::new();
    let n_seconds = outcomes.iter().map(|outcome| outcome.parts.len()).max().unwrap();
    for second in 0..=n_seconds {
        for (at, outcome) in outcomes.iter().enumerate() {
            match outcome.parts.get(second) {
                Some(part) => combined.take(at, sent::<Part>(part)),
                None if second == outcome.parts.len() => combined.end(at, sent::<LastPart>(&outcome.last)),
                None => {}
            }
        }
        while let Some(stretch) = combined.settle().unwrap() {
            ends.push(stretch.end);
        }
    }
    ends
}

async fn combine(scenario: &Value, n: usize) -> RunResult {
    let segments: Vec<_> = (0..n).map(|at| plan(scenario, at, n)).collect();
    let mut outcomes = Vec::new();
    for segment in &segments {
        outcomes.push(simulate(segment.clone()).await);
    }
    let mut combined = Combined::new(plan(scenario, 0, 1), segments, Registry::new()).unwrap();
    take_all(&mut combined, &outcomes);
    assert!(combined.is_over());
    assert_eq!(combined.mismatches(), []);
    combined.finish(RunEnd::Complete, SystemTime::UNIX_EPOCH).unwrap()
}

/// All that must not depend on the number of instances.
fn figures(result: &RunResult) -> Vec<String> {
    let metrics = result.metrics.iter().filter_map(|(definition, value)| {
        let name = &definition.name;
        // The sum of many gauges is known at full seconds only.
        let value = match value {
            Sum::Counter(sum) => sum.to_string(),
            Sum::Gauge(_) => return None,
            Sum::Rate(rate) => format!("{}/{}", rate.n_true, rate.n_total),
            Sum::Trend(trend) => {
                let quantiles = [0.0, 0.5, 0.9, 0.99, 1.0].map(|quantile| trend.value_at_quantile(quantile));
                format!(
                    "{} {:?} {:?} {quantiles:?}",
                    trend.count(),
                    trend.sum(),
                    trend.max()
                )
            }
        };
        Some(format!("{name} {value}"))
    });
    let mut all: Vec<_> = metrics.collect();
    all.push(format!("{:?} {:?}", result.iterations, result.schedule));
    let causes = result
        .failures
        .reasons()
        .map(|(reason, n)| format!("{reason} {n}"));
    all.extend(causes);
    all
}

#[tokio::test(start_paused = true)]
async fn several_instances_do_what_one_does() {
    for scenario in [
        json!({ "executor": "shared-iterations", "vus": 42, "iterations": 1_000 }),
        json!({ "executor": "per-vu-iterations", "vus": 11, "iterations": 10 }),
        json!({ "executor": "constant-arrival-rate", "rate": 200, "duration": "7s", "preAllocatedVUs": 210,
                "maxVUs": 210 }),
        json!({ "executor": "ramping-arrival-rate", "startRate": 10, "preAllocatedVUs": 210,
                "stages": [{ "duration": "3s", "target": 300 }, { "duration": "2s", "target": 0 }] }),
    ] {
        let whole = simulate(plan(&scenario, 0, 1)).await.result;
        for n in [2, 3, 7] {
            let found = combine(&scenario, n).await;
            // Numbers in the whole test are not those of one process where each user has its own iterations.
            let is_per_vu = scenario["executor"] == "per-vu-iterations";
            if is_per_vu {
                assert_eq!(found.iterations, whole.iterations, "{n}");
            } else {
                assert_eq!(figures(&found), figures(&whole), "{scenario} {n}");
            }
            assert_eq!(found.max_vus, whole.max_vus, "{scenario} {n}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn users_of_several_instances_add_up_in_each_second() {
    let scenario = json!({ "executor": "ramping-vus", "startVUs": 0, "gracefulStop": "0s",
                           "stages": [{ "duration": "5s", "target": 20 }, { "duration": "2s", "target": 20 }] });
    let whole = simulate(plan(&scenario, 0, 1)).await;
    let segments: Vec<_> = (0..3).map(|at| plan(&scenario, at, 3)).collect();
    let mut outcomes = Vec::new();
    for segment in &segments {
        outcomes.push(simulate(segment.clone()).await);
    }
    let mut combined = Combined::new(plan(&scenario, 0, 1), segments, Registry::new()).unwrap();
    let mut active = Vec::new();
    for second in 0..whole.active_vus.len() {
        for (at, outcome) in outcomes.iter().enumerate() {
            combined.take(at, sent(&outcome.parts[second]));
        }
        while let Some(recent) = combined.settle().unwrap() {
            let notices = combined.notices();
            active.push(combined.progress(recent.end, &recent, &notices).active_vus);
        }
    }
    assert_eq!(active, whole.active_vus);
}

#[tokio::test(start_paused = true)]
async fn a_second_is_settled_when_all_instances_have_told_of_it() {
    let scenario = json!({ "executor": "constant-vus", "vus": 2, "duration": "3s", "gracefulStop": "0s" });
    let segments: Vec<_> = (0..2).map(|at| plan(&scenario, at, 2)).collect();
    let one = simulate(segments[0].clone()).await;
    let other = simulate(segments[1].clone()).await;
    let mut combined = Combined::new(plan(&scenario, 0, 1), segments, Registry::new()).unwrap();
    let settled = |combined: &mut Combined| {
        let mut ends = Vec::new();
        while let Some(stretch) = combined.settle().unwrap() {
            ends.push(stretch.end.as_secs());
        }
        ends
    };
    for part in &one.parts {
        combined.take(0, part.clone());
    }
    assert!(settled(&mut combined).is_empty());
    combined.take(1, other.parts[0].clone());
    assert_eq!(settled(&mut combined), [1]);
    // One that is gone is not waited for.
    combined.lose(1);
    combined.end(0, one.last.clone());
    let n_told = one.result.iterations.n_complete + other.parts[0].iterations.n_complete;
    assert!(combined.is_over());
    let result = combined.finish(RunEnd::Complete, SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(result.iterations.n_complete, n_told);
}

#[tokio::test(start_paused = true)]
async fn arrivals_and_iterations_of_a_lost_instance_are_dropped() {
    for (scenario, n_whole) in [
        (
            json!({ "executor": "constant-arrival-rate", "rate": 100, "duration": "5s", "preAllocatedVUs": 84 }),
            500,
        ),
        (
            json!({ "executor": "shared-iterations", "vus": 8, "iterations": 900 }),
            900,
        ),
    ] {
        let segments: Vec<_> = (0..2).map(|at| plan(&scenario, at, 2)).collect();
        let one = simulate(segments[0].clone()).await;
        let other = simulate(segments[1].clone()).await;
        let mut combined = Combined::new(plan(&scenario, 0, 1), segments, Registry::new()).unwrap();
        one.parts.iter().for_each(|part| combined.take(0, part.clone()));
        combined.end(0, one.last.clone());
        combined.take(1, other.parts[0].clone());
        combined.lose(1);
        let result = combined.finish(RunEnd::Complete, SystemTime::UNIX_EPOCH).unwrap();
        let dropped = result.metrics.registry().find("dropped_iterations").unwrap();
        let n_dropped = result.metrics.value(dropped).map_or(0, |value| value.n_samples());
        assert_eq!(result.iterations.n_complete + n_dropped, n_whole, "{scenario}");
        if scenario["rate"].is_number() {
            assert_eq!(
                (result.schedule.n_due, result.schedule.n_dropped),
                (n_whole, n_dropped)
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn parts_that_do_not_add_up_are_noticed() {
    let scenario = json!({ "executor": "per-vu-iterations", "vus": 2, "iterations": 300 });
    let segments: Vec<_> = (0..2).map(|at| plan(&scenario, at, 2)).collect();
    let outcomes = [
        simulate(segments[0].clone()).await,
        simulate(segments[1].clone()).await,
    ];
    assert!(outcomes[1].parts.len() > 1, "the second part is left out");
    let mut combined = Combined::new(plan(&scenario, 0, 1), segments, Registry::new()).unwrap();
    for (at, outcome) in outcomes.iter().enumerate() {
        let told = outcome.parts.iter().skip(at);
        told.for_each(|part| combined.take(at, part.clone()));
        combined.end(at, outcome.last.clone());
    }
    let mismatches: Vec<_> = combined
        .mismatches()
        .iter()
        .map(|mismatch| mismatch.instance)
        .collect();
    assert_eq!(mismatches, [1]);
}
