//! A script that was read and compiled once, which all its virtual users share.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io::{self, Write},
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock},
};

use plimsoll_clients::dial::Proxies;
use plimsoll_load::{
    metrics::{RegisterError, Registry},
    plan,
    segment::Stripe,
};
use serde_json::Value;

use crate::{
    globals::Reachable,
    language::Language,
    limits::Limits,
    metrics::{Custom, Metrics},
    modules::http::RunSettings,
    network::{Network, NetworkError},
    node::{
        shelf::Shelf,
        taken::{self, Taken},
    },
    own_options,
    protobuf::{Definitions, Source},
    secrets::Secrets,
    source::{self, Archive, Platform, Sources, Specifier, archive},
    source_module::SourceModule,
    wanted_exports::WantedExports,
};

/// The whole of a script.
#[derive(Debug)]
pub struct Program {
    /// The module that is run.
    pub(crate) entry: String,
    /// All modules, by name.
    pub(crate) modules: HashMap<String, SourceModule>,
    /// The program whose modules and globals it was written for.
    pub(crate) platform: Platform,
    /// The names that its own sources take from Node's modules.
    pub(crate) taken_of_node: Vec<Taken>,
    /// The language of its runtimes.
    pub(crate) language: Language,
    /// The globals of the host that it can reach.
    pub(crate) reachable: Reachable,
    /// The exports of the host's modules that it can see.
    pub(crate) wanted_exports: WantedExports,
    /// Whether it may look at its own `options`.
    pub(crate) sees_own_options: bool,
    /// `__ENV`.
    pub(crate) env: BTreeMap<String, String>,
    /// The directory of relative paths outside of modules.
    pub(crate) directory: PathBuf,
    /// The sources as they were read, the entry first.
    originals: Vec<(Specifier, Arc<str>)>,
    /// The archive that has the script and its files; `None` for a script in files.
    archive: Option<Arc<Archive>>,
    /// The secrets of `k6/secrets`.
    pub(crate) secrets: Secrets,
    /// The limits of memory and computing time.
    pub(crate) limits: Limits,
    compiled: Mutex<HashMap<String, Arc<[u8]>>>,
    /// The arrays of `SharedArray`, by name.
    shared: Mutex<HashMap<String, SharedItems>>,
    /// The files of functions for Node.
    pub(crate) shelf: Shelf,
    /// The files that `open` has read.
    files: Mutex<OpenedFiles>,
    /// Loaded definitions of protobuf.
    definitions: Mutex<BTreeMap<Source, Arc<Definitions>>>,
    /// The registry and the metrics, during the first reading of the script; `None` afterwards.
    reading: Mutex<Option<(Registry, Metrics)>>,
    metrics: OnceLock<Metrics>,
    options: OnceLock<Options>,
    network: OnceLock<Result<Arc<Network>, NetworkError>>,
    http: OnceLock<RunSettings>,
}

/// The items of an array that all virtual users share, each as JSON.
pub(crate) type SharedItems = Arc<[Box<str>]>;

/// Contents by the module that opened them and the path as it has it.
type OpenedFiles = HashMap<(Specifier, String), Arc<[u8]>>;

/// The options as all layers together have them.
#[derive(Debug, Default)]
pub struct Options {
    /// The options as scripts and protocols read them.
    pub values: plan::Options,
    /// The automatic tags of samples.
    pub system_tags: BTreeSet<String>,
    /// The numbers of this instance's virtual users in the whole of a split test; `None` for a test that is not split.
    pub stripe: Option<Arc<Stripe>>,
    /// All options as JSON, for `exec.test.options` and the script's own `options`.
    pub consolidated: String,
    /// The proxies for connections to servers.
    pub proxies: Proxies,
}

impl Program {
    /// A script that was read from files. `directory` is what people take paths to be relative to.
    pub fn from_sources(sources: Sources, env: BTreeMap<String, String>, directory: PathBuf) -> Self {
        // Without them, a missing name is found when it is called.
        let taken_of_node = taken::all(&sources).unwrap_or_default();
        let originals = sources.modules.iter();
        let originals = originals
            .map(|module| (module.specifier.clone(), Arc::clone(&module.original)))
            .collect();
        let modules = sources.modules.into_iter();
        let modules = modules.map(|source| (source.specifier.as_str().to_owned(), SourceModule::of(source)));
        Self {
            taken_of_node,
            originals,
            archive: sources.archive,
            ..Self::new(
                sources.entry.as_str().to_owned(),
                modules.collect(),
                env,
                directory,
            )
        }
    }

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
            sees_own_options: own_options::may_be_seen(&modules, &entry),
            entry,
            platform: Platform::K6,
            taken_of_node: Vec::new(),
            language: Language::of(modules.values()),
            reachable: Reachable::of(modules.values()),
            wanted_exports: WantedExports::of(modules.values()),
            modules,
            env,
            directory,
            originals: Vec::new(),
            archive: None,
            secrets: Secrets::default(),
            limits: Limits::default(),
            compiled: Mutex::default(),
            files: Mutex::default(),
            shelf: Shelf::default(),
            definitions: Mutex::default(),
            shared: Mutex::default(),
            reading: Mutex::new(Some((registry, metrics))),
            metrics: OnceLock::new(),
            options: OnceLock::new(),
            network: OnceLock::new(),
            http: OnceLock::new(),
        }
    }

    /// The same for functions that were written for Node.
    #[must_use]
    pub(crate) fn for_node(self) -> Self {
        Self {
            platform: Platform::Node,
            // One runtime serves all users of a thread, and `Buffer` is everywhere.
            language: Language::WHOLE,
            reachable: Reachable::All,
            wanted_exports: WantedExports::All,
            sees_own_options: true,
            ..self
        }
    }

    /// Adds secrets that the script may read.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// The bytecode of a module, if a virtual user has already compiled it.
    pub(crate) fn compiled(&self, name: &str) -> Option<Arc<[u8]>> {
        self.compiled.lock().ok()?.get(name).cloned()
    }

    pub(crate) fn keep_compiled(&self, name: &str, bytecode: Vec<u8>) {
        if let Ok(mut compiled) = self.compiled.lock() {
            compiled.insert(name.to_owned(), bytecode.into());
        }
    }

    /// The items of a shared array, if a virtual user has already created them.
    pub(crate) fn shared_items(&self, name: &str) -> Option<SharedItems> {
        self.shared.lock().ok()?.get(name).cloned()
    }

    /// Keeps the items of a shared array; the first ones stay, and are given back.
    pub(crate) fn keep_shared_items(&self, name: &str, items: SharedItems) -> SharedItems {
        match self.shared.lock() {
            Ok(mut shared) => Arc::clone(shared.entry(name.to_owned()).or_insert(items)),
            Err(_) => items,
        }
    }

    /// What `open(path)` gives in the module of this name, read once for all virtual users.
    ///
    /// # Errors
    /// For people: the file cannot be read.
    pub(crate) fn file(&self, module: Option<&str>, path: &str) -> Result<Arc<[u8]>, String> {
        let module = self.opening(module)?;
        let mut files = self.files.lock().map_err(|_| "another virtual user panicked")?;
        let key = (module.clone(), path.to_owned());
        if let Some(content) = files.get(&key) {
            return Ok(Arc::clone(content));
        }
        let content = match &self.archive {
            Some(archive) => archive.open(&module, path),
            None => source::open(&module, path).map(Into::into),
        };
        let content = content.map_err(|error| error.to_string())?;
        files.insert(key, Arc::clone(&content));
        Ok(content)
    }

    /// The definitions of protobuf from this source, loaded once for all virtual users.
    ///
    /// # Errors
    /// For people: a file is missing or wrong.
    pub(crate) fn definitions(self: &Arc<Self>, source: &Source) -> Result<Arc<Definitions>, String> {
        let mut loaded = self
            .definitions
            .lock()
            .map_err(|_| "another virtual user panicked")?;
        if let Some(definitions) = loaded.get(source) {
            return Ok(Arc::clone(definitions));
        }
        let program = Arc::clone(self);
        let definitions = Definitions::load(source, move |path| program.file(None, path))?;
        let definitions = Arc::new(definitions);
        loaded.insert(source.clone(), Arc::clone(&definitions));
        Ok(definitions)
    }

    /// The path of the file that [`Self::file`] reads.
    ///
    /// # Errors
    /// For people: the module has no folder.
    pub(crate) fn path(&self, module: Option<&str>, path: &str) -> Result<PathBuf, String> {
        source::opened_path(&self.opening(module)?, path).map_err(|error| error.to_string())
    }

    /// The module that opens a file; the entry, if none is given.
    fn opening(&self, module: Option<&str>) -> Result<Specifier, String> {
        let module = module
            .and_then(Specifier::parse)
            .or_else(|| Specifier::parse(&self.entry));
        module.ok_or_else(|| "only modules can open files".to_owned())
    }

    /// The archive that the script comes from.
    pub(crate) fn archive(&self) -> Option<&Archive> {
        self.archive.as_deref()
    }

    /// Writes the script with all modules and all files that it has opened so far as an archive. `options` are those of
    /// the test as JSON; `with_env` says whether the variables of `__ENV` are written.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write_archive(
        &self,
        options: &Value,
        with_env: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let none = BTreeMap::new();
        let env = if with_env { &self.env } else { &none };
        let files = self
            .files
            .lock()
            .map_err(|_| io::Error::other("a virtual user panicked"))?;
        let opened: Vec<_> = files
            .iter()
            .map(|((module, path), content)| (module.clone(), path.clone(), Arc::clone(content)))
            .collect();
        archive::write(&self.originals, &opened, (options, env), out)
    }

    /// All metrics; for use after the first reading of the script, when their ids are known.
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

    /// Whether the first reading of the script has not ended yet.
    pub(crate) fn is_new(&self) -> bool {
        self.reading.lock().is_ok_and(|reading| reading.is_some())
    }

    /// The metric of this name: made while the script is read the first time, found later.
    ///
    /// # Errors
    /// For people: the name is not a metric's, or is new too late.
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
                "the metric `{name}` is new: it was not created when the script was read for the first time (with \
                 `__VU` 0); always create metrics, without a condition"
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

    /// The way to servers, as the options want it.
    ///
    /// # Errors
    /// When an option cannot be used.
    pub(crate) fn network(&self) -> Result<&Arc<Network>, NetworkError> {
        let network = self.network.get_or_init(|| {
            let Options { values, proxies, .. } = self.options();
            Network::of(values, proxies.clone()).map(Arc::new)
        });
        network.as_ref().map_err(Clone::clone)
    }

    /// What the options say about requests over HTTP.
    ///
    /// # Errors
    /// When an option cannot be used.
    pub(crate) fn http(&self) -> Result<&RunSettings, NetworkError> {
        let network = self.network()?;
        let read = || RunSettings::new(network, &self.options().values, &self.env);
        Ok(self.http.get_or_init(read))
    }

    /// An option.
    pub(crate) fn option(&self, key: &str) -> Option<&Value> {
        self.options().values.get(key)
    }

    /// Whether samples get this tag automatically.
    pub(crate) fn has_system_tag(&self, name: &str) -> bool {
        self.options().system_tags.contains(name)
    }

    /// A stack, or a name of a module, as people know it: files relative to where they are.
    pub(crate) fn displayed(&self, stack: &str) -> String {
        let prefix = format!("file://{}/", self.directory.display());
        stack.replace(&prefix, "").replace("file://", "")
    }
}
