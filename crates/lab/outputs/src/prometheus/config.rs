//! The remote-write settings in the environment: k6's variables `K6_PROMETHEUS_RW_…`.

use std::{collections::BTreeMap, time::Duration};

use http::{
    HeaderMap, HeaderValue, Uri,
    header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, USER_AGENT},
};
use rustls::ClientConfig;

use crate::{
    OutputError,
    settings::{Settings, http_url, secret},
    tls::{self, Identity, Tls},
};

/// The time limit of one request, as in k6.
pub(super) const REQUEST_LIMIT: Duration = Duration::from_secs(5);

/// k6's time between two pushes.
const PUSH_INTERVAL: Duration = Duration::from_secs(5);

/// k6's server.
const SERVER_URL: &str = "http://localhost:9090/api/v1/write";

/// k6's figure of trends.
const TREND_STATS: &str = "p(99)";

/// The destination of figures, and their selection.
#[derive(Clone, Debug)]
pub(crate) struct PrometheusRw {
    pub(crate) url: Uri,
    pub(crate) period: Duration,
    pub(super) headers: HeaderMap,
    pub(super) tls: ClientConfig,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) trend_stats: Vec<String>,
    pub(super) native_histograms: bool,
    pub(super) stale_markers: bool,
}

impl PrometheusRw {
    /// `url` goes before the variable.
    pub(crate) fn read(url: Option<&str>, settings: Settings<'_>) -> Result<Self, OutputError> {
        let named = |name: &str| format!("K6_PROMETHEUS_RW_{name}");
        for name in ["SIGV4_REGION", "SIGV4_ACCESS_KEY", "SIGV4_SECRET_KEY"] {
            let instead = "AWS signing is not supported; send to a signing proxy such as aws-sigv4-proxy";
            settings.refuse(&[&named(name)], instead)?;
        }
        let url = match url {
            Some(url) => http_url(url).ok_or_else(|| OutputError::Argument {
                output: format!("prometheus-rw={}", plimsoll_redacted::url_with_query(url)),
                problem: format!("expected {URL_EXPECTED}"),
            })?,
            None => settings
                .read(&[&named("SERVER_URL")], URL_EXPECTED, http_url)?
                .unwrap_or_else(|| Uri::from_static(SERVER_URL)),
        };
        Ok(Self {
            tls: tls_of(settings, &named)?.for_url(&url)?,
            url,
            period: settings.duration(&[&named("PUSH_INTERVAL")], PUSH_INTERVAL)?,
            headers: headers(settings, &named)?,
            labels: settings.pairs(&[&named("LABELS")], '=')?,
            trend_stats: settings
                .read(&[&named("TREND_STATS")], STATS_EXPECTED, stats)?
                .unwrap_or_else(|| vec![TREND_STATS.to_owned()]),
            native_histograms: settings.flag(&[&named("TREND_AS_NATIVE_HISTOGRAM")])?,
            stale_markers: settings.flag(&[&named("STALE_MARKERS")])?,
        })
    }
}

const URL_EXPECTED: &str =
    "a URL without user and password, for example `http://localhost:9090/api/v1/write`";

const STATS_EXPECTED: &str =
    "a list of `count`, `sum`, `min`, `max`, `avg`, `med` and percentiles such as `p(99)`";

fn stats(text: &str) -> Option<Vec<String>> {
    let stats = text.split(',').map(|stat| {
        let stat = stat.trim();
        let is_percentile = || {
            let percent: f64 = stat.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?;
            (0.0..=100.0).contains(&percent).then_some(())
        };
        let is_known = ["count", "sum", "min", "max", "avg", "med"].contains(&stat);
        (is_known || is_percentile().is_some()).then(|| stat.to_owned())
    });
    stats.collect()
}

fn headers(settings: Settings<'_>, named: &impl Fn(&str) -> String) -> Result<HeaderMap, OutputError> {
    let mut headers = settings.headers(&[&named("HTTP_HEADERS")], ':', str::to_owned)?;
    let bearer = named("BEARER_TOKEN");
    let bearer = settings.read_secret(&[&bearer], "a token of printable ASCII", |token| {
        secret(&format!("Bearer {token}"))
    })?;
    let basic = || settings.basic(&named("USERNAME"), &named("PASSWORD"));
    if let Some(authorization) = bearer.or_else(basic) {
        headers.insert(AUTHORIZATION, authorization);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("snappy"));
    headers.insert(
        "x-prometheus-remote-write-version",
        HeaderValue::from_static("0.1.0"),
    );
    headers.insert(
        USER_AGENT,
        HeaderValue::from_static(concat!("plimsoll/", env!("CARGO_PKG_VERSION"))),
    );
    Ok(headers)
}

fn tls_of(settings: Settings<'_>, named: &impl Fn(&str) -> String) -> Result<Tls, OutputError> {
    let certificate = named("CLIENT_CERTIFICATE");
    let key = named("CLIENT_CERTIFICATE_KEY");
    let versions = settings.read(
        &[&named("TLS_MINIMUM_VERSION")],
        "`1.2` or `1.3`",
        |version| match version {
            "1.2" => Some(tls::SINCE_1_2),
            "1.3" => Some(tls::SINCE_1_3),
            _ => None,
        },
    )?;
    Ok(Tls {
        versions: versions.unwrap_or(tls::SINCE_1_3),
        believes_anybody: settings.flag(&[&named("INSECURE_SKIP_TLS_VERIFY")])?,
        authorities: None,
        identity: Identity::read(settings, &[&certificate], &[&key])?,
    })
}
