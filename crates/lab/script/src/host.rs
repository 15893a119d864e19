//! The surroundings of a module's native code: the virtual user of its script.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    future::{Future, poll_fn},
    rc::Rc,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use plimsoll_load::{metrics::Recorder, plan::Scenario, run::RunHandle, vu::IterationContext};
use rquickjs::{Ctx, Exception, JsLifetime};

use crate::{
    context_data,
    coroutine::{Interrupted, Switch},
    events::{Background, Callback, EventId, Events, MAX_EVENTS},
    interlude::{Interlude, Interludes},
    metrics::Metrics,
    native_memory::NativeMemory,
    program::Program,
    recorders::Recorders,
};

/// The reason for a call of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The script's modules are evaluated.
    Init,
    /// `setup`.
    Setup,
    /// The function of a scenario.
    Iteration,
    /// `teardown`.
    Teardown,
    /// `handleSummary`.
    Summary,
    /// A function of a processor.
    Hook,
}

/// The native side of one script in one virtual user.
pub(crate) struct Host {
    /// The script, which all virtual users share.
    pub(crate) program: Arc<Program>,
    /// k6's `__VU`: 0 outside of virtual users.
    pub(crate) vu: u32,
    /// Timers and the like.
    pub(crate) events: Rc<Events>,
    /// The memory of its objects outside of the engine's heap.
    pub(crate) memory: NativeMemory,
    switch: Rc<Switch>,
    background: Background,
    recorders: Recorders<BTreeMap<String, String>>,
    interludes: Interludes,
    /// Callbacks that come before those of promises.
    ticks: RefCell<VecDeque<Callback>>,
    stage: Cell<Stage>,
    work: RefCell<Option<Work>>,
    left_tags: RefCell<Option<LeftTags>>,
    ended: RefCell<Vec<Box<dyn FnOnce()>>>,
    aborted: RefCell<Option<String>>,
    /// Names that packages have asked Node's modules for, and that do not exist here.
    absent_of_node: RefCell<Vec<String>>,
    is_at_work: Cell<bool>,
}

/// The work in progress: an iteration, setup or teardown.
pub(crate) struct Work {
    /// The iteration; `None` in setup and teardown.
    pub(crate) iteration: Option<IterationContext>,
    /// The run that it is a part of.
    pub(crate) run: RunHandle,
    /// The recorder with the tags of the run and of the scenario.
    base: Recorder,
    /// The recorder with [`Self::tags`] in addition.
    current: Recorder,
    /// Tags that the script gave its virtual user, and `group`.
    tags: BTreeMap<String, String>,
}

/// The tags that an iteration left to the next one of its scenario. As in k6, another scenario begins without.
struct LeftTags {
    scenario: Arc<Scenario>,
    tags: BTreeMap<String, String>,
    recorder: Recorder,
}

impl Host {
    /// The number of the virtual user in the whole of a test that is split over several instances: k6's
    /// `exec.vu.idInTest`.
    pub(crate) fn vu_in_test(&self) -> u64 {
        let vu = u64::from(self.vu);
        match (&self.program.options().stripe, vu.checked_sub(1)) {
            (Some(stripe), Some(index)) => stripe.index(index) + 1,
            _ => vu,
        }
    }
}

impl Work {
    /// Work that records with `recorder`.
    pub(crate) fn new(iteration: Option<IterationContext>, recorder: Recorder, run: RunHandle) -> Self {
        Self {
            iteration,
            run,
            current: recorder.clone(),
            base: recorder,
            tags: BTreeMap::new(),
        }
    }
}

#[derive(JsLifetime)]
struct OfContext(Rc<Host>);

impl Host {
    /// The host of a new context.
    pub(crate) fn new(program: Arc<Program>, vu: u32, switch: Rc<Switch>) -> Rc<Self> {
        Rc::new(Self {
            program,
            vu,
            switch,
            events: Rc::default(),
            memory: NativeMemory::default(),
            background: Background::default(),
            recorders: Recorders::default(),
            interludes: Interludes::default(),
            ticks: RefCell::default(),
            stage: Cell::new(Stage::Init),
            work: RefCell::default(),
            left_tags: RefCell::default(),
            ended: RefCell::default(),
            aborted: RefCell::default(),
            absent_of_node: RefCell::default(),
            is_at_work: Cell::new(false),
        })
    }

    /// Makes `self` the host of `ctx`; once, before anything else is done with it.
    pub(crate) fn install(self: &Rc<Self>, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        context_data::store(ctx, OfContext(Rc::clone(self)))
    }

    /// The host of a context.
    pub(crate) fn of(ctx: &Ctx<'_>) -> Rc<Self> {
        let host = ctx
            .userdata::<OfContext>()
            .expect("every context gets a host before any script");
        Rc::clone(&host.0)
    }

    /// Blocks the script until `future` is ready. Background futures go on meanwhile, each time before `future` is
    /// polled, so that it sees what they have brought; callbacks of events do not run.
    ///
    /// # Errors
    /// When the script has to end: return the error at once.
    pub(crate) fn park<F: Future>(&self, ctx: &Ctx<'_>, future: F) -> rquickjs::Result<F::Output> {
        // On the heap, as on this stack it would be in the part that stays while the script waits.
        let mut future = Box::pin(future);
        self.block(ctx, &mut |cx| future.as_mut().poll(cx))
    }

    /// As [`Self::park`], for calls during which a script expects its callbacks: interludes run while it waits.
    ///
    /// # Errors
    /// As for [`Self::park`].
    pub(crate) fn wait<F: Future>(&self, ctx: &Ctx<'_>, future: F) -> rquickjs::Result<F::Output> {
        let mut future = Box::pin(future);
        loop {
            let done_or_due = self.block(ctx, &mut |cx| match future.as_mut().poll(cx) {
                Poll::Ready(output) => Poll::Ready(Some(output)),
                Poll::Pending if self.interludes.is_due() => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            })?;
            match done_or_due {
                Some(output) => return Ok(output),
                None => self.interludes.run(ctx)?,
            }
        }
    }

    /// Blocks the script for this duration, as [`Self::wait`] does.
    ///
    /// # Errors
    /// As for [`Self::park`].
    pub(crate) fn sleep(&self, ctx: &Ctx<'_>, duration: Duration) -> rquickjs::Result<()> {
        self.switch.expect_wait(duration);
        self.wait(ctx, async { tokio::time::sleep(duration).await })
    }

    /// Blocks the script until `poll` is ready.
    fn block<T>(
        &self,
        ctx: &Ctx<'_>,
        poll: &mut dyn FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> rquickjs::Result<T> {
        let refusal = match self.stage() {
            Stage::Init => Some(
                "this call waits, which is not possible in the init context; call it in an exported function",
            ),
            Stage::Hook => {
                Some("this call blocks, which functions of a processor must not do; use a timer and next()")
            }
            _ => None,
        };
        if let Some(refusal) = refusal {
            return Err(Exception::throw_message(ctx, refusal));
        }
        let with_background = poll_fn(|cx| {
            self.background.poll(cx);
            poll(cx)
        });
        self.switch
            .park(with_background)
            .map_err(|interrupted| Exception::throw_message(ctx, &interrupted.to_string()))
    }

    /// `interlude` is run whenever it is due and the script waits, until the iteration ends.
    pub(crate) fn add_interlude(&self, interlude: Rc<dyn Interlude>) {
        self.interludes.add(interlude);
    }

    /// Polls `future` whenever the script waits, until it is ready or the iteration ends.
    pub(crate) fn background(&self, future: impl Future<Output = ()> + 'static) {
        self.background.push(future);
    }

    /// When `future` is ready, its callback is run, once the script waits for nothing else; the iteration lasts as
    /// long.
    ///
    /// # Errors
    /// An exception when too much is pending.
    pub(crate) fn event(
        &self,
        ctx: &Ctx<'_>,
        future: impl Future<Output = Callback> + 'static,
    ) -> rquickjs::Result<EventId> {
        self.events
            .push(future)
            .map_err(|error| Exception::throw_range(ctx, &error.to_string()))
    }

    /// Like [`Self::event`], but under an id from [`Events::new_id`].
    ///
    /// # Errors
    /// An exception when too much is pending.
    pub(crate) fn event_as(
        &self,
        ctx: &Ctx<'_>,
        id: EventId,
        future: impl Future<Output = Callback> + 'static,
    ) -> rquickjs::Result<()> {
        self.events
            .push_as(id, future)
            .map_err(|error| Exception::throw_range(ctx, &error.to_string()))
    }

    /// Runs `action` at the end of the iteration, for data that a module keeps per iteration.
    pub(crate) fn at_end(&self, action: impl FnOnce() + 'static) {
        self.ended.borrow_mut().push(Box::new(action));
    }

    /// Runs `callback` before what waits for promises, as Node's `process.nextTick` does.
    ///
    /// # Errors
    /// An exception when as many wait as there may be events.
    pub(crate) fn tick(&self, ctx: &Ctx<'_>, callback: Callback) -> rquickjs::Result<()> {
        let mut ticks = self.ticks.borrow_mut();
        if ticks.len() >= MAX_EVENTS {
            let text = format!("{MAX_EVENTS} callbacks of process.nextTick() are already waiting");
            return Err(Exception::throw_range(ctx, &text));
        }
        ticks.push_back(callback);
        Ok(())
    }

    /// Goes on with ticks, and with what waits for promises that are settled, until nothing does.
    ///
    /// # Errors
    /// What a tick throws. When the script has to end: return the error at once.
    pub(crate) fn run_jobs(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        loop {
            while let Some(tick) = self.next_tick() {
                tick(ctx)?;
                self.take_turns(ctx)?;
            }
            while ctx.execute_pending_job() {
                self.take_turns(ctx)?;
            }
            if self.ticks.borrow().is_empty() {
                return Ok(());
            }
        }
    }

    fn next_tick(&self) -> Option<Callback> {
        self.ticks.borrow_mut().pop_front()
    }

    /// Lets other virtual users of the worker run when this one has had its share.
    ///
    /// # Errors
    /// When the script has to end: return the error at once.
    pub(crate) fn take_turns(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        if self.switch.take_turns() {
            return Err(Exception::throw_message(ctx, &Interrupted.to_string()));
        }
        Ok(())
    }

    /// Whether the script has to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.switch.is_interrupted()
    }

    /// Remembers that a name of Node's was asked for and does not exist, up to a number of names.
    pub(crate) fn note_absent_of_node(&self, name: String) {
        const MOST: usize = 16;
        let mut known = self.absent_of_node.borrow_mut();
        if known.len() < MOST && !known.contains(&name) {
            known.push(name);
        }
    }

    pub(crate) fn absent_of_node(&self) -> Vec<String> {
        self.absent_of_node.borrow().clone()
    }

    /// The script ends its run: nothing that it waits for matters any more.
    pub(crate) fn abort(&self, reason: String) {
        self.aborted.replace(Some(reason));
        self.switch.interrupt();
    }

    /// Why the script ended its run, if it did.
    pub(crate) fn take_abort(&self) -> Option<String> {
        self.aborted.take()
    }

    /// Whether a task is in progress.
    pub(crate) fn is_at_work(&self) -> bool {
        self.is_at_work.get()
    }

    /// The reason for the current call of the script.
    pub(crate) fn stage(&self) -> Stage {
        self.stage.get()
    }

    /// What `read` takes from what is being done. It gets no context: nothing of the script may run meanwhile, not even
    /// its idea of how exceptions look.
    ///
    /// # Errors
    /// An exception that says that `what` does not work in the init context, k6's words for the time before an
    /// iteration.
    pub(crate) fn work<R>(
        &self,
        ctx: &Ctx<'_>,
        what: &str,
        read: impl FnOnce(&Work) -> R,
    ) -> rquickjs::Result<R> {
        let found = self.work.borrow().as_ref().map(read);
        found.ok_or_else(|| {
            let place = match self.stage() {
                Stage::Summary => "handleSummary",
                Stage::Hook => {
                    return Exception::throw_message(ctx, &format!("{what} does not work in a processor"));
                }
                _ => "the init context",
            };
            let text = format!(
                "{what} does not work in {place}; call it in an exported function, for example \
                 `export default function () {{ … }}`"
            );
            Exception::throw_message(ctx, &text)
        })
    }

    /// Where samples go now, with the tags of the virtual user; built-in and custom metrics alike.
    ///
    /// # Errors
    /// As for [`Self::work`].
    pub(crate) fn recorder(&self, ctx: &Ctx<'_>, what: &str) -> rquickjs::Result<Recorder> {
        self.work(ctx, what, |work| work.current.clone())
    }

    /// The ids of all metrics.
    pub(crate) fn metrics(&self) -> &Metrics {
        self.program.metrics()
    }

    /// The value of a tag of the virtual user.
    pub(crate) fn tag(&self, name: &str) -> Option<String> {
        self.tags().remove(name)
    }

    /// The group that the script is in, as a path.
    pub(crate) fn group(&self) -> String {
        let work = self.work.borrow();
        let group = work.as_ref().and_then(|work| work.tags.get("group").cloned());
        group.unwrap_or_default()
    }

    /// All tags of the virtual user: those of its run and of its scenario, and those that the script set.
    pub(crate) fn tags(&self) -> BTreeMap<String, String> {
        let mut tags = self.tags_of_run();
        if let Some(work) = self.work.borrow().as_ref() {
            if let Some(iteration) = &work.iteration {
                tags.extend(iteration.scenario.tags.clone());
                let named = self.program.has_system_tag("scenario");
                tags.extend(named.then(|| ("scenario".to_owned(), iteration.scenario.name.clone())));
            }
            tags.extend(work.tags.clone());
        }
        tags
    }

    fn tags_of_run(&self) -> BTreeMap<String, String> {
        let tags = self.program.option("tags").and_then(serde_json::Value::as_object);
        let text =
            |(name, value): (&String, &serde_json::Value)| Some((name.clone(), value.as_str()?.to_owned()));
        tags.into_iter().flatten().filter_map(text).collect()
    }

    /// Gives all further samples a tag, or takes it away.
    pub(crate) fn set_tag(&self, name: &str, value: Option<String>) {
        let mut work = self.work.borrow_mut();
        let Some(work) = work.as_mut() else { return };
        match value {
            Some(value) => work.tags.insert(name.to_owned(), value),
            None => work.tags.remove(name),
        };
        work.current = self.recorders.with_tags(&work.base, &work.tags);
    }

    /// Begins a piece of work.
    pub(crate) fn begin(&self, stage: Stage, mut work: Option<Work>) {
        self.stage.set(stage);
        if let (Some(left), Some(work)) = (self.left_tags.take(), &mut work)
            && let Some(iteration) = &work.iteration
            && Arc::ptr_eq(&left.scenario, &iteration.scenario)
        {
            work.tags = left.tags;
            work.current = self.recorders.with_tags(&work.base, &work.tags);
        }
        self.work.replace(work);
        self.is_at_work.set(true);
        if let Some(group) = stage.group().filter(|_| self.program.has_system_tag("group")) {
            self.set_tag("group", Some(group.to_owned()));
        }
    }

    /// Ends the work: none of its futures continues.
    pub(crate) fn end(&self) {
        self.background.clear();
        self.interludes.clear();
        self.events.clear();
        self.ticks.take();
        let actions = self.ended.take();
        actions.into_iter().for_each(|action| action());
        if let Some(work) = self.work.take() {
            // Work that moved nothing says so: both metrics are there in every run, as in k6.
            let data = &self.metrics().data;
            work.base.count(data.sent, 0);
            work.base.count(data.received, 0);
            self.leave_tags(work);
        }
        self.is_at_work.set(false);
    }
}

impl Host {
    /// The recorder with the tags that the last iteration has left. `None` if it has none of its own.
    pub(crate) fn left_recorder(&self) -> Option<Recorder> {
        self.left_tags.borrow().as_ref().map(|left| left.recorder.clone())
    }

    fn leave_tags(&self, work: Work) {
        let has_own = work.tags.keys().any(|name| name != "group");
        if let Some(iteration) = work.iteration.filter(|_| has_own) {
            self.left_tags.replace(Some(LeftTags {
                scenario: iteration.scenario,
                tags: work.tags,
                recorder: work.current,
            }));
        }
    }
}

impl Stage {
    /// The group of samples outside of the script's groups (docs/protocols/k6.md, Tags).
    fn group(self) -> Option<&'static str> {
        match self {
            Self::Setup => Some("::setup"),
            Self::Teardown => Some("::teardown"),
            Self::Iteration => Some(""),
            Self::Init | Self::Summary | Self::Hook => None,
        }
    }
}
