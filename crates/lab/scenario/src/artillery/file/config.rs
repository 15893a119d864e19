//! `config`: settings for all users.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use plimsoll_clients::{
    dial::{Dialer, Proxies},
    http::{KeptBodies, Settings as HttpSettings},
    tls::{Believe, Tls, TlsOptions},
};
use plimsoll_load::preflight::Memory;
use serde_json::Value;

use super::{
    layers,
    reader::{Reader, json_of},
};
use crate::{
    artillery::{
        duration,
        ensure::Ensure,
        flow::{Connect, Jitter},
        http::{Defaults, Grouping, Protocols},
        keys,
        payload::Payload,
        phase::{Kind, Phase, Spacing},
        template::{FakeOptions, JsonTemplate, Template},
        test::{Publication, Slack},
        websocket::Opening,
    },
    document::{Fields, Node, Part, Value as Written},
};

/// Artillery's default for answers.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Artillery's default for the Apdex score.
const APDEX_THRESHOLD: Duration = Duration::from_millis(500);

/// The configuration, with the chosen environment over it.
#[derive(Debug, Default)]
pub(super) struct Settings {
    target: Option<String>,
    pub(super) phases: Option<Vec<Phase>>,
    /// The default spacing of phases.
    mode: Spacing,
    pub(super) variables: BTreeMap<String, Value>,
    pub(super) payloads: Vec<Payload>,
    /// Whole tables that are variables.
    pub(super) tables: Vec<(String, Value)>,
    is_insecure: bool,
    timeout: Option<Duration>,
    websocket_timeout: Option<Duration>,
    pub(super) http_timeout: Option<Duration>,
    /// Whether the parts of requests are timed, too.
    pub(super) times_parts: bool,
    connect: Connect,
    headers: Vec<(String, Template)>,
    cookies: Vec<(String, Template)>,
    /// The default engine of scenarios.
    pub(super) engine: Option<String>,
    pub(super) jitter: Option<Jitter>,
    /// Whether it is an environment that is read only for its mistakes.
    pub(super) is_scrap: bool,
    pub(super) ensure: Ensure,
    pub(super) apdex: Option<Duration>,
    /// The grouping of requests, if requested.
    pub(super) endpoints: Option<Grouping>,
    /// Whether a user fails with an expectation that is not met.
    pub(super) fails_unexpected: bool,
    /// Whether requests without expectations expect the status 200.
    pub(super) expects_200: bool,
    /// Whether failed expectations name requests by their names.
    pub(super) names_unexpected: bool,
    /// The settings of functions that invent values.
    pub(super) fakes: FakeOptions,
    /// Outputs of figures besides those of the command line.
    pub(super) publications: Vec<Publication>,
    /// The message at the end of the run, if requested.
    pub(super) slack: Option<Slack>,
}

impl<'a> Reader<'a> {
    pub(super) fn read_config(&self, part: &Part<'a>) -> Option<Settings> {
        let mut fields = part.fields_of(&keys::CONFIG)?;
        let environments = fields.get("environments");
        let chosen = self.surroundings.environment.as_deref();
        let mut settings = Settings {
            variables: self.variables(part.node()),
            ..Settings::default()
        };
        settings.variables.keys().for_each(|name| self.sets(name));
        settings.mode = self.mode(part.node());
        self.read_layer(fields, &mut settings);
        let environments = environments.and_then(|part| part.fields());
        let mut is_known = chosen.is_none();
        for (name, part) in environments.iter().flat_map(Fields::all) {
            if Some(name) == chosen {
                // It lies over the configuration already.
                is_known = true;
                continue;
            }
            let Some(fields) = part.fields_of(&keys::ENVIRONMENT) else {
                continue;
            };
            // Only for its mistakes.
            let mut scrap = Settings {
                is_scrap: true,
                variables: settings.variables.clone(),
                ..Settings::default()
            };
            self.read_layer(fields, &mut scrap);
        }
        if let Some(name) = chosen.filter(|_| !is_known) {
            let known: Vec<_> = environments
                .iter()
                .flat_map(Fields::all)
                .map(|(name, _)| name)
                .collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            part.mistake(format!(
                "there is no environment `{name}`; `environments` has {known}"
            ));
        }
        if let Some(target) = &self.surroundings.target
            && !layers::overrides_target(self.document)
        {
            settings.target = Some(target.clone());
        }
        if settings.target.is_none() {
            part.mistake(
                "`target` is missing: expected a URL, for example ws://localhost:3334/echo, or --target",
            );
        }
        settings.is_insecure |= self.surroundings.is_insecure;
        // Artillery has this plugin always; without settings of its own, its figures are in the JSON report only.
        let grouping = settings.endpoints.get_or_insert_with(Grouping::unasked);
        grouping.target = settings.target.clone().unwrap_or_default();
        Some(settings)
    }

    /// The spacing of all phases.
    fn mode(&self, config: &Node) -> Spacing {
        match config.value.get("mode").map(|mode| &mode.value) {
            Some(Written::Text(text)) => self.spacing(text).unwrap_or_default(),
            _ => Spacing::default(),
        }
    }

    /// The configuration's variables, and over them those of the command line.
    fn variables(&self, config: &Node) -> BTreeMap<String, Value> {
        let mut variables = match config.value.get("variables").map(Node::json) {
            Some(Value::Object(entries)) => entries.into_iter().collect(),
            _ => BTreeMap::new(),
        };
        variables.extend(self.surroundings.variables.clone());
        let system = self.config_variables(&BTreeMap::new());
        for value in variables.values_mut() {
            if let Ok(template) = JsonTemplate::parse(value) {
                *value = template.value(&system);
            }
        }
        variables
    }

    fn read_layer(&self, mut fields: Fields<'a>, settings: &mut Settings) {
        let variables = settings.variables.clone();
        // First, because checks may use metrics of its functions.
        match fields.get("processor") {
            Some(part) if settings.is_scrap => drop(part.text()),
            Some(part) => self.read_processor(&part, &variables),
            None => {}
        }
        if let Some(part) = fields.get("target") {
            settings.target = self.config_text(&part, &variables);
        }
        if let Some(part) = fields.get("variables") {
            // They were read before; here only their mistakes are reported.
            let fields = part.fields();
            fields
                .iter()
                .flat_map(Fields::all)
                .for_each(|(_, part)| drop(self.json(&part)));
        }
        // Its value was read before; here only its mistakes are reported.
        let _known = self.read_mode(fields.get("mode"));
        match fields.get("phases") {
            Some(part) if settings.is_scrap => {
                self.read_parts_of_phases(&part, &variables, settings.mode);
            }
            Some(part) => settings.phases = self.read_phases(&part, &variables, settings.mode),
            None => {}
        }
        match (fields.get("payload"), &self.surroundings.payload) {
            (Some(part), _) => self.read_payloads(&part, settings),
            (None, Some(path)) if !settings.is_scrap => fields.part().mistake(format!(
                "--payload {} needs `payload` with the names of the columns, for example payload: {{ fields: [user] }}",
                path.display()
            )),
            (None, _) => {}
        }
        if let Some(part) = fields.get("engine") {
            settings.engine = part.text().map(str::to_owned);
        }
        if let Some(part) = fields.get("timeout") {
            settings.timeout = self.duration(&part, &variables);
        }
        if let Some(mut tls) = fields.get("tls").and_then(|part| part.fields_of(&keys::TLS)) {
            if let Some(is_strict) = tls.get("rejectUnauthorized").and_then(|part| part.boolean()) {
                settings.is_insecure = !is_strict;
            }
            tls.finish();
        }
        if let Some(part) = fields.get("ws") {
            self.read_websocket(&part, settings);
        }
        if let Some(part) = fields.get("defaults") {
            self.read_defaults(&part, settings);
        }
        // Afterwards, because `http.defaults` has precedence.
        if let Some(part) = fields.get("http") {
            self.read_http(&part, settings);
        }
        self.read_plugins(&mut fields, settings);
        self.finish(fields);
    }

    fn read_websocket(&self, part: &Part<'a>, settings: &mut Settings) {
        let Some(mut fields) = part.fields_of(&keys::WEBSOCKET) else {
            return;
        };
        self.read_connect_fields(&mut fields, &mut settings.connect);
        if let Some(part) = fields.get("proxy") {
            settings.connect.proxy = self.websocket_proxy(&part, &settings.variables);
        }
        if let Some(part) = fields.get("timeout") {
            settings.websocket_timeout = self.duration(&part, &settings.variables);
        }
        if let Some(part) = fields.get("rejectUnauthorized") {
            settings.is_insecure = part.boolean() == Some(false);
        }
        self.finish(fields);
    }

    /// `config.defaults` and `config.http.defaults`.
    pub(super) fn read_defaults(&self, part: &Part<'a>, settings: &mut Settings) {
        let Some(mut fields) = part.fields_of(&keys::DEFAULTS) else {
            return;
        };
        let think = fields.get("think");
        if let Some(mut think) = think.and_then(|part| part.fields_of(&keys::THINK_DEFAULTS)) {
            settings.jitter = think.get("jitter").and_then(|part| self.read_jitter(&part));
            think.finish();
        }
        if let Some(part) = fields.get("headers") {
            settings.headers = self.templates(Some(part));
        }
        if let Some(part) = fields.get("cookie") {
            settings.cookies = self.templates(Some(part));
        }
        if let Some(is_strict) = fields.get("strictCapture").and_then(|part| part.boolean()) {
            self.captures_strictly.set(is_strict);
        }
        fields.finish();
    }

    fn read_plugins(&self, fields: &mut Fields<'a>, settings: &mut Settings) {
        let plugins = fields.get("plugins");
        let mut plugins = plugins.and_then(|part| part.fields_of(&keys::PLUGINS));
        // Artillery accepts both places, and often the one below `plugins` is empty.
        let mut of_plugin = |name| {
            let below = plugins.as_mut().and_then(|plugins| plugins.get(name));
            [fields.get(name), below].into_iter().flatten()
        };
        let ensure: Vec<_> = of_plugin("ensure")
            .map(|part| self.read_ensure(&part, &settings.variables))
            .collect();
        if !ensure.is_empty() {
            let checks = ensure.into_iter().flat_map(|ensure| ensure.checks).collect();
            settings.ensure = Ensure { checks };
        }
        let apdex: Vec<_> = of_plugin("apdex")
            .filter_map(|part| self.read_apdex(&part, &settings.variables))
            .collect();
        settings.apdex = apdex
            .iter()
            .find_map(|threshold| *threshold)
            .or_else(|| apdex.first().map(|_| APDEX_THRESHOLD))
            .or(settings.apdex);
        let Some(mut plugins) = plugins else { return };
        if let Some(part) = plugins.get("metrics-by-endpoint") {
            settings.endpoints = self.read_endpoints(&part);
        }
        if let Some(part) = plugins.get("fake-data") {
            settings.fakes = self.read_fakes(&part);
        }
        if let Some(part) = plugins.get("publish-metrics") {
            settings.publications = self.read_publications(&part, &settings.variables);
        }
        if let Some(part) = plugins.get("slack") {
            settings.slack = self.read_slack(&part, &settings.variables);
        }
        let expect = plugins.get("expect");
        if let Some(mut expect) = expect.and_then(|part| part.fields_of(&keys::EXPECT_PLUGIN)) {
            let fails = expect.get("reportFailuresAsErrors");
            settings.fails_unexpected = fails.and_then(|part| part.boolean()).unwrap_or(false);
            let mut switch = |key| expect.get(key).and_then(|part| part.boolean()) == Some(true);
            settings.expects_200 = switch("expectDefault200");
            settings.names_unexpected = switch("useOnlyRequestNames");
            self.finish(expect);
        }
        self.finish(plugins);
    }

    /// The threshold that is written, if any.
    fn read_apdex(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<Option<Duration>> {
        let mut fields = part.fields_of(&keys::APDEX)?;
        let threshold = fields.get("threshold").and_then(|part| {
            let ms = self.config_number(&part, variables)?;
            let threshold = Duration::try_from_secs_f64(ms / 1e3).ok();
            if threshold.is_none() {
                part.unexpected("milliseconds, for example 500");
            }
            threshold
        });
        fields.finish();
        Some(threshold)
    }

    /// `20%`, or a duration; a number is milliseconds.
    pub(super) fn read_jitter(&self, part: &Part<'a>) -> Option<Jitter> {
        part.read(
            "a share such as \"20%\", or milliseconds such as 500",
            |value| match value {
                Written::Number(number) => Some(Jitter::By(
                    Duration::try_from_secs_f64(number.as_f64()? / 1e3).ok()?,
                )),
                Written::Text(text) => match text.strip_suffix('%') {
                    Some(percent) => {
                        let percent: f64 = percent.trim().parse().ok()?;
                        (0.0..=100.0)
                            .contains(&percent)
                            .then_some(Jitter::Share(percent / 100.0))
                    }
                    None => duration::of_text(text).map(Jitter::By),
                },
                _ => None,
            },
        )
    }

    /// Seconds or a duration, also from a template of the configuration.
    pub(super) fn duration(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<Duration> {
        let value = self.config_value(part, variables)?;
        let duration = duration::of_value(&value);
        if duration.is_none() {
            part.unexpected(duration::EXPECTED);
        }
        duration
    }
}

impl Settings {
    /// Variables of which each user gets one of several values.
    pub(super) fn choices(&self) -> BTreeMap<String, Vec<Value>> {
        let lists = self.variables.iter().filter_map(|(name, value)| match value {
            Value::Array(values) => Some((name.clone(), values.clone())),
            _ => None,
        });
        lists.collect()
    }

    /// Variables with one value for all users.
    pub(super) fn constants(&self) -> BTreeMap<String, Value> {
        let mut constants = self.variables.clone();
        constants.retain(|_, value| !value.is_array());
        constants.extend(self.tables.iter().cloned());
        constants.insert(
            "target".to_owned(),
            self.target.clone().unwrap_or_default().into(),
        );
        constants
    }

    pub(super) fn websocket_timeout(&self) -> Duration {
        self.timeout.or(self.websocket_timeout).unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Settings for opening WebSockets. Mistakes are recorded at `part`.
    pub(super) fn opening(&self, part: &Part<'_>) -> Option<Opening> {
        let believe = if self.is_insecure {
            Believe::Anybody
        } else {
            Believe::System
        };
        let tls = Tls::new(TlsOptions {
            believe,
            ..TlsOptions::default()
        });
        let tls = tls.inspect_err(|error| part.mistake(error.to_string())).ok()?;
        Some(Opening {
            // The configuration's templates are replaced already.
            target: Template::constant_of(self.target.as_deref()?),
            common: self.connect.clone(),
            dialer: Arc::new(Dialer::default()),
            tls: Arc::new(tls),
            deadline: self.websocket_timeout(),
        })
    }

    /// Settings of all users' HTTP clients, with the TLS settings of their WebSockets.
    pub(super) fn http(opening: &Opening, proxies: Proxies) -> Protocols {
        let dialer = Arc::new(Dialer {
            proxies,
            ..Dialer::default()
        });
        let kept_bodies = KeptBodies::new(Memory::read().half());
        let settings = |http2| {
            Arc::new(HttpSettings {
                http2,
                kept_bodies: kept_bodies.clone(),
                ..HttpSettings::new(Arc::clone(&dialer), Arc::clone(&opening.tls))
            })
        };
        Protocols {
            http1: settings(false),
            http2: settings(true),
        }
    }

    /// What all requests have in common.
    pub(super) fn defaults(&self) -> Defaults {
        Defaults {
            target: self.target.clone().unwrap_or_default(),
            headers: self.headers.clone(),
            cookies: self.cookies.clone(),
            timeout: self.timeout.or(self.http_timeout).unwrap_or(DEFAULT_TIMEOUT),
            apdex: self.apdex,
            fails_unexpected: self.fails_unexpected,
            names_unexpected: self.names_unexpected,
            times_parts: self.times_parts,
        }
    }

    /// The phases. Without any, one user arrives.
    pub(super) fn phases(&self) -> Vec<Phase> {
        self.phases.clone().unwrap_or_else(|| vec![Self::solo()])
    }

    /// Artillery's default phase, and that of `--solo`.
    pub(super) fn solo() -> Phase {
        Phase {
            name: None,
            duration: Duration::from_secs(1),
            kind: Kind::Count(1),
            spacing: Spacing::Even,
            max_vusers: None,
        }
    }
}

/// The elements of a list, or a single one.
pub(super) fn one_or_more<'a>(part: &Part<'a>) -> Vec<Part<'a>> {
    match &part.node().value {
        Written::List(_) => part.list().into_iter().flatten().collect(),
        _ => vec![part.clone()],
    }
}

/// Whether a value is written as a map.
pub(super) fn is_map(part: &Part<'_>) -> bool {
    json_of(part).is_object()
}
