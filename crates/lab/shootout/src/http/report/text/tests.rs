//! Tests of the text that people and their scripts read.

use expect_test::{Expect, expect};

use super::*;
use crate::http::outcome::examples;

const EVERYTHING: Layout = Layout {
    shows_percentiles: true,
    shows_deviations: true,
};

fn check(outcome: &HttpOutcome, layout: Layout, expected: &Expect) {
    let text = text(outcome, layout).replace(env!("CARGO_PKG_VERSION"), "VERSION");
    expected.assert_eq(&text);
}

#[test]
fn a_closed_model_reads_as_abs() {
    check(
        &examples::outcome(),
        EVERYTHING,
        &expect![[r#"
            Plimsoll VERSION, HTTP benchmark

            Server Software:        nginx
            Server Hostname:        localhost
            Server Port:            3000
            SSL/TLS Protocol:       TLSv1.3,TLS_AES_256_GCM_SHA384
            TLS Server Name:        localhost

            Document Path:          /a?b
            Document Length:        5 bytes

            Concurrency Level:      2
            Time taken for tests:   2.000 seconds
            Complete requests:      10
            Failed requests:        2
               (Connect: 0, Receive: 0, Length: 2, Exceptions: 0)
               Length: another length than the first response (2)
            Non-2xx responses:      1
            Keep-Alive requests:    10
            Total transferred:      2048 bytes
            HTML transferred:       53 bytes
            Requests per second:    5.00 [#/sec] (mean)
            Time per request:       400.000 [ms] (mean)
            Time per request:       200.000 [ms] (mean, across all concurrent requests)
            Transfer rate:          1.00 [Kbytes/sec] received

            Connection Times (ms)
                          min  mean[+/-sd] median   max
            Connect:        0    1   1.5      0       4
            Processing:    10   22  24.2     15      90
            Waiting:        9   20  21.3     14      80
            Total:         12   22  23.9     15      90

            Percentage of the requests served within a certain time (ms)
              50%     15
              66%     16
              75%     17
              80%     17
              90%     25
              95%     58
              98%     77
              99%     84
             100%     90 (longest request)

            Latency percentiles (ms), from the start of a request
              p50         15.000
              p75         16.750
              p90         25.200
              p95         57.600
              p99         83.520
              p99.5       86.760
              p99.9       89.352
              p99.95      89.676
              p99.99      89.935
              max         90.000

            Latency histogram (ms)
              10 to 20                   9 ########################################
              20 to 50                   0
              50 to 100                  1 ####

            In 2.00 s: generator 0.02 s CPU (1 %)
        "#]],
    );
}

#[test]
fn an_open_model_says_whether_its_rate_was_kept() {
    check(
        &examples::open_model(),
        EVERYTHING,
        &expect![[r#"
            Plimsoll VERSION, HTTP benchmark

            Server Software:        nginx
            Server Hostname:        localhost
            Server Port:            3000
            SSL/TLS Protocol:       TLSv1.3,TLS_AES_256_GCM_SHA384
            TLS Server Name:        localhost

            Document Path:          /a?b
            Document Length:        5 bytes

            Concurrency Level:      2
            Rate asked for:         500/s
            Time taken for tests:   2.000 seconds
            Complete requests:      10
            Failed requests:        2
               (Connect: 0, Receive: 0, Length: 2, Exceptions: 0)
               Length: another length than the first response (2)
            Unsent requests:        990
            Non-2xx responses:      1
            Keep-Alive requests:    10
            Total transferred:      2048 bytes
            Total body sent:        800
            HTML transferred:       53 bytes
            Requests per second:    5.00 [#/sec] (mean)
            Time per request:       22.300 [ms] (mean)
            Time per request:       200.000 [ms] (mean, across all concurrent requests)
            Transfer rate:          1.00 [Kbytes/sec] received
                                    0.39 kb/s sent
                                    1.39 kb/s total

            Connection Times (ms)
                          min  mean[+/-sd] median   max
            Queueing:       0    6  19.0      0      60
            Connect:        0    1   1.5      0       4
            Processing:    10   22  24.2     15      90
            Waiting:        9   20  21.3     14      80
            Total:         12   22  23.9     15      90

            Percentage of the requests served within a certain time (ms)
              50%     15
              66%     16
              75%     17
              80%     17
              90%     25
              95%     58
              98%     77
              99%     84
             100%     90 (longest request)

            Latency percentiles (ms), from when a request was due
              p50         15.000
              p75         16.750
              p90         25.200
              p95         57.600
              p99         83.520
              p99.5       86.760
              p99.9       89.352
              p99.95      89.676
              p99.99      89.935
              max         90.000

            Latency histogram (ms)
              10 to 20                   9 ########################################
              20 to 50                   0
              50 to 100                  1 ####

            In 2.00 s: generator 0.02 s CPU (1 %)
            DOUBTFUL: the load generator was the bottleneck, so these figures do not describe the target alone
            a worker was busy
            Threshold latency:p(99)<50: FAILED, the value is 83.52
            Note: the rate was not reached: 990 requests were never sent because all 2 places were taken until the end; the server is slower than the rate, or -c is too low for it
        "#]],
    );
}

#[test]
fn tables_can_be_left_out() {
    let layout = Layout {
        shows_percentiles: false,
        shows_deviations: false,
    };
    let text = text(&examples::outcome(), layout);
    assert!(
        text.contains("              min   avg   max\nConnect:        0     1     4\n"),
        "{text}"
    );
    assert!(!text.contains('%') || !text.contains("50%"), "{text}");
}
