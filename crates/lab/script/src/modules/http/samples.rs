//! The samples of an exchange.

use std::borrow::Cow;

use plimsoll_clients::{
    http::{Exchange, Expectation, Method, Protocol, Timings},
    tls::TlsVersion,
};
use plimsoll_load::metrics::{Recorder, built_in::Http};

use super::call::{Call, Unusable, without_password};
use crate::{program::Program, recorders::Recorders, tags};

/// Recorders with the tags of exchanges, kept because the next one is mostly like the last.
#[derive(Default)]
pub(super) struct Samples(Recorders<Like>);

/// A tag about the event.
type Tag<'a> = (&'static str, Cow<'a, str>);

/// The values that decide about the tags of a successful exchange without its own tags.
#[derive(PartialEq)]
struct Like {
    url: String,
    method: Method,
    status: u16,
    protocol: Protocol,
    tls: Option<TlsVersion>,
    expected: Option<bool>,
}

impl Samples {
    /// Records an exchange of a call.
    pub(super) fn record(&self, program: &Program, base: &Recorder, call: &Call, exchange: &Exchange) {
        let status = exchange.outcome.as_ref().map_or(0, |response| response.status);
        let expected = call.expected.as_ref().map(|expected| {
            let is_challenge = status == 401;
            match exchange.challenge {
                Expectation::None => expected.contains(status),
                Expectation::Certain => is_challenge,
                Expectation::Possible => is_challenge || expected.contains(status),
            }
        });
        let recorder = self.recorder(program, base, call, exchange, expected);
        write(&recorder, &program.metrics().http, timings(exchange), expected);
        if expected == Some(false) {
            let (what, advice) = match &exchange.outcome {
                Ok(response) => (format!("answered {}", response.status), None),
                Err(error) => (format!("failed: {}", error.words()), error.advice()),
            };
            let url = shown_url(call, exchange);
            note_fault(base, exchange.method.as_str(), &url, &what, advice);
        }
    }

    /// Records a call that could not be made: it has no times.
    pub(super) fn record_unusable(program: &Program, base: &Recorder, unusable: &Unusable) {
        let Unusable { call, problem } = unusable;
        if !problem.is_recorded() {
            return;
        }
        let url = call.name.as_ref().unwrap_or(&call.shown_url);
        let mut system = request_tags(call.request.method.as_str(), url);
        system.extend(failure_tags(problem.text.as_str().into(), problem.code));
        let expected = call.expected.as_ref().map(|expected| expected.contains(0));
        system.extend(expected.map(expectation_tag));
        let recorder = tagged(program, base, call, system);
        write(&recorder, &program.metrics().http, None, expected);
        if expected == Some(false) {
            let what = format!("failed: {}", problem.text);
            note_fault(base, call.request.method.as_str(), url, &what, None);
        }
    }

    fn recorder(
        &self,
        program: &Program,
        base: &Recorder,
        call: &Call,
        exchange: &Exchange,
        expected: Option<bool>,
    ) -> Recorder {
        if !base.reads_tags() {
            return base.clone();
        }
        let url = shown_url(call, exchange);
        let Ok(response) = exchange.outcome.as_ref().map_err(drop) else {
            return with_tags(program, base, call, exchange, &url, expected);
        };
        if !call.tags.is_empty() || program.has_system_tag("ip") {
            return with_tags(program, base, call, exchange, &url, expected);
        }
        let like = Like {
            url: url.into_owned(),
            method: exchange.method.clone(),
            status: response.status,
            protocol: response.protocol,
            tls: exchange.tls.as_ref().map(|tls| tls.version),
            expected,
        };
        if let Some(known) = self.0.find(base, &like) {
            return known;
        }
        let recorder = with_tags(program, base, call, exchange, &like.url, expected);
        self.0.keep(base, like, &recorder);
        recorder
    }
}

/// The value of the tags `url` and `name`, which are equal (docs/protocols/k6.md, Tags).
fn shown_url<'a>(call: &'a Call, exchange: &Exchange) -> Cow<'a, str> {
    match &call.name {
        Some(name) => Cow::Borrowed(name),
        None if exchange.url == call.request.url => Cow::Borrowed(&call.shown_url),
        None => Cow::Owned(without_password(exchange.url.as_str())),
    }
}

fn with_tags(
    program: &Program,
    base: &Recorder,
    call: &Call,
    exchange: &Exchange,
    url: &str,
    expected: Option<bool>,
) -> Recorder {
    let mut system = request_tags(exchange.method.as_str(), url);
    match &exchange.outcome {
        Ok(response) => {
            system.push(("status", response.status.to_string().into()));
            system.push(("proto", response.protocol.name().into()));
            if response.status >= 400 {
                system.push((
                    "error_code",
                    (1000 + u32::from(response.status)).to_string().into(),
                ));
            }
        }
        Err(error) => system.extend(failure_tags(error.words(), error.code())),
    }
    if let Some(tls) = &exchange.tls {
        system.push(("tls_version", tls.version.name().into()));
    }
    system.extend(expected.map(expectation_tag));
    if let Some(remote) = exchange.remote {
        system.push(("ip", remote.ip().to_string().into()));
    }
    tagged(program, base, call, system)
}

fn request_tags<'a>(method: &'a str, url: &'a str) -> Vec<Tag<'a>> {
    vec![
        ("url", url.into()),
        ("name", url.into()),
        ("method", method.into()),
    ]
}

fn failure_tags(words: Cow<'_, str>, code: u16) -> [Tag<'_>; 3] {
    [
        ("status", "0".into()),
        ("error", words),
        ("error_code", code.to_string().into()),
    ]
}

fn expectation_tag(expected: bool) -> Tag<'static> {
    ("expected_response", expected.to_string().into())
}

/// The recorder with the tags of the call, and with the system tags of the run.
fn tagged(program: &Program, base: &Recorder, call: &Call, mut system: Vec<Tag<'_>>) -> Recorder {
    system.retain(|(name, _)| program.has_system_tag(name));
    let system = system.iter().map(|(name, value)| (*name, &**value));
    base.with_tags(tags::pairs(&call.tags).chain(system))
}

/// Adds a fault to the summary's list of faults, with the next step if it is known.
fn note_fault(recorder: &Recorder, method: &str, url: &str, what: &str, advice: Option<&str>) {
    let cause = match advice {
        Some(advice) => format!("request {what}: {advice}"),
        None => format!("request {what}"),
    };
    recorder.fault(&cause, &format!("{method} {url} {what}"));
}

/// The times of an exchange. `None` if it never had a connection, for example because the target refused it: a time of
/// zero would make the target look faster than it is. k6 counts such a request with zeros.
fn timings(exchange: &Exchange) -> Option<&Timings> {
    let timings = &exchange.timings;
    (exchange.outcome.is_ok() || !timings.duration().is_zero()).then_some(timings)
}

fn write(recorder: &Recorder, metrics: &Http, timings: Option<&Timings>, expected: Option<bool>) {
    recorder.count(metrics.reqs, 1);
    if let Some(timings) = timings {
        recorder.record(metrics.duration, timings.duration());
        recorder.record(metrics.blocked, timings.blocked);
        recorder.record(metrics.connecting, timings.connecting);
        recorder.record(metrics.tls_handshaking, timings.tls_handshaking);
        recorder.record(metrics.sending, timings.sending);
        recorder.record(metrics.waiting, timings.waiting);
        recorder.record(metrics.receiving, timings.receiving);
    }
    if let Some(expected) = expected {
        recorder.rate(metrics.failed, !expected);
    }
}
