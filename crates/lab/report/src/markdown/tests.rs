//! The document of a run.

use expect_test::{Expect, expect};

use super::*;
use crate::{
    agents::tests::three,
    summary::tests::{run, summary},
};

fn check(change: impl FnOnce(&mut Summary), expected: &Expect) {
    let mut summary = summary(&run());
    change(&mut summary);
    expected.assert_eq(&page(&summary));
}

#[test]
fn a_run_of_one_machine_has_no_agents() {
    check(
        |_| (),
        &expect![[r#"
        ### ✅ chat.js: pass

        2 failed iterations; held 100 users for 45 s: p95 of rtt 362 µs (5 samples)

        | figure | value |
        |---|---:|
        | users at the peak | 100 |
        | duration | 44.5 s |
        | `rtt` median / p95 / p99 / max | 336 µs / 362 µs / 364 µs / 365 µs |
        | iterations (failed) | 10 (2) |
        | checks passed | 90 % |

        | error | count |
        |---|---:|
        | connection refused | 2 |
    "#]],
    );
}

#[test]
fn agents_are_below_everything_else() {
    check(
        |summary| {
            summary.agents = three();
            summary.agents[0].name = "a|1".to_owned();
            summary.generator.doubtful = true;
            summary.generator.reasons = (1..9).map(|n| format!("agent a3: reason {n}")).collect();
        },
        &expect![[r#"
            ### ⚠️ chat.js: incomplete

            Lost 1 of 3 agents; 2 failed iterations; the load generator was the bottleneck; held 100 users from 3 agents for 45 s: p95 of rtt 362 µs (5 samples)

            > The load generator was the bottleneck: agent a3: reason 1

            > The load generator was the bottleneck: agent a3: reason 2

            > The load generator was the bottleneck: agent a3: reason 3

            > The load generator was the bottleneck: agent a3: reason 4

            > The load generator was the bottleneck: agent a3: reason 5

            | figure | value |
            |---|---:|
            | users at the peak | 100 |
            | duration | 44.5 s |
            | `rtt` median / p95 / p99 / max | 336 µs / 362 µs / 364 µs / 365 µs |
            | iterations (failed) | 10 (2) |
            | checks passed | 90 % |

            | error | count |
            |---|---:|
            | connection refused | 2 |

            | agent | share | users | iterations | cores | busiest worker | late by (p99), ms | clock, ms | start, ms |
            |---|---:|---:|---:|---:|---:|---:|---:|---:|
            | a\|1 | 34 % | 34 | 12,345 | 1.5/4 | 62 % | 0.81 | +12 ± 0.85 | +1.2 |
            | ❌ loadtest-eu-west-1-b, lost at 12 s | 33 % | 33 | 4,120 | 1.5/4 | 62 % | 0.81 | +12 ± 0.85 | +1.2 |
            | ⚠️ a3 | 33 % | 33 | 12,290 | 2.0/2 | 100 % | 45 | -3.4 ± 0.01 | -0.43 |
        "#]],
    );
}

#[test]
fn of_many_agents_the_first_are_shown() {
    let mut summary = summary(&run());
    summary.agents = vec![three().remove(0); 51];
    let page = page(&summary);
    assert_eq!(page.matches("\n| a1 |").count(), 50);
    assert!(
        page.ends_with("… and 1 more agent, which the JSON has.\n"),
        "{page}"
    );
}
