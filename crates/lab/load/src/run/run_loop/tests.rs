//! What observers see.

use crate::{
    executor::{RampingVus, Stage},
    plan::Plan,
    run::simulation::{Actors, Simulation, secs},
};

#[tokio::test(start_paused = true)]
async fn gauges_are_sampled_each_second() {
    let stage = |duration, target| Stage {
        duration: secs(duration),
        target,
    };
    let ramp = RampingVus::new(4, vec![stage(2, 4), stage(0, 3), stage(2, 3)]).unwrap();
    let plan = Plan::single(crate::executor::Executor::RampingVus(ramp));
    let outcome = Simulation::of(plan, Actors::that_take(secs(1))).run().await;
    let gauges: Vec<_> = outcome
        .result
        .metrics
        .iter()
        .filter(|(definition, _)| definition.name.starts_with("vus"))
        .map(|(definition, value)| format!("{} {value:?}", definition.name))
        .collect();
    assert_eq!(outcome.active_vus, [4, 3, 3]);
    expect_test::expect![[r#"
        vus Gauge(Gauge { value: 3.0, min: 3.0, max: 4.0 })
        vus_max Gauge(Gauge { value: 4.0, min: 4.0, max: 4.0 })"#]]
    .assert_eq(&gauges.join("\n"));
}
