//! Making a request: the script waits, or gets a promise.

use std::{rc::Rc, sync::Arc, time::Instant};

use plimsoll_clients::http::{Exchange, HttpError};
use plimsoll_load::metrics::Recorder;
use rquickjs::{Class, Ctx, Exception, IntoJs as _, Result, Value};

use super::{
    call::{Call, Unusable},
    debug::Debug,
    response::Response,
    samples::Samples,
    session::Session,
};
use crate::{host::Host, program::Program, promises};

/// The request of a script, read at the call.
struct Asked {
    host: Rc<Host>,
    session: Rc<Session>,
    recorder: Recorder,
    call: std::result::Result<Call, Unusable>,
}

impl Asked {
    /// Reads the arguments of `what`.
    ///
    /// # Errors
    /// In the init context, and as for [`Call::read`].
    fn read<'js>(
        ctx: &Ctx<'js>,
        what: &str,
        method: &str,
        url: &Value<'js>,
        body: Option<&Value<'js>>,
        params: Option<&Value<'js>>,
    ) -> Result<Self> {
        let (host, session) = (Host::of(ctx), Session::of(ctx));
        let recorder = session.enter(ctx, &host, what)?;
        session.client(ctx, &host)?;
        let call = Call::read(ctx, &host, &session, method, url, body, params)?;
        Ok(Self {
            host,
            session,
            recorder,
            call,
        })
    }
}

/// Sends a request while the script waits.
pub(super) fn blocking<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    body: Option<&Value<'js>>,
    params: Option<&Value<'js>>,
) -> Result<Value<'js>> {
    let Asked {
        host,
        session,
        recorder,
        call,
    } = Asked::read(ctx, "a request of k6/http", method, url, body, params)?;
    match call {
        Err(unusable) => refuse(ctx, &host, &recorder, unusable),
        Ok(call) => {
            let exchange = host.park(ctx, perform(&session, &host.program, &recorder, &call))?;
            respond(ctx, call, exchange)
        }
    }
}

/// Sends a request and gives a promise of its response.
pub(super) fn promised<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    body: Option<&Value<'js>>,
    params: Option<&Value<'js>>,
) -> Result<Value<'js>> {
    let Asked {
        host,
        session,
        recorder,
        call,
    } = Asked::read(ctx, "http.asyncRequest()", method, url, body, params)?;
    let call = match call {
        Ok(call) => call,
        Err(unusable) => {
            let refused = refuse(ctx, &host, &recorder, unusable);
            return promises::settled(ctx, refused)?.into_js(ctx);
        }
    };
    let program = Arc::clone(&host.program);
    let request = async move {
        let exchange = perform(&session, &program, &recorder, &call).await;
        (call, exchange)
    };
    promises::later(ctx, request, |ctx, (call, exchange)| respond(ctx, call, exchange))?.into_js(ctx)
}

/// Performs and records all exchanges of a call, and returns the last one.
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
        // As k6 has it: no load test means to do that.
        Err(error) if call.throws || matches!(error, HttpError::SwitchingProtocols) => {
            let text = format!("{} {:?}: {error}", call.request.method, call.shown_url);
            return Err(Exception::throw_message(ctx, &text));
        }
        Err(error) => {
            tracing::warn!(target: "http", "Request Failed: {} {:?}: {error}", call.request.method, call.shown_url);
        }
        Ok(response) => {
            let is_redirect =
                (300..400).contains(&response.status) && response.headers.get("location").is_some();
            if is_redirect && !call.has_own_limit && response.status != 304 {
                tracing::warn!(
                    target: "http",
                    "{} {:?}: stopped after {} redirects; the last one is the response. Set `redirects` in the \
                     parameters of the request, or the option `maxRedirects`, to choose the limit",
                    call.request.method, call.shown_url, call.request.max_redirects
                );
            }
        }
    }
    Ok(Class::instance(ctx.clone(), Response::new(call, exchange))?.into_value())
}

/// Records a request that cannot be made, and returns a failed response for the script.
///
/// # Errors
/// An exception if the call throws when it fails.
pub(super) fn refuse<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    recorder: &Recorder,
    unusable: Unusable,
) -> Result<Value<'js>> {
    Samples::record_unusable(&host.program, recorder, &unusable);
    let Unusable { call, problem } = &unusable;
    let text = format!(
        "{} in {:?}; expected a URL such as https://example.com/path",
        problem.text, call.shown_url
    );
    if call.throws {
        return Err(Exception::throw_message(ctx, &text));
    }
    tracing::warn!(target: "http", "Request Failed: {text}");
    Ok(Class::instance(ctx.clone(), Response::failed(unusable))?.into_value())
}
