//! The life of a module on the stack of its thread: it carries out the orders of users, and its timers.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    future::poll_fn,
    rc::Rc,
    sync::Arc,
    task::Poll,
};

use plimsoll_load::run::RunHandle;
use plimsoll_scenario::artillery::hooks::{Call, Returned};
use rquickjs::{Ctx, Error, Function, Object, Result, Value, function::Args};
use tokio::sync::oneshot;

use super::{
    arguments::{Arguments, Ended, watch},
    evaluated::Evaluated,
    guest::{Guest, Shared},
    orders::{CallId, GuestId, Order, Orders, Outcome},
    returned::{self, Verdict, reason},
};
use crate::{
    arguments::utf8,
    coroutine::Switch,
    error::ScriptError,
    events::Callback,
    host::{Host, Stage},
    node,
    program::Program,
    rejections, vm,
};

/// Evaluates the module and works until the instance is dropped.
pub(super) fn live(switch: &Rc<Switch>, program: &Arc<Program>, orders: &Rc<Orders>, evaluated: &Evaluated) {
    let context = match vm::make(switch, program) {
        Ok(context) => context,
        Err(error) => {
            let text = format!("cannot create a runtime for the processor: {error}");
            evaluated.functions.replace(Some(Err(ScriptError::new(text))));
            return;
        }
    };
    context.with(|ctx| {
        let host = Host::new(Arc::clone(program), 0, Rc::clone(switch));
        let functions = evaluate(&ctx, &host);
        let names = functions.as_ref().map_err(Clone::clone);
        let names = names.map(|functions| functions.keys().cloned().collect::<BTreeSet<_>>());
        evaluated.functions.replace(Some(names));
        evaluated.events.replace(Some(Rc::clone(&host.events)));
        if let Ok(functions) = functions {
            host.begin(Stage::Hook, None);
            switch.idle();
            let workshop = Workshop {
                ctx: ctx.clone(),
                host: &host,
                switch,
                orders,
                functions,
                shared: Shared::default(),
                guests: HashMap::new(),
                under_way: HashMap::new(),
                ended: Ended::default(),
                run: None,
            };
            workshop.work();
        }
        host.end();
    });
}

/// Evaluates the modules and gives the functions: those of the default export, and those with names.
fn evaluate<'js>(
    ctx: &Ctx<'js>,
    host: &Rc<Host>,
) -> std::result::Result<BTreeMap<String, Function<'js>>, ScriptError> {
    let caught = |error| ScriptError::caught(ctx, &error, &host.program);
    vm::prepare(ctx, host).map_err(caught)?;
    node::globals::install(ctx).map_err(caught)?;
    if host.program.is_new() {
        node::missing_names::check(ctx, &host.program)?;
    }
    functions_of(ctx, host).map_err(caught)
}

fn functions_of<'js>(ctx: &Ctx<'js>, host: &Host) -> Result<BTreeMap<String, Function<'js>>> {
    let exports = vm::evaluate(ctx, &host.program)?;
    host.run_jobs(ctx)?;
    let mut functions = BTreeMap::new();
    let default: Value<'js> = exports.get("default")?;
    for object in default.as_object().into_iter().chain([&exports]) {
        for entry in object.props::<String, Value<'js>>() {
            let (name, value) = entry?;
            if let Some(function) = value.as_function() {
                functions.insert(name, function.clone());
            }
        }
    }
    Ok(functions)
}

/// Everything that the module and its users have.
struct Workshop<'js, 'a> {
    ctx: Ctx<'js>,
    host: &'a Host,
    switch: &'a Switch,
    orders: &'a Orders,
    functions: BTreeMap<String, Function<'js>>,
    shared: Shared<'js>,
    guests: HashMap<GuestId, Guest<'js>>,
    under_way: HashMap<CallId, UnderWay<'js>>,
    ended: Ended,
    /// The run of the user that came last.
    run: Option<RunHandle>,
}

/// A call that has not ended.
struct UnderWay<'js> {
    guest: GuestId,
    parameters: Option<Object<'js>>,
    reply: oneshot::Sender<Outcome>,
}

/// Work to do.
enum Due {
    Order(Order),
    Callback(Callback),
}

impl<'js> Workshop<'js, '_> {
    fn work(mut self) {
        // Waiting fails when the instance is dropped.
        while let Ok(due) = self.switch.park(poll_fn(|cx| {
            if let Poll::Ready(order) = self.orders.poll_take(cx) {
                return Poll::Ready(Due::Order(order));
            }
            match self.host.events.poll_next(cx) {
                Poll::Ready(Some(callback)) => Poll::Ready(Due::Callback(callback)),
                Poll::Ready(None) | Poll::Pending => Poll::Pending,
            }
        })) {
            match due {
                Due::Order(order) => self.obey(order),
                Due::Callback(callback) => {
                    let owner = GuestId(self.host.events.owner());
                    self.compute(owner, None, |workshop| callback(&workshop.ctx));
                }
            }
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Enter(id, introduction) => self.compute(id, None, |workshop| {
                workshop.run = Some(introduction.run.clone());
                let guest = Guest::new(&workshop.ctx, &mut workshop.shared, introduction)?;
                workshop.guests.insert(id, guest);
                Ok(())
            }),
            Order::Call {
                id,
                guest,
                call,
                reply,
            } => {
                let under_way = UnderWay {
                    guest,
                    parameters: None,
                    reply,
                };
                self.under_way.insert(id, under_way);
                self.compute(guest, Some(id), |workshop| workshop.call(id, guest, call));
            }
            Order::Forget(id) => drop(self.under_way.remove(&id)),
            Order::Leave(id) => {
                self.host.events.cancel_of(id.0);
                self.guests.remove(&id);
            }
        }
    }

    /// Lets code of a user run, with all that follows at once. What it throws is the end of `call`, or of all calls of
    /// the user when it belongs to none.
    fn compute(&mut self, owner: GuestId, call: Option<CallId>, run: impl FnOnce(&mut Self) -> Result<()>) {
        self.host.events.set_owner(owner.0);
        self.orders.begin_computing();
        let outcome = run(self)
            .and_then(|()| self.host.run_jobs(&self.ctx))
            .and_then(|()| {
                // Promises that functions return are looked at elsewhere.
                rejections::check(&self.ctx, &Value::new_undefined(self.ctx.clone()))
            });
        if let Err(error) = outcome {
            let verdict = Err(self.failure(&error));
            let all = self.under_way.iter().filter(|(_, it)| it.guest == owner);
            let calls: Vec<_> = match call {
                Some(call) => vec![call],
                None => all.map(|(id, _)| *id).collect(),
            };
            let calls = calls.into_iter().map(|id| (id, verdict.clone()));
            self.ended.borrow_mut().extend(calls);
        }
        for (id, verdict) in self.ended.take() {
            self.end(id, verdict);
        }
        if let (Some(cause), Some(run)) = (self.host.take_abort(), &self.run) {
            run.abort(cause);
        }
        self.orders.end_computing();
    }

    /// The name of the thrown error; also logs the error.
    fn failure(&self, error: &Error) -> String {
        let thrown = self.ctx.catch();
        if self.switch.is_interrupted() {
            vm::forget_jobs(&self.ctx);
            self.switch.recover();
            tracing::error!(target: "script", "a function of the processor was stopped because it runs without an \
                end");
            return "function runs without an end".to_owned();
        }
        if !error.is_exception() {
            return error.to_string();
        }
        returned::log(&thrown, &self.host.program);
        reason(&self.ctx, &thrown)
    }

    fn call(&mut self, id: CallId, guest_id: GuestId, call: Call) -> Result<()> {
        let ctx = self.ctx.clone();
        let (Some(function), Some(guest)) = (
            self.functions.get(&*call.function).cloned(),
            self.guests.get_mut(&guest_id),
        ) else {
            return Err(Error::new_loading(call.function.to_string()));
        };
        guest.hear(&ctx, call.variables)?;
        let arguments = Arguments::new(&ctx, guest, call.arguments, (id, &self.ended))?;
        if let Some(under_way) = self.under_way.get_mut(&id) {
            under_way.parameters.clone_from(&arguments.parameters);
        }
        let n_declared: usize = function.get("length")?;
        let declares_next = arguments.has_next && n_declared >= arguments.values.len();
        let mut args = Args::new(ctx.clone(), arguments.values.len());
        args.push_args(arguments.values)?;
        let returned: Value<'js> = function.call_arg(args)?;
        match returned.as_promise() {
            Some(promise) => {
                let is_enough = !declares_next || is_async(&function)?;
                watch(&ctx, promise, (id, &self.ended), is_enough, &self.host.program)
            }
            None => {
                if !arguments.has_next {
                    let verdict = Ok(crate::modules::is_truthy(&returned));
                    self.ended.borrow_mut().push((id, verdict));
                }
                Ok(())
            }
        }
    }

    /// The first end of a call counts.
    fn end(&mut self, id: CallId, verdict: Verdict) {
        let Some(under_way) = self.under_way.remove(&id) else {
            return;
        };
        let outcome = verdict.and_then(|is_true| {
            self.returned(under_way.guest, under_way.parameters, is_true)
                .map_err(|error| self.failure(&error))
        });
        // Who asked may be gone.
        drop(under_way.reply.send(outcome));
    }

    fn returned(
        &mut self,
        guest: GuestId,
        parameters: Option<Object<'js>>,
        is_true: bool,
    ) -> Result<Returned> {
        let ctx = self.ctx.clone();
        let variables = match self.guests.get_mut(&guest) {
            Some(guest) => guest.tell(&ctx)?,
            None => Vec::new(),
        };
        let parameters = parameters.map(|parameters| {
            let json = ctx.json_stringify(parameters)?;
            let json = json.map_or(Ok(String::new()), |json| utf8(&json))?;
            Ok::<_, Error>(serde_json::from_str(&json).unwrap_or_default())
        });
        Ok(Returned {
            is_true,
            parameters: parameters.transpose()?,
            variables,
        })
    }
}

/// Whether a function is `async`, which Artillery tells by the name of its constructor, too.
fn is_async(function: &Function<'_>) -> Result<bool> {
    let constructor: Object<'_> = function.get("constructor")?;
    Ok(constructor.get::<_, String>("name")? == "AsyncFunction")
}
