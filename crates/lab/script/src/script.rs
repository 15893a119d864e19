//! A script, from its text to the virtual users of a run.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    sync::Arc,
};

use plimsoll_load::{
    metrics::{Recorder, Registry},
    run::RunHandle,
    vu::{Iteration, IterationContext, IterationError, Lifecycle, StageFuture, Vu, VuFactory, VuId},
};
use serde_json::{Map, Value};

use crate::{
    error::ScriptError,
    host::{Stage, Work},
    program::{Options, Program},
    task::{Description, Files, Output, Task},
    vm::Vm,
};

/// A script that was read: its modules were evaluated once.
#[derive(Debug)]
pub struct Script {
    program: Arc<Program>,
    description: Description,
    registry: Registry,
}

impl Script {
    /// Compiles and evaluates the modules of a program, as k6 does before everything else (`__VU` is 0).
    ///
    /// # Errors
    /// What a module throws, a syntax error, or that nothing is exported.
    pub fn read(program: Program) -> Result<Self, ScriptError> {
        let program = Arc::new(program);
        let (_vm, output) = Vm::new(&program, 0)?;
        let Output::Script(description) = output else {
            return Err(ScriptError::new("the script was not evaluated"));
        };
        if description.functions.is_empty() {
            return Err(ScriptError::new(
                "the script exports no function; expected at least `export default function () { … }`",
            ));
        }
        let registry = program.finish_reading().unwrap_or_default();
        Ok(Self {
            program,
            description,
            registry,
        })
    }

    /// What it exports as `options`; null when nothing.
    ///
    /// # Errors
    /// When it is not what JSON can say.
    pub fn options(&self) -> Result<Value, serde_json::Error> {
        let options = self.description.options.as_deref();
        options.map_or(Ok(Value::Null), serde_json::from_str)
    }

    /// The options in the archive that the script comes from; `None` for a script in files.
    pub fn archived_options(&self) -> Option<&Map<String, Value>> {
        self.program.archive().map(|archive| &archive.options)
    }

    /// Writes the script with its modules and all files that it opened as an archive in k6's format. `options` are those of
    /// the test as JSON; `with_env` says whether the variables of `__ENV` are written.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_archive(&self, options: &Value, with_env: bool, out: &mut dyn Write) -> io::Result<()> {
        self.program.write_archive(options, with_env, out)
    }

    /// The names of the functions that it exports.
    pub fn functions(&self) -> &BTreeSet<String> {
        &self.description.functions
    }

    /// All metrics, as at the start of each run.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Prepares a run with the options of all layers together; for several runs of one script the first ones stay.
    pub fn users(&self, options: Options) -> Users {
        self.program.set_options(options);
        let data = Arc::default();
        Users {
            registry: self.registry.clone(),
            factory: Arc::new(Factory {
                program: Arc::clone(&self.program),
                data: Arc::clone(&data),
            }),
            stages: Stages {
                has_setup: self.description.functions.contains("setup"),
                has_teardown: self.description.functions.contains("teardown"),
                has_summary: self.description.functions.contains("handleSummary"),
                program: Arc::clone(&self.program),
                data,
            },
        }
    }
}

/// The script of a run.
pub struct Users {
    /// All metrics.
    pub registry: Registry,
    /// Makes the virtual users.
    pub factory: Arc<dyn VuFactory>,
    /// The functions before and after the run.
    pub stages: Stages,
}

/// The result of `setup` as JSON; set once.
type SetupData = std::sync::OnceLock<Arc<str>>;

/// `setup`, `teardown` and `handleSummary`. Each has its own runtime, as in k6.
pub struct Stages {
    program: Arc<Program>,
    data: Arc<SetupData>,
    has_setup: bool,
    has_teardown: bool,
    has_summary: bool,
}

struct Factory {
    program: Arc<Program>,
    data: Arc<SetupData>,
}

struct ScriptVu {
    vm: Vm,
    data: Arc<SetupData>,
}

impl VuFactory for Factory {
    fn create(&self, vu: VuId) -> Result<Box<dyn Vu>, String> {
        self.program.network().map_err(|error| error.to_string())?;
        let (vm, _) = Vm::new(&self.program, vu.get()).map_err(|error| error.to_string())?;
        Ok(Box::new(ScriptVu {
            vm,
            data: Arc::clone(&self.data),
        }))
    }
}

impl Vu for ScriptVu {
    fn rest(&mut self) {
        self.vm.rest();
    }

    fn iterate<'a>(&'a mut self, context: &'a mut IterationContext) -> Iteration<'a> {
        let task = Task::Iterate {
            function: context.scenario.exec.clone(),
            data: self.data.get().cloned(),
        };
        // As in k6, the bytes of every iteration are known, also when there were none.
        let data = self.vm.metrics().data;
        for id in [data.sent, data.received] {
            context.metrics.count(id, 0);
        }
        let work = Work::new(
            Some(context.clone()),
            context.metrics.clone(),
            context.run.clone(),
        );
        Box::pin(async move {
            let outcome = self.vm.perform(Stage::Iteration, Some(work), task).await;
            // As in k6, `iterations` and `iteration_duration` have the tags that the script has set.
            if let Some(recorder) = self.vm.left_recorder() {
                context.metrics = recorder;
            }
            match outcome {
                Ok(_) => Ok(()),
                // The end of the run says why; the iteration is complete, as in k6.
                Err(error) if error.is_abort => Ok(()),
                Err(error) if error.is_interruption => Err(IterationError::Interrupted),
                Err(error) => {
                    tracing::error!(target: "script", "{error}");
                    Err(IterationError::new(error.reason()))
                }
            }
        })
    }
}

impl Lifecycle for Stages {
    fn setup(&mut self, metrics: Recorder, run: RunHandle) -> StageFuture<'_> {
        Box::pin(async move {
            if !self.has_setup {
                return Ok(());
            }
            let work = Work::new(None, metrics, run);
            let output = self.perform(Stage::Setup, Some(work), Task::Setup).await;
            if let Output::Data(Some(data)) = output.map_err(|error| error.to_string())? {
                self.data.get_or_init(|| data.into());
            }
            Ok(())
        })
    }

    fn shared(&self) -> Option<Arc<str>> {
        self.setup_data()
    }

    fn share(&mut self, data: Arc<str>) {
        self.data.get_or_init(|| data);
    }

    fn teardown(&mut self, metrics: Recorder, run: RunHandle) -> StageFuture<'_> {
        Box::pin(async move {
            if !self.has_teardown {
                return Ok(());
            }
            let work = Work::new(None, metrics, run);
            let data = self.data.get().cloned();
            let output = self
                .perform(Stage::Teardown, Some(work), Task::Teardown { data })
                .await;
            output.map(drop).map_err(|error| error.to_string())
        })
    }
}

impl Stages {
    /// Whether the script exports `handleSummary`.
    pub fn has_handle_summary(&self) -> bool {
        self.has_summary
    }

    /// The result of `setup` as JSON.
    pub fn setup_data(&self) -> Option<Arc<str>> {
        self.data.get().cloned()
    }

    /// Calls `handleSummary` with its argument: what to write, by name (`stdout`, `stderr` or a path). `None` when the
    /// script has no such function or it returned nothing.
    ///
    /// # Errors
    /// What it threw.
    pub async fn handle_summary(&self, data: &Value) -> Result<Option<Files>, ScriptError> {
        if !self.has_summary {
            return Ok(None);
        }
        let task = Task::Summarize {
            data: data.to_string(),
        };
        match self.perform(Stage::Summary, None, task).await? {
            Output::Files(files) => Ok(files),
            _ => Ok(None),
        }
    }

    async fn perform(&self, stage: Stage, work: Option<Work>, task: Task) -> Result<Output, ScriptError> {
        let (mut vm, _) = Vm::new(&self.program, 0)?;
        vm.perform(stage, work, task).await
    }
}
