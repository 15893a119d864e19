//! The graph of modules. Each module is read and parsed once, even if it is imported often or in a cycle.

use std::{
    collections::{HashSet, VecDeque},
    io,
    path::{Path, PathBuf, absolute},
    sync::Arc,
};

use futures_util::FutureExt as _;

use plimsoll_clients::dial::Proxies;

use super::{
    Archive, Builtins, FileError, Import, Location, Platform, Problem, Resolved, Source, SourceError,
    SourceKind, Sources, Specifier,
    ecmascript::{self, Request},
    file, jslib, packages,
    remote::Remote,
    resolve,
};

/// What a script begins with.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A file; a relative path begins at the working directory.
    File(PathBuf),
    /// Text from elsewhere, such as standard input.
    Text {
        /// The file that it stands for: imports and `open` are relative to it. It need not exist.
        path: PathBuf,
        /// The source.
        text: String,
    },
    /// The entry of an archive, which has all other modules, too.
    Archive(Arc<Archive>),
}

/// How modules are found.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions<'a> {
    /// The modules that the program itself has.
    pub builtins: Builtins<'a>,
    /// The folder of the cache of fetched modules. Without it, every run fetches them again.
    pub cache: Option<PathBuf>,
    /// Whether the network is not to be used: what is not in the cache is missing.
    pub is_offline: bool,
    /// The proxies for fetched modules.
    pub proxies: Proxies,
}

/// Reads the entry and all modules that it needs. Files are read and parsed on this thread, before a run begins.
///
/// # Errors
/// The first mistake: a file that is not there, an import that means nothing, a syntax error.
pub async fn load(entry: Entry, options: &LoadOptions<'_>) -> Result<Sources, SourceError> {
    let remote = Remote::new(options.cache.clone(), options.is_offline, None);
    load_with(entry, options.builtins, remote.through(options.proxies.clone())).await
}

/// The same for modules that are all files, at once; one that would have to be fetched is missing.
///
/// # Errors
/// As for [`load`].
pub fn load_files(entry: Entry, builtins: Builtins<'_>) -> Result<Sources, SourceError> {
    let loading = load_with(entry, builtins, Remote::new(None, true, None));
    // Nothing of it waits when nothing is fetched.
    let missing = || Err(SourceError::without_place(Problem::Fetched));
    loading.now_or_never().unwrap_or_else(missing)
}

/// The same with remote modules from where the caller says.
pub(super) async fn load_with(
    entry: Entry,
    builtins: Builtins<'_>,
    remote: Remote,
) -> Result<Sources, SourceError> {
    let archive = match &entry {
        Entry::Archive(archive) => Some(Arc::clone(archive)),
        Entry::File(_) | Entry::Text { .. } => None,
    };
    let (specifier, text) = read_entry(entry).map_err(SourceError::without_place)?;
    let mut graph = Graph {
        builtins,
        archive,
        remote,
        notices: Vec::new(),
        known: HashSet::from([specifier.clone()]),
        wanted: VecDeque::new(),
        modules: Vec::new(),
    };
    graph.add(specifier.clone(), text.into())?;
    while let Some(wanted) = graph.wanted.pop_front() {
        match graph.read(&wanted.specifier).await {
            Ok(text) => match graph.add(wanted.specifier.clone(), text.into()) {
                // What a package need not have may be for another program.
                Err(_) if wanted.may_be_missing && wanted.specifier.is_of_package() => {
                    graph.known.remove(&wanted.specifier);
                }
                added => added?,
            },
            Err(_) if wanted.may_be_missing => {
                graph.known.remove(&wanted.specifier);
            }
            Err(error) => {
                let importer = &graph.modules[wanted.importer].original;
                return Err(SourceError::at(error, wanted.location, importer));
            }
        }
    }
    Ok(Sources {
        entry: specifier,
        modules: graph.modules,
        notices: graph.notices,
        archive: graph.archive,
    })
}

fn read_entry(entry: Entry) -> Result<(Specifier, String), FileError> {
    let named = |path: &Path| {
        let unreadable = |cause| FileError::Unreadable {
            path: path.to_owned(),
            cause,
        };
        let path = absolute(path).map_err(unreadable)?;
        Specifier::of_file(&path).ok_or_else(|| unreadable(io::ErrorKind::InvalidInput.into()))
    };
    match entry {
        Entry::File(path) => Ok((named(&path)?, file::read_source(&path)?)),
        Entry::Text { path, text } => Ok((named(&path)?, text)),
        Entry::Archive(archive) => Ok(archive.entry()),
    }
}

struct Graph<'o> {
    builtins: Builtins<'o>,
    archive: Option<Arc<Archive>>,
    remote: Remote,
    notices: Vec<String>,
    /// What is read, or is going to be.
    known: HashSet<Specifier>,
    wanted: VecDeque<Wanted>,
    modules: Vec<Source>,
}

/// A module that is yet to be read.
struct Wanted {
    specifier: Specifier,
    /// The first module that imports it, and where.
    importer: usize,
    location: Location,
    may_be_missing: bool,
}

impl Graph<'_> {
    async fn read(&mut self, module: &Specifier) -> Result<String, Problem> {
        if let Some(archive) = &self.archive {
            return Ok(archive.module(module)?);
        }
        if let Some(path) = module.to_path() {
            return Ok(file::read_source(&path)?);
        }
        if let Some(text) = jslib::equivalent(module.as_str()) {
            self.notices.push(format!(
                "{module} is not fetched: there is an embedded equivalent"
            ));
            return Ok(text);
        }
        let fetched = self.remote.read(module).await?;
        self.notices.extend(fetched.notices);
        Ok(fetched.text)
    }

    /// Takes a module in, and asks for what it imports.
    fn add(&mut self, specifier: Specifier, original: Arc<str>) -> Result<(), SourceError> {
        let platform = self.builtins.platform();
        if platform == Platform::Node && specifier.is_json() {
            return self.add_data(specifier, original);
        }
        let module = ecmascript::read(&specifier, &original, platform)?;
        let importer = self.modules.len();
        let mut imports = Vec::new();
        for request in module.requests {
            let found = match self.builtins.node {
                None => resolve(&specifier, &request.written, self.builtins),
                Some(_) => packages::resolve(&specifier, &request.written, request.is_require, self.builtins),
            };
            let may_be_missing = may_be_missing(&specifier, &request, platform);
            let resolved = match found {
                Ok(resolved) => resolved,
                Err(_) if may_be_missing => continue,
                Err(error) => return Err(SourceError::at(error, request.location, &original)),
            };
            self.want(&resolved, &request, importer, may_be_missing);
            imports.push(Import {
                written: request.written,
                resolved,
                is_require: request.is_require,
                location: request.location,
                names: request.names,
                is_namespace: request.is_namespace,
            });
        }
        self.modules.push(Source {
            specifier,
            kind: module.kind,
            text: module.text,
            original,
            imports,
        });
        Ok(())
    }

    /// Takes data in, as a module that exports it.
    fn add_data(&mut self, specifier: Specifier, original: Arc<str>) -> Result<(), SourceError> {
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&original) {
            let line = original
                .split_inclusive('\n')
                .take(error.line().saturating_sub(1));
            let offset = line.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
            let problem = Problem::Json(error.to_string());
            return Err(SourceError::at_offset(problem, &specifier, &original, offset));
        }
        let literal = serde_json::Value::from(&*original);
        self.modules.push(Source {
            specifier,
            kind: SourceKind::CommonJs,
            text: format!("module.exports = JSON.parse({literal})").into(),
            original,
            imports: Vec::new(),
        });
        Ok(())
    }

    fn want(&mut self, resolved: &Resolved, request: &Request, importer: usize, may_be_missing: bool) {
        let Resolved::Module(specifier) = resolved else {
            return;
        };
        let wanted = Wanted {
            specifier: specifier.clone(),
            importer,
            location: request.location.clone(),
            may_be_missing,
        };
        if self.known.insert(specifier.clone()) {
            self.wanted.push_back(wanted);
        } else if !may_be_missing
            && let Some(same) = self.wanted.iter_mut().find(|same| same.specifier == *specifier)
            && same.may_be_missing
        {
            // Now it has to be there.
            *same = wanted;
        }
    }
}

/// Whether a module need not be there: a `require` of it may never run, as in a library that asks for modules of Node
/// only under Node. A source for Node has what it asks for by itself; only its packages may ask in vain.
fn may_be_missing(importer: &Specifier, request: &Request, platform: Platform) -> bool {
    match platform {
        Platform::K6 => request.is_require,
        Platform::Node => request.is_guarded || request.is_require && importer.is_of_package(),
    }
}

#[cfg(test)]
mod tests;
