//! The checked options of `http`.

use std::{net::IpAddr, time::Duration};

use plimsoll_clients::{
    dial::Proxy,
    http::{Request, Url, Version},
    tls::TlsOptions,
};
use plimsoll_load::watch;
use plimsoll_report::summary::{Plan, PlannedScenario};

use super::{
    schedule::Extent,
    tally::Tally,
    threshold::{Finding, Threshold},
    transcript::Detail,
};

/// Options of `http`.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The request.
    pub request: Request,
    /// The version of HTTP.
    pub version: Version,
    /// Whether connections are kept between requests, as those of HTTP/2 always are.
    pub keeps_alive: bool,
    /// The number and the times of the requests.
    pub extent: Extent,
    /// The number of concurrent requests, at most the number of all requests.
    pub concurrency: usize,
    /// The number of concurrent requests per connection; more than one only with HTTP/2.
    pub n_streams: usize,
    /// Threads that carry the connections, at least one.
    pub n_workers: usize,
    /// Whether failures of connections leave the run going, and are no reason to call it failed (`-r`).
    pub goes_on: bool,
    /// Whether all bodies must have the length of the first.
    pub compares_lengths: bool,
    /// TLS for `https`.
    pub tls: TlsOptions,
    /// The proxy for all requests.
    pub proxy: Option<Proxy>,
    /// The size of the sockets' send and receive buffers in bytes; `None` leaves it to the system.
    pub buffer_bytes: Option<u32>,
    /// What is shown of the exchanges themselves.
    pub transcript: Option<Detail>,
    /// The source address.
    pub source: Option<IpAddr>,
    /// The targets of which the first with processes is measured for the report.
    pub watched: Vec<watch::Target>,
    /// The thresholds of the run.
    pub thresholds: Vec<Threshold>,
    /// Whether single requests are kept for a plot.
    pub keeps_samples: bool,
}

impl HttpOptions {
    /// The requested URL, without secrets.
    pub(crate) fn shown_url(&self) -> Url {
        let mut url = self.request.url.clone();
        // They fail for URLs without a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        // In a text without a user and a fragment nothing else is hidden.
        let shown = plimsoll_redacted::url_with_query(url.as_str()).parse();
        shown.unwrap_or(url)
    }

    /// The results of the thresholds after this time.
    pub(crate) fn judge(&self, tally: &Tally, elapsed: Duration) -> Vec<Finding> {
        let thresholds = self.thresholds.iter();
        thresholds
            .map(|threshold| threshold.judge(tally, elapsed))
            .collect()
    }

    /// The description of the planned load.
    pub(crate) fn plan(&self) -> Plan {
        let Extent {
            rate,
            warm_up,
            duration,
            n_requests,
        } = self.extent;
        let version = match self.version {
            Version::Http11 => "HTTP/1.1",
            Version::Http2 => "HTTP/2",
        };
        let keeps_alive = if self.keeps_alive { "kept" } else { "new" };
        let mut text = format!(
            "{} over {version}, {} at a time, {} on each of its {keeps_alive} connections, {} B of body",
            self.request.method,
            self.concurrency,
            self.n_streams,
            self.request.body.len()
        );
        let limits = [
            self.proxy
                .as_ref()
                .map(|proxy| format!("through the proxy {proxy}")),
            rate.map(|rate| format!("{rate}")),
            n_requests.map(|n| format!("{n} requests")),
            duration.map(|time| format!("at most {} s", time.as_secs_f64())),
            (!warm_up.is_zero()).then(|| format!("{} s of warm-up", warm_up.as_secs_f64())),
        ];
        for limit in limits.into_iter().flatten() {
            text = format!("{text}, {limit}");
        }
        Plan {
            scenarios: vec![PlannedScenario {
                name: "http".to_owned(),
                executor: if rate.is_some() {
                    "constant-arrival-rate"
                } else {
                    "closed-loop"
                }
                .to_owned(),
                description: text,
                start_seconds: 0.0,
                max_vus: u32::try_from(self.concurrency).unwrap_or(u32::MAX),
                duration_seconds: duration.map(|time| time.as_secs_f64()),
            }],
        }
    }
}
