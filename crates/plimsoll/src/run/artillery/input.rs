//! Reads an Artillery file together with the flags of the command line.

use std::{
    collections::BTreeMap,
    fs, io,
    io::Read as _,
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
    options::{TestFlags, variables_of},
    processor,
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
}

impl<'a> Input<'a> {
    pub(in crate::run) fn new(flags: &'a TestFlags) -> Self {
        Self {
            flags,
            is_solo: false,
            max_duration: None,
        }
    }

    /// Reads the test from its files, which lie over each other.
    pub(in crate::run) fn read(
        &self,
        sources: Vec<Source>,
        surroundings: &Surroundings<'_>,
    ) -> Result<Test, Failure> {
        let mut sources = sources.into_iter();
        let Some(Source { path, text }) = sources.next() else {
            return Err(Failure::Usage(
                "there is no file; expected one with `config` and `scenarios`".to_owned(),
            ));
        };
        let mut document = Document::read(&path.display().to_string(), &text)?;
        for over in sources {
            let over = Document::read(&over.path.display().to_string(), &over.text)?;
            document.overlay(over, Lists::ByPosition);
        }
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
        let test = artillery::read(
            document,
            &artillery::Surroundings {
                path: &path,
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
                read_bytes: Arc::new(read_bytes),
                read_selector: &|text| Ok(Arc::new(PageSelector::new(text)?)),
                load_processor: &|path| processor::load(path, &system),
                system: system.clone(),
                read_file: surroundings.read_file,
                seed: fastrand::u64(..),
            },
        )?;
        Ok(test)
    }
}

fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
