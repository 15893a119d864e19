//! A virtual user: one arrival, which runs the steps of one scenario and leaves.

use std::{
    cell::RefCell,
    future::Future,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use plimsoll_load::{
    metrics::Recorder,
    run::RunHandle,
    vu::{Iteration, IterationContext, IterationError, Vu, VuFactory, VuId},
};
use serde_json::Value;
use tokio::task::coop;

use super::{
    caller::Caller,
    failure::Failure,
    flow::{Bounds, Connect, Flow, Loop, LoopKind, Payload, Step, Think},
    http::{Request, Visitor},
    phase::Phase,
    processor::{Argument, FunctionName, Instance},
    program::{Engine, Program, ScenarioFlow},
    variables::Variables,
    websocket::{FIRST, Session, Sessions},
};

/// Creates users. All of them share the program.
pub(crate) struct Factory {
    pub(crate) program: Arc<Program>,
    pub(crate) activity: Arc<Activity>,
    pub(crate) numbers: Option<Arc<Numbers>>,
}

/// The numbers of users among those of all instances that make a run together, in the order of their arrival.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// By phase, the number of its first user; behind them that of what comes after the last user.
    pub(crate) firsts: Vec<u64>,
}

/// The numbers of users.
#[derive(Debug, Default)]
pub struct Activity {
    now: AtomicU32,
    peak: AtomicU32,
    n_following: AtomicU64,
}

impl Activity {
    /// The most users active at the same moment.
    pub fn peak(&self) -> u32 {
        self.peak.load(Relaxed)
    }

    /// Users of closed phases that replaced finished ones.
    pub fn n_following(&self) -> u64 {
        self.n_following.load(Relaxed)
    }

    /// Adds the numbers of another instance. The most users of all instances at the same moment are at most the sum.
    pub(crate) fn add(&self, peak: u32, n_following: u64) {
        self.peak.fetch_add(peak, Relaxed);
        self.n_following.fetch_add(n_following, Relaxed);
    }

    /// Counts one more user until the guard is dropped. `None` if `most` users are active already.
    fn enter(&self, most: Option<u32>) -> Option<Active<'_>> {
        let n_before = self.now.fetch_add(1, Relaxed);
        let entered = Active(self);
        if most.is_some_and(|most| n_before >= most) {
            return None;
        }
        self.peak.fetch_max(n_before + 1, Relaxed);
        Some(entered)
    }
}

/// A user that is active.
struct Active<'a>(&'a Activity);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Relaxed);
    }
}

/// A place that users take one after another. Nothing is kept between them.
struct Place {
    program: Arc<Program>,
    instance: Option<Rc<dyn Instance>>,
    activity: Arc<Activity>,
    numbers: Option<Arc<Numbers>>,
}

impl VuFactory for Factory {
    fn create(&self, _: VuId) -> Result<Box<dyn Vu>, String> {
        Ok(Box::new(Place {
            instance: self.program.instance()?,
            program: Arc::clone(&self.program),
            activity: Arc::clone(&self.activity),
            numbers: self.numbers.clone(),
        }))
    }
}

impl Vu for Place {
    fn iterate<'a>(&'a mut self, context: &'a mut IterationContext) -> Iteration<'a> {
        Box::pin(async move {
            let (program, recorder) = (&*self.program, context.metrics.clone());
            let metrics = program.metrics;
            // The name of the engine's scenario is that of the phase, and identifies it.
            let at: Option<usize> = context.scenario.exec.parse().ok();
            let phase = at.and_then(|at| program.phases.get(at));
            // A scenario in place of the phases has all users.
            let first = self
                .numbers
                .as_ref()
                .and_then(|numbers| numbers.firsts.get(at.unwrap_or(0)));
            let number = first.map(|first| first + context.scenario_iteration_in_test);
            let _active = match self.activity.enter(phase.and_then(|phase| phase.max_vusers)) {
                Some(active) => active,
                None => {
                    recorder.count(metrics.skipped, 1);
                    return Ok(());
                }
            };
            let scenario = program.choose();
            recorder.count(metrics.created, 1);
            if phase.is_some_and(Phase::is_closed) {
                self.activity.n_following.fetch_add(1, Relaxed);
            } else {
                recorder.record(metrics.lateness, context.lateness());
            }
            recorder.tally(&scenario.created, 1);
            let measures = (recorder, &context.run);
            let mut user = User::new(program, scenario, self.instance.as_deref(), measures, number);
            let outcome = user.act(scenario).await;
            if outcome.is_ok() {
                user.recorder
                    .record(metrics.session_length, context.intended_start.elapsed());
            }
            user.leave().await;
            match outcome {
                Ok(()) => {
                    user.recorder.count(metrics.completed, 1);
                    Ok(())
                }
                Err(failure) => {
                    user.recorder.count(metrics.failed, 1);
                    user.recorder.tally(&format!("errors.{failure}"), 1);
                    Err(IterationError::new(failure.reason()))
                }
            }
        })
    }
}

/// A user in the middle of its steps.
pub(crate) struct User<'a> {
    program: &'a Program,
    scenario: &'a Flow,
    pub(crate) variables: RefCell<Variables>,
    caller: Option<Caller>,
    sessions: Sessions<'a>,
    /// Large, and only of users of the engine `http`.
    visitor: Option<Box<Visitor>>,
    recorder: Recorder,
    /// The loops that it is in, the innermost last.
    loops: Vec<Round>,
}

/// A user's progress in a loop.
#[derive(Debug)]
struct Round {
    index: i64,
    /// The number before which the loop ends.
    to: Option<i64>,
    elements: Option<Vec<Value>>,
}

impl<'a> User<'a> {
    /// A user whose functions are those of `instance`, with its number if it is one of several instances' users.
    pub(crate) fn new(
        program: &'a Program,
        scenario: &'a ScenarioFlow,
        instance: Option<&dyn Instance>,
        (recorder, run): (Recorder, &RunHandle),
        number: Option<u64>,
    ) -> Self {
        let variables = program.variables_for(scenario, number);
        Self {
            program,
            scenario: &scenario.flow,
            caller: Caller::new(instance, scenario, &variables, (&recorder, run)),
            variables: RefCell::new(variables),
            sessions: Sessions::default(),
            visitor: None,
            recorder,
            loops: Vec::new(),
        }
    }

    /// Does all steps.
    pub(crate) async fn act(&mut self, scenario: &'a ScenarioFlow) -> Result<(), Failure> {
        self.call_all(&scenario.before).await?;
        match scenario.engine {
            // Large, and only for a moment.
            Engine::WebSocket => Box::pin(self.connect(FIRST, scenario.flow.connect.as_ref())).await?,
            Engine::Http => {
                let Program { http, metrics, .. } = self.program;
                let visitor = Visitor::new(http, *metrics, self.recorder.clone());
                self.visitor = Some(Box::new(visitor));
            }
        }
        self.follow().await?;
        self.call_all(&scenario.after).await
    }

    async fn call_all(&self, functions: &[FunctionName]) -> Result<(), Failure> {
        match &self.caller {
            // Large, and only of users that call functions.
            Some(caller) => Box::pin(caller.call_all(functions, &self.variables)).await,
            None => Ok(()),
        }
    }

    /// Ends all connections.
    pub(crate) async fn leave(&mut self) {
        Box::pin(self.sessions.close()).await;
    }

    /// Opens a connection, and replaces an existing one.
    async fn connect(&mut self, place: usize, own: Option<&Connect>) -> Result<(), Failure> {
        // The others are read meanwhile, and remain whatever the result.
        let mut sessions = std::mem::take(&mut self.sessions);
        let opened = sessions.during(self.open(own)).await;
        self.sessions = sessions;
        if let Some(before) = self.sessions.put(place, opened??) {
            self.sessions.during(before.close()).await?;
        }
        Ok(())
    }

    async fn open(&mut self, own: Option<&Connect>) -> Result<Session<'a>, Failure> {
        let Program { opening, metrics, .. } = self.program;
        let measures = (metrics, self.recorder.clone());
        let timeout = self.program.timeout;
        let function = own.and_then(|own| own.function.as_ref());
        let adapted = match (function, &self.caller) {
            (Some(function), Some(caller)) => Some(opening.adapt(function, caller, &self.variables).await?),
            _ => None,
        };
        Session::open(
            adapted.as_ref().unwrap_or(opening),
            own.filter(|_| adapted.is_none()),
            self.variables.get_mut(),
            measures,
            self.scenario.has_inbox,
            timeout,
        )
        .await
    }

    async fn follow(&mut self) -> Result<(), Failure> {
        let mut position = 0;
        while let Some(step) = self.scenario.steps.get(position) {
            position = match step {
                Step::Loop { head, end } => {
                    if self.begin(head)? {
                        position + 1
                    } else {
                        end + 1
                    }
                }
                Step::Repeat { head } => {
                    // A loop that never waits must not hold up the worker's other users.
                    coop::consume_budget().await;
                    if self.again(*head).await? {
                        head + 1
                    } else {
                        position + 1
                    }
                }
                Step::Request(request) => {
                    self.visit(std::slice::from_ref(request), 1).await?;
                    position + 1
                }
                Step::Parallel(parallel) => {
                    self.visit(&parallel.requests, parallel.limit).await?;
                    position + 1
                }
                Step::Function(name) => {
                    self.call_all(std::slice::from_ref(name)).await?;
                    position + 1
                }
                step => {
                    self.take(step).await?;
                    position + 1
                }
            };
        }
        Ok(())
    }

    /// Sends requests, `limit` at a time.
    async fn visit(&self, requests: &[Request], limit: usize) -> Result<(), Failure> {
        let Some(visitor) = &self.visitor else {
            return Ok(());
        };
        let caller = self.caller.as_ref();
        let visit = |request| visitor.visit(request, &self.program.defaults, caller, &self.variables);
        // Large, and only of users of this engine.
        match requests {
            [request] => Box::pin(visit(request)).await,
            requests => Box::pin(all_of(requests.iter().map(visit), limit)).await,
        }
    }

    async fn take(&mut self, step: &Step) -> Result<(), Failure> {
        let Self {
            sessions, variables, ..
        } = self;
        let variables = variables.get_mut();
        match step {
            Step::Think(think) => sessions.idle(think.time(variables)?).await?,
            Step::Log(template) => tracing::info!("{}", template.render(variables)),
            // Large, and only for a moment.
            Step::Connect(step) => Box::pin(self.connect(step.place, Some(&step.connect))).await?,
            Step::Send(send) => {
                let payload = match &send.payload {
                    Payload::Constant(text) => (&**text).into(),
                    payload => payload.for_user(variables),
                };
                let step = async |session: &mut Session<'a>| match &send.answer {
                    None => session.send(&payload).await,
                    Some(answers) => session.ask(&payload, answers, variables).await,
                };
                sessions.perform(send.place, step).await?;
            }
            Step::Wait(wait) => {
                let step = async |session: &mut Session<'a>| session.wait(&wait.answers, variables).await;
                sessions.perform(wait.place, step).await?;
            }
            Step::Receive(receive) => {
                let step = async |session: &mut Session<'a>| session.receive(receive, variables).await;
                sessions.perform(receive.place, step).await?;
            }
            // `follow` does these.
            Step::Request(_)
            | Step::Parallel(_)
            | Step::Function(_)
            | Step::Loop { .. }
            | Step::Repeat { .. } => {}
        }
        Ok(())
    }

    /// Enters a loop; false when it has no round.
    fn begin(&mut self, head: &Loop) -> Result<bool, Failure> {
        let invalid = || Failure::new("invalid loop");
        let mut round = Round {
            index: 0,
            to: None,
            elements: None,
        };
        let bounds = match &head.kind {
            LoopKind::Forever | LoopKind::While(_) | LoopKind::WhileFunction(_) => None,
            LoopKind::Count(bounds) => Some(*bounds),
            LoopKind::CountOf(template) => {
                Bounds::rendered(&template.value(self.variables.get_mut())).map_err(|()| invalid())?
            }
            LoopKind::Over(template) => match template.value(self.variables.get_mut()) {
                Value::Array(elements) => {
                    let to = i64::try_from(elements.len()).map_err(|_| invalid())?;
                    round.elements = Some(elements);
                    Some(Bounds { from: 0, to })
                }
                _ => return Err(invalid()),
            },
        };
        if let Some(Bounds { from, to }) = bounds {
            (round.index, round.to) = (from, Some(to));
        }
        self.loops.push(round);
        Ok(self.enter(head))
    }

    /// Continues with the next iteration. Returns false if there is none.
    async fn again(&mut self, head: usize) -> Result<bool, Failure> {
        if let Some(round) = self.loops.last_mut() {
            round.index = round.index.saturating_add(1);
        }
        let Step::Loop { head, .. } = &self.scenario.steps[head] else {
            return Ok(false);
        };
        if let (LoopKind::WhileFunction(name), Some(caller)) = (&head.kind, &self.caller) {
            if let Some(round) = self.loops.last() {
                let index = round.index.into();
                self.variables.get_mut().set(&head.index_name, index);
            }
            let arguments = vec![Argument::Context, Argument::Verdict];
            let returned = Box::pin(caller.call(name, arguments, &self.variables)).await?;
            if !returned.is_true {
                self.loops.pop();
                return Ok(false);
            }
        }
        Ok(self.enter(head))
    }

    /// Begins the round that the innermost loop is at, or leaves the loop.
    fn enter(&mut self, head: &Loop) -> bool {
        let Some(round) = self.loops.last() else {
            return false;
        };
        let has_round = round.to.is_none_or(|to| round.index < to) && self.holds(&head.kind);
        if !has_round {
            self.loops.pop();
            return false;
        }
        let variables = self.variables.get_mut();
        variables.set(&head.index_name, round.index.into());
        let element = round.elements.as_ref().and_then(|elements| {
            let at = usize::try_from(round.index).ok()?;
            elements.get(at).cloned()
        });
        if let Some(element) = element {
            variables.set(&head.element_name, element);
        }
        true
    }

    fn holds(&self, kind: &LoopKind) -> bool {
        match kind {
            LoopKind::While(condition) => {
                let variables = self.variables.borrow();
                condition.holds(&|name| variables.get_path(name))
            }
            _ => true,
        }
    }
}

/// Runs all futures, `limit` at a time. If one fails, the others still run to their end, so that no sent request is
/// lost.
async fn all_of(
    visits: impl Iterator<Item = impl Future<Output = Result<(), Failure>>>,
    limit: usize,
) -> Result<(), Failure> {
    let outcomes: Vec<_> = stream::iter(visits).buffer_unordered(limit).collect().await;
    outcomes.into_iter().collect()
}

impl Think {
    fn time(&self, variables: &Variables) -> Result<Duration, Failure> {
        let time = self
            .time
            .for_user(variables)
            .ok_or_else(|| Failure::new("invalid think time"))?;
        Ok(self.jitter.map_or(time, |jitter| jitter.apply(time)))
    }
}
