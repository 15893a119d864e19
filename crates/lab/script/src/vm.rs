//! One runtime with one script in it, on a stack of its own.

use std::{
    cell::RefCell,
    future::poll_fn,
    io,
    rc::Rc,
    sync::Arc,
    task::{Poll, Waker},
    time::{Duration, Instant},
};

use plimsoll_load::metrics::Recorder;
use rquickjs::{Context, Ctx, Error, Exception, Object, Runtime, Value};

use crate::{
    coroutine::{Coroutine, Switch, Turn},
    error::ScriptError,
    globals,
    heap::Heap,
    host::{Host, Stage, Work},
    imported_names,
    loading::{self, ModuleLoader},
    metrics::Metrics,
    names,
    program::Program,
    rejections,
    task::{Output, Task},
};

/// How deep a script may call: twice QuickJS's default, for parsers that recurse.
const SCRIPT_STACK_BYTES: usize = 512 << 10;

/// Room for the native code that the deepest call of a script calls. Only what is used takes memory.
const NATIVE_STACK_BYTES: usize = 512 << 10;

/// The stack of one runtime.
pub(crate) const STACK_BYTES: usize = SCRIPT_STACK_BYTES + NATIVE_STACK_BYTES;

/// How long reading a script may take (k6 has no limit; an endless loop must end somewhere).
pub(crate) const MAX_INIT: Duration = Duration::from_secs(60);

/// A script in its runtime. It does one task after the other.
pub(crate) struct Vm {
    program: Arc<Program>,
    vu: u32,
    coroutine: Coroutine,
    exchange: Rc<Exchange>,
}

/// What goes in and out of the stack.
#[derive(Default)]
struct Exchange {
    host: RefCell<Option<Rc<Host>>>,
    task: RefCell<Option<Task>>,
    result: RefCell<Option<Result<Output, ScriptError>>>,
}

impl Vm {
    /// A runtime in which the modules of `program` have been evaluated, as virtual user `vu` (0 for none).
    ///
    /// # Errors
    /// When the script fails, or waits for something, which it cannot do before the run.
    pub(crate) fn new(program: &Arc<Program>, vu: u32) -> Result<(Self, Output), ScriptError> {
        let exchange = Rc::new(Exchange::default());
        let (inner, own) = (Rc::clone(&exchange), Arc::clone(program));
        let coroutine = Coroutine::new(STACK_BYTES, move |switch| {
            live(&switch, &inner, &own, vu);
        })
        .map_err(|error| no_stack(&error))?;
        let mut vm = Self {
            program: Arc::clone(program),
            vu,
            coroutine,
            exchange,
        };
        let output = vm.initialize()?;
        Ok((vm, output))
    }

    fn initialize(&mut self) -> Result<Output, ScriptError> {
        let begin = Instant::now();
        loop {
            match self.coroutine.resume(Waker::noop()) {
                Turn::Idle | Turn::Ended => return self.take_result(),
                Turn::Busy if begin.elapsed() < MAX_INIT => {}
                Turn::Busy => {
                    return Err(ScriptError::new(format!(
                        "the init context takes longer than {MAX_INIT:?}; does the script have an endless loop \
                         outside of its functions?"
                    )));
                }
                Turn::Pending => {
                    return Err(ScriptError::new(
                        "the init context waits, which it must not do; wait in setup() or in an exported function",
                    ));
                }
            }
        }
    }

    /// Does a task. When the future is dropped before it is ready, the script is interrupted and has ended by then.
    ///
    /// # Errors
    /// What the script threw.
    pub(crate) async fn perform(
        &mut self,
        stage: Stage,
        work: Option<Work>,
        task: Task,
    ) -> Result<Output, ScriptError> {
        if self.exchange.host.borrow().is_none() {
            // It could not be stopped the last time.
            (*self, _) = Self::new(&self.program, self.vu)?;
        }
        if let Some(host) = &*self.exchange.host.borrow() {
            host.begin(stage, work);
        }
        self.exchange.task.replace(Some(task));
        let running = Running(self);
        poll_fn(|cx| match running.0.coroutine.resume(cx.waker()) {
            Turn::Pending => Poll::Pending,
            Turn::Busy => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Turn::Idle | Turn::Ended => Poll::Ready(()),
        })
        .await;
        running.0.take_result()
    }

    /// Gives memory back that only initialisation used. For a runtime that will not do a task soon.
    pub(crate) fn rest(&self) {
        self.coroutine.rest();
    }

    /// The recorder with the tags that the last iteration has left. `None` if it has none of its own.
    pub(crate) fn left_recorder(&self) -> Option<Recorder> {
        self.exchange.host.borrow().as_ref()?.left_recorder()
    }

    /// The ids of all metrics.
    pub(crate) fn metrics(&self) -> &Metrics {
        self.program.metrics()
    }

    fn take_result(&self) -> Result<Output, ScriptError> {
        let result = self.exchange.result.borrow_mut().take();
        result.unwrap_or_else(|| Err(ScriptError::new("interrupted")))
    }
}

/// A task in progress.
struct Running<'a>(&'a mut Vm);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Once a result is there or was taken, the script idles already.
        let is_under_way = || {
            self.0
                .exchange
                .host
                .borrow()
                .as_ref()
                .is_some_and(|host| host.is_at_work())
        };
        while is_under_way() {
            self.0.coroutine.switch().interrupt();
            if self.0.coroutine.resume(Waker::noop()) == Turn::Ended {
                return;
            }
        }
    }
}

/// The whole life of a runtime, on the stack of its coroutine: QuickJS takes the stack's limits from where it is made.
fn live(switch: &Rc<Switch>, exchange: &Exchange, program: &Arc<Program>, vu: u32) {
    let context = match make(switch, program) {
        Ok(context) => context,
        Err(error) => {
            let text = format!("cannot create a runtime for the script: {error}");
            exchange.result.replace(Some(Err(ScriptError::new(text))));
            return;
        }
    };
    context.with(|ctx| {
        let host = Host::new(Arc::clone(program), vu, Rc::clone(switch));
        exchange.host.replace(Some(Rc::clone(&host)));
        let exports = initialize(&ctx, &host).map_err(|error| ScriptError {
            is_abort: host.take_abort().is_some(),
            ..error
        });
        let describe = |exports| {
            if program.is_new() {
                Task::describe(&ctx, &host, exports)
            } else {
                Ok(Output::Nothing)
            }
        };
        let output = exports.as_ref().map_err(Clone::clone).and_then(describe);
        exchange.result.replace(Some(output));
        let Ok(exports) = exports else { return host.end() };
        let mut data = None;
        loop {
            switch.idle();
            let Some(task) = exchange.task.take() else { break };
            let result = task.perform(&ctx, &host, &exports, &mut data);
            host.end();
            let has_stopped = !switch.is_interrupted() || forget_jobs(&ctx);
            switch.recover();
            exchange.result.replace(Some(result));
            if !has_stopped {
                break;
            }
        }
        host.end();
    });
    exchange.host.replace(None);
}

/// Jobs of promises that an interrupted script left are run until none is left. Each is interrupted itself sooner or
/// later: QuickJS looks for interrupts every 10,000 calls. False when that took too many.
pub(crate) fn forget_jobs(ctx: &Ctx<'_>) -> bool {
    const MOST: usize = 100_000;
    (0..MOST).any(|_| !ctx.execute_pending_job())
}

/// A runtime with a context, nothing installed in it yet.
pub(crate) fn make(switch: &Rc<Switch>, program: &Arc<Program>) -> rquickjs::Result<Context> {
    let runtime = Runtime::new_with_alloc(Heap::of_thread())?;
    runtime.set_max_stack_size(SCRIPT_STACK_BYTES);
    runtime.set_memory_limit(program.limits.heap_bytes);
    let loader = ModuleLoader(Arc::clone(program));
    runtime.set_loader(loader.clone(), loader);
    let switch = Rc::clone(switch);
    rejections::watch(&runtime);
    runtime.set_interrupt_handler(Some(Box::new(move || switch.take_turns())));
    program.language.context(&runtime)
}

/// Prepares the context, and evaluates the modules. Not inlined: what it has on the stack would stay there for as long as
/// the runtime lives.
#[inline(never)]
fn initialize<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>, ScriptError> {
    let program = &host.program;
    let caught = |error| ScriptError::caught(ctx, &error, program);
    prepare(ctx, host).map_err(caught)?;
    if program.is_new() {
        imported_names::check(ctx, program)?;
    }
    let exports = evaluate(ctx, program);
    let exports = exports.map_err(|error| imported_names::locate(caught(error), program))?;
    if program.sees_own_options {
        show_options(ctx, &exports, program).map_err(caught)?;
    }
    Ok(exports)
}

/// Installs what modules find in a context.
pub(crate) fn prepare(ctx: &Ctx<'_>, host: &Rc<Host>) -> rquickjs::Result<()> {
    host.install(ctx)?;
    loading::install(ctx)?;
    rejections::install(ctx)?;
    globals::install(ctx, host)
}

/// Evaluates the modules and gives the exports of the entry.
pub(crate) fn evaluate<'js>(ctx: &Ctx<'js>, program: &Program) -> rquickjs::Result<Object<'js>> {
    let exports = evaluate_entry(ctx, program);
    names::keep_new_ones(ctx);
    exports
}

fn evaluate_entry<'js>(ctx: &Ctx<'js>, program: &Program) -> rquickjs::Result<Object<'js>> {
    let is_common_js = program
        .modules
        .get(&program.entry)
        .is_some_and(|entry| entry.is_common_js);
    if is_common_js {
        return loading::run_common_js(ctx, &program.entry)?.get("exports");
    }
    let (module, evaluated) = program.module(ctx, &program.entry)?.eval()?;
    evaluated.finish::<()>().map_err(|error| match error {
        Error::WouldBlock => Exception::throw_message(
            ctx,
            "an `await` outside of functions waits for a promise that never settles in the init context; await it in \
             setup() or in an exported function",
        ),
        error => error,
    })?;
    module.namespace()
}

/// The options that count are those of all layers together; a script sees them in its own object, as in k6.
fn show_options<'js>(ctx: &Ctx<'js>, exports: &Object<'js>, program: &Program) -> rquickjs::Result<()> {
    let consolidated = &program.options().consolidated;
    let own: Value<'js> = exports.get("options")?;
    let Some(own) = own.as_object().filter(|_| !consolidated.is_empty()) else {
        return Ok(());
    };
    let all: Object<'js> = ctx.json_parse(consolidated.as_str())?.get()?;
    for entry in all.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        own.set(name, value)?;
    }
    Ok(())
}

fn no_stack(error: &io::Error) -> ScriptError {
    ScriptError::new(format!(
        "the system has no memory for the stack of another virtual user ({error}); use fewer users, or raise \
         vm.max_map_count"
    ))
}

#[cfg(test)]
mod tests;
