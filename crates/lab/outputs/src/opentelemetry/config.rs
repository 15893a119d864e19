//! The OTLP settings in the environment: k6's variables `K6_OTEL_…`, then OpenTelemetry's own.

use std::{collections::BTreeMap, time::Duration};

use http::{HeaderMap, Uri, header::AUTHORIZATION};
use percent_encoding::percent_decode_str;
use rustls::ClientConfig;

use crate::{
    OutputError,
    distribution::TrendStyle,
    settings::{Settings, http_url},
    tls::{self, Identity, PemFile, Tls},
};

/// k6's time between two exports.
const EXPORT_INTERVAL: Duration = Duration::from_secs(10);

/// OpenTelemetry's time limit of one request.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// The destination of figures, and their form.
#[derive(Clone, Debug)]
pub(crate) struct OpenTelemetry {
    pub(crate) period: Duration,
    pub(crate) trend_style: TrendStyle,
    pub(super) connection: Connection,
    pub(super) prefix: String,
    /// Who measures.
    pub(super) resource: BTreeMap<String, String>,
}

/// The connection to a collector.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) protocol: Protocol,
    pub(super) url: Uri,
    pub(super) headers: HeaderMap,
    pub(super) tls: ClientConfig,
    pub(super) limit: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Grpc,
    Http,
}

impl OpenTelemetry {
    pub(crate) fn read(settings: Settings<'_>) -> Result<Self, OutputError> {
        refuse(settings)?;
        let protocol = protocol(settings)?;
        let url = url(settings, protocol)?;
        let period = settings.duration(
            &["K6_OTEL_EXPORT_INTERVAL", "OTEL_METRIC_EXPORT_INTERVAL"],
            EXPORT_INTERVAL,
        )?;
        Ok(Self {
            period,
            trend_style: trend_style(settings)?,
            connection: Connection {
                protocol,
                tls: tls_of(settings)?.for_url(&url)?,
                url,
                headers: headers(settings, protocol)?,
                limit: settings.duration(
                    &["OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"],
                    REQUEST_LIMIT,
                )?,
            },
            prefix: settings.text(&["K6_OTEL_METRIC_PREFIX"]).unwrap_or_default(),
            resource: resource(settings)?,
        })
    }

    /// The destination of figures, for people.
    pub(crate) fn place(&self) -> String {
        let protocol = match self.connection.protocol {
            Protocol::Grpc => "grpc",
            Protocol::Http => "http",
        };
        format!("{protocol}, {}", self.connection.url)
    }
}

/// What would be silently different.
fn refuse(settings: Settings<'_>) -> Result<(), OutputError> {
    for (names, allowed, instead) in [
        (
            &["K6_OTEL_SINGLE_COUNTER_FOR_RATE"] as &[_],
            "true",
            "a rate is always one counter with the attribute `condition`",
        ),
        (
            &[
                "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION",
                "OTEL_EXPORTER_OTLP_COMPRESSION",
            ],
            "none",
            "compression is not supported; remove it",
        ),
        (
            &["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"],
            "cumulative",
            "only `cumulative` is supported; a collector can convert it to deltas (cumulativetodelta)",
        ),
    ] {
        settings.allow_only(names, allowed, instead)?;
    }
    Ok(())
}

fn protocol(settings: Settings<'_>) -> Result<Protocol, OutputError> {
    let names = [
        "K6_OTEL_EXPORTER_PROTOCOL",
        "K6_OTEL_EXPORTER_TYPE",
        "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
    ];
    let read = |value: &str| match value {
        "grpc" => Some(Protocol::Grpc),
        "http" | "http/protobuf" => Some(Protocol::Http),
        _ => None,
    };
    let protocol = settings.read(&names, "`grpc` or `http/protobuf`", read)?;
    Ok(protocol.unwrap_or(Protocol::Grpc))
}

/// k6's variables name host and port, OpenTelemetry's name a URL.
fn url(settings: Settings<'_>, protocol: Protocol) -> Result<Uri, OutputError> {
    let (name, default, path) = match protocol {
        Protocol::Grpc => ("GRPC", "localhost:4317", None),
        Protocol::Http => {
            let path = settings.text(&["K6_OTEL_HTTP_EXPORTER_URL_PATH"]);
            (
                "HTTP",
                "localhost:4318",
                Some(path.unwrap_or_else(|| "/v1/metrics".to_owned())),
            )
        }
    };
    let endpoint = format!("K6_OTEL_{name}_EXPORTER_ENDPOINT");
    let is_insecure = settings.flag(&[
        &format!("K6_OTEL_{name}_EXPORTER_INSECURE"),
        "OTEL_EXPORTER_OTLP_METRICS_INSECURE",
        "OTEL_EXPORTER_OTLP_INSECURE",
    ])?;
    let scheme = if is_insecure { "http" } else { "https" };
    let path = path.unwrap_or_default();
    let at = |host: &str| {
        let is_bare = !host.contains('/');
        is_bare.then(|| http_url(&format!("{scheme}://{host}{path}")))?
    };
    let expected = format!("host and port, for example `{default}`");
    if let Some(url) = settings.read(&[&endpoint], &expected, at)? {
        return Ok(url);
    }
    let expected = format!("a URL without user and password, for example `http://{default}`");
    let own = settings.read(&["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"], &expected, http_url)?;
    let common = || {
        let below = |base: &str| http_url(&format!("{}{path}", base.trim_end_matches('/')));
        settings.read(&["OTEL_EXPORTER_OTLP_ENDPOINT"], &expected, below)
    };
    let url = match own {
        Some(url) => Some(url),
        None => common()?,
    };
    Ok(url.unwrap_or_else(|| at(default).expect("the default host makes a URL")))
}

fn trend_style(settings: Settings<'_>) -> Result<TrendStyle, OutputError> {
    let read = |value: &str| match value {
        "explicit_bucket_histogram" => Some(TrendStyle::Explicit),
        "base2_exponential_bucket_histogram" => Some(TrendStyle::Exponential { millisecond: 1.0 }),
        _ => None,
    };
    let expected = "`explicit_bucket_histogram` or `base2_exponential_bucket_histogram`";
    let name = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION";
    Ok(settings
        .read(&[name], expected, read)?
        .unwrap_or(TrendStyle::Explicit))
}

/// Values are percent-encoded, as in the W3C's baggage. k6 has a user and password for HTTP alone.
fn headers(settings: Settings<'_>, protocol: Protocol) -> Result<HeaderMap, OutputError> {
    let names = [
        "K6_OTEL_HEADERS",
        "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
        "OTEL_EXPORTER_OTLP_HEADERS",
    ];
    let mut headers = settings.headers(&names, '=', decoded)?;
    let basic = settings.basic("K6_OTEL_HTTP_EXPORTER_USERNAME", "K6_OTEL_HTTP_EXPORTER_PASSWORD");
    if let Some(basic) = basic.filter(|_| protocol == Protocol::Http) {
        headers.insert(AUTHORIZATION, basic);
    }
    Ok(headers)
}

fn decoded(value: &str) -> String {
    percent_decode_str(value).decode_utf8_lossy().into_owned()
}

fn resource(settings: Settings<'_>) -> Result<BTreeMap<String, String>, OutputError> {
    let mut resource: BTreeMap<_, _> = settings
        .pairs(&["OTEL_RESOURCE_ATTRIBUTES"], '=')?
        .into_iter()
        .map(|(name, value)| (name, decoded(&value)))
        .collect();
    for (attribute, names, default) in [
        (
            "service.name",
            &["K6_OTEL_SERVICE_NAME", "OTEL_SERVICE_NAME"] as &[_],
            "plimsoll",
        ),
        (
            "service.version",
            &["K6_OTEL_SERVICE_VERSION"],
            env!("CARGO_PKG_VERSION"),
        ),
    ] {
        if let Some(value) = settings.text(names) {
            resource.insert(attribute.to_owned(), value);
        } else {
            resource
                .entry(attribute.to_owned())
                .or_insert_with(|| default.to_owned());
        }
    }
    Ok(resource)
}

fn tls_of(settings: Settings<'_>) -> Result<Tls, OutputError> {
    let own = |name: &str| format!("K6_OTEL_TLS_{name}");
    let names = |name: &str, otel: &str| {
        let specific = format!("OTEL_EXPORTER_OTLP_METRICS_{otel}");
        [own(name), specific, format!("OTEL_EXPORTER_OTLP_{otel}")]
    };
    let [authorities, certificate, key] = [
        names("CERTIFICATE", "CERTIFICATE"),
        names("CLIENT_CERTIFICATE", "CLIENT_CERTIFICATE"),
        names("CLIENT_KEY", "CLIENT_KEY"),
    ];
    let [authorities, certificate, key] =
        [&authorities, &certificate, &key].map(|names| names.each_ref().map(String::as_str));
    Ok(Tls {
        versions: tls::SINCE_1_2,
        believes_anybody: settings.flag(&[&own("INSECURE_SKIP_VERIFY")])?,
        authorities: PemFile::read(settings, &authorities),
        identity: Identity::read(settings, &certificate, &key)?,
    })
}
