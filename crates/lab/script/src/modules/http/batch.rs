//! `http.batch`: several requests at the same time.

use std::collections::HashMap;

use futures_util::future::join_all;
use plimsoll_clients::http::Exchange;
use plimsoll_load::metrics::Recorder;
use rquickjs::{Array, Ctx, Exception, Object, Result, Value};
use tokio::sync::Semaphore;

use super::{
    call::{Call, Unusable},
    send::{perform, refuse, respond},
    session::Session,
};
use crate::{arguments::items, host::Host};

/// The largest number of requests in one batch; each holds its arguments and its response.
const MAX_REQUESTS: usize = 10_000;

type Entry<'js> = (String, Value<'js>);

/// Sends the requests of an array or an object; the responses are in the same form.
pub(super) fn batch<'js>(ctx: Ctx<'js>, requests: Value<'js>) -> Result<Value<'js>> {
    let (host, session) = (Host::of(&ctx), Session::of(&ctx));
    let recorder = session.enter(&ctx, &host, "http.batch()")?;
    session.client(&ctx, &host)?;
    let entries = entries(&ctx, &requests)?;
    let calls = entries
        .iter()
        .map(|(name, entry)| read(&ctx, &host, &session, name, entry));
    let calls = calls.collect::<Result<Vec<_>>>()?;
    let settings = host
        .program
        .http()
        .map_err(|error| Exception::throw_message(&ctx, &error.to_string()))?;
    let limits = Limits::new(
        settings.batch,
        settings.batch_per_host,
        calls.iter().filter_map(|call| call.as_ref().ok()),
    );
    let exchanges = calls.iter().map(|call| async {
        let call = call.as_ref().ok()?;
        let _turns = limits.wait(call).await;
        Some(perform(&session, &host.program, &recorder, call).await)
    });
    let exchanges = host.park(&ctx, join_all(exchanges))?;
    let responses = calls
        .into_iter()
        .zip(exchanges)
        .map(|(call, exchange)| answer(&ctx, &host, &recorder, call, exchange));
    let responses = responses.collect::<Result<Vec<_>>>()?;
    if requests.is_array() {
        let array = Array::new(ctx)?;
        for (index, response) in responses.into_iter().enumerate() {
            array.set(index, response)?;
        }
        return Ok(array.into_value());
    }
    let object = Object::new(ctx)?;
    for ((name, _), response) in entries.into_iter().zip(responses) {
        object.set(name, response)?;
    }
    Ok(object.into_value())
}

fn entries<'js>(ctx: &Ctx<'js>, requests: &Value<'js>) -> Result<Vec<Entry<'js>>> {
    let entries: Vec<Entry<'js>> = if let Some(array) = requests.as_array() {
        let named = items(array)?
            .take(MAX_REQUESTS + 1)
            .enumerate()
            .map(|(index, entry)| Ok((index.to_string(), entry?)));
        named.collect::<Result<_>>()?
    } else if let Some(object) = requests.as_object() {
        object.props().collect::<Result<_>>()?
    } else {
        let text = "http.batch() needs an array or an object of requests, for example [['GET', 'https://example.com']]";
        return Err(Exception::throw_type(ctx, text));
    };
    if entries.len() > MAX_REQUESTS {
        let text = format!(
            "http.batch() was given {} requests; expected at most {MAX_REQUESTS}",
            entries.len()
        );
        return Err(Exception::throw_range(ctx, &text));
    }
    Ok(entries)
}

/// A URL, `[method, url, body, params]`, or an object with these.
fn read<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    session: &Session,
    name: &str,
    entry: &Value<'js>,
) -> Result<std::result::Result<Call, Unusable>> {
    let whole = |method: Value<'js>, url: Value<'js>, body: Value<'js>, params: Value<'js>| {
        let method = match method.as_string() {
            Some(method) => method.to_string()?,
            None if method.is_undefined() => "GET".to_owned(),
            None => {
                let text = format!(
                    "the request `{name}` of http.batch() has a method that is {}; expected a text such as 'GET'",
                    method.type_name()
                );
                return Err(Exception::throw_type(ctx, &text));
            }
        };
        Call::read(ctx, host, session, &method, &url, Some(&body), Some(&params))
    };
    if let Some(parts) = entry.as_array() {
        return whole(parts.get(0)?, parts.get(1)?, parts.get(2)?, parts.get(3)?);
    }
    match entry.as_object() {
        // An object from `http.url` has a name; a request has no name.
        Some(parts) if !parts.contains_key("name")? && parts.contains_key("url")? => whole(
            parts.get("method")?,
            parts.get("url")?,
            parts.get("body")?,
            parts.get("params")?,
        ),
        _ => Call::read(ctx, host, session, "GET", entry, None, None),
    }
}

fn answer<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    recorder: &Recorder,
    call: std::result::Result<Call, Unusable>,
    exchange: Option<Exchange>,
) -> Result<Value<'js>> {
    match (call, exchange) {
        (Ok(call), Some(exchange)) => respond(ctx, call, exchange),
        (Err(unusable), _) => refuse(ctx, host, recorder, unusable),
        (Ok(_), None) => Err(Exception::throw_internal(ctx, "a request was not made")),
    }
}

/// The limits of concurrent requests: in total, and to one host.
struct Limits {
    all: Semaphore,
    hosts: HashMap<(String, Option<u16>), Semaphore>,
}

impl Limits {
    /// Limits for `n` requests in total and `n_per_host` to one host. Zero is no limit.
    fn new<'a>(n: usize, n_per_host: usize, calls: impl Iterator<Item = &'a Call>) -> Self {
        let permits = |n: usize| if n == 0 { MAX_REQUESTS } else { n.min(MAX_REQUESTS) };
        let hosts = calls.map(|call| (Self::host(call), Semaphore::new(permits(n_per_host))));
        Self {
            hosts: hosts.collect(),
            all: Semaphore::new(permits(n)),
        }
    }

    /// The host of a call with its port: another port is another server.
    fn host(call: &Call) -> (String, Option<u16>) {
        let url = &call.request.url;
        let host = url.host_str().unwrap_or_default();
        (host.to_owned(), url.port_or_known_default())
    }

    /// Waits for both turns; they last until the result is dropped.
    async fn wait(&self, call: &Call) -> impl Sized {
        let all = self.all.acquire().await;
        let host = self.hosts.get(&Self::host(call)).map(Semaphore::acquire);
        let host = match host {
            Some(host) => Some(host.await),
            None => None,
        };
        (all, host)
    }
}
