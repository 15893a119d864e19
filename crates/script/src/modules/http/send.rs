//! Making a request: the script waits, or gets a promise.

use std::{rc::Rc, sync::Arc, time::Instant};

use plimsoll_clients::http::Exchange;
use plimsoll_load::metrics::Recorder;
use rquickjs::{Class, Ctx, Exception, IntoJs as _, Persistent, Result, Value};

use super::{
    call::{Call, Unusable},
    debug::Debug,
    response::Response,
    session::Session,
};
use crate::{events::Callback, host::Host, program::Program};

/// Sends a request while the script waits.
pub(super) fn blocking<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    body: Option<&Value<'js>>,
    params: Option<&Value<'js>>,
) -> Result<Value<'js>> {
    let (host, session) = (Host::of(ctx), Session::of(ctx));
    let recorder = session.enter(ctx, &host, "a request of k6/http")?;
    session.client(ctx, &host)?;
    let call = match Call::read(ctx, &host, &session, method, url, body, params)? {
        Ok(call) => call,
        Err(unusable) => return refuse(ctx, unusable),
    };
    let exchange = host.park(ctx, perform(&session, &host.program, &recorder, &call))?;
    respond(ctx, call, exchange)
}

/// Sends a request and gives a promise of its response.
pub(super) fn promised<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    body: Option<&Value<'js>>,
    params: Option<&Value<'js>>,
) -> Result<Value<'js>> {
    let (host, session) = (Host::of(ctx), Session::of(ctx));
    let recorder = session.enter(ctx, &host, "http.asyncRequest()")?;
    session.client(ctx, &host)?;
    let (promise, resolve, reject) = ctx.promise()?;
    let call = match Call::read(ctx, &host, &session, method, url, body, params)? {
        Ok(call) => call,
        Err(unusable) => {
            match refuse(ctx, unusable) {
                Ok(response) => resolve.call::<_, ()>((response,))?,
                Err(_) => reject.call::<_, ()>((ctx.catch(),))?,
            }
            return promise.into_js(ctx);
        }
    };
    let program = Arc::clone(&host.program);
    let settle = (Persistent::save(ctx, resolve), Persistent::save(ctx, reject));
    let request = async move {
        let exchange = perform(&session, &program, &recorder, &call).await;
        Box::new(move |ctx: &Ctx<'_>| {
            let (resolve, reject) = settle;
            match respond(ctx, call, exchange) {
                Ok(response) => resolve.restore(ctx)?.call((response,)),
                Err(_) => reject.restore(ctx)?.call((ctx.catch(),)),
            }
        }) as Callback
    };
    host.event(ctx, request)?;
    promise.into_js(ctx)
}

/// All exchanges of a call, recorded; the last one.
pub(super) async fn perform(
    session: &Rc<Session>,
    program: &Program,
    recorder: &Recorder,
    call: &Call,
) -> Exchange {
    if let Ok(Some(pace)) = program.http().map(|settings| settings.pace.as_ref()) {
        tokio::time::sleep_until(pace.reserve(Instant::now()).into()).await;
    }
    let debug = *session.debug.get_or_init(|| Debug::of(program));
    let record = |exchange: &Exchange| {
        session.samples.record(program, recorder, call, exchange);
        if let Some(debug) = debug {
            debug.show(&call.request, exchange);
        }
    };
    let sending = session
        .made_client()
        .send(&call.request, call.jar.as_deref(), |hop| record(&hop));
    let exchange = sending.await;
    record(&exchange);
    session.count_bytes(recorder, &program.metrics().data);
    exchange
}

/// What the script gets.
///
/// # Errors
/// The failure of the request, where the script wants exceptions.
pub(super) fn respond<'js>(ctx: &Ctx<'js>, call: Call, exchange: Exchange) -> Result<Value<'js>> {
    match &exchange.outcome {
        Err(error) if call.throws => {
            let text = format!("{} {:?}: {error}", call.request.method, call.url);
            return Err(Exception::throw_message(ctx, &text));
        }
        Err(error) => {
            tracing::warn!(target: "http", "Request Failed: {} {:?}: {error}", call.request.method, call.url);
        }
        Ok(response) => {
            let is_redirect =
                (300..400).contains(&response.status) && response.headers.get("location").is_some();
            if is_redirect && !call.has_own_limit && response.status != 304 {
                tracing::warn!(
                    target: "http",
                    "{} {:?}: stopped after {} redirects; the last one is the response. Set `redirects` in the \
                     parameters of the request, or the option `maxRedirects`, to choose the limit",
                    call.request.method, call.url, call.request.max_redirects
                );
            }
        }
    }
    Class::instance(ctx.clone(), Response::new(call, exchange))?.into_js(ctx)
}

/// What the script gets for a request that could not be made.
///
/// # Errors
/// Likewise.
pub(super) fn refuse<'js>(ctx: &Ctx<'js>, unusable: Unusable) -> Result<Value<'js>> {
    if unusable.throws {
        return Err(Exception::throw_message(ctx, &unusable.text));
    }
    tracing::warn!(target: "http", "Request Failed: {}", unusable.text);
    Class::instance(ctx.clone(), Response::failed(unusable))?.into_js(ctx)
}
