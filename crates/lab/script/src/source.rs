//! From an entry file to the sources of all modules that it needs (docs/protocols/k6.md, Imports).
//!
//! There is no JavaScript engine in here: what is found and checked here is compiled elsewhere, once, and a mistake in
//! an import is known before anything has run.

pub(crate) mod archive;
mod ecmascript;
mod error;
mod file;
mod graph;
mod jslib;
mod location;
mod packages;
mod platform;
mod remote;
mod size;
mod specifier;
#[cfg(test)]
pub(crate) mod test_folder;
pub mod usage;

pub(crate) use self::file::MAX_OPENED_BYTES;
pub(crate) use self::specifier::without_dots;
pub use self::{
    archive::{Archive, ArchiveError},
    ecmascript::usage as usage_of,
    error::{Problem, SourceError},
    file::{FileError, OpenError, open, opened_path},
    graph::{Entry, LoadOptions, load, load_files},
    location::{Excerpt, Location},
    packages::resolve as resolve_for_node,
    platform::Platform,
    remote::{FetchError, RemoteError, cache_folder},
    size::MAX_SOURCE_BYTES,
    specifier::{Builtins, Resolved, Specifier, Unresolved, resolve},
};

use std::sync::Arc;

/// All modules of a script.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The module that the run begins with.
    pub entry: Specifier,
    /// Each module once, the entry first, then in the order in which imports name them. Cycles are in order.
    pub modules: Vec<Source>,
    /// Notices for a user who looks for the reason of a surprise.
    pub notices: Vec<String>,
    /// The archive that all of it comes from; `None` for a script in files.
    pub archive: Option<Arc<Archive>>,
}

/// One module.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name, by which `imports` of others and [`resolve`] call it.
    pub specifier: Specifier,
    /// How to run the source.
    pub kind: SourceKind,
    /// The JavaScript text. Its lines and columns are those of `original`, except inside code generated for TypeScript.
    pub text: Arc<str>,
    /// What was read, for excerpts in errors.
    pub original: Arc<str>,
    /// What it asks for, in the order of the text. Every [`Resolved::Module`] of an `import` is among the modules; one
    /// of a `require` that need never run only if its file exists.
    pub imports: Vec<Import>,
}

/// How to run a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// As an ECMAScript module: it has `import`, `export` or an `await` outside of functions.
    EsModule,
    /// As the body of a `function (module, exports, require)`.
    CommonJs,
}

/// An `import`, `export … from` or `require` with a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// As it stands in the source.
    pub written: String,
    /// What it means.
    pub resolved: Resolved,
    /// Whether it is a `require`.
    pub is_require: bool,
    /// Where the specifier stands.
    pub location: Location,
    /// The names of the imported module that the source uses: imported names, and properties of default and namespace
    /// imports. The list is incomplete, because a name may also be computed.
    pub names: Vec<ImportedName>,
    /// Whether the source gets all exports: `import * as`, `export *`.
    pub is_namespace: bool,
}

/// Something of another module, by its name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedName {
    /// `check` in both `import { check as c } from "k6"` and `k6.check(…)`.
    pub name: String,
    /// Where it is named first.
    pub location: Location,
    /// Whether it is a property of the whole module, as in `k6.check(…)`: then it may be missing.
    pub is_property: bool,
}

impl Source {
    /// The place of a byte of the text.
    pub fn place(&self, offset: usize) -> Location {
        Location::at(&self.specifier.to_string(), &self.text, offset)
    }
}
