//! The metrics of the process under the names that all client libraries of Prometheus use
//! (<https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics>), so that common dashboards find them.

use plimsoll_load::watch::OwnProcess;
use plimsoll_telemetry::{Kind, Metric, Series, Value};

/// The metrics now. A figure that the system does not provide is left out.
pub(super) fn read() -> Vec<Metric> {
    metrics(&OwnProcess::read())
}

fn metrics(own: &OwnProcess) -> Vec<Metric> {
    let whole = |n: Option<u64>| n.map(|n| n as f64);
    [
        (
            "process_cpu_seconds_total",
            "User and system CPU time of the process in seconds",
            Kind::Counter,
            own.cpu_seconds,
        ),
        (
            "process_max_fds",
            "Largest number of open file descriptors",
            Kind::Gauge,
            whole(own.max_open_files),
        ),
        (
            "process_open_fds",
            "Open file descriptors",
            Kind::Gauge,
            whole(own.n_open_files),
        ),
        (
            "process_resident_memory_bytes",
            "Resident memory of the process",
            Kind::Gauge,
            whole(own.rss_bytes),
        ),
        (
            "process_start_time_seconds",
            "Start of the process in seconds since 1970",
            Kind::Gauge,
            own.started,
        ),
    ]
    .into_iter()
    .filter_map(|(name, help, kind, value)| {
        let series = vec![Series {
            labels: Vec::new(),
            value: Value::Gauge(value?),
        }];
        Some(Metric {
            name,
            help,
            kind,
            series,
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use plimsoll_telemetry::{Snapshot, Tags};

    use super::*;

    #[test]
    fn known_figures_are_on_the_page() {
        let own = OwnProcess {
            cpu_seconds: Some(12.5),
            rss_bytes: Some(1 << 20),
            n_open_files: None,
            max_open_files: Some(1024),
            started: Some(1_700_000_002.5),
        };
        let metrics = metrics(&own);
        let tags: Tags = "env:test".parse().unwrap();
        expect![[r#"
            # HELP process_cpu_seconds_total User and system CPU time of the process in seconds
            # TYPE process_cpu_seconds_total counter
            process_cpu_seconds_total{env="test"} 12.5
            # HELP process_max_fds Largest number of open file descriptors
            # TYPE process_max_fds gauge
            process_max_fds{env="test"} 1024
            # HELP process_resident_memory_bytes Resident memory of the process
            # TYPE process_resident_memory_bytes gauge
            process_resident_memory_bytes{env="test"} 1048576
            # HELP process_start_time_seconds Start of the process in seconds since 1970
            # TYPE process_start_time_seconds gauge
            process_start_time_seconds{env="test"} 1700000002.5
        "#]]
        .assert_eq(&Snapshot { metrics }.to_prometheus("", &tags));
    }
}
