//! Summaries as people read them.

use crate::{
    Style, Summary,
    summary::{
        CheckResult, Contains, End, Losses, Threshold,
        tests::{run, summary, target},
    },
};
use expect_test::{Expect, expect};

fn check(style: Style, change: impl FnOnce(&mut Summary), expected: &Expect) {
    let mut summary = summary(&run());
    change(&mut summary);
    expected.assert_eq(&summary.text(style));
}

#[test]
fn reads_as_k6_does() {
    check(
        Style::PLAIN,
        |_| {},
        &expect![[r#"
            running (44.5s), 000/100 VUs, 10 complete and 90 interrupted iterations

              ✓ successful connection
              ✗ received its own message
               ↳  80% — ✓ 4 / ✗ 1
              - never asked (never reached)

              checks............: 90.00% ✓ 9        ✗ 1
              data_received.....: 826 kB 19 kB/s
              http_req_failed...: 0.00%  ✓ 0        ✗ 1
              rtt...............: avg=299.8µs min=185µs med=336µs max=365µs p(90)=359µs p(95)=362µs
              vus...............: 11     min=11     max=100
              ws_connecting.....: avg=29.98s  min=18.5s med=33.6s max=36.5s p(90)=35.9s p(95)=36.2s
              ws_sessions.......: 10     0.224719/s

              failed iterations...: 2
              failures by cause...: 2
                - 2 × connection refused (after 1.5 s)
              generator...........: ✓ was not the bottleneck, CPU 4.45s (0.10 cores)
        "#]],
    );
}

#[test]
fn thresholds_parts_groups_and_plain_numbers_have_their_place() {
    let threshold = |metric: &str, expression: &str, value, passed| Threshold {
        metric: metric.to_owned(),
        key: metric.replace([' ', '\''], ""),
        expression: expression.to_owned(),
        aggregation: expression.split('<').next().unwrap().to_owned(),
        value,
        passed,
        aborted: false,
    };
    let check_in = |group: &str, name: &str| CheckResult {
        group: group.to_owned(),
        name: name.to_owned(),
        passes: 1,
        fails: 0,
    };
    check(
        Style::PLAIN,
        |summary| {
            summary.checks = vec![check_in("::chat::speak", "heard"), check_in("", "connected")];
            summary
                .metrics
                .retain(|name, _| name == "rtt" || name == "ws_sessions");
            let rtt = summary.metrics["rtt"].clone();
            summary
                .metrics
                .insert("rtt{kind:own,status:ok}".to_owned(), rtt.clone());
            for (name, contains) in [("rtt_size", Contains::Data), ("rtt_words", Contains::Default)] {
                let metric = crate::summary::Metric {
                    contains,
                    ..rtt.clone()
                };
                summary.metrics.insert(name.to_owned(), metric);
            }
            summary.thresholds = vec![
                threshold("rtt", "avg<1", Some(0.2998), true),
                threshold("rtt{ kind:'own', status:ok }", "max<0.3", Some(0.365), false),
                threshold("rtt{kind:other}", "max<0.3", None, true),
            ];
            summary.end = End::Aborted {
                reason: "enough".to_owned(),
            };
            summary.notices = vec!["scenario `a`: insufficient VUs".to_owned()];
            summary.iterations.failed = 0;
        },
        &expect![[r#"
            running (44.5s), 000/100 VUs, 10 complete and 90 interrupted iterations

              ✓ connected

              █ chat

                █ speak

                  ✓ heard

            ✓ rtt...........................: avg=299.8µs min=185µs med=336µs max=365µs p(90)=359µs p(95)=362µs
              ✗ { kind:'own', status:ok }...: avg=299.8µs min=185µs med=336µs max=365µs p(90)=359µs p(95)=362µs
              rtt_size......................: avg=0 B     min=0 B   med=0 B   max=0 B   p(90)=0 B   p(95)=0 B
              rtt_words.....................: avg=0.2998  min=0.185 med=0.336 max=0.365 p(90)=0.359 p(95)=0.362
              ws_sessions...................: 10 0.224719/s

              thresholds..........: ✗ 1 of 3 crossed
                - rtt{ kind:'own', status:ok }: max<0.3, found 0.365
              run.................: aborted: enough
              notices.............: 1
                - scenario `a`: insufficient VUs
              failures by cause...: 2
                - 2 × connection refused (after 1.5 s)
              generator...........: ✓ was not the bottleneck, CPU 4.45s (0.10 cores)
        "#]],
    );
}

#[test]
fn losses_target_and_a_doubtful_generator_stand_below() {
    check(
        Style {
            width: 60,
            ..Style::PLAIN
        },
        |summary| {
            summary.checks.clear();
            summary.metrics.retain(|name, _| name == "ws_sessions");
            summary.iterations.failed = 0;
            summary.losses = Some(Losses {
                expected: 100,
                received: 99,
                lost: 1,
                duplicated: 0,
                out_of_order: 2,
            });
            summary.targets = vec![target()];
            summary.generator.doubtful = true;
            summary.generator.reasons = vec![
                "a worker was busy all the time; use more workers, another machine, or less load".to_owned(),
            ];
        },
        &expect![[r#"
            running (44.5s), 000/100 VUs, 10 complete and 90 interrupted iterations

              ws_sessions...: 10 0.224719/s

              failures by cause...: 2
                - 2 × connection refused (after 1.5 s)
              deliveries..........: 99 of 100 received, 1 lost, 0 duplicated, 2 out of order
              target..............: server (process 4711), CPU 1m0s (1.50 cores, up to 1.75), RSS up to 12 MB
                - at most 3 threads, 109 open files
              generator...........: ✗ DOUBTFUL: the load generator was the bottleneck, CPU 4.45s (0.10 cores)
                - these figures do not describe the target alone
                - a worker was busy all the time; use more workers,
                  another machine, or less load
        "#]],
    );
}

#[test]
fn colours_do_not_move_columns() {
    check(
        Style {
            color: true,
            ..Style::PLAIN
        },
        |summary| {
            summary
                .metrics
                .retain(|name, _| name.starts_with("ws_") || name == "rtt" || name == "data_received");
        },
        &expect![[r#"
            running (44.5s), 000/100 VUs, 10 complete and 90 interrupted iterations

              [32m✓ successful connection[0m
              [31m✗ received its own message[0m
               [31m↳  80% — ✓ 4 / ✗ 1[0m
              - never asked [2m(never reached)[0m

              data_received[2m...:[0m [36m826 kB[0m [36m19 kB/s[0m
              rtt[2m.............:[0m avg=[36m299.8µs[0m min=[36m185µs[0m med=[36m336µs[0m max=[36m365µs[0m p(90)=[36m359µs[0m p(95)=[36m362µs[0m
              ws_connecting[2m...:[0m avg=[36m29.98s[0m  min=[36m18.5s[0m med=[36m33.6s[0m max=[36m36.5s[0m p(90)=[36m35.9s[0m p(95)=[36m36.2s[0m
              ws_sessions[2m.....:[0m [36m10[0m     [36m0.224719/s[0m

              failed iterations[2m...:[0m [31m2[0m
              failures by cause[2m...:[0m [31m2[0m
                - 2 × connection refused (after 1.5 s)
              generator[2m...........:[0m [32m✓ was not the bottleneck[0m, CPU [36m4.45s[0m (0.10 cores)
        "#]],
    );
}

mod fleet;
mod layouts;
mod printed;
