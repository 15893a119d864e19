//! Several scenarios at once, and the context that their users see.

use std::{sync::Mutex, time::Duration};

use crate::{
    executor::Executor,
    metrics::{Registry, Selector, Value},
    plan::{Plan, Scenario},
    run::simulation::{Actors, Simulation, constant_vus, secs},
    threshold::{Rule, Rules},
    vu::{Cancellation, Iteration, IterationContext, IterationError, Vu, VuFactory, VuId},
};

fn scenario(name: &str, start_secs: u64, vus: u32, duration_secs: u64) -> Scenario {
    Scenario {
        start_time: secs(start_secs),
        tags: [("team".to_owned(), format!("{name}s"))].into(),
        ..Scenario::new(name, constant_vus(vus, secs(duration_secs), secs(0)))
    }
}

#[tokio::test(start_paused = true)]
async fn scenarios_start_at_their_time_and_share_their_users() {
    let actors = Actors::that_take(secs(2));
    let plan = Plan::new(vec![
        scenario("early", 0, 2, 4),
        scenario("late", 4, 3, 4),
        scenario("beside", 1, 1, 6),
    ]);
    let outcome = Simulation::of(plan, actors.clone()).run().await;
    assert_eq!(outcome.result.max_vus, 4);
    let of = |name: &str| {
        let seen = actors.seen().into_iter().filter(|seen| seen.scenario == name);
        seen.map(|seen| (seen.begun_ms, seen.vu, seen.iteration))
            .collect::<Vec<_>>()
    };
    assert_eq!(of("early"), [(0, 1, 0), (0, 2, 0), (2_000, 1, 1), (2_000, 2, 1)]);
    assert_eq!(of("beside"), [(1_000, 3, 0), (3_000, 3, 1), (5_000, 3, 2)]);
    // Users 1 and 2 continue with their counts.
    assert_eq!(
        of("late"),
        [
            (4_000, 1, 2),
            (4_000, 2, 2),
            (4_000, 4, 0),
            (6_000, 1, 3),
            (6_000, 2, 3),
            (6_000, 4, 1)
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_watches_sees_how_far_each_scenario_is() {
    let shared = Executor::SharedIterations {
        vus: 2,
        iterations: 9,
        max_duration: secs(4),
        graceful_stop: secs(0),
    };
    let plan = Plan::new(vec![scenario("beside", 1, 1, 3), Scenario::new("shared", shared)]);
    let actors = Actors::that_take(Duration::from_millis(1_500));
    let outcome = Simulation::of(plan, actors).run().await;
    assert_eq!(
        outcome.scenarios,
        [
            "beside 0/1 of 1, 0 dropped; shared 0/2 of 2, 0 dropped",
            "beside 0/1 of 1, 0 dropped; shared 2/2 of 2, 0 dropped",
            "beside 1/1 of 1, 0 dropped; shared 4/2 of 2, 0 dropped",
        ]
    );
    assert_eq!(outcome.counts(), (2 + 4, 2));
}

#[tokio::test(start_paused = true)]
async fn samples_carry_the_tags_of_their_scenario() {
    let mut rules = Rules::new();
    for metric in [
        "iterations{scenario:a}",
        "iterations{team:bs}",
        "iterations{scenario:a,team:bs}",
        "iterations{run:x}",
    ] {
        let rule = Rule {
            expression: "count>4".parse().unwrap(),
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
        };
        rules.insert(metric.to_owned(), vec![rule]);
    }
    let plan = Plan {
        thresholds: rules,
        tags: [("run".to_owned(), "x".to_owned())].into(),
        ..Plan::new(vec![scenario("a", 0, 1, 4), scenario("b", 0, 2, 4)])
    };
    let outcome = Simulation::of(plan, Actors::that_take(secs(1))).run().await;
    let findings: Vec<_> = outcome
        .result
        .thresholds
        .iter()
        .map(|finding| (finding.metric.as_str(), finding.value, finding.passed))
        .collect();
    assert_eq!(
        findings,
        [
            ("iterations{run:x}", Some(12.0), true),
            ("iterations{scenario:a,team:bs}", Some(0.0), false),
            ("iterations{scenario:a}", Some(4.0), false),
            ("iterations{team:bs}", Some(8.0), true),
        ]
    );
}

/// A user that waits forever and records whether it was told to end, and what it then returned.
struct Patient(std::sync::Arc<Mutex<Vec<bool>>>);

impl VuFactory for Patient {
    fn create(&self, _: VuId) -> Result<Box<dyn Vu>, String> {
        Ok(Box::new(Self(std::sync::Arc::clone(&self.0))))
    }
}

struct UntilTold<'a> {
    cancellation: Cancellation,
    told: &'a Mutex<Vec<bool>>,
}

impl Future for UntilTold<'_> {
    type Output = Result<(), IterationError>;

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<Self::Output> {
        let is_cancelled = self.cancellation.is_cancelled();
        self.told.lock().unwrap().push(is_cancelled);
        if is_cancelled {
            return std::task::Poll::Ready(Err(IterationError::Interrupted));
        }
        std::task::Poll::Pending
    }
}

impl Vu for Patient {
    fn iterate<'a>(&'a mut self, context: &'a mut IterationContext) -> Iteration<'a> {
        Box::pin(UntilTold {
            cancellation: context.cancellation.clone(),
            told: &self.0,
        })
    }
}

#[tokio::test(start_paused = true)]
async fn an_iteration_that_has_to_end_is_told_so_once() {
    for shutdown_after in [None, Some(secs(3))] {
        let patient = Patient(std::sync::Arc::default());
        let told = std::sync::Arc::clone(&patient.0);
        let simulation = Simulation {
            shutdown_after,
            ..Simulation::of(Plan::single(constant_vus(1, secs(5), secs(0))), patient)
        };
        let outcome = simulation.run().await;
        assert_eq!(outcome.counts(), (0, 1));
        let told = told.lock().unwrap();
        assert_eq!(told.iter().filter(|told| **told).count(), 1);
        assert_eq!(told.last(), Some(&true));
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_one_user_only() {
    let actors = Actors::that(|context| {
        assert!(context.vu.get() != 1, "as the test wants it");
        (secs(5), Ok(()))
    });
    let outcome = Simulation::of(Plan::single(constant_vus(2, secs(10), secs(0))), actors)
        .run()
        .await;
    assert_eq!(outcome.counts(), (2, 1));
    let reasons: Vec<_> = outcome.result.failures.reasons().collect();
    assert_eq!(reasons, [("the virtual user panicked (a defect of its code)", 1)]);
}

#[test]
fn sub_metrics_are_those_that_were_asked_for() {
    let mut registry = Registry::new();
    registry.rate("checks").unwrap();
    let checks = registry.find("checks").unwrap();
    registry.sub_metric(
        checks,
        &Selector::new([("check".to_owned(), "connected".to_owned())].into()),
    );
    let recorder = crate::metrics::Recorder::new(crate::metrics::MetricSet::new(registry.into()));
    recorder.check_named("", "connected", true);
    recorder.check_named("", "subscribed", false);
    let set = recorder.take();
    let shares: Vec<_> = set
        .iter()
        .map(|(definition, value)| match value {
            Value::Rate(rate) => (definition.name.as_str(), rate.n_true, rate.n_total),
            _ => panic!(),
        })
        .collect();
    assert_eq!(shares, [("checks", 1, 2), ("checks{check:connected}", 1, 1)]);
}
