//! From a document to a test: every key is read, refused or warned of, with its place.

use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use plimsoll_clients::dial::Proxies;
use plimsoll_load::metrics::Registry;
use serde_json::Value;

use super::{
    keys,
    metrics::Metrics,
    phase::Phase,
    processor::Loaded,
    program::{Engine, Program, ScenarioFlow},
    selectors,
    test::Test,
    variables::Globals,
};
use crate::document::{Document, Mistakes};

mod capture;
mod checks;
mod config;
mod flow;
mod form_data;
mod functions;
mod gateway;
mod layers;
mod message;
mod payloads;
mod phases;
mod plugins;
mod proxies;
mod reader;
mod request;
mod scenarios;
mod slack;

use self::{config::Settings, reader::Reader};
pub use self::{
    plugins::{ABSENT_REPORTERS, REPORTERS},
    scenarios::ABSENT_ENGINES,
};

/// Settings of a test from the command line and the environment.
pub struct Surroundings<'a> {
    /// The file, for relative paths.
    pub path: &'a Path,
    /// The file of `--config`, to which the path of the processor is relative.
    pub config_path: Option<&'a Path>,
    /// The values of `--overrides`, as JSON.
    pub overrides: Option<String>,
    /// The file of `--payload`.
    pub payload: Option<PathBuf>,
    /// The selected entry of `config.environments`.
    pub environment: Option<String>,
    /// In place of `config.target`.
    pub target: Option<String>,
    /// Over `config.variables`.
    pub variables: BTreeMap<String, Value>,
    /// Whether TLS certificates are not verified.
    pub is_insecure: bool,
    /// The only scenario to run.
    pub scenario_name: Option<String>,
    /// Whether one user replaces all phases.
    pub is_solo: bool,
    /// The latest end of everything.
    pub max_duration: Option<Duration>,
    /// Variables of the system.
    pub system: BTreeMap<String, String>,
    /// Reads a text file.
    pub read_file: &'a dyn Fn(&Path) -> io::Result<String>,
    /// Reads any file, at most this many bytes of it; also while the test runs.
    pub read_bytes: ReadBytes,
    /// Reads a selector of elements in pages.
    pub read_selector: &'a dyn Fn(&str) -> selectors::Loaded,
    /// Reads and evaluates a module of functions; the error is for people.
    pub load_processor: &'a dyn Fn(&Path) -> Loaded,
    /// The seed of what is random and the same for all users: the id of the test, and the gaps between arrivals.
    pub seed: u64,
}

/// Reads a file: at most this many bytes of it.
pub type ReadBytes = Arc<dyn Fn(&Path, u64) -> io::Result<Vec<u8>> + Send + Sync>;

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The system's variables hold secrets.
        f.debug_struct("Surroundings")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Surroundings<'_> {
    /// Resolves a path from the file.
    fn resolve(&self, path: &str) -> PathBuf {
        resolve(self.path, path)
    }

    /// Resolves the path of the processor: from the file of `--config` if it is there, or else from the file.
    fn resolve_processor(&self, path: &str) -> PathBuf {
        let of_config = self.config_path.map(|config| resolve(config, path));
        let of_config = of_config.filter(|path| (self.read_file)(path).is_ok());
        of_config.unwrap_or_else(|| self.resolve(path))
    }
}

fn resolve(file: &Path, path: &str) -> PathBuf {
    let path = file.parent().unwrap_or(Path::new("")).join(path);
    // Without the dots in the middle, for people.
    path.components().collect()
}

/// Reads a test from its file, or from several files that were laid over each other.
///
/// # Errors
/// All mistakes at once.
pub fn read(document: Document, surroundings: &Surroundings<'_>) -> Result<Test, Mistakes> {
    let document = &layers::lay(document, surroundings)?;
    let reader = Reader::new(document, surroundings);
    let test = reader.read_test();
    document.finish()?;
    // Whatever is missing was a mistake.
    test.ok_or_else(|| reader.incomplete())
}

impl Reader<'_> {
    fn read_test(&self) -> Option<Test> {
        let document = self.document.root();
        let mut root = document.fields_of(&keys::ROOT)?;
        root.known(&["$schema", "version"]);
        let config = root.require("config", "a map with a `target` and `phases`");
        let settings = config
            .and_then(|part| self.read_config(&part))
            .unwrap_or_default();
        let scenarios = root.require("scenarios", "a list of scenarios, each with a `flow`");
        let scenarios = scenarios.and_then(|part| self.read_scenarios(&part, &settings));
        let [before, after] = ["before", "after"].map(|key| {
            let part = root.get(key)?;
            self.read_stage(&part, &settings)
        });
        root.finish();
        self.check_names();
        let (scenarios, opening) = (scenarios?, settings.opening(&document)?);
        let is_http = |scenario: &ScenarioFlow| scenario.engine == Engine::Http;
        let proxies = if scenarios.iter().chain(&before).chain(&after).any(is_http) {
            self.proxies(&document)
        } else {
            Proxies::default()
        };
        let mut registry = Registry::new();
        let metrics = Metrics::register(&mut registry);
        let metrics = metrics
            .inspect_err(|error| document.mistake(error.to_string()))
            .ok()?;
        let program = Program {
            total_weight: scenarios.iter().map(|scenario| scenario.weight).sum(),
            scenarios,
            choices: settings.choices(),
            globals: Arc::new(self.globals(&settings)),
            extended: OnceLock::new(),
            timeout: settings.websocket_timeout(),
            http: Settings::http(&opening, proxies),
            defaults: settings.defaults(),
            phases: self.phases(&settings),
            payloads: settings.payloads,
            opening,
            metrics,
            before,
            after,
            processor: self.processor(),
        };
        Some(Test {
            program: Arc::new(program),
            registry,
            ensure: settings.ensure,
            max_duration: self.surroundings.max_duration,
            hides_endpoints: settings.endpoints.as_ref().is_some_and(|it| it.is_quiet),
            publications: settings.publications,
            slack: settings.slack,
            late_files: self.take_late_files(),
            warnings: self.take_warnings(),
        })
    }

    fn phases(&self, settings: &Settings) -> Vec<Phase> {
        if self.surroundings.is_solo {
            vec![Settings::solo()]
        } else {
            settings.phases()
        }
    }

    fn globals(&self, settings: &Settings) -> Globals {
        let mut values = settings.constants();
        values.extend(self.built_in().clone());
        Globals {
            values,
            environment: self.surroundings.system.clone(),
            fakes: settings.fakes.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
