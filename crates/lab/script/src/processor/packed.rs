//! A processor on its way to other machines: its modules as they were loaded, and the files that they read meanwhile.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use super::Processor;
use crate::{
    error::ScriptError,
    node::shelf::Shelf,
    program::Program,
    source::MAX_OPENED_BYTES,
    source_module::{Namespaces, SourceModule},
};

/// A processor without its machine. Its paths are names only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PackedProcessor {
    entry: String,
    /// The working directory, where relative paths of files begin.
    directory: String,
    modules: BTreeMap<String, PackedModule>,
    /// Paths that were there, with the contents of files in base64.
    files: BTreeMap<String, Option<String>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PackedModule {
    text: String,
    /// What people wrote, if that is something else.
    original: Option<String>,
    is_common_js: bool,
    imports: BTreeMap<String, String>,
}

impl Processor {
    /// The processor for machines without its files.
    ///
    /// # Errors
    /// A file cannot be read, or a path is no text; for people.
    pub fn pack(&self) -> Result<PackedProcessor, String> {
        let program = &self.program;
        let modules = program.modules.iter().map(|(name, module)| {
            let packed = PackedModule {
                text: module.text.to_string(),
                original: (module.original != module.text).then(|| module.original.to_string()),
                is_common_js: module.is_common_js,
                imports: module.imports.clone().into_iter().collect(),
            };
            (name.clone(), packed)
        });
        let files = program.shelf.all_found();
        let files = files.iter().map(|path| Ok((text_of(path)?, content(path)?)));
        Ok(PackedProcessor {
            entry: program.entry.clone(),
            directory: text_of(&program.directory)?,
            modules: modules.collect(),
            files: files.collect::<Result<_, String>>()?,
        })
    }

    /// The processor that was packed. `env` are the variables that it finds in `process.env`.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn unpack(packed: PackedProcessor, env: BTreeMap<String, String>) -> Result<Self, ScriptError> {
        let modules = packed.modules.into_iter().map(|(name, module)| {
            let text: Arc<str> = module.text.into();
            let unpacked = SourceModule {
                original: module.original.map_or_else(|| Arc::clone(&text), Arc::from),
                text,
                is_common_js: module.is_common_js,
                imports: module.imports.into_iter().collect(),
                named: Vec::new(),
                namespaces: Namespaces::Unknown,
            };
            (name, unpacked)
        });
        let modules: HashMap<_, _> = modules.collect();
        let files = packed.files.into_iter().map(|(path, content)| {
            let content = content.map(|content| STANDARD.decode(content)).transpose();
            let content =
                content.map_err(|error| ScriptError::new(format!("{path} in the package: {error}")))?;
            Ok((PathBuf::from(path), content.map(Arc::from)))
        });
        let files = files.collect::<Result<_, ScriptError>>()?;
        let mut program = Program::new(packed.entry, modules, env, packed.directory.into());
        program.shelf = Shelf::Packed(files);
        Self::read(program)
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| format!("the path {} is not UTF-8", path.display()))
}

/// A file in base64; `None` for anything else.
fn content(path: &Path) -> Result<Option<String>, String> {
    if !path.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_OPENED_BYTES as u64).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(Some(STANDARD.encode(bytes)))
}
