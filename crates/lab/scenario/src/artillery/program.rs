//! A parsed and checked file: the common state of all virtual users of a run.

use std::{
    collections::BTreeMap,
    rc::Rc,
    sync::{Arc, OnceLock},
    time::Duration,
};

use plimsoll_fake::{Generator, catalog::strings};
use serde_json::Value;

use super::{
    flow::Flow,
    http::{Defaults, Protocols},
    metrics::Metrics,
    payload::Payload,
    phase::Phase,
    processor::{self, FunctionName, Instance, Processor},
    variables::{Globals, Variables},
    websocket::Opening,
};

/// What users do.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) phases: Vec<Phase>,
    pub(crate) scenarios: Vec<ScenarioFlow>,
    /// The sum of all weights.
    pub(crate) total_weight: u64,
    pub(crate) globals: Arc<Globals>,
    /// The variables, extended by those of `before`.
    pub(crate) extended: OnceLock<Arc<Globals>>,
    /// Lists of which each user gets one element.
    pub(crate) choices: BTreeMap<String, Vec<Value>>,
    pub(crate) payloads: Vec<Payload>,
    pub(crate) opening: Opening,
    pub(crate) http: Protocols,
    /// What all requests have in common.
    pub(crate) defaults: Defaults,
    pub(crate) metrics: Metrics,
    /// The time limit of an answer.
    pub(crate) timeout: Duration,
    /// Done once before the first user arrives.
    pub(crate) before: Option<ScenarioFlow>,
    /// Runs once after the last user.
    pub(crate) after: Option<ScenarioFlow>,
    /// The module of functions that scenarios call.
    pub(crate) processor: Option<Arc<dyn Processor>>,
}

/// One scenario.
#[derive(Debug)]
pub(crate) struct ScenarioFlow {
    pub(crate) name: String,
    /// The name of the counter of its users.
    pub(crate) created: String,
    pub(crate) weight: u64,
    pub(crate) engine: Engine,
    pub(crate) flow: Flow,
    /// Functions that are called before the first and after the last step.
    pub(crate) before: Vec<FunctionName>,
    pub(crate) after: Vec<FunctionName>,
    /// The variables that its steps read: a user has no others.
    pub(crate) reads: Reads,
    /// The whole scenario as JSON, for its functions. `None` if it calls none.
    pub(crate) specification: Option<Arc<str>>,
}

/// The variables that a scenario reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    These(Vec<String>),
    /// Unknown, because functions may read any.
    All,
}

impl Reads {
    fn contains(&self, name: &str) -> bool {
        match self {
            Self::These(names) => names.iter().any(|read| read == name),
            Self::All => true,
        }
    }
}

/// What a scenario's steps are spoken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    WebSocket,
    Http,
}

impl Engine {
    /// Artillery's name of it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::WebSocket => "ws",
            Self::Http => "http",
        }
    }
}

impl Program {
    /// Adds the variables that `before` has set to those of all users.
    pub(crate) fn extend_globals(&self, own: impl IntoIterator<Item = (String, Value)>) {
        let mut globals = Globals::clone(&self.globals);
        globals.values.extend(own);
        self.extended.get_or_init(|| Arc::new(globals));
    }

    /// A random scenario, with probabilities given by the weights.
    pub(crate) fn choose(&self) -> &ScenarioFlow {
        let mut draw = fastrand::u64(..self.total_weight.max(1));
        for scenario in &self.scenarios {
            match draw.checked_sub(scenario.weight) {
                Some(rest) => draw = rest,
                None => return scenario,
            }
        }
        // The draw is below the sum of all weights.
        &self.scenarios[0]
    }

    /// The functions of the processor for users of this thread. `None` if no scenario calls any.
    ///
    /// # Errors
    /// The reason, for people.
    pub(crate) fn instance(&self) -> Result<Option<Rc<dyn Instance>>, String> {
        let stages = [&self.before, &self.after].into_iter().flatten();
        let mut all = self.scenarios.iter().chain(stages);
        let are_called = all.any(|scenario| scenario.specification.is_some());
        let processor = self.processor.as_ref().filter(|_| are_called);
        processor.map(processor::of_thread).transpose()
    }

    /// The variables of a new user. `number` is its number among the users of all instances that make the run together.
    pub(crate) fn variables_for(&self, scenario: &ScenarioFlow, number: Option<u64>) -> Variables {
        let globals = self.extended.get().unwrap_or(&self.globals);
        let mut variables = Variables::new(Arc::clone(globals));
        let reads = |name: &str| scenario.reads.contains(name);
        for (name, values) in self.choices.iter().filter(|(name, _)| reads(name)) {
            if let Some(value) = fastrand::choice(values) {
                variables.set(name, value.clone());
            }
        }
        for payload in &self.payloads {
            payload.give(number, &reads, &mut variables);
        }
        if reads("$uuid") {
            variables.set("$uuid", uuid().into());
        }
        variables
    }
}

/// A random UUID (RFC 9562 §5.4).
pub(crate) fn uuid() -> String {
    strings::uuid(&mut Generator::new(None))
}
