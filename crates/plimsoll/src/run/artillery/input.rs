//! Reads an Artillery file together with the flags of the command line.

use std::{collections::BTreeMap, fs, io, io::Read as _, path::Path, sync::Arc, time::Duration};

use plimsoll_scenario::{
    artillery::{self, Test},
    document::Document,
};
use plimsoll_script::PageSelector;

use super::{
    options::{TestFlags, variables_of},
    processor,
};
use crate::{exit::Failure, surroundings::Surroundings};

/// A file, and the flags of the command line about its test.
pub(in crate::run) struct Input<'a> {
    path: &'a Path,
    flags: &'a TestFlags,
    /// Whether only one user arrives; false unless it is set.
    pub(super) is_solo: bool,
    /// The time after which the run ends; `None` unless it is set.
    pub(super) max_duration: Option<Duration>,
}

impl<'a> Input<'a> {
    pub(in crate::run) fn new(path: &'a Path, flags: &'a TestFlags) -> Self {
        Self {
            path,
            flags,
            is_solo: false,
            max_duration: None,
        }
    }

    /// Reads the test; `text` is the file's.
    pub(in crate::run) fn read(&self, text: &str, surroundings: &Surroundings<'_>) -> Result<Test, Failure> {
        let document = Document::read(&self.path.display().to_string(), text)?;
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
            &document,
            &artillery::Surroundings {
                path: self.path,
                environment: self.flags.environment.clone(),
                target: self.flags.target.clone(),
                variables: self.flags.variables()?,
                is_insecure: self.flags.insecure,
                scenario_name: self.flags.scenario_name.clone(),
                is_solo: self.is_solo,
                max_duration: self.max_duration,
                read_bytes: &read_bytes,
                read_selector: &|text| Ok(Arc::new(PageSelector::new(text)?)),
                load_processor: &|path| processor::load(path, &system),
                system: system.clone(),
                read_file: surroundings.read_file,
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
