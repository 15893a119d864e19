//! Where a test finds its files: on this machine, or in the package that a coordinator sent.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs, io,
    io::Read as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use plimsoll_scenario::artillery::{ReadBytes, hooks};
use plimsoll_script::{PackedProcessor, Processor};

use super::processor;
use crate::{fleet::FileSet, surroundings::Surroundings};

/// The files of one test.
pub(in crate::run) enum Library<'a> {
    /// Those of this machine.
    Machine {
        read_file: &'a dyn Fn(&Path) -> io::Result<String>,
        /// What was read, for other machines; `None` if there are none.
        kept: Option<Kept>,
    },
    /// Those of a package, and no others.
    Package {
        files: Arc<FileSet>,
        processors: BTreeMap<String, PackedProcessor>,
    },
}

/// What a test has read.
#[derive(Default)]
pub(in crate::run) struct Kept {
    files: Arc<Mutex<FileSet>>,
    processors: RefCell<BTreeMap<String, Arc<Processor>>>,
}

impl<'a> Library<'a> {
    /// The files of this machine.
    pub(in crate::run) fn of_machine(surroundings: &Surroundings<'a>) -> Self {
        Self::Machine {
            read_file: surroundings.read_file,
            kept: None,
        }
    }

    /// The files of this machine; those that are read are kept.
    pub(in crate::run) fn kept_of_machine(surroundings: &Surroundings<'a>) -> Self {
        Self::Machine {
            read_file: surroundings.read_file,
            kept: Some(Kept::default()),
        }
    }

    /// What was kept.
    pub(in crate::run) fn into_kept(self) -> Option<Kept> {
        match self {
            Self::Machine { kept, .. } => kept,
            Self::Package { .. } => None,
        }
    }

    /// The text of a file.
    pub(super) fn text(&self, path: &Path) -> io::Result<String> {
        match self {
            Self::Machine { read_file, kept } => {
                let text = read_file(path)?;
                if let Some(kept) = kept {
                    keep(&kept.files, path, text.as_bytes())?;
                }
                Ok(text)
            }
            Self::Package { files, .. } => files.text(path),
        }
    }

    /// Reads files as bytes.
    pub(super) fn reads_bytes(&self) -> ReadBytes {
        match self {
            Self::Machine { kept, .. } => {
                let kept = kept.as_ref().map(|kept| Arc::clone(&kept.files));
                Arc::new(move |path, most| {
                    let mut bytes = Vec::new();
                    fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
                    if let Some(kept) = &kept {
                        keep(kept, path, &bytes)?;
                    }
                    Ok(bytes)
                })
            }
            Self::Package { files, .. } => {
                let files = Arc::clone(files);
                Arc::new(move |path, most| {
                    let content = files.get(path)?;
                    let most = usize::try_from(most).unwrap_or(usize::MAX);
                    Ok(content[..content.len().min(most)].to_vec())
                })
            }
        }
    }

    /// The module of functions at `path`. `system` are the variables that it finds in `process.env`.
    ///
    /// # Errors
    /// For people, with the place in the source.
    pub(super) fn processor(
        &self,
        path: &Path,
        system: &BTreeMap<String, String>,
    ) -> Result<Arc<dyn hooks::Processor>, String> {
        match self {
            Self::Machine { kept, .. } => {
                let processor = processor::load(path, system)?;
                if let Some(kept) = kept {
                    let path = name_of(path).map_err(|error| error.to_string())?;
                    kept.processors.borrow_mut().insert(path, Arc::clone(&processor));
                }
                Ok(processor)
            }
            Self::Package { processors, .. } => {
                let packed = path.to_str().and_then(|path| processors.get(path));
                let packed = packed.ok_or("it is not among the modules that the coordinator sent")?;
                let processor = Processor::unpack(packed.clone(), system.clone());
                Ok(Arc::new(processor.map_err(|error| error.to_string())?))
            }
        }
    }
}

impl Kept {
    /// The files.
    pub(super) fn files(&self) -> FileSet {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The modules of functions, by their paths.
    ///
    /// # Errors
    /// One of them cannot be sent; for people.
    pub(super) fn processors(&self) -> Result<BTreeMap<String, PackedProcessor>, String> {
        let processors = self.processors.borrow();
        let packed = processors.iter().map(|(path, processor)| {
            let packed = processor.pack().map_err(|error| format!("{path}: {error}"))?;
            Ok((path.clone(), packed))
        });
        packed.collect()
    }

    /// Whether a function may know a name.
    pub(super) fn mentions(&self, word: &str) -> bool {
        let processors = self.processors.borrow();
        processors
            .values()
            .any(|processor| hooks::Processor::mentions(&**processor, word))
    }
}

fn keep(files: &Mutex<FileSet>, path: &Path, content: &[u8]) -> io::Result<()> {
    let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
    files.insert(name_of(path)?, content.to_vec());
    Ok(())
}

/// A path as a package has it.
fn name_of(path: &Path) -> io::Result<String> {
    let name = path.to_str().map(str::to_owned);
    name.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "its path is not UTF-8, as those of a package are",
        )
    })
}
