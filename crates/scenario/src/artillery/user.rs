//! A virtual user: one arrival, which does the steps of one scenario and is gone.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use plimsoll_load::{
    metrics::Recorder,
    vu::{Iteration, IterationContext, IterationError, Vu, VuFactory, VuId},
};
use serde_json::Value;
use tokio::task::coop;

use super::{
    failure::Failure,
    flow::{Bounds, Connect, Flow, Loop, LoopKind, Payload, Step, Think},
    http::Visitor,
    phase::Phase,
    program::{Engine, Program, ScenarioFlow},
    variables::Variables,
    websocket::{FIRST, Session, Sessions},
};

/// Makes users; all of them share the program.
pub(crate) struct Factory {
    pub(crate) program: Arc<Program>,
    pub(crate) activity: Arc<Activity>,
}

/// How many users there are.
#[derive(Debug, Default)]
pub struct Activity {
    now: AtomicU32,
    peak: AtomicU32,
    n_following: AtomicU64,
}

impl Activity {
    /// The most users that were active at the same moment.
    pub fn peak(&self) -> u32 {
        self.peak.load(Relaxed)
    }

    /// Users of closed phases: those who came because there was room, and not because it was their time.
    pub fn n_following(&self) -> u64 {
        self.n_following.load(Relaxed)
    }

    /// Counts one more user until the guard is dropped; `None` when so many are active already.
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

/// A place that users take one after another; between them it keeps nothing.
struct Place {
    program: Arc<Program>,
    activity: Arc<Activity>,
}

impl VuFactory for Factory {
    fn create(&self, _: VuId) -> Result<Box<dyn Vu>, String> {
        Ok(Box::new(Place {
            program: Arc::clone(&self.program),
            activity: Arc::clone(&self.activity),
        }))
    }
}

impl Vu for Place {
    fn iterate<'a>(&'a mut self, context: &'a mut IterationContext) -> Iteration<'a> {
        Box::pin(async move {
            let (program, recorder) = (&*self.program, context.metrics.clone());
            let metrics = program.metrics;
            // The name of the engine's scenario is that of the phase, and says which one it is.
            let phase = context
                .scenario
                .exec
                .parse()
                .ok()
                .and_then(|at: usize| program.phases.get(at));
            let _active = match self.activity.enter(phase.and_then(|phase| phase.max_vusers)) {
                Some(active) => active,
                None => {
                    recorder.count(metrics.skipped, 1);
                    return Ok(());
                }
            };
            let scenario = program.choose();
            recorder.count(metrics.created, 1);
            match phase.is_some_and(Phase::is_closed) {
                true => drop(self.activity.n_following.fetch_add(1, Relaxed)),
                false => recorder.record(metrics.lateness, context.lateness()),
            }
            recorder.tally(&scenario.created, 1);
            let mut user = User::new(program, scenario, recorder);
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
                    Err(IterationError::new(failure.to_string()))
                }
            }
        })
    }
}

/// A user on its way through the steps.
pub(crate) struct User<'a> {
    program: &'a Program,
    scenario: &'a Flow,
    pub(crate) variables: Variables,
    sessions: Sessions,
    visitor: Option<Visitor>,
    recorder: Recorder,
    /// The loops that it is in, the innermost last.
    loops: Vec<Round>,
}

/// Where a user is in a loop.
#[derive(Debug)]
struct Round {
    index: i64,
    /// The loop ends before this one.
    to: Option<i64>,
    elements: Option<Vec<Value>>,
}

impl<'a> User<'a> {
    pub(crate) fn new(program: &'a Program, scenario: &'a ScenarioFlow, recorder: Recorder) -> Self {
        Self {
            program,
            scenario: &scenario.flow,
            variables: program.variables_for(scenario),
            sessions: Sessions::default(),
            visitor: None,
            recorder,
            loops: Vec::new(),
        }
    }

    /// Does all steps.
    pub(crate) async fn act(&mut self, scenario: &'a ScenarioFlow) -> Result<(), Failure> {
        match scenario.engine {
            Engine::WebSocket => self.connect(FIRST, scenario.flow.connect.as_ref()).await?,
            Engine::Http => {
                let Program { http, metrics, .. } = self.program;
                self.visitor = Some(Visitor::new(Arc::clone(http), *metrics, self.recorder.clone()));
            }
        }
        self.follow().await
    }

    /// Ends all connections.
    pub(crate) async fn leave(&mut self) {
        Box::pin(self.sessions.close()).await;
    }

    /// Opens a connection, in place of one that is there.
    async fn connect(&mut self, place: usize, own: Option<&Connect>) -> Result<(), Failure> {
        // Large, and only for a moment.
        let session = Box::pin(self.open(own)).await?;
        if let Some(before) = self.sessions.put(place, session) {
            Box::pin(before.close()).await;
        }
        Ok(())
    }

    async fn open(&self, own: Option<&Connect>) -> Result<Session, Failure> {
        let Program { opening, metrics, .. } = self.program;
        let measures = (*metrics, self.recorder.clone());
        let timeout = self.program.timeout;
        Session::open(
            opening,
            own,
            &self.variables,
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
                Step::Loop { head, end } => match self.begin(head)? {
                    true => position + 1,
                    false => end + 1,
                },
                Step::Repeat { head } => {
                    // A loop that never waits must not hold up the worker's other users.
                    coop::consume_budget().await;
                    match self.again(*head) {
                        true => head + 1,
                        false => position + 1,
                    }
                }
                Step::Request(request) => {
                    if let Some(visitor) = &self.visitor {
                        let defaults = &self.program.defaults;
                        // Large, and only of users of this engine.
                        Box::pin(visitor.visit(request, defaults, &mut self.variables)).await?;
                    }
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

    async fn take(&mut self, step: &Step) -> Result<(), Failure> {
        let Self {
            sessions, variables, ..
        } = self;
        match step {
            Step::Think(think) => sessions.idle(think.time(variables)?).await?,
            Step::Log(template) => tracing::info!("{}", template.render(variables)),
            Step::Connect(step) => self.connect(step.place, Some(&step.connect)).await?,
            Step::Send(send) => {
                let payload = match &send.payload {
                    Payload::Constant(text) => (&**text).into(),
                    payload => payload.for_user(variables),
                };
                let step = async |session: &mut Session| match &send.answer {
                    None => session.send(&payload).await,
                    Some(answers) => session.ask(&payload, answers, variables).await,
                };
                sessions.perform(send.place, step).await?;
            }
            Step::Wait(wait) => {
                let step = async |session: &mut Session| session.wait(&wait.answers, variables).await;
                sessions.perform(wait.place, step).await?;
            }
            Step::Receive(receive) => {
                let step = async |session: &mut Session| session.receive(&receive.answers, variables).await;
                sessions.perform(receive.place, step).await?;
            }
            // `follow` does these.
            Step::Request(_) | Step::Loop { .. } | Step::Repeat { .. } => {}
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
            LoopKind::Forever | LoopKind::While(_) => None,
            LoopKind::Count(bounds) => Some(*bounds),
            LoopKind::CountOf(template) => {
                Bounds::rendered(&template.value(&self.variables)).map_err(|()| invalid())?
            }
            LoopKind::Over(template) => match template.value(&self.variables) {
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

    /// Goes on to the next round; false when there is none.
    fn again(&mut self, head: usize) -> bool {
        if let Some(round) = self.loops.last_mut() {
            round.index = round.index.saturating_add(1);
        }
        match &self.scenario.steps[head] {
            Step::Loop { head, .. } => self.enter(head),
            _ => false,
        }
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
        self.variables.set(&head.index_name, round.index.into());
        let element = round.elements.as_ref().and_then(|elements| {
            let at = usize::try_from(round.index).ok()?;
            elements.get(at).cloned()
        });
        if let Some(element) = element {
            self.variables.set(&head.element_name, element);
        }
        true
    }

    fn holds(&self, kind: &LoopKind) -> bool {
        match kind {
            LoopKind::While(condition) => condition.holds(&|name| self.variables.get_path(name)),
            _ => true,
        }
    }
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
