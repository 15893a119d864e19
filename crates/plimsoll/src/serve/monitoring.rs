//! The flags of `plimsoll serve` about monitoring: the receivers and the form of the metrics.

use std::time::Duration;

use clap::{Args, ValueEnum};
use plimsoll_load::watch;
use plimsoll_server::{Listeners, MetricsPage};
use plimsoll_telemetry::{Registry, StatsdFormat, Tags};

use super::{
    path::absolute_path,
    process_metrics,
    reporter::{Reporter, Statsd},
};
use crate::exit::Failure;

/// The flags about monitoring.
#[derive(Debug, Args)]
#[command(next_help_heading = "Monitoring")]
#[group(id = "monitoring")]
pub(super) struct MonitoringOptions {
    /// Path that answers 200 while all dependencies of the server are available, and otherwise, or when the server
    /// stops, 503.
    #[arg(long, default_value = "/ready", value_name = "PATH", value_parser = absolute_path)]
    pub(super) ready_path: String,
    /// Path of the metrics for Prometheus, for example /metrics. Default: not served.
    #[arg(long, value_name = "PATH", value_parser = absolute_path)]
    metrics_http: Option<String>,
    /// Host name or address of the metrics. Default: the value of --host.
    #[arg(long, value_name = "HOST")]
    metrics_host: Option<String>,
    /// Port of the metrics; 0 takes a free port. Default: the value of --port, where clients can read the metrics,
    /// too.
    #[arg(long, value_name = "PORT")]
    metrics_port: Option<u16>,
    /// Log the metrics in every --metrics_rotate_interval: the growth of counters, and the values of gauges.
    #[arg(long)]
    metrics_log: bool,
    /// Metrics to log, comma-separated, for example clients_num,client_msg_total. Default: all.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    metrics_log_filter: Vec<String>,
    /// Seconds between two reports to the log and to StatsD.
    #[arg(long, default_value_t = 15, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    metrics_rotate_interval: u64,
    /// Labels on all metrics: env:production,region:eu.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TAGS")]
    metrics_tags: Tags,
    /// StatsD server that gets the metrics over UDP, for example localhost:8125. Default: none.
    #[arg(long, value_name = "HOST:PORT", value_parser = host_and_port)]
    statsd_host: Option<String>,
    /// Prefix of the metrics' names in StatsD.
    #[arg(long, default_value = "anycable_go.", value_name = "PREFIX")]
    statsd_prefix: String,
    /// Largest packet to StatsD, in bytes.
    #[arg(long, default_value_t = 1400, value_name = "BYTES")]
    statsd_max_packet_size: usize,
    /// Format of tags for StatsD. Default: datadog if there are --metrics_tags; otherwise labels are part of the
    /// names.
    #[arg(long, value_enum, value_name = "FORMAT")]
    statsd_tags_format: Option<TagsFormat>,
    /// Seconds between two counts of streams and distinct clients.
    #[arg(long, default_value_t = 5, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    stats_refresh_interval: u64,
}

/// Ways to write tags for StatsD.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum TagsFormat {
    /// name:1|c|#tag:value
    Datadog,
    /// name,tag=value:1|c
    Influxdb,
    /// name;tag=value:1|c
    Graphite,
}

impl MonitoringOptions {
    pub(super) fn stats_interval(&self) -> Duration {
        Duration::from_secs(self.stats_refresh_interval)
    }

    /// The address of the metrics page; `host` and `port` are those of the clients.
    pub(super) fn metrics_page(&self, host: &str, port: u16) -> Option<MetricsPage> {
        Some(MetricsPage {
            path: self.metrics_http.clone()?,
            on_main_port: !self.has_own_listener(host, port),
            tags: self.metrics_tags.clone(),
            unprefixed: process_metrics::read,
        })
    }

    /// Whether the metrics are not where the clients are.
    pub(super) fn has_own_port(&self, host: &str, port: u16) -> bool {
        self.metrics_http.is_some() && self.has_own_listener(host, port)
    }

    /// The listeners of the metrics, if they have any of their own.
    pub(super) fn bind(&self, host: &str, port: u16, n_shards: usize) -> Result<Option<Listeners>, Failure> {
        if !self.has_own_port(host, port) {
            return Ok(None);
        }
        let host = self.metrics_host.as_deref().unwrap_or(host);
        let listeners =
            Listeners::bind(host, self.metrics_port.unwrap_or(port), n_shards).map_err(|error| {
                Failure::Runtime(
                    format!(
                        "{error}. This is the address of the metrics; choose another one with --metrics_port and \
                         --metrics_host"
                    )
                    .into(),
                )
            })?;
        Ok(Some(listeners))
    }

    /// Registers the metrics of the process, and starts the reports to the log and to StatsD.
    pub(super) fn start(&self, registry: &Registry) {
        registry.gauge_fn("mem_sys_bytes", "Resident memory of the process", || {
            watch::own_rss_bytes().unwrap_or_default() as f64
        });
        let statsd = self.statsd_host.clone().map(|server| {
            Statsd::new(
                server,
                StatsdFormat {
                    prefix: self.statsd_prefix.clone(),
                    max_packet_bytes: self.statsd_max_packet_size,
                    tags_format: self.tags_format(),
                    tags: self.metrics_tags.clone(),
                },
            )
        });
        let log_filter = self.metrics_log.then(|| self.metrics_log_filter.clone());
        if statsd.is_some() || log_filter.is_some() {
            let reporter = Reporter::new(registry.clone(), log_filter, statsd);
            tokio::spawn(reporter.run(Duration::from_secs(self.metrics_rotate_interval)));
        }
    }

    /// AnyCable's default is Datadog's way, which matters there only when there are tags.
    fn tags_format(&self) -> Option<plimsoll_telemetry::TagsFormat> {
        let has_tags = self.metrics_tags.iter().next().is_some();
        let default = has_tags.then_some(TagsFormat::Datadog);
        self.statsd_tags_format.or(default).map(TagsFormat::into)
    }

    fn has_own_listener(&self, host: &str, port: u16) -> bool {
        self.metrics_port.is_some_and(|own| own != port || own == 0)
            || self.metrics_host.as_deref().is_some_and(|own| own != host)
    }
}

impl From<TagsFormat> for plimsoll_telemetry::TagsFormat {
    fn from(format: TagsFormat) -> Self {
        match format {
            TagsFormat::Datadog => Self::Datadog,
            TagsFormat::Influxdb => Self::Influxdb,
            TagsFormat::Graphite => Self::Graphite,
        }
    }
}

/// The name is resolved when something is sent, so a server that does not exist yet is not an error.
fn host_and_port(text: &str) -> Result<String, String> {
    let is_complete = text
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0));
    if is_complete {
        Ok(text.to_owned())
    } else {
        Err("a host and a port are wanted, for example localhost:8125".to_owned())
    }
}
