//! Why a script cannot be run, with the place in its source.

use std::{
    io,
    path::{Path, PathBuf},
};

use plimsoll_clients::dial::ProxiesError;

use super::{ArchiveError, Excerpt, FileError, Location, RemoteError, Specifier, Unresolved};

/// A problem and where it is. Shown on several lines, with the line of the source when there is one.
#[derive(Debug, thiserror::Error)]
#[error("{problem}{}", below(.excerpt.as_deref()))]
pub struct SourceError {
    /// What is wrong.
    pub problem: Problem,
    /// Where; `None` when the entry itself cannot be read.
    pub excerpt: Option<Box<Excerpt>>,
}

/// What is wrong with a source.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// An import means nothing.
    #[error("cannot import: {0}")]
    Unresolved(#[from] Unresolved),
    /// The entry, or a file that is imported, cannot be read.
    #[error("cannot read the module: {0}")]
    File(#[from] FileError),
    /// It is not JavaScript, or no TypeScript.
    #[error("syntax error: {message}{hint}")]
    Syntax {
        /// What the parser says.
        message: String,
        /// What it advises, with a separator before it; empty when it does not.
        hint: String,
    },
    /// TypeScript beyond types that k6's compiler takes, and this one does not.
    #[error("{what} is not supported in TypeScript here; write {instead}")]
    TypeScript {
        /// What it is.
        what: &'static str,
        /// What to write.
        instead: &'static str,
    },
    /// All modules are known before the run, and virtual users do not load code.
    #[error(
        "import() is not supported, as in k6; import it at the top of the file: import * as lib from \"./lib.js\""
    )]
    DynamicImport,
    /// `import … with { … }`.
    #[error(
        "import attributes are not supported; read data with open(), as in JSON.parse(open(\"./users.json\"))"
    )]
    ImportAttributes,
    /// A file of data is not what its name says.
    #[error("not JSON: {0}")]
    Json(String),
    /// A module that is imported cannot be fetched.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// A module that is not a file, where only files are read.
    #[error("a module would have to be fetched, but only files are read here")]
    Fetched,
    /// A variable of the environment names no usable proxy.
    #[error(transparent)]
    Proxies(#[from] ProxiesError),
    /// The archive with the script cannot be used.
    #[error("cannot use the archive {}: {cause}", path.display())]
    Archive {
        /// Which one.
        path: PathBuf,
        /// What is wrong.
        cause: ArchiveError,
    },
    /// No thread for the parser.
    #[error("cannot parse the module: {0}")]
    Parser(io::Error),
}

impl SourceError {
    /// A problem with the entry itself.
    pub(super) fn without_place(problem: impl Into<Problem>) -> Self {
        Self {
            problem: problem.into(),
            excerpt: None,
        }
    }

    /// The entry cannot be read.
    pub fn unreadable(path: &Path, cause: io::Error) -> Self {
        Self::without_place(FileError::Unreadable {
            path: path.to_owned(),
            cause,
        })
    }

    /// An archive cannot be used.
    pub fn archive(path: &Path, cause: ArchiveError) -> Self {
        Self::without_place(Problem::Archive {
            path: path.to_owned(),
            cause,
        })
    }

    /// A proxy cannot be used.
    pub fn proxies(cause: ProxiesError) -> Self {
        Self::without_place(cause)
    }

    /// A problem at a byte of a module.
    pub(super) fn at_offset(
        problem: impl Into<Problem>,
        module: &Specifier,
        source: &str,
        offset: usize,
    ) -> Self {
        let location = Location::at(&module.to_string(), source, offset);
        Self::at(problem, location, source)
    }

    /// A problem at a place of a module.
    pub(super) fn at(problem: impl Into<Problem>, location: Location, source: &str) -> Self {
        Self {
            problem: problem.into(),
            excerpt: Some(Box::new(Excerpt::new(location, source))),
        }
    }
}

fn below(excerpt: Option<&Excerpt>) -> String {
    excerpt.map(|excerpt| format!("\n{excerpt}")).unwrap_or_default()
}
