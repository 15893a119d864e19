//! Valid and invalid outputs, and the contents of files.

use std::{
    fmt::Write as _,
    io::{self, Read},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use expect_test::{Expect, expect};
use plimsoll_load::{
    executor::Executor,
    metrics::{Batch, Contains, Kind, Registry, Sample, Selector, Tags},
    threshold::Rule,
};

use super::*;

fn outputs(args: &[&str], env: &[(&str, &str)]) -> Result<Outputs, OutputError> {
    let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let env = |name: &str| {
        let found = env.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Outputs::parse(&args, &env)
}

#[test]
fn what_is_asked_for_is_described() {
    for (args, env, expected) in [
        (&["json"] as &[_], &[] as &[_], "json (-)"),
        (&["json=a=b.json"], &[], "json (a=b.json)"),
        (&["csv"], &[], "csv (file.csv)"),
        (&["csv"], &[("K6_CSV_FILENAME", "x.csv")], "csv (x.csv)"),
        (&["csv=y.csv"], &[("K6_CSV_FILENAME", "x.csv")], "csv (y.csv)"),
        (&["json=-", "csv=s.gz"], &[], "json (-), csv (s.gz)"),
        (
            &["experimental-prometheus-rw"],
            &[],
            "prometheus-rw (http://localhost:9090/api/v1/write)",
        ),
        (
            &["prometheus-rw=https://a/b"],
            &[("K6_PROMETHEUS_RW_SERVER_URL", "http://c/")],
            "prometheus-rw (https://a/b)",
        ),
        (
            &["prometheus-rw"],
            &[("K6_PROMETHEUS_RW_SERVER_URL", "http://c/")],
            "prometheus-rw (http://c/)",
        ),
        (
            &["experimental-opentelemetry"],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317")],
            "opentelemetry (grpc, http://localhost:4317/)",
        ),
        (
            &["influxdb=http://me:secret@localhost:8086/load"],
            &[],
            "influxdb (http://localhost:8086, load)",
        ),
        (&["output-statsd"], &[], "statsd (localhost:8125)"),
        (&[], &[], ""),
    ] {
        let outputs = outputs(args, env).unwrap();
        assert_eq!(outputs.descriptions().join(", "), expected);
        assert_eq!(outputs.is_empty(), expected.is_empty());
    }
}

#[test]
fn what_cannot_be_had_is_said_before_the_run() {
    let check = |args: &[&str], env: &[(&str, &str)], expected: Expect| {
        expected.assert_eq(&outputs(args, env).unwrap_err().to_string());
    };
    check(
        &["jsno"],
        &[],
        expect![
            "there is no output `jsno` (did you mean `json`?); expected one of json, csv, prometheus-rw, opentelemetry, influxdb, statsd, for example `--out json=samples.json`"
        ],
    );
    check(
        &["xyz=1"],
        &[],
        expect![
            "there is no output `xyz`; expected one of json, csv, prometheus-rw, opentelemetry, influxdb, statsd, for example `--out json=samples.json`"
        ],
    );
    check(
        &["xk6-kafka=x"],
        &[],
        expect![
            "the output `xk6-kafka` is not built into Plimsoll; expected one of json, csv, prometheus-rw, \
             opentelemetry, influxdb, statsd; many databases accept one of these, some through an OpenTelemetry collector"
        ],
    );
    check(
        &["promethues-rw"],
        &[],
        expect![
            "there is no output `promethues-rw` (did you mean `prometheus-rw`?); expected one of json, csv, prometheus-rw, opentelemetry, influxdb, statsd, for example `--out json=samples.json`"
        ],
    );
    check(
        &["prometheus-rw=localhost"],
        &[],
        expect![
            "`--out prometheus-rw=localhost`: expected a URL without user and password, for example `http://localhost:9090/api/v1/write`"
        ],
    );
    check(
        &["opentelemetry=localhost:4317"],
        &[],
        expect![
            "`--out opentelemetry=localhost:4317`: it takes no argument; set OTEL_EXPORTER_OTLP_ENDPOINT to the URL \
             of the collector, for example `http://localhost:4317`"
        ],
    );
    check(
        &["json="],
        &[],
        expect!["`--out json=`: there is nothing after `=`; expected a file, for example `json=samples.gz`"],
    );
    check(
        &["json", "csv=-"],
        &[],
        expect![
            "two outputs write to the standard output; give each its own file, for example `--out json=samples.json`"
        ],
    );
    check(
        &["csv"],
        &[("K6_CSV_TIME_FORMAT", "iso")],
        expect![
            "K6_CSV_TIME_FORMAT=`iso`: expected one of unix, unix_milli, unix_micro, unix_nano, rfc3339, rfc3339_nano"
        ],
    );
}

/// A shared file in memory.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A disk with room for this many bytes.
struct Small(usize);

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(self.0);
        self.0 -= n;
        if n == 0 {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(n)
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn plan() -> Plan {
    let mut plan = Plan::single(Executor::PerVuIterations {
        vus: 1,
        iterations: 1,
        max_duration: Duration::from_secs(1),
        graceful_stop: Duration::ZERO,
    });
    plan.system_tags.insert("vu".to_owned());
    let rule = Rule {
        expression: "p(95)<500".parse().unwrap(),
        abort_on_fail: false,
        delay_abort_eval: Duration::ZERO,
    };
    plan.thresholds.insert("http_req_duration".to_owned(), vec![rule]);
    plan
}

fn tags(pairs: &[(&str, &str)]) -> Arc<Tags> {
    let pairs = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Arc::new(pairs.collect())
}

/// A few samples with values that are difficult in a file.
fn batch() -> Batch {
    let mut registry = Registry::new();
    registry.trend("http_req_duration").unwrap();
    registry.counter("data_sent", Contains::Data).unwrap();
    let [duration, sent] = ["http_req_duration", "data_sent"].map(|name| registry.find(name).unwrap());
    assert_eq!(registry.definition(sent).kind, Kind::Counter);
    registry.sub_metric(
        duration,
        &Selector::new(Tags::clone(&tags(&[("expected_response", "true")]))),
    );
    let time = |nanos| UNIX_EPOCH + Duration::new(1_795_290_543, nanos);
    let request = tags(&[
        ("method", "GET"),
        ("url", "http://a/?b=1,2"),
        ("vu", "3"),
        ("say", "\"hi\"\n"),
    ]);
    let sample = |metric, time: SystemTime, value, tags: &Arc<Tags>| Sample {
        metric,
        time,
        value,
        tags: Arc::clone(tags),
    };
    Batch {
        samples: vec![
            sample(duration, time(120_000_000), 12.345_678_9, &request),
            sample(duration, time(120_000_001), 13.0, &request),
            sample(
                sent,
                time(999_999_999),
                1e21,
                &tags(&[("team", "a"), ("zone", "b")]),
            ),
            sample(sent, time(0), f64::NAN, &Arc::default()),
        ],
        registry: Arc::new(registry),
    }
}

/// What the output writes to `stdout`, and how it ends.
async fn written(
    args: &[&str],
    env: &[(&str, &str)],
    batches: &[Batch],
    stdout: impl Write + Send + 'static,
) -> crate::OutputReport {
    let running = outputs(args, env)
        .unwrap()
        .start(&plan(), Box::new(stdout))
        .unwrap();
    for batch in batches {
        for queue in running.samples() {
            queue.offer(&Arc::new(batch.clone()));
        }
    }
    running.finish().await
}

/// The text that `args` make of this many equal batches.
async fn text(arg: &str, env: &[(&str, &str)], n_batches: usize) -> String {
    let file = Shared::default();
    let report = written(&[arg], env, &vec![batch(); n_batches], file.clone()).await;
    assert_eq!(report.notices(), [""; 0]);
    assert_eq!(report.outcomes[0].1.n_written, 4 * n_batches as u64);
    let bytes = file.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn json_introduces_metrics_and_then_tells_points() {
    let text = text("json", &[], 1).await;
    expect![[r#"
        {"type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time","thresholds":["p(95)<500"],"submetrics":[{"name":"http_req_duration{expected_response:true}","suffix":"expected_response:true","tags":{"expected_response":"true"}}]},"metric":"http_req_duration"}
        {"metric":"http_req_duration","type":"Point","data":{"time":"2026-11-21T19:49:03.120000000Z","value":12.3456789,"tags":{"method":"GET","say":"\"hi\"\n","url":"http://a/?b=1,2"},"metadata":{"vu":"3"}}}
        {"metric":"http_req_duration","type":"Point","data":{"time":"2026-11-21T19:49:03.120000001Z","value":13,"tags":{"method":"GET","say":"\"hi\"\n","url":"http://a/?b=1,2"},"metadata":{"vu":"3"}}}
        {"type":"Metric","data":{"name":"data_sent","type":"counter","contains":"data","thresholds":[],"submetrics":null},"metric":"data_sent"}
        {"metric":"data_sent","type":"Point","data":{"time":"2026-11-21T19:49:03.999999999Z","value":1000000000000000000000,"tags":{"team":"a","zone":"b"}}}
        {"metric":"data_sent","type":"Point","data":{"time":"2026-11-21T19:49:03.000000000Z","value":null,"tags":{}}}
    "#]].assert_eq(&text);
    for line in text.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[tokio::test]
async fn csv_has_a_column_for_each_system_tag() {
    expect![[r#"
        metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata
        http_req_duration,1795290543,12.345679,,,,,,GET,,,,,,,,"http://a/?b=1,2","say=""hi""
        ",vu=3
        http_req_duration,1795290543,13.000000,,,,,,GET,,,,,,,,"http://a/?b=1,2","say=""hi""
        ",vu=3
        data_sent,1795290543,1000000000000000000000.000000,,,,,,,,,,,,,,,team=a&zone=b,
        data_sent,1795290543,NaN,,,,,,,,,,,,,,,,
    "#]].assert_eq(&text("csv=-", &[], 1).await);
}

#[tokio::test]
async fn nothing_is_introduced_twice() {
    for output in ["json", "csv=-"] {
        let [one, two] = [text(output, &[], 1).await, text(output, &[], 2).await];
        let points: String = match output {
            "json" => one
                .lines()
                .filter(|line| !line.contains(r#""Metric""#))
                .map(|line| format!("{line}\n"))
                .collect(),
            _ => one.split_once('\n').unwrap().1.to_owned(),
        };
        assert_eq!(two, format!("{one}{points}"));
    }
}

#[tokio::test]
async fn csv_writes_times_as_it_is_told() {
    let mut times = String::new();
    for (format, _) in TimeFormat::ALL {
        let text = text("csv=-", &[("K6_CSV_TIME_FORMAT", format)], 1).await;
        let first = text.lines().nth(1).unwrap();
        writeln!(times, "{format}: {}", first.split(',').nth(1).unwrap()).unwrap();
    }
    expect![[r#"
        unix: 1795290543
        unix_milli: 1795290543120
        unix_micro: 1795290543120000
        unix_nano: 1795290543120000000
        rfc3339: 2026-11-21T19:49:03Z
        rfc3339_nano: 2026-11-21T19:49:03.120000000Z
    "#]]
    .assert_eq(&times);
}

#[tokio::test]
async fn a_name_that_ends_in_gz_is_compressed() {
    let folder = std::env::temp_dir().join(format!("plimsoll-outputs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("samples.json.gz");
    let name = format!("json={}", path.display());
    let report = written(&[&name], &[], &[batch(), batch()], io::sink()).await;
    let mut lines = String::new();
    let file = std::fs::File::open(&path).unwrap();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut lines)
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((report.notices().len(), lines), (0, text("json", &[], 2).await));
}

#[test]
fn a_file_that_cannot_be_made_is_an_error_before_the_run() {
    let outputs = outputs(&["csv=/nowhere/samples.csv"], &[]).unwrap();
    let error = outputs.start(&plan(), Box::new(io::sink())).unwrap_err();
    expect!["`--out csv`: cannot write to `/nowhere/samples.csv`: No such file or directory (os error 2)"]
        .assert_eq(&error.to_string());
}

#[tokio::test]
async fn a_full_disk_is_reported_and_its_samples_are_counted() {
    let report = written(&["json"], &[], &[batch(), batch()], Small(700)).await;
    expect!["output `json (-)`: 8 of 8 samples were not written (8 because of an error); the last error: no storage space"].assert_eq(&report.notices().join("\n"));
}
