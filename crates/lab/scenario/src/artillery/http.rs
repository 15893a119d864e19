//! The engine `http`: the requests of one virtual user, who has connections and cookies of its own.

use std::{
    borrow::Cow,
    cell::{Cell, OnceCell, RefCell},
    sync::Arc,
    time::{Duration, SystemTime},
};

use plimsoll_clients::dial::DialError;
use plimsoll_clients::http::{
    Client, Cookie, CookieJar, Exchange, HttpError, Keep, Redirects, Request as Wire, Response, Settings, Url,
};
use plimsoll_load::metrics::Recorder;
use serde_json::Value;

use super::{
    caller::Caller,
    capture::{Answer, MismatchError, has_all, take},
    failure::Failure,
    metrics::Metrics,
    variables::{Variables, text_of},
};

mod endpoint;
mod expectation;
mod files;
mod hooks;
mod query;
mod request;

use self::hooks::Adapted;
pub(crate) use self::{
    endpoint::{Endpoint, Grouping},
    expectation::Expectation,
    files::{Files, LARGEST_FILE},
    query::Query,
    request::{Body, Content, Defaults, Field, Guard, Request, RequestHooks},
};

/// Artillery's limit for redirects.
const MOST_REDIRECTS: u32 = 10;

/// Settings for connections, without and with HTTP/2.
#[derive(Clone, Debug)]
pub(crate) struct Protocols {
    pub(crate) http1: Arc<Settings>,
    pub(crate) http2: Arc<Settings>,
}

/// One user's client.
#[derive(Debug)]
pub(crate) struct Visitor {
    client: Client,
    /// The client for requests that offer HTTP/2, with connections of its own: made for the first of them.
    http2: OnceCell<Box<Client>>,
    settings: Protocols,
    jar: RefCell<CookieJar>,
    /// Whether all requests use the jar: from the first answer with a cookie on, or with a default cookie.
    uses_jar: Cell<bool>,
    metrics: Metrics,
    recorder: Recorder,
}

impl Visitor {
    /// A user without connections and cookies.
    pub(crate) fn new(settings: &Protocols, metrics: Metrics, recorder: Recorder) -> Self {
        Self {
            client: Client::new(Arc::clone(&settings.http1), None),
            http2: OnceCell::new(),
            settings: settings.clone(),
            jar: RefCell::default(),
            uses_jar: Cell::new(false),
            metrics,
            recorder,
        }
    }

    /// Sends a request and captures values from the answer.
    pub(crate) async fn visit(
        &self,
        request: &Request,
        defaults: &Defaults,
        caller: Option<&Caller>,
        variables: &RefCell<Variables>,
    ) -> Result<(), Failure> {
        if !request.takes_place(caller, variables).await? {
            return Ok(());
        }
        let Some(caller) = caller.filter(|_| request.hooks.are_there()) else {
            let wire = request.for_user(defaults, &variables.borrow())?;
            self.permit(request, &wire)?;
            self.put_cookies(request, &wire.url, defaults, &variables.borrow());
            let exchange = self.exchange(request, &wire, defaults).await;
            let response = exchange.outcome.map_err(|error| Failure::from(&error))?;
            return self.read(request, (&wire.url, &response), defaults, variables);
        };
        let Adapted { request, parameters } = request.adapt(defaults, caller, variables).await?;
        let wire = request.for_user(defaults, &variables.borrow())?;
        self.put_cookies(&request, &wire.url, defaults, &variables.borrow());
        let parameters = hooks::sent(parameters, &wire);
        if let Err(failure) = self.permit(&request, &wire) {
            request
                .show_failure(caller, (parameters, &failure), variables)
                .await;
            return Err(failure);
        }
        let Exchange { outcome, url, .. } = self.exchange(&request, &wire, defaults).await;
        match outcome {
            Ok(response) => {
                let outcome = self.read(&request, (&wire.url, &response), defaults, variables);
                let answer = hooks::answer(&url, &response);
                request
                    .show_answer(caller, (parameters, answer), variables)
                    .await?;
                outcome
            }
            Err(error) => {
                let failure = Failure::from(&error);
                request
                    .show_failure(caller, (parameters, &failure), variables)
                    .await;
                Err(failure)
            }
        }
    }

    /// Refuses a request whose method cannot have its body, as Artillery's client does.
    fn permit(&self, request: &Request, wire: &Wire) -> Result<(), Failure> {
        if !request.is_forbidden() {
            return Ok(());
        }
        let failure = Failure::new("ERR_GOT_REQUEST_ERROR").caused_by(format!(
            "a request with the method {} cannot have a body",
            request.method
        ));
        if let Some(endpoint) = &request.endpoint {
            endpoint.record_failure(&wire.url, &failure, &self.recorder);
        }
        Err(failure)
    }

    /// Puts the cookies of a request into the user's jar, so that later requests have them, too.
    fn put_cookies(&self, request: &Request, url: &Url, defaults: &Defaults, variables: &Variables) {
        for (name, value) in defaults.cookies.iter().chain(&request.cookies) {
            let cookie = Cookie::new(name, &value.render(variables));
            self.jar.borrow_mut().store(url, cookie, SystemTime::now());
        }
    }

    /// Keeps the first cookies of an answer. From then on all requests use the jar, and the client keeps them.
    fn remember_cookies(&self, exchange: &Exchange) {
        let Ok(response) = &exchange.outcome else { return };
        if !self.uses_jar.get() {
            let mut jar = self.jar.borrow_mut();
            self.uses_jar.set(jar.store_all(&exchange.url, &response.headers));
        }
    }

    fn client_for(&self, request: &Request) -> &Client {
        if !request.offers_http2 {
            return &self.client;
        }
        self.http2
            .get_or_init(|| Box::new(Client::new(Arc::clone(&self.settings.http2), None)))
    }

    /// Sends a request and counts its result.
    async fn exchange(&self, request: &Request, wire: &Wire, defaults: &Defaults) -> Exchange {
        // A request with cookies of its own uses the jar, too. As in Artillery, redirects set cookies only then.
        let uses_jar = self.uses_jar.get() || !request.cookies.is_empty() || !defaults.cookies.is_empty();
        let jar = uses_jar.then_some(&self.jar);
        let client = self.client_for(request);
        let sending = client.send(wire, jar, |exchange| {
            self.remember_cookies(&exchange);
            self.count(&exchange, defaults);
        });
        let exchange = sending.await;
        self.remember_cookies(&exchange);
        self.count(&exchange, defaults);
        if let Some(endpoint) = &request.endpoint {
            endpoint.record(&wire.url, &exchange, &self.recorder);
        }
        let (sent, received) = client.take_traffic();
        self.recorder.count(self.metrics.data.sent, sent);
        self.recorder.count(self.metrics.data.received, received);
        exchange
    }

    /// Captures values from an answer.
    fn read(
        &self,
        request: &Request,
        (url, response): (&Url, &Response),
        defaults: &Defaults,
        variables: &RefCell<Variables>,
    ) -> Result<(), Failure> {
        let variables = &mut *variables.borrow_mut();
        let answer = Answer::new(&response.body, Some(&response.headers));
        if !self.expect(request, response, &answer, variables) && defaults.fails_unexpected {
            let name = request.name.as_ref().filter(|_| defaults.names_unexpected);
            let name = name.map_or(Cow::Borrowed(url.as_str()), |name| name.render(variables));
            return Err(Failure::new(format!("Failed expectations for request {name}")));
        }
        if !has_all(&request.wanted.matches, &answer, variables) {
            return Err(MismatchError.into());
        }
        Ok(take(&request.wanted.captures, &answer, variables)?)
    }

    fn count(&self, exchange: &Exchange, defaults: &Defaults) {
        let Self {
            metrics, recorder, ..
        } = self;
        recorder.count(metrics.http.requests, 1);
        let Ok(response) = &exchange.outcome else { return };
        recorder.count(metrics.http.responses, 1);
        recorder.count(metrics.http.downloaded_bytes, response.body.len() as u64);
        recorder.tally(&format!("http.codes.{}", response.status), 1);
        let time = exchange.timings.sending + exchange.timings.waiting;
        recorder.record(metrics.http.response_time, time);
        if defaults.times_parts {
            let (parts, timings) = (metrics.http.parts, &exchange.timings);
            let opening = timings.connecting + timings.tls_handshaking;
            recorder.record(parts.dns, timings.blocked.saturating_sub(opening));
            recorder.record(parts.tcp, timings.connecting);
            recorder.record(parts.tls, timings.tls_handshaking);
            recorder.record(
                parts.total,
                timings.ended.saturating_duration_since(timings.started),
            );
        }
        if let Some(threshold) = defaults.apdex {
            let reached = apdex(time, threshold);
            for name in APDEX {
                recorder.tally(name, u64::from(name == reached));
            }
        }
        if let Some(of_class) = metrics.http.of_class(response.status) {
            recorder.record(of_class, time);
        }
    }

    /// Counts the expectations that are met, and those that are not. Returns whether all are met.
    fn expect(
        &self,
        request: &Request,
        response: &Response,
        answer: &Answer<'_>,
        variables: &Variables,
    ) -> bool {
        let mut are_met = true;
        for expectation in &request.expectations {
            let is_met = expectation.holds(response, answer, variables);
            are_met &= is_met;
            let word = if is_met { "ok" } else { "failed" };
            self.recorder.tally(&format!("plugins.expect.{word}"), 1);
            self.recorder.tally(
                &format!("plugins.expect.{word}.{}", expectation.name(variables)),
                1,
            );
        }
        are_met
    }
}

impl Request {
    fn for_user(&self, defaults: &Defaults, variables: &Variables) -> Result<Wire, Failure> {
        let mut wire = Wire::new(self.method.clone(), self.url(defaults, variables)?);
        for (name, value) in defaults.headers.iter().chain(&self.headers) {
            wire.headers
                .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            let value = value.known(variables);
            wire.headers
                .extend(value.map(|value| (name.clone(), value.into_owned())));
        }
        let has = |wire: &Wire, name| {
            wire.headers
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        let (body, kind) = self.body.for_user(variables)?;
        if let Some(kind) = kind.filter(|_| !has(&wire, "content-type")) {
            wire.headers.push(("content-type".to_owned(), kind.into_owned()));
        }
        if self.accepts_codings && !has(&wire, "accept-encoding") {
            wire.headers
                .push(("accept-encoding".to_owned(), "gzip, deflate, br".to_owned()));
        }
        wire.body = body;
        wire.timeout = self.timeout.unwrap_or(defaults.timeout);
        let most_redirects = self.max_redirects.unwrap_or(MOST_REDIRECTS);
        wire.max_redirects = if self.follows_redirects { most_redirects } else { 0 };
        wire.redirects = Redirects::Got;
        wire.keep = Keep::Body;
        Ok(wire)
    }

    fn url(&self, defaults: &Defaults, variables: &Variables) -> Result<Url, Failure> {
        let invalid = || Failure::new("Invalid URL");
        let written = self.url.render(variables);
        let written = if written.starts_with('/') {
            Cow::Owned(format!("{}{written}", defaults.target.trim_end_matches('/')))
        } else {
            written
        };
        let mut url = Url::parse(&written).map_err(|_| invalid())?;
        if !self.query.is_empty() {
            url.set_query(None);
            let mut query = url.query_pairs_mut();
            for (name, value) in &self.query {
                // Each element of a list has the key. Maps and nulls become empty, as in Node's `querystring`.
                let value = value.value(variables);
                for value in value
                    .as_array()
                    .map_or(std::slice::from_ref(&value), Vec::as_slice)
                {
                    let text = match value {
                        Value::Null | Value::Object(_) | Value::Array(_) => String::new(),
                        value => text_of(value),
                    };
                    query.append_pair(name, &text);
                }
            }
        }
        if let Some((user, password)) = &self.credentials {
            url.set_username(&user.render(variables))
                .map_err(|()| invalid())?;
            url.set_password(Some(&password.render(variables)))
                .map_err(|()| invalid())?;
        }
        Ok(url)
    }
}

/// The counters of an Apdex score. All are there as soon as one is, as in Artillery.
const APDEX: [&str; 3] = ["apdex.satisfied", "apdex.tolerated", "apdex.frustrated"];

/// The counter of an answer for its Apdex score.
fn apdex(time: Duration, threshold: Duration) -> &'static str {
    let [satisfied, tolerated, frustrated] = APDEX;
    if time <= threshold {
        satisfied
    } else if time <= 4 * threshold {
        tolerated
    } else {
        frustrated
    }
}

impl From<&HttpError> for Failure {
    fn from(error: &HttpError) -> Self {
        match error {
            HttpError::Dial(DialError::Proxy {
                status: Some(status), ..
            }) => Self::new(format!("Bad response: {status}")).caused_by("answer of the proxy".to_owned()),
            HttpError::Dial(error) => Self::from(error),
            HttpError::Timeout { .. } => Self::new("ETIMEDOUT"),
            HttpError::Lost { source, .. } => Self::of_io(source),
            HttpError::Ended | HttpError::Unanswered => Self::new("ECONNRESET"),
            HttpError::TooManyRedirects(_) => Self::new("ERR_TOO_MANY_REDIRECTS"),
            HttpError::Handshake(error) => {
                Self::new("TLS handshake failed").caused_by(error.cause().described())
            }
            error => Self::new(error.words().into_owned()),
        }
    }
}
