//! Scripts that are run in one virtual user, on a paused clock.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use plimsoll_clients::dial::Proxies;
use plimsoll_load::{
    executor::Executor,
    metrics::{MetricSet, Recorder, SampleReceiver, Selector, Value, sample_queue},
    plan::{Plan, SYSTEM_TAGS, Scenario},
    run::RunHandle,
    vu::{Cancellation, IterationContext, IterationError, VuId},
};
use tokio::time::Instant;

use crate::{Options, Program, Script, ScriptError, SourceModule, Users};

mod adversaries;
mod compatibility;
mod files;
mod html;
mod http;
mod lifecycle;
mod modules;
mod sources;
mod subtle;

/// A program of one ES module.
pub(crate) fn program(text: &str) -> Program {
    program_of(&[("script.js", text, false)])
}

/// A program of several modules that import each other as `./name`; the first is the entry. The last part says whether
/// it is a CommonJS one.
pub(crate) fn program_of(files: &[(&str, &str, bool)]) -> Program {
    let name = |file: &str| format!("file:///test/{file}");
    let imports: HashMap<_, _> = files
        .iter()
        .map(|(file, ..)| (format!("./{file}"), name(file)))
        .collect();
    let modules = files.iter().map(|&(file, text, is_common_js)| {
        let quoted = text.split(['\'', '"']).filter(|quoted| quoted.starts_with("k6"));
        let of_host = quoted.map(|id| (id.to_owned(), id.to_owned()));
        let module = SourceModule {
            is_common_js,
            imports: imports.clone().into_iter().chain(of_host).collect(),
            ..SourceModule::of_text(text)
        };
        (name(file), module)
    });
    let env = BTreeMap::from([("NAME".to_owned(), "value".to_owned())]);
    let mut program = Program::new(name(files[0].0), modules.collect(), env, "/test".into());
    // A test fills the heap, so it is small here.
    program.limits.heap_bytes = 64 << 20;
    program
}

/// A script in one virtual user.
pub(crate) struct Trial {
    users: Users,
    /// Where samples go.
    pub(crate) recorder: Recorder,
    /// The run as the script sees it.
    pub(crate) run: RunHandle,
}

impl Trial {
    pub(crate) fn new(program: Program) -> Self {
        Self::with_options(program, &serde_json::json!({}))
    }

    pub(crate) fn with_options(program: Program, options: &serde_json::Value) -> Self {
        let script = Script::read(program).unwrap_or_else(|error| panic!("{error}"));
        let users = script.users(Options {
            values: plimsoll_load::plan::Options::from_json(options).unwrap().options,
            system_tags: SYSTEM_TAGS.map(str::to_owned).into(),
            consolidated: options.to_string(),
            stripe: None,
            proxies: Proxies::default(),
        });
        let recorder = Recorder::new(MetricSet::new(Arc::new(users.registry.clone())));
        Self {
            users,
            recorder,
            run: RunHandle::new(),
        }
    }

    /// From now on, samples with these tags are counted apart, too: `("ws_sessions", &[("status", "101")])`.
    pub(crate) fn watch(&mut self, parts: &[(&str, &[(&str, &str)])]) {
        let mut registry = self.users.registry.clone();
        for (metric, tags) in parts {
            let owned = |text: &str| text.to_owned();
            let tags = tags.iter().map(|(name, value)| (owned(name), owned(value)));
            let metric = registry.find(metric).unwrap();
            registry.sub_metric(metric, &Selector::new(tags.collect()));
        }
        self.recorder = Recorder::new(MetricSet::new(Arc::new(registry)));
    }

    /// One whose samples can be seen one by one; they come with [`Self::recorded`].
    pub(crate) fn with_samples(program: Program, options: &serde_json::Value) -> (Self, SampleReceiver) {
        let mut trial = Self::with_options(program, options);
        let (sender, receiver) = sample_queue();
        let set = MetricSet::new(Arc::new(trial.users.registry.clone()));
        trial.recorder = Recorder::with_queues(set, vec![sender]);
        (trial, receiver)
    }

    /// Runs `n` iterations of the first virtual user and gives how the last one ended.
    pub(crate) async fn iterate(&mut self, n: u64) -> Result<(), IterationError> {
        let mut vu = self
            .users
            .factory
            .create(VuId::FIRST)
            .map_err(IterationError::new)?;
        let mut result = Ok(());
        for iteration in 0..n {
            result = vu.iterate(&mut self.context(iteration)).await;
        }
        result
    }

    pub(crate) fn context(&self, iteration: u64) -> IterationContext {
        let executor = Plan::from_options(&Default::default())
            .unwrap()
            .scenarios
            .remove(0)
            .executor;
        let _: &Executor = &executor;
        IterationContext {
            vu: VuId::FIRST,
            iteration,
            iteration_in_scenario: iteration,
            scenario_iteration: iteration,
            scenario_iteration_in_test: iteration,
            scenario: Arc::new(Scenario::new("default", executor)),
            intended_start: Instant::now(),
            start: Instant::now(),
            cancellation: Cancellation::default(),
            metrics: self.recorder.clone(),
            run: self.run.clone(),
        }
    }

    /// What was recorded: `name=value` for counters, gauges and rates, `name=count` for trends.
    pub(crate) fn recorded(&self) -> Vec<String> {
        self.outcome().0
    }

    /// The same, and the names of the checks that failed.
    pub(crate) fn outcome(&self) -> (Vec<String>, Vec<String>) {
        let metrics = self.recorder.take();
        let failed = metrics.checks().filter(|(_, check)| check.fails > 0);
        let failed = failed.map(|(name, _)| name.name.clone()).collect();
        let values = metrics.iter().filter(|(_, value)| value.n_samples() > 0);
        let recorded = values
            .map(|(definition, value)| match value {
                Value::Counter(total) => format!("{}={total}", definition.name),
                Value::Gauge(gauge) => format!("{}={}", definition.name, gauge.value),
                Value::Rate(rate) => format!("{}={}/{}", definition.name, rate.n_true, rate.n_total),
                Value::Trend(histogram) => format!("{}=#{}", definition.name, histogram.count()),
            })
            .collect();
        (recorded, failed)
    }
}

/// Runs one iteration of `text` and expects these samples.
pub(crate) async fn check(text: &str, expected: &[&str]) {
    let mut trial = Trial::new(program(text));
    trial
        .iterate(1)
        .await
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(trial.recorded(), expected, "{text}");
}

/// Runs one iteration of `text` and expects it to fail so.
pub(crate) async fn check_failure(text: &str, expected: &str) {
    let mut trial = Trial::new(program(text));
    let error = trial.iterate(1).await.expect_err(text);
    assert!(
        error.to_string().contains(expected),
        "{error}\ninstead of {expected}\n{text}"
    );
}

/// Expects that reading `text` fails so.
pub(crate) fn check_refusal(text: &str, expected: &str) {
    let error: ScriptError = Script::read(program(text)).expect_err(text);
    assert!(
        error.to_string().contains(expected),
        "{error}\ninstead of {expected}\n{text}"
    );
}
