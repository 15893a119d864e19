//! The state of a run for the live view: the last second, the whole run, and its course.

use std::{fmt, time::Duration};

use plimsoll_load::{
    causes::Span,
    plan::Plan,
    run::{AgentProgress, Progress},
    watch::Latest,
};

mod figures;
mod generator;
mod planned;
mod quantiles;
mod users;
mod watched;
mod window;

use self::figures::Figures;
pub(crate) use self::{
    figures::{Figure, Value},
    generator::Generator,
    quantiles::Quantiles,
    users::Users,
    window::{WINDOW, Window},
};
pub use self::{planned::Planned, watched::Watched};

/// The most causes of failures shown. More do not fit on a screen.
const MAX_ERRORS: usize = 20;

/// What runs.
pub struct Subject {
    /// The name for people: the script as they named it.
    pub name: String,
    /// Whether the run can be paused.
    pub can_pause: bool,
    /// Removes secrets from texts.
    pub redact: Box<dyn Fn(&str) -> String + Send>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The data of the live view of one run.
#[derive(Debug)]
pub struct Board {
    pub(crate) subject: Subject,
    pub(crate) planned: Planned,
    /// `None` before the first virtual user starts.
    pub(crate) now: Option<Now>,
    pub(crate) figures: Figures,
    pub(crate) users: Users,
    /// The most frequent causes of failures.
    pub(crate) errors: Vec<Failures>,
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) generator: Generator,
    /// The agents that make the load. Empty: this process does.
    pub(crate) agents: Vec<AgentProgress>,
    /// Watched targets by name.
    pub(crate) targets: Vec<(String, Latest)>,
    /// Grows with each change.
    pub(crate) revision: u64,
}

/// The progress of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Now {
    pub(crate) elapsed: Duration,
    pub(crate) active_vus: u32,
    pub(crate) max_vus: u32,
    pub(crate) n_complete: u64,
    pub(crate) n_interrupted: u64,
}

/// The failures of one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failures {
    pub(crate) cause: String,
    /// Their number, and when they occurred.
    pub(crate) span: Span,
}

/// One threshold, at its last evaluation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Threshold {
    /// The metric and the expression.
    pub(crate) text: String,
    /// `None` without samples.
    pub(crate) value: Option<f64>,
    pub(crate) has_passed: bool,
}

impl Board {
    /// The board of a run that has not begun.
    pub fn new(subject: Subject, plan: &Plan) -> Self {
        Self {
            subject,
            planned: Planned::new(plan),
            now: None,
            figures: Figures::new(),
            users: Users::default(),
            errors: Vec::new(),
            thresholds: Vec::new(),
            generator: Generator::default(),
            agents: Vec::new(),
            targets: Vec::new(),
            revision: 0,
        }
    }

    /// The same; metrics of these names come before all others, in this order, and the first of them that has samples
    /// is the main latency.
    #[must_use]
    pub fn led_by(mut self, names: &[&'static str]) -> Self {
        self.figures.leading = names.to_vec();
        self
    }

    /// Takes in the state of the run and of its targets, once per second.
    pub fn observe<'a>(&mut self, progress: &Progress<'_>, targets: impl Iterator<Item = (&'a str, Latest)>) {
        self.targets = targets.map(|(name, latest)| (name.to_owned(), latest)).collect();
        self.now = Some(Now {
            elapsed: progress.elapsed,
            active_vus: progress.active_vus,
            max_vus: progress.max_vus,
            n_complete: progress.n_iterations_complete,
            n_interrupted: progress.n_interrupted,
        });
        self.users.push(progress.elapsed, progress.active_vus);
        self.figures.observe(progress);
        let thresholds = progress.thresholds.iter().map(|finding| Threshold {
            text: format!("{} {}", finding.metric, finding.expression),
            value: finding.value,
            has_passed: finding.passed,
        });
        self.thresholds = thresholds.collect();
        self.errors = errors(progress, &self.subject.redact);
        self.generator = Generator::of(progress);
        self.agents.clone_from(&progress.agents);
        self.revision += 1;
    }
}

/// The most frequent first.
fn errors(progress: &Progress<'_>, redact: &dyn Fn(&str) -> String) -> Vec<Failures> {
    let all = [progress.failures.causes(), progress.metrics.faults()];
    let mut errors: Vec<_> = all
        .iter()
        .flat_map(|causes| causes.iter())
        .map(|(cause, failures)| Failures {
            cause: redact(cause),
            span: failures.span,
        })
        .collect();
    errors.sort_by_key(|failures| std::cmp::Reverse(failures.span.n));
    errors.truncate(MAX_ERRORS);
    let others = all.iter().filter_map(|causes| causes.other());
    errors.extend(others.map(|other| Failures {
        cause: "(other causes)".to_owned(),
        span: other.span,
    }));
    errors
}
