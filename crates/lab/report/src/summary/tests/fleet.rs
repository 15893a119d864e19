//! Summaries of fleets: the JSON of their agents, its size, and their verdict.

use super::*;
use crate::{Verdict, agents::tests::three};

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
