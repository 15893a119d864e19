//! Summaries that k6 printed in published runs, line by line, reproduced from their figures.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};

use super::{run, summary};
use crate::{
    Layout, Style, SummaryMode,
    summary::{CheckResult, Contains, Figure, Metric, Threshold, Values},
};

const KB: f64 = 1e3;
const MB: f64 = 1e6;

/// A metric with its listed name.
type Named = (&'static str, Metric);

/// `avg`, `min`, `med`, `max`, `p(90)` and `p(95)` in milliseconds.
fn trend(name: &'static str, figures: [f64; 6]) -> Named {
    let stats = ["avg", "min", "med", "max", "p(90)", "p(95)"];
    let figures = stats.into_iter().zip(figures).map(|(stat, value)| Figure {
        stat: stat.to_owned(),
        value,
    });
    let metric = Metric {
        contains: Contains::Time,
        values: Values::Trend(crate::Distribution {
            count: 1,
            ..crate::Distribution::default()
        }),
        figures: figures.collect(),
        histogram: None,
        exact: Vec::new(),
    };
    (name, metric)
}

fn other(name: &'static str, contains: Contains, values: Values) -> Named {
    let metric = Metric {
        contains,
        values,
        figures: Vec::new(),
        histogram: None,
        exact: Vec::new(),
    };
    (name, metric)
}

fn counter(name: &'static str, contains: Contains, count: f64, rate: f64) -> Named {
    other(name, contains, Values::Counter { count, rate })
}

fn rate(name: &'static str, passes: u64, fails: u64) -> Named {
    let rate = passes as f64 / (passes + fails) as f64;
    other(name, Contains::Default, Values::Rate { rate, passes, fails })
}

fn gauge(name: &'static str, value: f64, min: f64, max: f64) -> Named {
    other(name, Contains::Default, Values::Gauge { value, min, max })
}

fn threshold(metric: &str, expression: &str, passed: bool) -> Threshold {
    Threshold {
        metric: metric.to_owned(),
        key: metric.to_owned(),
        expression: expression.to_owned(),
        aggregation: "rate".to_owned(),
        value: Some(1.0),
        passed,
        aborted: false,
    }
}

/// What is printed above the lines that only this program prints.
fn check(
    checks: &[(&str, u64, u64)],
    thresholds: Vec<Threshold>,
    metrics: impl IntoIterator<Item = Named>,
    expected: &Expect,
) {
    let mut summary = summary(&run());
    let checks = checks.iter().map(|&(name, passes, fails)| CheckResult {
        group: String::new(),
        name: name.to_owned(),
        passes,
        fails,
    });
    summary.checks = checks.collect();
    summary.thresholds = thresholds;
    let metrics = metrics
        .into_iter()
        .map(|(name, metric)| (name.to_owned(), metric));
    summary.metrics = metrics.collect::<BTreeMap<_, _>>();
    let layout = Layout {
        mode: SummaryMode::Legacy,
        time_unit: None,
    };
    let text = summary.end_of_test(layout, Style::PLAIN);
    let (of_k6, _ours) = text.rsplit_once("\n\n").unwrap();
    // A line at the left margin, because `expect!` removes the common indentation of all lines.
    expected.assert_eq(&format!("$\n{of_k6}\n"));
}

/// The page that published this summary does not show the two spaces before the check.
#[test]
fn a_script_that_posts() {
    let requests = [23_540.0, 15_180.0, 23_450.0, 32_150.0, 32_000.0, 32_080.0];
    let [default, data] = [Contains::Default, Contains::Data];
    check(
        &[("success login", 10, 0)],
        vec![threshold("checks", "rate>0.99", true)],
        [
            rate("checks", 10, 0),
            counter("data_received", data, 826.0 * KB, 19.0 * KB),
            counter("data_sent", data, 13.0 * KB, 301.0),
            trend(
                "http_req_blocked",
                [0.26749, 0.185, 0.2635, 0.365, 0.3362, 0.3506],
            ),
            trend(
                "http_req_connecting",
                [0.1375, 0.087, 0.147, 0.188, 0.1709, 0.17945],
            ),
            trend("http_req_duration", requests),
            trend("http_req_duration{expected_response:true}", requests),
            rate("http_req_failed", 0, 10),
            trend("http_req_receiving", [3.53, 0.834, 1.84, 17.22, 6.82, 12.02]),
            trend("http_req_sending", [0.0505, 0.02, 0.052, 0.089, 0.06649, 0.07774]),
            trend("http_req_tls_handshaking", [0.0; 6]),
            trend(
                "http_req_waiting",
                [23_540.0, 15_180.0, 23_450.0, 32_140.0, 32_000.0, 32_070.0],
            ),
            counter("http_reqs", default, 10.0, 0.224709),
            trend(
                "iteration_duration",
                [23_950.0, 15_570.0, 23_910.0, 32_550.0, 32_490.0, 32_520.0],
            ),
            counter("iterations", default, 10.0, 0.224709),
            gauge("vus", 11.0, 11.0, 100.0),
            gauge("vus_max", 100.0, 100.0, 100.0),
        ],
        &expect![[r#"
            $
              ✓ success login

            ✓ checks.........................: 100.00% ✓ 10       ✗ 0
              data_received..................: 826 kB  19 kB/s
              data_sent......................: 13 kB   301 B/s
              http_req_blocked...............: avg=267.49µs min=185µs  med=263.5µs max=365µs   p(90)=336.2µs p(95)=350.6µs
              http_req_connecting............: avg=137.5µs  min=87µs   med=147µs   max=188µs   p(90)=170.9µs p(95)=179.45µs
              http_req_duration..............: avg=23.54s   min=15.18s med=23.45s  max=32.15s  p(90)=32s     p(95)=32.08s
                { expected_response:true }...: avg=23.54s   min=15.18s med=23.45s  max=32.15s  p(90)=32s     p(95)=32.08s
              http_req_failed................: 0.00%   ✓ 0        ✗ 10
              http_req_receiving.............: avg=3.53ms   min=834µs  med=1.84ms  max=17.22ms p(90)=6.82ms  p(95)=12.02ms
              http_req_sending...............: avg=50.5µs   min=20µs   med=52µs    max=89µs    p(90)=66.49µs p(95)=77.74µs
              http_req_tls_handshaking.......: avg=0s       min=0s     med=0s      max=0s      p(90)=0s      p(95)=0s
              http_req_waiting...............: avg=23.54s   min=15.18s med=23.45s  max=32.14s  p(90)=32s     p(95)=32.07s
              http_reqs......................: 10      0.224709/s
              iteration_duration.............: avg=23.95s   min=15.57s med=23.91s  max=32.55s  p(90)=32.49s  p(95)=32.52s
              iterations.....................: 10      0.224709/s
              vus............................: 11      min=11     max=100
              vus_max........................: 100     min=100    max=100
        "#]],
    );
}

#[test]
fn a_benchmark_of_cables() {
    let [default, data] = [Contains::Default, Contains::Data];
    check(
        &[("successful connection", 1, 0), ("successful subscription", 1, 0)],
        Vec::new(),
        [
            counter("acks_rcvd", default, 7869.0, 19.019325),
            trend("broadcast_duration", [38.79, 1.0, 19.0, 1760.0, 85.0, 124.0]),
            counter("broadcasts_rcvd", default, 9_058_969.0, 21895.472898),
            counter("broadcasts_sent", default, 7869.0, 19.019325),
            counter("data_received", data, 1300.0 * MB, 3.2 * MB),
            counter("data_sent", data, 2.1 * MB, 5.0 * KB),
            trend("rtt", [21.52, 0.0, 2.0, 1720.0, 56.0, 89.0]),
            trend("ws_connecting", [17.09, 0.62191, 1.8, 683.41, 43.15, 97.4]),
            counter("ws_msgs_received", default, 9_127_832.0, 22061.914349),
            counter("ws_msgs_sent", default, 9804.0, 23.696208),
            counter("ws_sessions", default, 1935.0, 4.676883),
        ],
        &expect![[r#"
            $
              ✓ successful connection
              ✓ successful subscription

              acks_rcvd............: 7869    19.019325/s
              broadcast_duration...: avg=38.79ms min=1ms      med=19ms  max=1.76s    p(90)=85ms    p(95)=124ms
              broadcasts_rcvd......: 9058969 21895.472898/s
              broadcasts_sent......: 7869    19.019325/s
              data_received........: 1.3 GB  3.2 MB/s
              data_sent............: 2.1 MB  5.0 kB/s
              rtt..................: avg=21.52ms min=0s       med=2ms   max=1.72s    p(90)=56ms    p(95)=89ms
              ws_connecting........: avg=17.09ms min=621.91µs med=1.8ms max=683.41ms p(90)=43.15ms p(95)=97.4ms
              ws_msgs_received.....: 9127832 22061.914349/s
              ws_msgs_sent.........: 9804    23.696208/s
              ws_sessions..........: 1935    4.676883/s
        "#]],
    );
}

#[test]
fn a_rate_is_counted_with_marks() {
    check(
        &[],
        vec![threshold("checks", "rate>0.99", false)],
        [rate("checks", 99, 1)],
        &expect![[r#"
            $
            ✗ checks...: 99.00% ✓ 99 ✗ 1
        "#]],
    );
}
