//! What people see, in several states and sizes.

use std::{sync::Arc, time::Duration};

use expect_test::{Expect, expect};
use plimsoll_load::{
    attempts::Attempts,
    executor::{Executor, RampingVus, Stage},
    generator::{Glance, Schedule},
    metrics::{
        Contains, MetricSet, Registry,
        built_in::{Execution, WebSocket},
    },
    plan::Plan,
    run::{AgentProgress, ClockOffset, Failures, Glances, Progress, Stretch},
    threshold::Finding,
    watch::Latest,
};

use super::*;
use crate::board::{Generator, Subject};

const PLAIN: Look = Look { has_colour: false };

/// A ramp to 100 users and back, within 20 s.
fn plan() -> Plan {
    let stage = |secs, target| Stage {
        duration: Duration::from_secs(secs),
        target,
    };
    let ramp = RampingVus::new(10, vec![stage(10, 100), stage(5, 100), stage(5, 0)]).unwrap();
    Plan::single(Executor::RampingVus(ramp))
}

fn new_board() -> Board {
    let mut board = Board::new(
        Subject {
            name: "chat.js".to_owned(),
            can_pause: false,
            redact: Box::new(|text| text.replace("refused", "***")),
        },
        &plan(),
    );
    board.generator = Generator::example();
    board
}

/// The board after this many seconds, in which round trips became slower and one in ten failed.
fn board_at(seconds: u64) -> Board {
    Board {
        generator: Generator::example(),
        ..board_of(seconds, &[])
    }
}

/// The same, by these agents. Empty: by this process.
fn board_of(seconds: u64, agents: &[AgentProgress]) -> Board {
    let mut registry = Registry::new();
    let execution = Execution::register(&mut registry).unwrap();
    let websocket = WebSocket::register(&mut registry).unwrap();
    let rtt = registry.trend("rtt").unwrap();
    let sizes = registry.trend_of("page_size", Contains::Data).unwrap();
    let check = registry.check("is there");
    let mut metrics = MetricSet::new(Arc::new(registry));
    let mut before = metrics.clone();
    let mut failures = Failures::default();
    let mut board = new_board();
    for second in 1..=seconds {
        for n in 1..=100 {
            metrics.record(rtt, Duration::from_micros(n * second * 50));
            metrics.record(sizes, Duration::from_millis(3_400));
            metrics.check(check, n % 10 != 0);
        }
        metrics.count(websocket.msgs_received, 4_000 * second);
        metrics.count(execution.iterations, 100);
        let at = Duration::from_secs(second - 1);
        failures.add("connection refused\x1b[2J", 10, at);
        failures.add("timeout after 5s", 1, at);
        let recent = Stretch {
            start: at,
            end: at + Duration::from_secs(1),
            metrics: metrics.since(&before),
            generator: Generator::example().glance,
            ..Stretch::empty(&metrics)
        };
        before = metrics.clone();
        let finding = |expression: &str, value, passed| Finding {
            metric: "rtt".to_owned(),
            id: metrics.registry().find("rtt").unwrap(),
            expression: expression.to_owned(),
            aggregation: String::new(),
            value: Some(value),
            passed,
            aborted: false,
        };
        board.observe(
            &Progress {
                elapsed: Duration::from_millis(second * 1_000 + 100),
                active_vus: u32::try_from(second * 9).unwrap(),
                max_vus: 100,
                n_iterations_complete: second * 100,
                n_interrupted: 2,
                scenarios: Vec::new(),
                thresholds: vec![
                    finding("p(95)<500", 47.512_34, true),
                    finding("avg<1", 25.25, false),
                ],
                metrics: &metrics,
                recent: &recent,
                notices: &[],
                failures: &failures,
                attempts: Attempts::of_run(&metrics, 0, 0),
                schedule: Schedule::default(),
                agents: agents.to_vec(),
            },
            targets(),
        );
    }
    board
}

/// An agent of `n` that is not near a limit.
fn agent(name: &str, n: usize) -> AgentProgress {
    AgentProgress {
        name: name.to_owned(),
        version: "0.1.0".to_owned(),
        n_cores: 4,
        share: 1.0 / n as f64,
        active_vus: 45,
        max_vus: 50,
        n_iterations_complete: 500,
        generator: Glances {
            recent: Glance {
                elapsed: Duration::from_secs(1),
                cpu: Duration::from_millis(925),
                lateness_max: Some(Duration::from_micros(310)),
                rss_bytes: Some(50_000_000),
            },
            whole: Glance::default(),
        },
        clock: Some(ClockOffset {
            ns: -12_400_000,
            uncertainty_ns: 85_000,
        }),
        start_skew_ns: Some(0),
        lost_at: None,
    }
}

fn lost(name: &str, n: usize) -> AgentProgress {
    AgentProgress {
        lost_at: Some(Duration::from_millis(3_700)),
        ..agent(name, n)
    }
}

fn late(name: &str, n: usize) -> AgentProgress {
    let mut late = agent(name, n);
    late.generator.recent.lateness_max = Some(Duration::from_millis(31));
    late
}

fn targets() -> impl Iterator<Item = (&'static str, Latest)> {
    let server = Latest {
        cores: Some(0.42),
        rss_bytes: Some(33_000_000.0),
        has_ended: false,
    };
    let gone = Latest {
        has_ended: true,
        ..Latest::default()
    };
    [("server", server), ("redis", gone)].into_iter()
}

fn check(board: &Board, size: (u16, u16), scene: &Scene, expected: &Expect) {
    let text = draw(board, size, PLAIN, scene);
    assert!(!text.contains('\x1b'), "{text:?}");
    // A snapshot does not keep a common indentation, so lines begin with a bar.
    let barred: String = text.lines().map(|line| format!("|{line}\n")).collect();
    expected.assert_eq(&barred);
}

#[test]
fn all_is_shown_on_a_usual_terminal() {
    check(
        &board_at(10),
        (100, 24),
        &Scene::default(),
        &expect![[r#"
            |chat.js  running  10s of 20s ████████████░░░░░░░░░░░░  1000 iterations, 100.0/s, 2 interrupted
            |users 90 of 100 active  planned ────────  rtt p50 25.25ms  p95 47.54ms  p99 49.5ms ─────────────────
            |100│             ⢀⣠⢀⣀⡠⠄⠉⠉⠉⠉⠉⠉⠉⠉⠳⣄         49.5ms│                                      ⢀⣀⣀⣀⠤⠤⠔⠒⠒⠒⠊⠉⠉
            |   │        ⣀⡠⢀⣀⠤⠔⠊⠁             ⠑⢤⡀            │                           ⣀⣀⡠⠤⠤⠒⠒⠊⠉⠉⠉⠁⠁        ⢀⣀⣀
            |   │   ⣀⡤⣀⣀⠤⠒⠉⠁                    ⠙⠢⣀          │            ⣀⣀⡠⠤⠤⠤⠔⠒⠒⠒⠒⠊⠉⠉⠉⣀⡠⠤⠤⠤⠤⠤⠤⠤⠤⠤⠔⠒⠒⠒⠒⠊⠉⠉⠉⠉⠁
            |0  │⠖⠚⠔⠊⠉                            ⠈⠳⢄  0     │     ⠐⠒⠒⠊⠉⠉⠉⠉⠁⠒⠒⠒⠒⠊⠉⠉⠉⠉⠁
            |   └────────────────────────────────────        └───────────────────────────────────────────────────
            |   0                                 20s       0s                                                10s
            |                              p50      p95      p99 last second       p50      p95      p99      max
            |rtt                       25.25ms  47.54ms   49.5ms ▁▂▃▄▄▅▆▇██    10.63ms  37.38ms  45.02ms     50ms
            |page_size                  3.4 kB   3.4 kB   3.4 kB ██████████     3.4 kB   3.4 kB   3.4 kB   3.4 kB
            |                         now               whole run   generator  1.85 of 2 cores  up to 31ms late
            |iterations           100.0/s ██████████         1000              312 of 65536 open files
            |checks                90.00% ██████████       90.00%   server  0.42 cores  33 MB RSS
            |ws_msgs_received   40000.0/s ▁▂▃▄▄▅▆▇██       220000   redis  is gone
            |                                                       ✗ rtt avg<1  25.25
            |                                                       ✓ rtt p(95)<500  47.51
            |                                                       ✗ 100 × 0.0–9.0 s connection ***[2J
            |                                                       ✗ 10 × 0.0–9.0 s timeout after 5s
            |q end the run and show its summary   ? help
        "#]],
    );
}

#[test]
fn a_large_terminal_shows_more() {
    check(
        &board_at(18),
        (150, 40),
        &Scene::default(),
        &expect![[r#"
            |chat.js  running  18s of 20s █████████████████████░░░  1800 iterations, 100.0/s, 2 interrupted
            |users 162 of 100 active  planned ───────────────────────────  rtt p50 45.47ms  p95 85.55ms  p99 89.15ms ──────────────────────────────────────────────
            |162│                                               ⢀⠤⠒⠁       89.15ms│                                                                          ⢀⣀⠤⠔⠒⠉
            |   │                                           ⢀⡠⠔⠊⠁                 │                                                                    ⣀⣀⠤⠔⠒⠉⠁⠒⠉⠁
            |   │                                       ⣀⠤⠔⠊⠁                     │                                                             ⢀⣀⠤⠔⠒⠉⠉⠒⠉
            |   │                                   ⢀⡠⠒⠉                          │                                                       ⢀⣀⠤⠔⠒⠉⠁⠒⠉⠁
            |   │                               ⢀⡠⠔⠊⠁                             │                                                  ⣀⡠⠔⠒⠉⠁⠊⠉⠁
            |   │                        ⢀⠤⠒⠉⣀⠤⠒⠁⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠱⣀                     │                                            ⣀⡠⠤⠒⠊⠉⠉⠁
            |   │                    ⣀⡤⠖⢀⣀⠤⠒⠉               ⠈⠢⡀                   │                                     ⣀⣀⠤⠤⠒⠊⠉⠉⠁                          ⣀⣀⠤⠤⠤⠔⠒⠒
            |   │                ⢀⡠⠔⢀⡠⠔⠊⠁                     ⠈⢆⡀                 │                              ⢀⣀⠤⠔⠒⠉⠉⠉⠉                     ⣀⣀⣀⡠⠤⠔⠒⠒⠒⠉⠉⠉
            |   │            ⢀⡠⠖⠊⣀⠔⠊⠁                           ⠑⢄                │                         ⣀⡠⠤⠒⠊⠁⠉                ⣀⣀⣀⡠⠤⠤⠔⠒⠊⠉⠉⠉
            |   │        ⢀⡠⠔⠊⣀⠤⠒⠉                                 ⠑⢄              │                   ⣀⡠⠤⠒⠊⠉⠉        ⢀⣀⣀⣀⠤⠤⠤⠤⠔⠒⠒⠒⠉⠉
            |   │    ⢀⡠⠔⠚⣀⡠⠔⠊                                      ⠈⠢⡀            │            ⢀⣀⡠⠤⠒⠊⠉     ⣀⣀⠤⠤⠤⠔⠒⠒⠊⠉⠁
            |   │⢀⣠⠤⠊⣀⠤⠒⠉                                            ⠘⠢⡀          │      ⣀⡠⠔⠒⠊⠉⠁⣀⣀⠤⠤⠒⠒⠒⠊⠉⠉⠉
            |0  │⠉  ⠉                                                  ⠉⢆  0      │     ⠉⠁⠒⠊⠉⠉⠁
            |   └────────────────────────────────────────────────────────         └────────────────────────────────────────────────────────────────────────────────
            |   0                                                     20s        0s                                                                             18s
            |                               p50      p95      p99 last second                                                        p50      p95      p99      max
            |rtt                        45.47ms  85.55ms  89.15ms ▁▁▂▂▃▃▄▄▄▅▅▆▆▇▇███                                             18.23ms  65.48ms  80.06ms     90ms
            |page_size                   3.4 kB   3.4 kB   3.4 kB ██████████████████                                              3.4 kB   3.4 kB   3.4 kB   3.4 kB
            |                                now                                   whole run   generator  1.85 of 2 cores  up to 31ms late
            |iterations                  100.0/s ██████████████████                     1800              312 of 65536 open files
            |checks                       90.00% ██████████████████                   90.00%   server  0.42 cores  33 MB RSS
            |ws_msgs_received          72000.0/s ▁▁▂▂▃▃▄▄▄▅▅▆▆▇▇███                   684000   redis  is gone
            |                                                                                  ✗ rtt avg<1  25.25
            |                                                                                  ✓ rtt p(95)<500  47.51
            |                                                                                  ✗ 180 × 0.0–17.0 s connection ***[2J
            |                                                                                  ✗ 18 × 0.0–17.0 s timeout after 5s
            |q end the run and show its summary   ? help
        "#]],
    );
}

#[test]
fn before_the_first_user_starts() {
    check(
        &new_board(),
        (100, 24),
        &Scene::default(),
        &expect![[r#"
        |chat.js  creating virtual users
        |users – active  planned ────────────────  latency p50 –  p95 –  p99 – ──────────────────────────────
        |100│                ⡤⠖⠉⠉⠉⠉⠉⠉⠉⠉⠉⢦          1µs│
        |   │             ⣀⡔⠋           ⠈⢢            │
        |   │          ⢀⡠⠎⠁               ⢱⡀          │
        |   │        ⣀⠔⠋                   ⠱⡀         │
        |   │     ⢀⡤⠊⠁                      ⠹⡀        │
        |   │   ⣠⠖⠉                          ⠘⢄       │
        |   │⢀⡤⠋⠁                             ⠘⢆      │
        |0  │⠁                                 ⠈⢢  0  │
        |   └────────────────────────────────────     └──────────────────────────────────────────────────────
        |   0                                 20s    0s                                                    0s
        |                              p50      p95      p99 last second       p50      p95      p99      max
        |
        |                         now               whole run   generator  1.85 of 2 cores  up to 31ms late
        |                                                                  312 of 65536 open files
        |
        |
        |
        |q end the run and show its summary   ? help
    "#]],
    );
}

#[test]
fn a_small_terminal_has_a_few_figures() {
    check(
        &board_at(3),
        (60, 14),
        &Scene::default(),
        &expect![[r#"
            |chat.js  running  3s of 20s ███░░░░░░░░░░░░░░░░░░░░░  300 it
            |27 of 100 users active
            |✗ 30 × connection ***[2J
            |✗ 3 × timeout after 5s
            |checks  90.00%  (90.00%)
            |page_size p(95)  3.4 kB  (3.4 kB)
            |rtt p(95)  14.26ms  (12.75ms)
            |ws_msgs_received  12000.0/s  (24000)
            |iterations  100.0/s  (300)
            |q end the run and show its summary   ? help
        "#]],
    );
    check(
        &board_at(3),
        (20, 4),
        &Scene::default(),
        &expect![[r#"
        |chat.js  running  3s
        |27 of 100 users acti
        |q end the run and sh
    "#]],
    );
}

#[test]
fn a_run_that_is_paused_or_ends_says_so() {
    let mut board = board_at(2);
    board.subject.can_pause = true;
    let scene = |is_paused, is_ending| Scene {
        mood: Mood { is_paused, is_ending },
        ..Scene::default()
    };
    check(
        &board,
        (60, 8),
        &scene(true, false),
        &expect![[r#"
        |chat.js  paused  2s of 20s ██░░░░░░░░░░░░░░░░░░░░░░  200 ite
        |18 of 100 users active
        |✗ 20 × connection ***[2J
        |checks  90.00%  (90.00%)
        |page_size p(95)  3.4 kB  (3.4 kB)
        |p resume   q end the run and show its summary   ? help
    "#]],
    );
    check(
        &board,
        (60, 8),
        &scene(false, true),
        &expect![[r#"
        |chat.js  ending  2s of 20s ██░░░░░░░░░░░░░░░░░░░░░░  200 ite
        |18 of 100 users active
        |✗ 20 × connection ***[2J
        |checks  90.00%  (90.00%)
        |page_size p(95)  3.4 kB  (3.4 kB)
        |p pause   q end the run and show its summary   ? help
    "#]],
    );
}

#[test]
fn help_and_answers() {
    let help = Scene {
        help: true,
        ..Scene::default()
    };
    check(
        &board_at(1),
        (120, 24),
        &help,
        &expect![[r#"
            |chat.js  running  1s of 20s █░░░░░░░░░░░░░░░░░░░░░░░  100 iterations, 100.0/s, 2 interrupted
            |
            |  p       pause; only for scenarios with the executor externally-controlled, which this run does not have
            |  q       stop the run, as the first Ctrl-C does: running iterations are interrupted, and the summary follows
            |  ?       back to the figures
            |  Ctrl-C  as q; twice: end at once, without a summary
            |
            |  last second   percentiles of the samples of the last second only
            |  whole run     percentiles of all samples since the start
            |  users         active users of all existing users; the dim curve is the plan
            |  thresholds    results of the last evaluation, which happens every 2 s
            |  generator     this program, or the agents of --fleet, in the last second: CPU, how late a clock ticked at the most,
            |                and open files of those that this program may have; what is near its limit shows in yellow, and the
            |                summary says whether the figures are still the target's
            |
            |  The log is printed above this view, and stays there. --no-tui shows plain progress instead.
            |q end the run and show its summary   ? back
        "#]],
    );
    let answer = Scene {
        answer: Some("it cannot be paused".to_owned()),
        ..Scene::default()
    };
    check(
        &board_at(1),
        (60, 8),
        &answer,
        &expect![[r#"
        |chat.js  running  1s of 20s █░░░░░░░░░░░░░░░░░░░░░░░  100 it
        |9 of 100 users active
        |✗ 10 × connection ***[2J
        |checks  90.00%  (90.00%)
        |page_size p(95)  3.4 kB  (3.4 kB)
        |it cannot be paused
    "#]],
    );
}

#[test]
fn the_agents_of_a_fleet_stand_side_by_side() {
    let agents = [agent("a1", 2), agent("zurich-1", 2)];
    check(
        &board_of(10, &agents),
        (150, 24),
        &Scene::default(),
        &expect![[r#"
        |chat.js  running  10s of 20s ████████████░░░░░░░░░░░░  1000 iterations, 100.0/s, 2 interrupted
        |users 90 of 100 active  planned ────────────────────────────  rtt p50 25.25ms  p95 47.54ms  p99 49.5ms ───────────────────────────────────────────────
        |100│                     ⣀⣀⠤⢀⣀⣀⠤⠄⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠑⠤⣀             49.5ms│                                                             ⣀⣀⣀⣀⣀⣀⠤⠤⠤⠤⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉
        |   │             ⣀⡠⠤⣀⣀⡠⠤⠔⠒⠉⠉⠁                    ⠉⠒⠤⡀               │                                           ⣀⣀⣀⣀⠤⠤⠤⠤⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉              ⣀⣀⣀⣀
        |   │    ⢀⣀⡠⢀⣀⣀⡠⠤⠔⠊⠉⠉                                ⠈⠙⠲⢄⡀           │                   ⣀⣀⣀⣀⠤⠤⠤⠤⠤⠤⠒⠒⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⣀⣀⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠒⠒⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉
        |0  │⠔⠒⠊⠤⠒⠊⠉⠁                                            ⠈⠑⠦⣄  0     │         ⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉⠒⠒⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉
        |   └────────────────────────────────────────────────────────        └─────────────────────────────────────────────────────────────────────────────────
        |   0                                                     20s       0s                                                                              10s
        |                               p50      p95      p99 last second                                                        p50      p95      p99      max
        |rtt                        25.25ms  47.54ms   49.5ms ▁▂▃▄▄▅▆▇██                                                     10.63ms  37.38ms  45.02ms     50ms
        |page_size                   3.4 kB   3.4 kB   3.4 kB ██████████                                                      3.4 kB   3.4 kB   3.4 kB   3.4 kB
        |                                now                                   whole run   generator  1.85 of 8 cores  up to 31ms late
        |iterations                  100.0/s ██████████                             1000     a1        0.93 of 4 cores  310µs late  50 %  clock −12.4ms ± 85µs
        |checks                       90.00% ██████████                           90.00%     zurich-1  0.93 of 4 cores  310µs late  50 %  clock −12.4ms ± 85µs
        |ws_msgs_received          40000.0/s ▁▂▃▄▄▅▆▇██                           220000   server  0.42 cores  33 MB RSS
        |                                                                                  redis  is gone
        |                                                                                    and 2 more thresholds
        |                                                                                  ✗ 100 × 0.0–9.0 s connection ***[2J
        |                                                                                  ✗ 10 × 0.0–9.0 s timeout after 5s
        |q end the run and show its summary   ? help
    "#]],
    );
    check(
        &board_of(10, &agents),
        (60, 24),
        &Scene::default(),
        &expect![[r#"
        |chat.js  running  10s of 20s ████████████░░░░░░░░░░░░  1000
        |90 of 100 users active
        |✗ 100 × connection ***[2J
        |✗ 10 × timeout after 5s
        |checks  90.00%  (90.00%)
        |page_size p(95)  3.4 kB  (3.4 kB)
        |rtt p(95)  47.54ms  (37.38ms)
        |ws_msgs_received  40000.0/s  (220000)
        |iterations  100.0/s  (1000)
        | generator  1.85 of 8 cores  up to 31ms late
        |   a1        0.93 of 4 cores  310µs late  50 %  clock −12.4m
        |   zurich-1  0.93 of 4 cores  310µs late  50 %  clock −12.4m
        | server  0.42 cores  33 MB RSS
        | redis  is gone
        |q end the run and show its summary   ? help
    "#]],
    );
}

#[test]
fn agents_that_were_lost_come_first() {
    let agents = [late("a1", 3), lost("a2", 3), late("a3", 3)];
    check(
        &board_of(1, &agents),
        (60, 24),
        &Scene::default(),
        &expect![[r#"
        |chat.js  running  1s of 20s █░░░░░░░░░░░░░░░░░░░░░░░  100 it
        |9 of 100 users active
        |✗ 10 × connection ***[2J
        |✗ 1 × timeout after 5s
        |checks  90.00%  (90.00%)
        |page_size p(95)  3.4 kB  (3.4 kB)
        |rtt p(95)  4.75ms  (4.75ms)
        |ws_msgs_received  4000.0/s  (4000)
        |iterations  100.0/s  (100)
        | generator  1.85 of 8 cores  up to 31ms late
        |   a2  lost at 3s
        |   a1  0.93 of 4 cores  31ms late  33 %  clock −12.4ms ± 85µ
        |   a3  0.93 of 4 cores  31ms late  33 %  clock −12.4ms ± 85µ
        | server  0.42 cores  33 MB RSS
        | redis  is gone
        |q end the run and show its summary   ? help
    "#]],
    );
}

#[test]
fn agents_near_a_limit_come_before_those_that_are_not_shown() {
    let n = 12;
    let mut agents: Vec<_> = (1..n).map(|at| agent(&format!("a{at}"), n)).collect();
    agents[6] = lost("a7", n);
    agents.push(late("loadtest-eu-west-1-with-a-long-name-b", n));
    check(
        &board_of(10, &agents),
        (150, 40),
        &Scene::default(),
        &expect![[r#"
        |chat.js  running  10s of 20s ████████████░░░░░░░░░░░░  1000 iterations, 100.0/s, 2 interrupted
        |users 90 of 100 active  planned ────────────────────────────  rtt p50 25.25ms  p95 47.54ms  p99 49.5ms ───────────────────────────────────────────────
        |100│                         ⢀⡠⠒⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⢢               49.5ms│                                                                          ⣀⣀⠤⠤⠒⠒⠉
        |   │                      ⢀⡤⠔⠁⡠⠔⠁              ⠱⡀                   │                                                                   ⣀⣀⠤⠔⠒⠉⠉⠒⠒⠉⠉
        |   │                    ⡠⠖⠃⣀⠔⠊                  ⠱⡀                  │                                                            ⣀⣀⠤⠤⠒⠊⠉⠒⠉⠉
        |   │                ⢀⣠⠔⠉⣀⠔⠊                      ⠈⢆                 │                                                    ⣀⣀⠤⠤⠒⠒⠉⠉⠉⠉
        |   │              ⡠⠴⠊⢀⠤⠊                           ⠣⡀               │                                             ⣀⡠⠤⠒⠒⠉⠉⠉⠉
        |   │           ⣀⠤⠊⢀⡠⠒⠁                              ⠣⡄              │                                      ⣀⣀⠤⠔⠒⠉⠉⠉                         ⣀⣀⣀⣀⠤⠤⠤⠤⠒⠒
        |   │        ⢀⠴⠒⠁⡠⠔⠁                                  ⠘⢄             │                              ⣀⣀⠤⠤⠒⠒⠉⠉                    ⣀⣀⣀⠤⠤⠔⠒⠒⠒⠉⠉⠉⠉
        |   │     ⢀⡤⠚⢀⡠⠔⠊                                      ⠈⢢            │                      ⣀⣀⠤⠤⠒⠒⠉⠉⠁            ⣀⣀⣀⣀⠤⠤⠤⠤⠒⠒⠒⠒⠉⠉⠉
        |   │   ⡤⠖⠁⡠⠒⠁                                           ⠱⡀          │              ⢀⣀⠤⠤⠒⠒⠉⠉⠉⠉   ⣀⣀⣀⣀⠤⠤⠤⠤⠒⠒⠒⠒⠉⠉⠉⠉
        |   │⡠⠒⠉⡠⠔⠉                                               ⠑⡆         │         ⣀⠤⠔⠒⠉⠁⠉⣀⣀⠤⠤⠤⠒⠒⠊⠉⠉⠉
        |0  │                                                      ⠈⢆  0     │         ⠒⠒⠉⠉⠉⠉
        |   └────────────────────────────────────────────────────────        └─────────────────────────────────────────────────────────────────────────────────
        |   0                                                     20s       0s                                                                              10s
        |                               p50      p95      p99 last second                                                        p50      p95      p99      max
        |rtt                        25.25ms  47.54ms   49.5ms ▁▂▃▄▄▅▆▇██                                                     10.63ms  37.38ms  45.02ms     50ms
        |page_size                   3.4 kB   3.4 kB   3.4 kB ██████████                                                      3.4 kB   3.4 kB   3.4 kB   3.4 kB
        |                                now                                   whole run   generator  1.85 of 44 cores  up to 31ms late
        |iterations                  100.0/s ██████████                             1000     a7                    lost at 3s
        |checks                       90.00% ██████████                           90.00%     loadtest-eu-west-1-with-a-long-name-b  0.93 of 4 cores  31ms late
        |ws_msgs_received          40000.0/s ▁▂▃▄▄▅▆▇██                           220000     a1                    0.93 of 4 cores  310µs late  8 %  clock −12.
        |                                                                                    a2                    0.93 of 4 cores  310µs late  8 %  clock −12.
        |                                                                                    a3                    0.93 of 4 cores  310µs late  8 %  clock −12.
        |                                                                                    a4                    0.93 of 4 cores  310µs late  8 %  clock −12.
        |                                                                                    a5                    0.93 of 4 cores  310µs late  8 %  clock −12.
        |                                                                                    and 5 more agents
        |                                                                                  server  0.42 cores  33 MB RSS
        |                                                                                  redis  is gone
        |                                                                                  ✗ rtt avg<1  25.25
        |                                                                                  ✓ rtt p(95)<500  47.51
        |                                                                                  ✗ 100 × 0.0–9.0 s connection ***[2J
        |                                                                                  ✗ 10 × 0.0–9.0 s timeout after 5s
        |q end the run and show its summary   ? help
    "#]],
    );
    // Thresholds and failures keep their room.
    check(
        &board_of(10, &agents),
        (150, 24),
        &Scene::default(),
        &expect![[r#"
        |chat.js  running  10s of 20s ████████████░░░░░░░░░░░░  1000 iterations, 100.0/s, 2 interrupted
        |users 90 of 100 active  planned ────────────────────────────  rtt p50 25.25ms  p95 47.54ms  p99 49.5ms ───────────────────────────────────────────────
        |100│                     ⣀⣀⠤⢀⣀⣀⠤⠄⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠑⠤⣀             49.5ms│                                                             ⣀⣀⣀⣀⣀⣀⠤⠤⠤⠤⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉
        |   │             ⣀⡠⠤⣀⣀⡠⠤⠔⠒⠉⠉⠁                    ⠉⠒⠤⡀               │                                           ⣀⣀⣀⣀⠤⠤⠤⠤⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉              ⣀⣀⣀⣀
        |   │    ⢀⣀⡠⢀⣀⣀⡠⠤⠔⠊⠉⠉                                ⠈⠙⠲⢄⡀           │                   ⣀⣀⣀⣀⠤⠤⠤⠤⠤⠤⠒⠒⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⣀⣀⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠒⠒⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉
        |0  │⠔⠒⠊⠤⠒⠊⠉⠁                                            ⠈⠑⠦⣄  0     │         ⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉⠒⠒⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉
        |   └────────────────────────────────────────────────────────        └─────────────────────────────────────────────────────────────────────────────────
        |   0                                                     20s       0s                                                                              10s
        |                               p50      p95      p99 last second                                                        p50      p95      p99      max
        |rtt                        25.25ms  47.54ms   49.5ms ▁▂▃▄▄▅▆▇██                                                     10.63ms  37.38ms  45.02ms     50ms
        |page_size                   3.4 kB   3.4 kB   3.4 kB ██████████                                                      3.4 kB   3.4 kB   3.4 kB   3.4 kB
        |                                now                                   whole run   generator  1.85 of 44 cores  up to 31ms late
        |iterations                  100.0/s ██████████                             1000     a7                    lost at 3s
        |checks                       90.00% ██████████                           90.00%     and 11 more agents
        |ws_msgs_received          40000.0/s ▁▂▃▄▄▅▆▇██                           220000   server  0.42 cores  33 MB RSS
        |                                                                                  redis  is gone
        |                                                                                    and 2 more thresholds
        |                                                                                  ✗ 100 × 0.0–9.0 s connection ***[2J
        |                                                                                  ✗ 10 × 0.0–9.0 s timeout after 5s
        |q end the run and show its summary   ? help
    "#]],
    );
}
