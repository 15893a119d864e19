//! The agents of a fleet below everything else.

use expect_test::{Expect, expect};

use crate::{
    Layout, Style, Summary,
    agents::tests::three,
    summary::{
        Agent, AgentClock,
        tests::{run, summary},
    },
};

/// A fleet whose text has nothing but the generator and its agents.
fn fleet(agents: Vec<Agent>) -> Summary {
    let mut summary = summary(&run()).with_agents(agents);
    summary.checks.clear();
    summary.metrics.retain(|name, _| name == "ws_sessions");
    summary.iterations.failed = 0;
    summary.errors.clear();
    summary
}

const NARROW: Style = Style {
    color: false,
    width: 80,
};

/// Checks the text of a native workload, whose table has to fit.
fn check(summary: &Summary, style: Style, expected: &Expect) {
    let text = summary.text(style);
    if !style.color {
        let table = text.lines().skip_while(|line| !line.contains("iterations  "));
        for line in table {
            assert!(line.chars().count() <= style.width, "{line}");
        }
    }
    expected.assert_eq(&text);
}

#[test]
fn agents_stand_side_by_side() {
    check(
        &fleet(three()),
        NARROW,
        &expect![[r#"
            running (44.5s), 000/100 VUs, 10 complete and 90 interrupted iterations

              ws_sessions...: 10 0.224719/s

              generator...: ✓ was not the bottleneck, CPU 4.45s (0.10 cores)

              agents      share  users  iterations  cores  busiest  late        clock  start
              a1           34 %     34      12,345  1.5/4     62 %  0.81   +12 ± 0.85   +1.2
            ✗ load…t-1-b   33 %     33       4,120  1.5/4     62 %  0.81        lost at 12 s
            ✗ a3           33 %     33      12,290  2.0/2    100 %    45  -3.4 ± 0.01  -0.43
              ms: late (p99), clock ahead of the coordinator's, start after the common one
        "#]],
    );
    check(
        &fleet(three()),
        Style::PLAIN,
        &expect![[r#"
            running (44.5s), 000/100 VUs, 10 complete and 90 interrupted iterations

              ws_sessions...: 10 0.224719/s

              generator...: ✓ was not the bottleneck, CPU 4.45s (0.10 cores)

              agents                share  users  iterations  cores  busiest  late        clock  start
              a1                     34 %     34      12,345  1.5/4     62 %  0.81   +12 ± 0.85   +1.2
            ✗ loadtest-eu-west-1-b   33 %     33       4,120  1.5/4     62 %  0.81        lost at 12 s
            ✗ a3                     33 %     33      12,290  2.0/2    100 %    45  -3.4 ± 0.01  -0.43
              ms: late (p99), clock ahead of the coordinator's, start after the common one
        "#]],
    );
}

#[test]
fn colours_do_not_move_the_columns_of_agents() {
    let coloured = Style {
        color: true,
        ..NARROW
    };
    check(
        &fleet(three()),
        coloured,
        &expect![[r#"
            running (44.5s), 000/100 VUs, 10 complete and 90 interrupted iterations

              ws_sessions[2m...:[0m [36m10[0m [36m0.224719/s[0m

              generator[2m...:[0m [32m✓ was not the bottleneck[0m, CPU [36m4.45s[0m (0.10 cores)

              agents      share  users  iterations  cores  busiest  late        clock  start
              a1           34 %     34      12,345  1.5/4     62 %  0.81   +12 ± 0.85   +1.2
            [31m✗ [0mload…t-1-b   33 %     33       4,120  1.5/4     62 %  0.81        [31mlost at 12 s[0m
            [31m✗ [0ma3           33 %     33      12,290  2.0/2    100 %    45  -3.4 ± 0.01  -0.43
            [2m  ms: late (p99), clock ahead of the coordinator's, start after the common one[0m
        "#]],
    );
}

#[test]
fn the_newer_layouts_have_them_in_their_last_section() {
    let text = fleet(three()).end_of_test(Layout::default(), NARROW);
    let (_, ours) = text.split_once("PLIMSOLL\n").unwrap();
    // A line at the left margin, because `expect!` removes the common indentation of all lines.
    let ours = format!("$\n{ours}");
    expect![[r#"
        $

            iterations...: 10 complete, 90 interrupted
            model........: closed
              - each user waits for the target before it continues, so a stall shows in
                few samples; with an arrival-rate executor it shows in every iteration
                that it delays
            clock........: late by p(99)=800µs max=800µs
            generator....: ✓ was not the bottleneck, CPU 4.45s (0.10 cores)

            agents    share  users  iterations  cores  busiest  late        clock  start
            a1         34 %     34      12,345  1.5/4     62 %  0.81   +12 ± 0.85   +1.2
          ✗ loa…-1-b   33 %     33       4,120  1.5/4     62 %  0.81        lost at 12 s
          ✗ a3         33 %     33      12,290  2.0/2    100 %    45  -3.4 ± 0.01  -0.43
            ms: late (p99), clock ahead of the coordinator's, start after the common one
    "#]]
    .assert_eq(&ours);
}

#[test]
fn the_longest_figures_fit_as_well() {
    let agent = |name: &str, offset_ms| Agent {
        name: name.to_owned(),
        machine_cores: 128,
        share: 1.0,
        vus_max: 999_999,
        iterations: 987_654_321,
        cores: 127.9,
        busiest_worker_share: 1.0,
        lateness_bound_ms: Some(9_876.0),
        clock: AgentClock {
            offset_ms,
            uncertainty_ms: 0.123,
            start_skew_ms: Some(-8_765.4),
        },
        ..three().remove(0)
    };
    let agents = vec![
        agent("load-generator-with-a-long-name-1", -0.123),
        agent("load-generator-with-a-long-name-2", 3_600_000.0),
    ];
    check(
        &fleet(agents),
        NARROW,
        &expect![[r#"
            running (44.5s), 000/100 VUs, 10 complete and 90 interrupted iterations

              ws_sessions...: 10 0.224719/s

              generator...: ✓ was not the bottleneck, CPU 4.45s (0.10 cores)

              agents       share   users iterations   cores busiest late         clock start
              load-…name-1 100 % 999,999       988M 128/128   100 % 9876  -0.12 ± 0.12 -8765
              load-…name-2 100 % 999,999       988M 128/128   100 % 9876 +3600s ± 0.12 -8765
              ms: late (p99), clock ahead of the coordinator's, start after the common one
        "#]],
    );
}

#[test]
fn of_many_agents_the_first_are_shown() {
    let agents: Vec<_> = (1..=60)
        .map(|n| Agent {
            name: format!("a{n}"),
            ..three().remove(0)
        })
        .collect();
    let mut summary = fleet(agents);
    summary.generator.doubtful = true;
    summary.generator.reasons = (1..=60).map(|n| format!("agent a{n}: it was late")).collect();
    let text = summary.text(NARROW);
    for (name, is_shown) in [
        ("\n  a50 ", true),
        ("\n  a51 ", false),
        ("- agent a50: ", true),
        ("- agent a51: ", false),
        ("\n  and 10 more agents, which the JSON has\n", true),
    ] {
        assert_eq!(text.contains(name), is_shown, "{name}: {text}");
    }
}
