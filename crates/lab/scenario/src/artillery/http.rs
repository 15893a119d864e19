//! The engine `http`: the requests of one virtual user, who has connections and cookies of its own.

use std::{borrow::Cow, cell::RefCell, sync::Arc, time::Duration};

use plimsoll_clients::http::{
    Client, CookieJar, Exchange, HttpError, Keep, Request as Wire, RequestCookie, Response, Settings, Url,
};
use plimsoll_load::metrics::Recorder;

use super::{
    caller::Caller,
    capture::{Answer, MismatchError, has_all, take},
    failure::Failure,
    metrics::Metrics,
    variables::{Variables, text_of},
};

mod endpoint;
mod expectation;
mod hooks;
mod request;

use self::hooks::Adapted;
pub(crate) use self::{
    endpoint::{Endpoint, Grouping},
    expectation::Expectation,
    request::{Body, Content, Defaults, Field, Guard, Request, RequestHooks},
};

/// Artillery's limit for redirects.
const MOST_REDIRECTS: u32 = 10;

/// One user's client.
#[derive(Debug)]
pub(crate) struct Visitor {
    client: Client,
    jar: RefCell<CookieJar>,
    metrics: Metrics,
    recorder: Recorder,
}

impl Visitor {
    /// A user without connections and cookies.
    pub(crate) fn new(settings: Arc<Settings>, metrics: Metrics, recorder: Recorder) -> Self {
        Self {
            client: Client::new(settings, None),
            jar: RefCell::default(),
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
            let exchange = self.exchange(request, &wire, defaults).await;
            let response = exchange.outcome.map_err(|error| Failure::from(&error))?;
            return self.read(request, &response, variables);
        };
        let Adapted { request, parameters } = request.adapt(defaults, caller, variables).await?;
        let wire = request.for_user(defaults, &variables.borrow())?;
        let parameters = hooks::sent(parameters, &wire);
        let Exchange { outcome, url, .. } = self.exchange(&request, &wire, defaults).await;
        match outcome {
            Ok(response) => {
                let outcome = self.read(&request, &response, variables);
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

    /// Sends a request and counts its result.
    async fn exchange(&self, request: &Request, wire: &Wire, defaults: &Defaults) -> Exchange {
        let sending = self
            .client
            .send(wire, Some(&self.jar), |exchange| self.count(&exchange, defaults));
        let exchange = sending.await;
        self.count(&exchange, defaults);
        if let Some(endpoint) = &request.endpoint {
            endpoint.record(&wire.url, &exchange, &self.recorder);
        }
        let (sent, received) = self.client.take_traffic();
        self.recorder.count(self.metrics.data.sent, sent);
        self.recorder.count(self.metrics.data.received, received);
        exchange
    }

    /// Captures values from an answer.
    fn read(
        &self,
        request: &Request,
        response: &Response,
        variables: &RefCell<Variables>,
    ) -> Result<(), Failure> {
        let variables = &mut *variables.borrow_mut();
        let answer = Answer::new(&response.body, Some(&response.headers));
        self.expect(request, response, &answer, variables);
        if !has_all(&request.wanted.matches, &answer, variables) {
            return Err(MismatchError::Match.into());
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
        if let Some(threshold) = defaults.apdex {
            recorder.tally(apdex(time, threshold), 1);
        }
        if let Some(of_class) = metrics.http.of_class(response.status) {
            recorder.record(of_class, time);
        }
    }

    fn expect(&self, request: &Request, response: &Response, answer: &Answer<'_>, variables: &Variables) {
        for expectation in &request.expectations {
            let word = if expectation.holds(response, answer, variables) {
                "ok"
            } else {
                "failed"
            };
            self.recorder.tally(&format!("plugins.expect.{word}"), 1);
            self.recorder
                .tally(&format!("plugins.expect.{word}.{}", expectation.name()), 1);
        }
    }
}

impl Request {
    fn for_user(&self, defaults: &Defaults, variables: &Variables) -> Result<Wire, Failure> {
        let mut wire = Wire::new(self.method.clone(), self.url(defaults, variables)?);
        for (name, value) in defaults.headers.iter().chain(&self.headers) {
            wire.headers
                .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            wire.headers
                .push((name.clone(), value.render(variables).into_owned()));
        }
        let has = |wire: &Wire, name| {
            wire.headers
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        let (body, kind) = self.body.for_user(variables);
        if let Some(kind) = kind.filter(|_| !has(&wire, "content-type")) {
            wire.headers.push(("content-type".to_owned(), kind.into_owned()));
        }
        if self.accepts_codings && !has(&wire, "accept-encoding") {
            wire.headers
                .push(("accept-encoding".to_owned(), "gzip, deflate, br".to_owned()));
        }
        wire.body = body;
        let cookies = defaults.cookies.iter().chain(&self.cookies);
        let cookies = cookies.map(|(name, value)| RequestCookie {
            name: name.clone(),
            value: value.render(variables).into_owned(),
            replace: true,
        });
        wire.cookies = cookies.collect();
        wire.timeout = self.timeout.unwrap_or(defaults.timeout);
        wire.max_redirects = if self.follows_redirects { MOST_REDIRECTS } else { 0 };
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
            let mut query = url.query_pairs_mut();
            for (name, value) in &self.query {
                query.append_pair(name, &text_of(&value.value(variables)));
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

/// The counter of an answer for its Apdex score.
fn apdex(time: Duration, threshold: Duration) -> &'static str {
    if time <= threshold {
        "apdex.satisfied"
    } else if time <= 4 * threshold {
        "apdex.tolerated"
    } else {
        "apdex.frustrated"
    }
}

impl From<&HttpError> for Failure {
    fn from(error: &HttpError) -> Self {
        match error {
            HttpError::Dial(error) => Self::from(error),
            HttpError::Timeout { .. } => Self::new("ETIMEDOUT"),
            HttpError::Lost { source, .. } => Self::of_io(source),
            HttpError::Ended => Self::new("ECONNRESET"),
            HttpError::Handshake(error) => {
                Self::new("TLS handshake failed").caused_by(error.cause().described())
            }
            error => Self::new(error.words().into_owned()),
        }
    }
}
