//! Reads an Artillery file together with the flags of the command line.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use plimsoll_scenario::{
    artillery::{self, Test},
    document::{Document, Lists},
};
use plimsoll_script::PageSelector;

use super::{
    library::Library,
    options::{TestFlags, variables_of},
};
use crate::{exit::Failure, surroundings::Surroundings};

/// A file that was read.
#[derive(Clone, Debug)]
pub(in crate::run) struct Source {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// Reads the files of a test, in the order in which they lie over each other; `named` are those without a flag.
///
/// # Errors
/// One of them cannot be read.
pub(in crate::run) fn read_files(
    named: &[PathBuf],
    flags: &TestFlags,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<Source>, Failure> {
    let read = |path: &Path| {
        let text = (surroundings.read_file)(path).map_err(|error| Failure::unreadable(path, &error))?;
        let path = path.to_owned();
        Ok(Source { path, text })
    };
    flags.layers.files(named).map(read).collect()
}

/// The flags of the command line about a test.
pub(in crate::run) struct Input<'a> {
    flags: &'a TestFlags,
    /// Whether only one user arrives; false unless it is set.
    pub(super) is_solo: bool,
    /// The time after which the run ends; `None` unless it is set.
    pub(super) max_duration: Option<Duration>,
    /// The seed of what is random and the same for all users.
    pub(in crate::run) seed: u64,
}

impl<'a> Input<'a> {
    pub(in crate::run) fn new(flags: &'a TestFlags) -> Self {
        Self {
            flags,
            is_solo: false,
            max_duration: None,
            seed: fastrand::u64(..),
        }
    }

    /// Reads the test from its files, which lie over each other.
    pub(in crate::run) fn read(
        &self,
        sources: &[Source],
        surroundings: &Surroundings<'_>,
    ) -> Result<Test, Failure> {
        let system = self.system(surroundings)?;
        self.read_from(sources, &system, &Library::of_machine(surroundings))
    }

    /// The variables of the environment, and those of `--dotenv`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(in crate::run) fn system(
        &self,
        surroundings: &Surroundings<'_>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        let mut system: BTreeMap<_, _> = surroundings
            .environment
            .iter()
            .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
            .collect();
        if let Some(path) = &self.flags.dotenv {
            let text = (surroundings.read_file)(path)
                .map_err(|error| io::Error::other(format!("cannot read {}: {error}", path.display())))?;
            system.extend(variables_of(&text));
        }
        Ok(system)
    }

    /// The same with the files of a library, and these variables of the system.
    pub(in crate::run) fn read_from(
        &self,
        sources: &[Source],
        system: &BTreeMap<String, String>,
        library: &Library<'_>,
    ) -> Result<Test, Failure> {
        let Some((Source { path, text }, over)) = sources.split_first() else {
            return Err(Failure::Usage(
                "there is no file; expected one with `config` and `scenarios`".to_owned(),
            ));
        };
        let mut document = Document::read(&path.display().to_string(), text)?;
        for over in over {
            let over = Document::read(&over.path.display().to_string(), &over.text)?;
            document.overlay(over, Lists::ByPosition);
        }
        let test = artillery::read(
            document,
            &artillery::Surroundings {
                path,
                config_path: self.flags.layers.config.as_deref(),
                overrides: self.flags.layers.overrides.clone(),
                payload: self.flags.layers.payload.clone(),
                environment: self.flags.environment.clone(),
                target: self.flags.target.clone(),
                variables: self.flags.variables()?,
                is_insecure: self.flags.insecure,
                scenario_name: self.flags.scenario_name.clone(),
                is_solo: self.is_solo,
                max_duration: self.max_duration,
                read_bytes: library.reads_bytes(),
                read_selector: &|text| Ok(Arc::new(PageSelector::new(text)?)),
                load_processor: &|path| library.processor(path, system),
                system: system.clone(),
                read_file: &|path| library.text(path),
                seed: self.seed,
            },
        )?;
        Ok(test)
    }
}
