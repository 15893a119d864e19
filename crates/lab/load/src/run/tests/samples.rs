//! The single samples of whole runs.

use std::collections::BTreeMap;

use crate::{
    executor::{Arrivals, Executor, OpenModel, WhenLate},
    metrics::sample_queue,
    plan::{Plan, Scenario},
    run::simulation::{Actors, Simulation, constant_vus, secs},
};

/// Runs the plan. Returns one line per metric and tags: the number of samples, and their sum if it is exact.
async fn samples(plan: Plan) -> String {
    let (sender, mut receiver) = sample_queue();
    let mut simulation = Simulation::of(plan, Actors::that_take(secs(1)));
    simulation.config.samples = vec![sender];
    let outcome = simulation.run().await;
    let mut sums: BTreeMap<String, (u64, f64)> = BTreeMap::new();
    // The run is over, and with it all its senders.
    while let Some(batch) = receiver.recv().await {
        for sample in &batch.samples {
            let definition = batch.registry.definition(sample.metric);
            let line = format!("{} {:?}", definition.name, sample.tags);
            let sum = sums.entry(line).or_default();
            *sum = (sum.0 + 1, sum.1 + sample.value);
        }
    }
    assert_eq!(receiver.n_dropped(), 0);
    let n_iterations: f64 = sums
        .iter()
        .filter(|(line, _)| line.starts_with("iterations "))
        .map(|(_, sum)| sum.1)
        .sum();
    assert_eq!(outcome.counter("iterations"), n_iterations as u64);
    let line = |(line, (n, sum)): (&String, &(u64, f64))| format!("{n} of {sum:.0}: {line}\n");
    sums.iter().map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn the_run_loop_and_the_users_tell_what_they_count() {
    let executor = Executor::ConstantArrivalRate(OpenModel {
        arrivals: Arrivals::constant(2, secs(1), secs(3)).unwrap(),
        pre_allocated_vus: 1,
        max_vus: 1,
        graceful_stop: secs(30),
        when_late: WhenLate::Drop,
    });
    let plan = Plan {
        tags: [("run".to_owned(), "x".to_owned())].into(),
        ..Plan::new(vec![Scenario::new("open", executor)])
    };
    expect_test::expect![[r#"
        3 of 3: dropped_iterations {"run": "x", "scenario": "open"}
        3 of 3000: iteration_duration {"group": "", "run": "x", "scenario": "open"}
        3 of 3000: iteration_duration_scheduled {"group": "", "run": "x", "scenario": "open"}
        3 of 0: iteration_lateness {"group": "", "run": "x", "scenario": "open"}
        3 of 3: iterations {"group": "", "run": "x", "scenario": "open"}
        3 of 3: vus {"run": "x"}
        4 of 4: vus_max {"run": "x"}
    "#]]
    .assert_eq(&samples(plan).await);
}

#[tokio::test(start_paused = true)]
async fn users_and_iterations_become_tags_when_they_are_wanted() {
    let mut plan = Plan::single(constant_vus(2, secs(2), secs(0)));
    plan.system_tags = ["vu", "iter"].map(str::to_owned).into();
    expect_test::expect![[r#"
        1 of 1000: iteration_duration {"iter": "0", "vu": "1"}
        1 of 1000: iteration_duration {"iter": "0", "vu": "2"}
        1 of 1000: iteration_duration {"iter": "1", "vu": "1"}
        1 of 1000: iteration_duration {"iter": "1", "vu": "2"}
        1 of 1: iterations {"iter": "0", "vu": "1"}
        1 of 1: iterations {"iter": "0", "vu": "2"}
        1 of 1: iterations {"iter": "1", "vu": "1"}
        1 of 1: iterations {"iter": "1", "vu": "2"}
        2 of 4: vus {}
        3 of 6: vus_max {}
    "#]]
    .assert_eq(&samples(plan).await);
}
