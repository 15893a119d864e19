//! Summaries of fleets: the JSON of their agents, its size, and their verdict.

use plimsoll_load::{
    generator::Glance,
    run::{AgentProgress, ClockOffset, Glances},
};

use super::*;
use crate::{
    Verdict,
    agents::tests::three,
    summary::{Agent, AgentClock},
};

/// The agents as JSON, after all other fields.
fn agents_of(summary: &Summary) -> String {
    let text = crate::json(summary).unwrap();
    let (_, agents) = text
        .split_once("\n  \"agents\": ")
        .unwrap_or_else(|| panic!("no agents in {text}"));
    agents.to_owned()
}

#[test]
fn agents_have_the_documented_fields() {
    let mut agents = three();
    agents.remove(0);
    let fleet = summary(&run()).with_agents(agents);
    expect![[r#"
        [{
            "name": "loadtest-eu-west-1-b",
            "version": "0.1.0",
            "machine_cores": 4,
            "share": 0.33,
            "vus_max": 33,
            "iterations": 4120,
            "cpu_seconds": 67.5,
            "cores": 1.52,
            "busiest_worker_share": 0.62,
            "lateness_bound_ms": 0.81,
            "lateness_max_ms": 12.5,
            "waiting_share": 0.01,
            "rss_bytes": null,
            "clock": {
              "offset_ms": 12.4,
              "uncertainty_ms": 0.85,
              "start_skew_ms": 1.2
            },
            "lost_at_seconds": 12.3,
            "doubtful": false,
            "reasons": []
          },{
            "name": "a3",
            "version": "0.1.0",
            "machine_cores": 2,
            "share": 0.33,
            "vus_max": 33,
            "iterations": 12290,
            "cpu_seconds": 67.5,
            "cores": 1.97,
            "busiest_worker_share": 1.0,
            "lateness_bound_ms": 45.4,
            "lateness_max_ms": 12.5,
            "waiting_share": 0.01,
            "rss_bytes": 120000000,
            "clock": {
              "offset_ms": -3.41,
              "uncertainty_ms": 0.0,
              "start_skew_ms": -0.43
            },
            "lost_at_seconds": null,
            "doubtful": true,
            "reasons": ["a worker was 90 % busy or more for 40 % of the time"]
          }]
        }"#]]
    .assert_eq(&agents_of(&fleet));
}

#[test]
fn a_fleet_is_read_as_it_was_written_and_one_machine_has_no_agents() {
    let run = run();
    let fleet = summary(&run).with_agents(three());
    let alone = summary(&run);
    for written in [&fleet, &alone] {
        let text = crate::json(written).unwrap();
        assert_eq!(Summary::read(&text).unwrap(), *written);
    }
    assert!(!crate::json(&alone).unwrap().contains("agents"));
    assert_eq!(alone.clone().with_agents(Vec::new()), alone);
}

#[test]
fn a_lost_agent_makes_a_run_incomplete() {
    let [fleet, mut whole] = [(); 2].map(|()| summary(&run()).with_agents(three()));
    whole.agents.retain(|agent| agent.lost_at_seconds.is_none());
    for (summary, expected) in [(&fleet, Verdict::Incomplete), (&whole, Verdict::Pass)] {
        assert_eq!(summary.verdict(), expected);
    }
}

#[test]
fn agents_by_the_thousand_fit_as_well() {
    let mut alone = summary(&run());
    let reason = "a worker was 90 % busy or more for 40 % of the time (up to 97 %)".repeat(5);
    let agents = (0..10_000).map(|n| Agent {
        name: format!("agent-{n}"),
        reasons: vec![reason.clone()],
        ..three().remove(0)
    });
    alone.generator.reasons = vec![reason.clone(); 10_000];
    let summary = alone.with_agents(agents.collect());
    assert_eq!(
        (summary.agents.len(), summary.generator.reasons.len()),
        (1_000, 1_000)
    );
    assert!(crate::json(&summary).unwrap().len() < 3_000_000);
    let left_out = "left out because the summary would be too large: ";
    assert_eq!(
        summary.notices[summary.notices.len() - 2..],
        ["the reasons of each agent", "9000 of 10000 agents"].map(|what| format!("{left_out}{what}"))
    );
    for n_agents in [50, 1_000] {
        let agents = vec![three().remove(0); n_agents];
        let summary = super::summary(&run()).with_agents(agents);
        assert_eq!((summary.agents.len(), summary.notices.len()), (n_agents, 0));
    }
}

#[test]
fn an_agent_that_is_not_judged_has_what_it_told_each_second() {
    let whole = Glance {
        elapsed: Duration::from_secs(10),
        cpu: Duration::from_secs(5),
        lateness_max: Some(Duration::from_micros(12_500)),
        rss_bytes: Some(1_000),
    };
    let progress = AgentProgress {
        name: "a1".to_owned(),
        version: "0.1.0".to_owned(),
        n_cores: 4,
        share: 0.5,
        active_vus: 3,
        max_vus: 5,
        n_iterations_complete: 7,
        generator: Glances {
            whole,
            ..Glances::default()
        },
        clock: Some(ClockOffset {
            ns: -1_500_000,
            uncertainty_ns: 20_000,
        }),
        start_skew_ns: Some(250_000),
        lost_at: Some(Duration::from_millis(9_500)),
    };
    let so_far = Agent::so_far(&progress);
    let clock = AgentClock {
        offset_ms: -1.5,
        uncertainty_ms: 0.02,
        start_skew_ms: Some(0.25),
    };
    assert_eq!((so_far.vus_max, so_far.iterations), (5, 7));
    assert_eq!((so_far.cpu_seconds, so_far.cores), (5.0, 0.5));
    assert_eq!(
        (so_far.lateness_max_ms, so_far.rss_bytes),
        (Some(12.5), Some(1_000))
    );
    assert_eq!((so_far.clock, so_far.lost_at_seconds), (clock, Some(9.5)));
    let evidence = Evidence {
        elapsed: Duration::from_secs(10),
        cpu: Duration::from_secs(20),
        ..Evidence::nothing()
    };
    let judged = Agent::judged(&progress, Some(&evidence), Health::default());
    assert_eq!((judged.cpu_seconds, judged.cores), (20.0, 2.0));
    assert_eq!(judged.lateness_max_ms, Some(12.5));
}
