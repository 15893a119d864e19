//! The steps of the engine `http`.

use plimsoll_clients::http::Method;
use regex::bytes::RegexBuilder;

use super::{
    config::{Settings, one_or_more},
    reader::Reader,
};
use crate::{
    artillery::{
        flow::{Flow, Parallel, Step, Wanted},
        http::{Body, Expectation, Grouping, Guard, Query, Request},
        keys,
        template::{JsonTemplate, Template},
    },
    document::{Fields, Part},
};

/// Artillery's default for concurrent requests.
const PARALLEL: usize = 100;

/// The most concurrent requests. Reason: each takes a connection of its own.
const MOST_PARALLEL: usize = 1_000;

impl<'a> Reader<'a> {
    /// A request of a scenario with the hooks of `flow`.
    pub(super) fn read_request(
        &self,
        method: &str,
        part: &Part<'a>,
        settings: &Settings,
        flow: &mut Flow,
    ) -> Option<Request> {
        let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes()).ok()?;
        let mut fields = part.fields_of(&keys::REQUEST)?;
        let url = fields.require("url", "the URL, for example url: /login");
        let written = url.as_ref().and_then(Part::text);
        let url = url.and_then(|part| self.template(&part));
        let name_part = fields.get("name");
        let name = name_part.as_ref().and_then(Part::text);
        let grouping = settings.endpoints.as_ref();
        let endpoint = grouping.and_then(|grouping| grouping.endpoint(written?, name));
        // The body's length is always sent.
        fields.known(&["setContentLengthHeader"]);
        let wanted = Wanted {
            captures: fields
                .get("capture")
                .map(|part| self.read_captures(&part))
                .unwrap_or_default(),
            matches: fields
                .get("match")
                .map(|part| self.read_matches(&part))
                .unwrap_or_default(),
        };
        let credentials = fields.get("auth").and_then(|part| self.credentials(&part));
        let switch = |part: Option<Part<'a>>| part.and_then(|part| part.boolean()).unwrap_or(true);
        let wish = |part: Option<Part<'a>>| part.and_then(|part| part.boolean()).unwrap_or(false);
        let probability = fields.get("probability").and_then(|part| {
            let percent = self.config_number(&part, &settings.variables)?;
            if !(0.0..=100.0).contains(&percent) {
                part.unexpected("a share in percent, 0 to 100");
            }
            Some(percent / 100.0)
        });
        let guard = fields.get("ifTrue").and_then(|part| self.guard(&part));
        let hooks = self.request_hooks(&mut fields, &flow.hooks);
        flow.calls_functions |= hooks.are_there() || matches!(guard, Some(Guard::Function(_)));
        let request = Request {
            written: Self::written(part, hooks.are_there()),
            hooks,
            timeout: None,
            headers: self.templates(fields.get("headers")),
            query: self.values(fields.get("qs")),
            cookies: self.templates(fields.get("cookie")),
            body: self.body(&mut fields),
            follows_redirects: switch(fields.get("followRedirect")),
            max_redirects: fields.get("maxRedirects").and_then(|part| most_redirects(&part)),
            offers_http2: wish(fields.get("http2")),
            allows_get_body: wish(fields.get("allowGetBody")),
            accepts_codings: switch(fields.get("gzip")),
            expectations: match fields.get("expect").map(|part| self.expectations(&part)) {
                Some(expectations) if !expectations.is_empty() => expectations,
                _ if settings.expects_200 => {
                    vec![Expectation::StatusCode(vec![JsonTemplate::Constant(200.into())])]
                }
                _ => Vec::new(),
            },
            name: name_part.and_then(|part| self.template(&part)),
            guard,
            url: url.clone().unwrap_or_else(|| Template::constant_of("/")),
            method,
            endpoint,
            credentials,
            wanted,
            probability,
        };
        if request.is_forbidden() {
            self.warn(
                part,
                "a GET or HEAD with a body fails its user, as in Artillery (ERR_GOT_REQUEST_ERROR); a GET may have one with \
                 `allowGetBody: true`",
            );
        }
        self.finish(fields);
        url.map(|_| request)
    }

    /// `parallel`: concurrent requests.
    pub(super) fn read_parallel(
        &self,
        part: &Part<'a>,
        fields: &mut Fields<'a>,
        settings: &Settings,
        flow: &mut Flow,
    ) -> Option<Step> {
        let mut requests = Vec::new();
        for part in part.list().into_iter().flatten() {
            let Some(mut step) = part.fields_of(&keys::REQUEST_STEP) else {
                continue;
            };
            let is_there = |method: &&&str| step.all().any(|(key, _)| key == **method);
            let Some(&method) = keys::METHODS.iter().find(is_there) else {
                part.mistake(
                    "only requests can run in parallel; expected something like { get: { url: / } }",
                );
                continue;
            };
            if let Some(part) = step.get(method) {
                requests.extend(self.read_request(method, &part, settings, flow));
            }
            step.finish();
        }
        let limit = fields.get("limit").map_or(Some(PARALLEL), |part| {
            let limit = part.whole()?;
            let limit = usize::try_from(limit)
                .ok()
                .filter(|limit| (1..=MOST_PARALLEL).contains(limit));
            if limit.is_none() {
                part.unexpected(&format!("the number of parallel requests, 1 to {MOST_PARALLEL}"));
            }
            limit
        });
        Some(Step::Parallel(Box::new(Parallel {
            requests,
            limit: limit?,
        })))
    }

    /// The plugin `metrics-by-endpoint`.
    pub(super) fn read_endpoints(&self, part: &Part<'a>) -> Option<Grouping> {
        let mut fields = part.fields_of(&keys::ENDPOINTS)?;
        let mut switch = |key| fields.get(key).and_then(|part| part.boolean());
        let grouping = Grouping {
            uses_only_names: switch("useOnlyRequestNames").unwrap_or(false),
            strips_query: switch("stripQueryString").unwrap_or(false),
            ignores_unnamed: switch("ignoreUnnamedRequests").unwrap_or(false),
            groups_dynamic_urls: switch("groupDynamicURLs").unwrap_or(true),
            is_quiet: switch("suppressOutput").unwrap_or(false),
            target: String::new(),
        };
        fields.finish();
        Some(grouping)
    }

    /// `config.http`.
    pub(super) fn read_http(&self, part: &Part<'a>, settings: &mut Settings) {
        let Some(mut fields) = part.fields_of(&keys::HTTP) else {
            return;
        };
        if let Some(part) = fields.get("timeout") {
            settings.http_timeout = self.duration(&part, &settings.variables);
        }
        if let Some(part) = fields.get("defaults") {
            self.read_defaults(&part, settings);
        }
        if let Some(part) = fields.get("extendedMetrics") {
            settings.times_parts = part.boolean() == Some(true);
        }
        self.finish(fields);
    }

    /// Texts by name, such as header fields.
    pub(super) fn templates(&self, part: Option<Part<'a>>) -> Vec<(String, Template)> {
        let fields = part.and_then(|part| part.fields());
        let entries = fields.iter().flat_map(Fields::all);
        entries
            .filter_map(|(name, part)| Some((name.to_owned(), self.template(&part)?)))
            .collect()
    }

    fn values(&self, part: Option<Part<'a>>) -> Vec<(String, JsonTemplate)> {
        let fields = part.and_then(|part| part.fields());
        let entries = fields.iter().flat_map(Fields::all);
        entries
            .filter_map(|(name, part)| Some((name.to_owned(), self.json(&part)?)))
            .collect()
    }

    fn credentials(&self, part: &Part<'a>) -> Option<(Template, Template)> {
        let mut fields = part.fields_of(&keys::CREDENTIALS)?;
        let [user, password] = ["user", "pass"].map(|key| {
            let part = fields.require(key, "a text")?;
            self.template(&part)
        });
        fields.finish();
        Some((user?, password?))
    }

    fn body(&self, fields: &mut Fields<'a>) -> Body {
        let [json, body, form, parts] = ["json", "body", "form", "formData"].map(|key| fields.get(key));
        let body = match (json, body, form, parts) {
            (None, None, None, None) => Some(Body::Nothing),
            (Some(part), None, None, None) => self.json(&part).map(Body::Json),
            (None, Some(part), None, None) => self.template(&part).map(Body::Text),
            (None, None, Some(part), None) => Some(Body::Form(self.values(Some(part)))),
            (None, None, None, Some(part)) => Some(Body::Multipart(self.form_data(&part))),
            _ => {
                fields.part().mistake(
                    "`json`, `body`, `form` and `formData` each set the whole body; keep one of them",
                );
                None
            }
        };
        body.unwrap_or_default()
    }

    fn expectations(&self, part: &Part<'a>) -> Vec<Expectation> {
        let mut all = Vec::new();
        for part in one_or_more(part) {
            let Some(mut fields) = part.fields_of(&keys::EXPECTATION) else {
                continue;
            };
            let list = |part: Option<Part<'a>>| -> Option<Vec<JsonTemplate>> {
                Some(
                    one_or_more(&part?)
                        .iter()
                        .filter_map(|part| self.json(part))
                        .collect(),
                )
            };
            let mut text = |key| fields.get(key).and_then(|part| self.template(&part));
            let texts = [
                text("contentType").map(Expectation::ContentType),
                text("hasProperty").map(Expectation::HasProperty),
                text("notHasProperty").map(Expectation::NotHasProperty),
                text("hasHeader").map(Expectation::HasHeader),
            ];
            all.extend(texts.into_iter().flatten());
            all.extend(list(fields.get("statusCode")).map(Expectation::StatusCode));
            all.extend(list(fields.get("notStatusCode")).map(Expectation::NotStatusCode));
            all.extend(list(fields.get("equals")).map(Expectation::Equals));
            all.extend(
                fields
                    .get("headerEquals")
                    .and_then(|part| self.header_equals(&part)),
            );
            all.extend(fields.get("matchesRegexp").and_then(|part| matches_regexp(&part)));
            all.extend(
                fields
                    .get("cdnHit")
                    .and_then(|part| part.boolean())
                    .map(Expectation::CdnHit),
            );
            for name in ["jmespath", "jpath"] {
                all.extend(fields.get(name).and_then(|part| jmespath(name, &part)));
            }
            self.finish(fields);
        }
        all
    }

    fn header_equals(&self, part: &Part<'a>) -> Option<Expectation> {
        let parts: Vec<_> = part.list()?.collect();
        let [name, value] = parts.as_slice() else {
            part.unexpected("a name and a value, for example [content-type, text/html]");
            return None;
        };
        Some(Expectation::HeaderEquals(
            self.template(name)?,
            self.template(value)?,
        ))
    }
}

fn most_redirects(part: &Part<'_>) -> Option<u32> {
    let most = u32::try_from(part.whole()?)
        .ok()
        .filter(|most| (1..=1_000).contains(most));
    if most.is_none() {
        part.unexpected("the number of redirects, 1 to 1000; none are followed with `followRedirect: false`");
    }
    most
}

fn jmespath(name: &'static str, part: &Part<'_>) -> Option<Expectation> {
    let query = Query::parse(part.text()?).inspect_err(|problem| part.mistake(problem.clone()));
    Some(Expectation::Jmespath(name, query.ok()?))
}

fn matches_regexp(part: &Part<'_>) -> Option<Expectation> {
    let regex = RegexBuilder::new(part.text()?).size_limit(1 << 20).build();
    let regex = regex.inspect_err(|_| part.unexpected("a regular expression, for example \"id=[0-9]+\""));
    Some(Expectation::MatchesRegexp(regex.ok()?))
}
