//! The arguments of a call, as Artillery's functions get them.

use std::{cell::RefCell, rc::Rc};

use plimsoll_scenario::artillery::hooks::{Argument, Response};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value, function::Rest};

use super::{
    guest::Guest,
    orders::CallId,
    returned::{Verdict, reason},
};
use crate::program::Program;

/// Calls that have ended, in that order.
pub(super) type Ended = Rc<RefCell<Vec<(CallId, Verdict)>>>;

/// The arguments of one call.
pub(super) struct Arguments<'js> {
    pub(super) values: Vec<Value<'js>>,
    /// The object that the function may change.
    pub(super) parameters: Option<Object<'js>>,
    /// Whether it ends with a call of `next`.
    pub(super) has_next: bool,
}

impl<'js> Arguments<'js> {
    pub(super) fn new(
        ctx: &Ctx<'js>,
        guest: &Guest<'js>,
        arguments: Vec<Argument>,
        (id, ended): (CallId, &Ended),
    ) -> Result<Self> {
        let mut made = Self {
            values: Vec::new(),
            parameters: None,
            has_next: false,
        };
        for argument in arguments {
            let value = match argument {
                Argument::Parameters(value) => {
                    let value: Value<'js> = ctx.json_parse(value.to_string())?;
                    made.parameters = value.as_object().cloned();
                    value
                }
                Argument::Response(response) => self::response(ctx, &response)?.into_value(),
                Argument::Error(text) => {
                    let error = Exception::from_message(ctx.clone(), &text)?;
                    error.set("code", text)?;
                    error.into_value()
                }
                Argument::Context => guest.context.clone().into_value(),
                Argument::Variables => guest.variables.clone().into_value(),
                Argument::Events => guest.events.clone().into_value(),
                Argument::Next | Argument::Verdict => {
                    made.has_next = true;
                    next(ctx, id, Rc::clone(ended), argument == Argument::Verdict)?.into_value()
                }
            };
            made.values.push(value);
        }
        Ok(made)
    }
}

/// `next(error)`, or `next(verdict)`.
fn next<'js>(ctx: &Ctx<'js>, id: CallId, ended: Ended, is_verdict: bool) -> Result<Function<'js>> {
    let next = move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
        let first = arguments.0.first();
        let verdict = match (is_verdict, first) {
            (true, first) => Ok(first.is_some_and(crate::modules::is_truthy)),
            (false, Some(error)) if crate::modules::is_truthy(error) => Err(reason(&ctx, error)),
            (false, _) => Ok(false),
        };
        ended.borrow_mut().push((id, verdict));
    };
    Function::new(ctx.clone(), next)?.with_name("next")
}

fn response<'js>(ctx: &Ctx<'js>, response: &Response) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("statusCode", response.status)?;
    object.set("statusMessage", response.reason.as_str())?;
    object.set("url", response.url.as_str())?;
    object.set("body", response.body.as_str())?;
    let headers = Object::new(ctx.clone())?;
    for (name, values) in &response.headers {
        match values.as_slice() {
            // Node has always a list of these.
            values if name == "set-cookie" => headers.set(name.as_str(), values.to_vec())?,
            values => headers.set(name.as_str(), values.join(", "))?,
        }
    }
    object.set("headers", headers)?;
    Ok(object)
}

/// Attaches to what a function returned: a promise ends the call when it is settled. `is_enough` says whether being
/// fulfilled ends it; a plain function may return one and call `next` later.
pub(super) fn watch<'js>(
    ctx: &Ctx<'js>,
    promise: &rquickjs::Promise<'js>,
    (id, ended): (CallId, &Ended),
    is_enough: bool,
    program: &std::sync::Arc<Program>,
) -> Result<()> {
    let (fulfilled, rejected) = (Rc::clone(ended), Rc::clone(ended));
    let on_value = move |value: Value<'js>| {
        if is_enough {
            let verdict = Ok(crate::modules::is_truthy(&value));
            fulfilled.borrow_mut().push((id, verdict));
        }
    };
    let program = std::sync::Arc::clone(program);
    let on_reason = move |ctx: Ctx<'js>, error: Value<'js>| {
        super::returned::log(&error, &program);
        rejected.borrow_mut().push((id, Err(reason(&ctx, &error))));
    };
    let (on_value, on_reason) = (
        Function::new(ctx.clone(), on_value)?,
        Function::new(ctx.clone(), on_reason)?,
    );
    let then = promise.then()?;
    then.call::<_, Value<'js>>((rquickjs::function::This(promise.clone()), on_value, on_reason))
        .map(drop)
}
