//! A script that was read and compiled once; what all its virtual users share.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
};

use plimsoll_load::{
    metrics::{RegisterError, Registry},
    plan,
};
use serde_json::Value;

use crate::{
    error::Location,
    metrics::{Custom, Metrics},
};

/// The whole of a script.
#[derive(Debug)]
pub struct Program {
    /// The module that is run.
    pub(crate) entry: String,
    /// All modules, by name.
    pub(crate) modules: HashMap<String, SourceModule>,
    /// `__ENV`.
    pub(crate) env: BTreeMap<String, String>,
    /// Where relative paths begin that no module gives.
    pub(crate) directory: PathBuf,
    compiled: Mutex<HashMap<String, Arc<[u8]>>>,
    /// What `open` has read.
    files: Mutex<HashMap<PathBuf, Arc<[u8]>>>,
    /// While the script is read the first time, when it makes its metrics.
    reading: Mutex<Option<(Registry, Metrics)>>,
    metrics: OnceLock<Metrics>,
    options: OnceLock<Options>,
}

/// The options as all layers together have them.
#[derive(Debug, Default)]
pub struct Options {
    /// As scripts and protocols read them.
    pub values: plan::Options,
    /// Which tags samples get by themselves.
    pub system_tags: BTreeSet<String>,
    /// All of them as JSON, for `exec.test.options` and the script's own `options`.
    pub consolidated: String,
}

/// One file of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceModule {
    /// What is compiled.
    pub text: String,
    /// Whether it is a CommonJS module.
    pub is_common_js: bool,
    /// What its imports stand for, by the text between the quotes.
    pub imports: HashMap<String, String>,
}

impl Program {
    /// A script that was read and not compiled yet.
    pub fn new(
        entry: String,
        modules: HashMap<String, SourceModule>,
        env: BTreeMap<String, String>,
        directory: PathBuf,
    ) -> Self {
        let mut registry = Registry::new();
        let metrics = Metrics::register(&mut registry).expect("the names of an empty registry are free");
        Self {
            entry,
            modules,
            env,
            directory,
            compiled: Mutex::default(),
            files: Mutex::default(),
            reading: Mutex::new(Some((registry, metrics))),
            metrics: OnceLock::new(),
            options: OnceLock::new(),
        }
    }

    /// Bytecode of a module, once somebody has compiled it.
    pub(crate) fn compiled(&self, name: &str) -> Option<Arc<[u8]>> {
        self.compiled.lock().ok()?.get(name).cloned()
    }

    pub(crate) fn keep_compiled(&self, name: &str, bytecode: Vec<u8>) {
        if let Ok(mut compiled) = self.compiled.lock() {
            compiled.insert(name.to_owned(), bytecode.into());
        }
    }

    /// A file, read once for all virtual users.
    pub(crate) fn file(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        let mut files = self
            .files
            .lock()
            .map_err(|_| io::Error::other("another virtual user panicked"))?;
        if let Some(content) = files.get(path) {
            return Ok(Arc::clone(content));
        }
        let content: Arc<[u8]> = fs::read(path)?.into();
        files.insert(path.to_owned(), Arc::clone(&content));
        Ok(content)
    }

    /// All metrics; empty ids do not exist, so this waits for nobody: they are set before the first virtual user.
    pub(crate) fn metrics(&self) -> &Metrics {
        self.metrics
            .get()
            .expect("metrics are set when the script was read the first time")
    }

    /// Ends the first reading of the script: no further metrics can be made.
    pub(crate) fn finish_reading(&self) -> Option<Registry> {
        let (registry, metrics) = self.reading.lock().ok()?.take()?;
        self.metrics.get_or_init(|| metrics);
        Some(registry)
    }

    /// The metric of this name: made while the script is read the first time, found later.
    ///
    /// # Errors
    /// For people: the name is no metric's, or is new too late.
    pub(crate) fn custom_metric(
        &self,
        name: &str,
        register: impl FnOnce(&mut Registry) -> Result<Custom, RegisterError>,
    ) -> Result<Custom, String> {
        let mut reading = self.reading.lock().map_err(|_| "another virtual user panicked")?;
        if let Some((registry, metrics)) = &mut *reading {
            let metric = register(registry).map_err(|error| error.to_string())?;
            metrics.add(name, metric);
            return Ok(metric);
        }
        self.metrics().custom(name).ok_or_else(|| {
            format!(
                "the metric `{name}` is new: it was not made when the script was read the first time (with `__VU` 0); \
                 make metrics always, not under a condition"
            )
        })
    }

    /// The options of all layers.
    pub(crate) fn options(&self) -> &Options {
        static NONE: OnceLock<Options> = OnceLock::new();
        self.options
            .get()
            .unwrap_or_else(|| NONE.get_or_init(Options::default))
    }

    pub(crate) fn set_options(&self, options: Options) {
        self.options.get_or_init(|| options);
    }

    /// An option.
    pub(crate) fn option(&self, key: &str) -> Option<&Value> {
        self.options().values.get(key)
    }

    /// Whether samples get this tag by themselves.
    pub(crate) fn has_system_tag(&self, name: &str) -> bool {
        self.options().system_tags.contains(name)
    }

    /// Whether a name in a stack is one of the script's modules.
    pub(crate) fn knows(&self, file: &str) -> bool {
        self.modules.contains_key(file)
    }

    /// The line at a place.
    pub(crate) fn source_line(&self, place: &Location) -> Option<String> {
        let module = self.modules.get(&place.file)?;
        module
            .text
            .lines()
            .nth(place.line.checked_sub(1)?)
            .map(str::to_owned)
    }

    /// A place as people know it: files relative to where they are.
    pub(crate) fn displayed(&self, place: &Location) -> Location {
        Location {
            file: self.displayed_stack(&place.file),
            line: place.line,
            column: place.column,
        }
    }

    /// A stack likewise.
    pub(crate) fn displayed_stack(&self, stack: &str) -> String {
        let prefix = format!("file://{}/", self.directory.display());
        stack.replace(&prefix, "").replace("file://", "")
    }
}
