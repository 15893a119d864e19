//! k6's layouts for a script that uses all features.

use expect_test::{Expect, expect};

use crate::{
    Layout, Style, Summary, SummaryMode,
    quantity::TimeUnit,
    summary::tests::{scripted::scripted, summary},
};

/// A line at the left margin, because `expect!` removes the common indentation of all lines.
const MARGIN: &str = "$\n";

fn check(layout: Layout, change: impl FnOnce(&mut Summary), expected: &Expect) {
    let mut summary = summary(&scripted());
    change(&mut summary);
    let text = summary.end_of_test(layout, Style::PLAIN);
    expected.assert_eq(&format!("{MARGIN}{text}"));
}

fn mode(mode: SummaryMode) -> Layout {
    Layout {
        mode,
        time_unit: None,
    }
}

#[test]
fn compact_has_thresholds_checks_and_the_metrics_that_matter() {
    check(
        mode(SummaryMode::Compact),
        |_| {},
        &expect![[r#"
            $
              █ THRESHOLDS

                acks_rcvd
                ✓ 'count>1' count=6
                ✗ 'rate>1000' rate=0.6/s

                checks
                ✓ 'rate>0.9' rate=94.44%

                data_received
                ✓ 'count>0' count=124 kB

                http_req_duration
                ✓ 'p(99)<500' p(99)=5.95ms
                ✓ 'max>1' max=6ms

                  { kind:'a' }
                  ✓ 'p(95)<500' p(95)=5.75ms
                  ✗ 'avg<0.0001' avg=3.5ms

                http_reqs{kind:none}
                ✓ 'count<5' count=0

                never
                ✗ 'count>0' count=0

                never_timed
                – 'p(95)<1' no data

                ok_rate{kind:none}
                – 'rate>0.5' no data

                plain
                ✓ 'med>0' med=7.8125


              █ TOTAL RESULTS

                checks_total.......: 18     1.8/s
                checks_succeeded...: 94.44% 17 out of 18
                checks_failed......: 5.55%  1 out of 18

                ✗ is 200
                  ↳  83% — ✓ 5 / ✗ 1
                ✓ deep
                ✓ root check

                CUSTOM
                acks_rcvd............: 6      0.6/s
                level................: 5      min=0      max=5
                never................: 0      0/s
                never_timed..........: no data
                ok_rate..............: 33.33% 2 out of 6
                  { kind:none }......: no data
                plain................: avg=7.8125 min=0     med=7.8125 max=15.625 p(90)=14.0625 p(95)=14.84375
                rtt..................: avg=875µs  min=250µs med=875µs  max=1.5ms  p(90)=1.37ms  p(95)=1.43ms

                HTTP
                http_req_duration....: avg=3.5ms  min=1ms   med=3.5ms  max=6ms    p(90)=5.5ms   p(95)=5.75ms
                  { kind:'a' }.......: avg=3.5ms  min=1ms   med=3.5ms  max=6ms    p(90)=5.5ms   p(95)=5.75ms
                http_req_failed......: 16.66% 1 out of 6
                http_reqs............: 6      0.6/s
                  { kind:none }......: 0      0/s

                EXECUTION
                iteration_duration...: avg=12.5ms min=10ms  med=12.5ms max=15ms   p(90)=14.5ms  p(95)=14.75ms
                iterations...........: 6      0.6/s
                vus..................: 2      min=2      max=2
                vus_max..............: 2      min=2      max=2

                NETWORK
                data_received........: 124 kB 12 kB/s
                data_sent............: 600 B  60 B/s


              █ PLIMSOLL

                model...............: closed
                  - each user waits for the target before it continues, so a stall shows in few samples; with an
                    arrival-rate executor it shows in every iteration that it delays
                clock...............: late by p(99)=800µs max=800µs
                failed iterations...: 2
                failures by cause...: 2
                  - 2 × connection refused (after 1.5 s)
                generator...........: ✓ was not the bottleneck, CPU 4.45s (0.10 cores)
        "#]],
    );
}

#[test]
fn full_has_all_metrics_and_the_parts_of_the_run() {
    check(
        mode(SummaryMode::Full),
        |summary| summary.thresholds.clear(),
        &expect![[r#"
            $
              █ TOTAL RESULTS

                checks_total.......: 18     1.8/s
                checks_succeeded...: 94.44% 17 out of 18
                checks_failed......: 5.55%  1 out of 18

                ✗ is 200
                  ↳  83% — ✓ 5 / ✗ 1
                ✓ deep
                ✓ root check

                CUSTOM
                acks_rcvd............: 6      0.6/s
                level................: 5      min=0      max=5
                never................: 0      0/s
                never_timed..........: no data
                ok_rate..............: 33.33% 2 out of 6
                  { kind:none }......: no data
                plain................: avg=7.8125 min=0     med=7.8125 max=15.625 p(90)=14.0625 p(95)=14.84375
                rtt..................: avg=875µs  min=250µs med=875µs  max=1.5ms  p(90)=1.37ms  p(95)=1.43ms

                HTTP
                http_req_blocked.....: avg=0s     min=0s    med=0s     max=0s     p(90)=0s      p(95)=0s
                http_req_duration....: avg=3.5ms  min=1ms   med=3.5ms  max=6ms    p(90)=5.5ms   p(95)=5.75ms
                  { kind:a }.........: avg=3.5ms  min=1ms   med=3.5ms  max=6ms    p(90)=5.5ms   p(95)=5.75ms
                http_req_failed......: 16.66% 1 out of 6
                http_reqs............: 6      0.6/s
                  { kind:none }......: 0      0/s

                EXECUTION
                iteration_duration...: avg=12.5ms min=10ms  med=12.5ms max=15ms   p(90)=14.5ms  p(95)=14.75ms
                iterations...........: 6      0.6/s
                vus..................: 2      min=2      max=2
                vus_max..............: 2      min=2      max=2

                NETWORK
                data_received........: 124 kB 12 kB/s
                data_sent............: 600 B  60 B/s


              █ GROUP: outer

                checks_total.......: 2      0.2/s
                checks_succeeded...: 50.00% 1 out of 2
                checks_failed......: 50.00% 1 out of 2

                ✗ is 200
                  ↳  50% — ✓ 1 / ✗ 1

                HTTP
                http_req_blocked....: avg=0s    min=0s  med=0s    max=0s  p(90)=0s    p(95)=0s
                http_req_duration...: avg=5.5ms min=5ms med=5.5ms max=6ms p(90)=5.9ms p(95)=5.95ms
                http_req_failed.....: 50.00% 1 out of 2
                http_reqs...........: 2      0.2/s

                ↳ GROUP: inner

                  checks_total.......: 2       0.2/s
                  checks_succeeded...: 100.00% 2 out of 2
                  checks_failed......: 0.00%   0 out of 2

                  ✓ deep

                  CUSTOM
                  rtt...: avg=1.37ms min=1.25ms med=1.37ms max=1.5ms p(90)=1.47ms p(95)=1.48ms


              █ SCENARIO: chat

                checks_total.......: 12      1.2/s
                checks_succeeded...: 100.00% 12 out of 12
                checks_failed......: 0.00%   0 out of 12

                ✓ root check
                ✓ is 200
                ✓ deep

                CUSTOM
                acks_rcvd............: 4      0.4/s
                level................: 3      min=0      max=3
                ok_rate..............: 50.00% 2 out of 4
                plain................: avg=4.6875 min=0     med=4.6875 max=9.375 p(90)=8.4375 p(95)=8.90625
                rtt..................: avg=625µs  min=250µs med=625µs  max=1ms   p(90)=925µs  p(95)=962.5µs

                HTTP
                http_req_blocked.....: avg=0s     min=0s    med=0s     max=0s    p(90)=0s     p(95)=0s
                http_req_duration....: avg=2.5ms  min=1ms   med=2.5ms  max=4ms   p(90)=3.7ms  p(95)=3.85ms
                http_req_failed......: 0.00%  0 out of 4
                http_reqs............: 4      0.4/s

                EXECUTION
                iteration_duration...: avg=11.5ms min=10ms  med=11.5ms max=13ms  p(90)=12.7ms p(95)=12.85ms
                iterations...........: 4      0.4/s

                NETWORK
                data_received........: 83 kB  8.3 kB/s
                data_sent............: 400 B  40 B/s

                ↳ GROUP: outer

                  checks_total.......: 4       0.4/s
                  checks_succeeded...: 100.00% 4 out of 4
                  checks_failed......: 0.00%   0 out of 4

                  ✓ is 200

                  HTTP
                  http_req_blocked....: avg=0s    min=0s  med=0s    max=0s  p(90)=0s    p(95)=0s
                  http_req_duration...: avg=2.5ms min=1ms med=2.5ms max=4ms p(90)=3.7ms p(95)=3.85ms
                  http_req_failed.....: 0.00% 0 out of 4
                  http_reqs...........: 4     0.4/s

                  ↳ GROUP: inner

                    checks_total.......: 4       0.4/s
                    checks_succeeded...: 100.00% 4 out of 4
                    checks_failed......: 0.00%   0 out of 4

                    ✓ deep

                    CUSTOM
                    rtt...: avg=625µs min=250µs med=625µs max=1ms p(90)=925µs p(95)=962.5µs


              █ PLIMSOLL

                model...............: closed
                  - each user waits for the target before it continues, so a stall shows in few samples; with an
                    arrival-rate executor it shows in every iteration that it delays
                clock...............: late by p(99)=800µs max=800µs
                failed iterations...: 2
                failures by cause...: 2
                  - 2 × connection refused (after 1.5 s)
                generator...........: ✓ was not the bottleneck, CPU 4.45s (0.10 cores)
        "#]],
    );
}

#[test]
fn legacy_has_the_tree_of_groups_and_all_metrics() {
    check(
        mode(SummaryMode::Legacy),
        |_| {},
        &expect![[r#"
            $
              ✓ root check

              █ outer

                ✗ is 200
                 ↳  83% — ✓ 5 / ✗ 1

                █ inner

                  ✓ deep

              █ empty

            ✗ acks_rcvd............: 6      0.6/s
            ✓ checks...............: 94.44% ✓ 17    ✗ 1
            ✓ data_received........: 124 kB 12 kB/s
              data_sent............: 600 B  60 B/s
              group_duration.......: avg=5ms    min=0s    med=5ms    max=10ms   p(90)=9ms     p(95)=9.5ms
              http_req_blocked.....: avg=0s     min=0s    med=0s     max=0s     p(90)=0s      p(95)=0s
            ✓ http_req_duration....: avg=3.5ms  min=1ms   med=3.5ms  max=6ms    p(90)=5.5ms   p(95)=5.75ms
              ✗ { kind:'a' }.......: avg=3.5ms  min=1ms   med=3.5ms  max=6ms    p(90)=5.5ms   p(95)=5.75ms
              http_req_failed......: 16.66% ✓ 1     ✗ 5
              http_reqs............: 6      0.6/s
              ✓ { kind:none }......: 0      0/s
              iteration_duration...: avg=12.5ms min=10ms  med=12.5ms max=15ms   p(90)=14.5ms  p(95)=14.75ms
              iterations...........: 6      0.6/s
              level................: 5      min=0   max=5
            ✗ never................: 0      0/s
              never_timed..........: no data
              ok_rate..............: 33.33% ✓ 2     ✗ 4
                { kind:none }......: no data
            ✓ plain................: avg=7.8125 min=0     med=7.8125 max=15.625 p(90)=14.0625 p(95)=14.84375
              rtt..................: avg=875µs  min=250µs med=875µs  max=1.5ms  p(90)=1.37ms  p(95)=1.43ms
              vus..................: 2      min=2   max=2
              vus_max..............: 2      min=2   max=2

              model...............: closed
                - each user waits for the target before it continues, so a stall shows in few samples; with an
                  arrival-rate executor it shows in every iteration that it delays
              clock...............: late by p(99)=800µs max=800µs
              failed iterations...: 2
              failures by cause...: 2
                - 2 × connection refused (after 1.5 s)
              generator...........: ✓ was not the bottleneck, CPU 4.45s (0.10 cores)
        "#]],
    );
}

#[test]
fn nothing_is_printed_when_it_is_disabled() {
    check(
        mode(SummaryMode::Disabled),
        |_| {},
        &expect![[r#"
        $
    "#]],
    );
}

#[test]
fn all_durations_have_the_chosen_unit() {
    check(
        Layout {
            mode: SummaryMode::Compact,
            time_unit: Some(TimeUnit::Microseconds),
        },
        |summary| {
            summary.checks.clear();
            summary.thresholds.clear();
            summary
                .metrics
                .retain(|name, _| ["rtt", "http_reqs", "plain"].contains(&name.as_str()));
        },
        &expect![[r#"
            $
              █ TOTAL RESULTS

                CUSTOM
                plain.......: avg=7.8125   min=0        med=7.8125   max=15.625    p(90)=14.0625   p(95)=14.84375
                rtt.........: avg=875.00µs min=250.00µs med=875.00µs max=1500.00µs p(90)=1375.00µs p(95)=1437.50µs

                HTTP
                http_reqs...: 6 0.6/s


              █ PLIMSOLL

                model...............: closed
                  - each user waits for the target before it continues, so a stall shows in few samples; with an
                    arrival-rate executor it shows in every iteration that it delays
                clock...............: late by p(99)=800µs max=800µs
                failed iterations...: 2
                failures by cause...: 2
                  - 2 × connection refused (after 1.5 s)
                generator...........: ✓ was not the bottleneck, CPU 4.45s (0.10 cores)
        "#]],
    );
}

#[test]
fn a_doubtful_open_model_says_so_in_its_own_section() {
    check(
        mode(SummaryMode::Compact),
        |summary| {
            let duration = summary.metrics["iteration_duration"].clone();
            let dropped = summary.metrics["iterations"].clone();
            summary.checks.clear();
            summary.thresholds.clear();
            summary.metrics.retain(|name, _| name == "iterations");
            for (name, metric) in [
                ("iteration_lateness", duration.clone()),
                ("iteration_duration_scheduled", duration),
                ("dropped_iterations", dropped),
            ] {
                summary.metrics.insert(name.to_owned(), metric);
            }
            summary.generator.doubtful = true;
            summary.generator.reasons = vec!["a worker was busy all the time".to_owned()];
        },
        &expect![[r#"
            $
              █ TOTAL RESULTS

                EXECUTION
                dropped_iterations...: 6 0.6/s
                iterations...........: 6 0.6/s


              █ PLIMSOLL

                dropped iterations...........: 6
                  - they were scheduled, but no virtual user was free; allow more users
                late starts..................: avg=12.5ms min=10ms med=12.5ms max=15ms p(90)=14.5ms p(95)=14.75ms
                duration from the schedule...: avg=12.5ms min=10ms med=12.5ms max=15ms p(90)=14.5ms p(95)=14.75ms
                clock........................: late by p(99)=800µs max=800µs
                failed iterations............: 2
                failures by cause............: 2
                  - 2 × connection refused (after 1.5 s)
                generator....................: ✗ DOUBTFUL: the load generator was the bottleneck, CPU 4.45s (0.10 cores)
                  - these figures do not describe the target alone
                  - a worker was busy all the time
        "#]],
    );
}
