//! Load tests whose virtual users the engine runs: scripts, files of other tools, and the demo.

use std::{cell::RefCell, future::pending, sync::Arc, time::Duration};

use plimsoll_load::{
    generator::{self, Health},
    metrics::{Contains, MetricSet, Registry, Value},
    run::{self, Progress, RunConfig, RunResult},
    vu::{Lifecycle, VuFactory},
    watch::Target,
};
use plimsoll_report::{Offered, Summary, percentile, timeline::Recorder};

mod course;
mod so_far;

use self::course::Course;
use super::{Company, Ended, Ender, LoadTest, Subject, of_error};
use crate::{
    exit::{Failure, Status},
    fleet::{Errand, Field, Ran},
};

/// The differences between the tests that the engine runs.
///
/// The methods are called in the order in which they stand here.
pub(crate) trait EngineTest {
    /// The stages around the run.
    type Stages: Lifecycle;

    /// The subject of the run.
    fn subject(&self) -> Subject<'_>;

    /// The targets that are watched besides those of `--watch`.
    fn targets(&self) -> Vec<Target> {
        Vec::new()
    }

    /// The lines before the plain progress, where `outputs` describes the outputs of samples; `None` when the test
    /// prints its own reports instead.
    fn progress(&self, outputs: &[String]) -> Option<String> {
        let _ = outputs;
        Some(String::new())
    }

    /// Takes in the state of the run, about once a second.
    fn observe(&self, progress: &Progress<'_>) {
        let _ = progress;
    }

    /// Returns when the test itself ends the run.
    async fn breached(&self) {
        pending::<()>().await;
    }

    /// Takes in the result.
    fn finish(&mut self, result: &RunResult) {
        let _ = result;
    }

    /// The latency against which the generator's own lateness is judged.
    fn latency(&self, result: &RunResult) -> Option<Duration> {
        shortest_latency(&result.metrics)
    }

    /// Takes in whether the figures are the target's alone.
    fn judged(&mut self, health: &Health) {
        let _ = health;
    }

    /// Adds to the summary the part that only this test knows.
    fn complete(&self, summary: &mut Summary) {
        let _ = summary;
    }

    /// The end of the command. Samples that an output lost count after it.
    ///
    /// # Errors
    /// The run did not end well.
    fn verdict(&self, finished: &Finished<'_>) -> Result<Status, Failure>;

    /// Prints the result.
    async fn print(&self, finished: &Finished<'_>, stages: &Self::Stages) -> Result<(), Failure>;

    /// Whether the printed result lists the causes of failures.
    fn lists_causes(&self, finished: &Finished<'_>, stages: &Self::Stages) -> bool {
        let _ = (finished, stages);
        false
    }

    /// Whether a page with the result is written although no `--report` asks for one.
    fn reports_unasked(&self) -> bool {
        false
    }

    /// Tells others of the result, after it is printed and kept. It has no effect on the end of the command.
    async fn announce(&self, finished: &Finished<'_>) {
        let _ = finished;
    }
}

/// The virtual users of a run, and the stages around it.
pub(crate) struct Users<S> {
    /// All metrics.
    pub(crate) registry: Registry,
    /// Makes the users.
    pub(crate) factory: Arc<dyn VuFactory>,
    pub(crate) stages: S,
}

/// A run of the engine that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished<'a> {
    pub(crate) result: &'a RunResult,
    pub(crate) summary: &'a Summary,
    /// The source of the order that ended the run; `None` when the run ended on its own.
    pub(crate) ender: Ender,
    /// Whether nothing succeeded, and that makes the run a failure. Its result is short.
    pub(crate) is_futile: bool,
}

/// A test with its users, and the fleet that runs them, if one does.
pub(super) struct OnEngine<T: EngineTest> {
    test: T,
    users: Users<T::Stages>,
    errand: Option<Errand>,
}

impl<T: EngineTest> OnEngine<T> {
    pub(super) fn new(test: T, users: Users<T::Stages>, errand: Option<Errand>) -> Self {
        Self { test, users, errand }
    }
}

impl<T: EngineTest> LoadTest for OnEngine<T> {
    type Result = RunResult;

    const HAS_ITERATIONS: bool = true;

    fn subject(&self) -> Subject<'_> {
        self.test.subject()
    }

    fn targets(&self) -> Vec<Target> {
        self.test.targets()
    }

    fn is_elsewhere(&self) -> bool {
        self.errand.is_some()
    }

    fn progress(&self, outputs: &[String]) -> Option<String> {
        self.test.progress(outputs)
    }

    async fn run(&mut self, company: Company) -> Result<(RunResult, Summary), Failure> {
        let Self { test, users, errand } = self;
        let plan = test.subject().plan.clone();
        let Company {
            control,
            ends,
            samples,
            sampling,
            watchers,
            outing,
            ..
        } = company;
        let recorder = RefCell::new(Recorder::of(Offered::of(&plan)));
        let observe = |progress: &Progress<'_>| {
            recorder.borrow_mut().observe(progress);
            watchers.observe(progress, |origin| {
                so_far::summarize(progress, &recorder.borrow(), &plan, sampling.as_deref(), origin)
            });
            test.observe(progress);
        };
        let end = async {
            tokio::select! {
                () = ends.first() => {}
                () = test.breached() => {}
            }
        };
        let registry = users.registry.clone();
        let ran = match errand {
            None => {
                let config = RunConfig {
                    control,
                    samples,
                    sampling: sampling.clone(),
                    ..RunConfig::new(plan.clone())
                };
                let n_workers = config.n_workers.get();
                let factory = Arc::clone(&users.factory);
                let result = run::run(config, registry, factory, &mut users.stages, observe, end).await;
                let result = result.map_err(|error| of_error(&error).because(error));
                result.map(|result| Ran::here(result, n_workers))
            }
            Some(errand) => {
                let field = Field {
                    plan: plan.clone(),
                    registry,
                    control,
                    sampling: sampling.clone(),
                    samples,
                };
                let outcome = errand.run(field, &mut users.stages, observe, end).await;
                let ran =
                    outcome.map(|outcome| Ran::elsewhere(outcome, &outing, |result| test.latency(result)));
                ran.map_err(Failure::from)
            }
        };
        let accounts = sampling.iter().flat_map(|sampling| sampling.finish()).collect();
        let Ran {
            result,
            n_workers,
            health: of_agents,
            agents,
        } = ran?;
        test.finish(&result);
        let health = of_agents.unwrap_or_else(|| health(&*test, &result));
        test.judged(&health);
        let course = Course {
            subject: test.subject(),
            n_workers,
            recorder: recorder.into_inner(),
            health,
            accounts,
        };
        let mut summary = course.summarize(&result);
        if !agents.is_empty() {
            summary = summary.with_agents(agents);
        }
        test.complete(&mut summary);
        Ok((result, summary))
    }

    async fn print(&self, ended: &Ended<'_, RunResult>) -> Result<(), Failure> {
        self.test.print(&finished(ended), &self.users.stages).await
    }

    fn lists_causes(&self, ended: &Ended<'_, RunResult>) -> bool {
        self.test.lists_causes(&finished(ended), &self.users.stages)
    }

    fn reports_unasked(&self) -> bool {
        self.test.reports_unasked()
    }

    fn verdict(&self, ended: &Ended<'_, RunResult>) -> Result<Status, Failure> {
        self.test.verdict(&finished(ended))
    }

    async fn announce(&self, ended: &Ended<'_, RunResult>) {
        self.test.announce(&finished(ended)).await;
    }
}

fn finished<'a>(ended: &'a Ended<'_, RunResult>) -> Finished<'a> {
    Finished {
        result: ended.result,
        summary: ended.summary,
        ender: ended.ender,
        is_futile: ended.is_futile,
    }
}

/// Whether the figures are the target's alone.
fn health(test: &impl EngineTest, result: &RunResult) -> Health {
    // Without any latency, the headline has the duration of iterations.
    let latency = test
        .latency(result)
        .or_else(|| iteration_duration(&result.metrics));
    generator::judge(&result.generator, result.schedule, latency)
}

fn iteration_duration(metrics: &MetricSet) -> Option<Duration> {
    metrics.iter().find_map(|(definition, sample)| match sample {
        Value::Trend(histogram) if definition.name == "iteration_duration" && !histogram.is_empty() => {
            Some(percentile(histogram, 95.0))
        }
        _ => None,
    })
}

/// The shortest latency that users of scripts and of wsdirector's scenarios measure.
fn shortest_latency(metrics: &MetricSet) -> Option<Duration> {
    let latencies = metrics.iter().filter_map(|(definition, sample)| match sample {
        Value::Trend(histogram) if definition.contains == Contains::Time && is_latency(&definition.name) => {
            Some(percentile(histogram, 95.0))
        }
        _ => None,
    });
    latencies.min()
}

/// Whether a trend says how long the target took.
fn is_latency(name: &str) -> bool {
    ["http_req_duration", "ws_connecting", "ws_ping", "rtt"].contains(&name)
}
