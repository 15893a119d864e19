//! `config.plugins`: those that change values or publish figures. Plugins that check are in [`super::checks`].

use std::collections::BTreeMap;

use plimsoll_load::{nearest::nearest, parity::Parity};
use serde_json::{Map, Value};

use super::reader::{Reader, json_of};
use crate::{
    artillery::{
        keys,
        template::{Fake, FakeOptions, LONGEST},
        test::Publication,
    },
    document::{Fields, Part},
};

const AS_SAMPLES: &str =
    "every sample is sent, as `--out statsd` does it, not the figures of ten seconds; no events";

/// Reporters of `publish-metrics` that are supported.
pub const REPORTERS: [(&str, Parity); 5] = [
    ("open-telemetry", Parity::Same),
    ("prometheus", Parity::Same),
    ("statsd", Parity::Differs(AS_SAMPLES)),
    ("datadog", Parity::Differs(AS_SAMPLES)),
    ("influxdb-statsd", Parity::Differs(AS_SAMPLES)),
];

const TAKES_OTLP: &str = "its agent or collector may take OTLP, as type: open-telemetry";

/// Reporters of `publish-metrics` that are not supported, with alternatives.
pub const ABSENT_REPORTERS: [(&str, &str); 6] = [
    ("newrelic", TAKES_OTLP),
    ("dynatrace", TAKES_OTLP),
    ("honeycomb", TAKES_OTLP),
    ("splunk", TAKES_OTLP),
    ("cloudwatch", TAKES_OTLP),
    (
        "mixpanel",
        "there is no output for it; --out json writes all samples",
    ),
];

impl<'a> Reader<'a> {
    /// `fake-data`: the options of its functions.
    pub(super) fn read_fakes(&self, part: &Part<'a>) -> FakeOptions {
        let functions = part.fields_of(&keys::FAKE_DATA);
        let mut fakes = FakeOptions::new();
        for (name, part) in functions.iter().flat_map(Fields::all) {
            let Some(fake) = Fake::named(&format!("${name}")) else {
                let names = Fake::names().map(|name| &name[1..]);
                let hint = nearest(name, names).map_or(String::new(), |it| format!("; did you mean `{it}`?"));
                part.mistake(format!("there is no function `${name}`{hint}"));
                continue;
            };
            fakes.insert(name.to_owned(), fake_options(fake, &part));
        }
        fakes
    }

    /// `publish-metrics`: figures for collectors.
    pub(super) fn read_publications(
        &self,
        part: &Part<'a>,
        variables: &BTreeMap<String, Value>,
    ) -> Vec<Publication> {
        let parts = part.list().into_iter().flatten();
        parts
            .filter_map(|part| self.read_publication(&part, variables))
            .collect()
    }

    fn read_publication(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<Publication> {
        let mut fields = part.fields_of(&keys::REPORTER)?;
        let kind = fields.require("type", "the kind of reporter, for example open-telemetry")?;
        let name = kind.text()?;
        if !REPORTERS.iter().any(|(known, _)| *known == name) {
            let known = ABSENT_REPORTERS.iter().find(|(known, _)| *known == name);
            let expected = "expected open-telemetry, prometheus, statsd, datadog or influxdb-statsd";
            let instead = known.map_or(expected, |&(_, instead)| instead);
            kind.mistake(format!(
                "the reporter `{name}` is not supported; {instead}. Remove it, or run with --overrides '{{\"config\": \
                 {{\"plugins\": {{\"publish-metrics\": []}}}}}}'"
            ));
            return None;
        }
        match name {
            "open-telemetry" => {}
            "prometheus" => return self.read_gateway(fields, variables).map(Publication::Gateway),
            _ => return self.read_statsd(name, fields, variables),
        }
        let service = fields
            .get("serviceName")
            .and_then(|part| self.config_text(&part, variables));
        let resource = fields.get("resourceAttributes");
        let metrics = fields.get("metrics");
        if metrics.is_none() {
            fields.part().mistake(
                "`metrics` is missing: expected a map, for example metrics: { exporter: otlp-http }",
            );
        }
        let mut metrics = metrics?.fields_of(&keys::REPORTED_METRICS)?;
        let protocol = match metrics
            .get("exporter")
            .map(|part| part.text().map(|text| (part.clone(), text)))
        {
            None | Some(Some((_, "otlp-http" | "otlp-proto"))) => "http/protobuf",
            Some(Some((_, "otlp-grpc"))) => "grpc",
            Some(Some((part, _))) => {
                part.unexpected("otlp-http, otlp-proto or otlp-grpc");
                return None;
            }
            Some(None) => return None,
        };
        let mut environment = BTreeMap::from([
            (
                "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL".to_owned(),
                protocol.to_owned(),
            ),
            (
                "OTEL_SERVICE_NAME".to_owned(),
                service.unwrap_or_else(|| DEFAULT_SERVICE.to_owned()),
            ),
        ]);
        if let Some(endpoint) = metrics
            .get("endpoint")
            .and_then(|part| self.config_text(&part, variables))
        {
            environment.insert("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT".to_owned(), endpoint);
        }
        let headers = self.pairs(metrics.get("headers"), variables);
        if !headers.is_empty() {
            environment.insert("OTEL_EXPORTER_OTLP_METRICS_HEADERS".to_owned(), headers.join(","));
        }
        let attributes = self.pairs(metrics.get("attributes"), variables);
        let attributes: Vec<_> = self
            .pairs(resource, variables)
            .into_iter()
            .chain(attributes)
            .collect();
        if !attributes.is_empty() {
            environment.insert("OTEL_RESOURCE_ATTRIBUTES".to_owned(), attributes.join(","));
        }
        self.finish(metrics);
        self.finish(fields);
        Some(Publication::Samples {
            output: "opentelemetry",
            environment,
        })
    }

    /// A reporter that sends StatsD; Datadog's form of it has the tags of samples, too.
    fn read_statsd(
        &self,
        name: &str,
        mut fields: Fields<'a>,
        variables: &BTreeMap<String, Value>,
    ) -> Option<Publication> {
        let mut text = |key: &'static str, default: &str| {
            let given = fields.get(key).map(|part| self.config_text(&part, variables));
            given.unwrap_or_else(|| Some(default.to_owned()))
        };
        let (host, prefix) = (text("host", "127.0.0.1")?, text("prefix", "artillery.")?);
        let port = text("port", "8125")?;
        if port.parse::<u16>().is_err() {
            fields.part().mistake(format!(
                "`port` is {port}; expected a number up to 65535, for example 8125"
            ));
        }
        let mut environment = BTreeMap::from([
            ("K6_STATSD_ADDR".to_owned(), format!("{host}:{port}")),
            ("K6_STATSD_NAMESPACE".to_owned(), prefix),
            (
                "K6_STATSD_ENABLE_TAGS".to_owned(),
                (name == "datadog").to_string(),
            ),
        ]);
        let tags = fields.get("tags").and_then(|part| part.list());
        let tags = tags.into_iter().flatten();
        let tags: Vec<_> = tags
            .filter_map(|part| self.config_text(&part, variables))
            .collect();
        if !tags.is_empty() {
            environment.insert("PLIMSOLL_STATSD_TAGS".to_owned(), tags.join(","));
        }
        self.finish(fields);
        Some(Publication::Samples {
            output: "statsd",
            environment,
        })
    }

    /// `name=value` of a map, with the values percent-encoded.
    fn pairs(&self, part: Option<Part<'a>>, variables: &BTreeMap<String, Value>) -> Vec<String> {
        let fields = part.and_then(|part| part.fields());
        let entries = fields.iter().flat_map(Fields::all);
        entries
            .filter_map(|(name, part)| {
                let value = self.config_text(&part, variables)?;
                Some(format!("{name}={}", percent_encoded(&value)))
            })
            .collect()
    }
}

/// Artillery's default.
const DEFAULT_SERVICE: &str = "Artillery-test";

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// The options of one function: numbers, and lengths within a limit.
fn fake_options(fake: &Fake, part: &Part<'_>) -> Map<String, Value> {
    let mut options = Map::new();
    let fields = part.fields();
    for (key, part) in fields.iter().flat_map(Fields::all) {
        if !fake.options.contains(&key) {
            let known = match fake.options {
                [] => "it has no options here".to_owned(),
                known => format!("expected one of {}", known.join(", ")),
            };
            part.mistake(format!("is not an option of `{}`; {known}", fake.name));
        } else if key != "length" {
            if part.number().is_some() {
                options.insert(key.to_owned(), json_of(&part));
            }
        } else if let Some(length) = part.whole() {
            if length > LONGEST {
                part.unexpected(&format!("a length up to {LONGEST}"));
            }
            options.insert(key.to_owned(), length.into());
        }
    }
    options
}
