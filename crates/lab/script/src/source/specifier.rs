//! The meaning of an import's text (docs/protocols/k6.md, Imports).
//!
//! Pure: whether the module exists is found out by reading it. `require` and `open` ask the same questions at run time.

use std::{
    fmt,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use url::Url;

use super::jslib;

mod builtin;
pub(super) mod node;
mod unresolved;

pub use self::{builtin::Builtins, unresolved::Unresolved};

/// The canonical name of a module that has a source: a `file` or an `https` URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Specifier(Arc<Url>);

/// What an import refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// A module of this program, such as `k6/http`.
    Builtin(String),
    /// A module with a source.
    Module(Specifier),
}

impl Specifier {
    fn new(url: Url) -> Self {
        Self(Arc::new(url))
    }

    /// The name of a file; `None` for a path that is not absolute. Symbolic links are not followed, as in k6: imports
    /// are relative to where a file is named, not to where it is kept.
    pub fn of_file(path: &Path) -> Option<Self> {
        Url::from_file_path(without_dots(path)).ok().map(Self::new)
    }

    /// Reads what [`Specifier::as_str`] wrote; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        matches!(url.scheme(), "file" | "https").then(|| Self::new(url))
    }

    /// The canonical text, a URL.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The path, if the module is a file.
    pub fn to_path(&self) -> Option<PathBuf> {
        if self.is_remote() {
            None
        } else {
            self.0.to_file_path().ok()
        }
    }

    /// Whether it is fetched.
    pub fn is_remote(&self) -> bool {
        self.0.scheme() == "https"
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }

    /// Whether its name says that it is data.
    pub(super) fn is_json(&self) -> bool {
        self.0.path().ends_with(".json")
    }

    /// Whether it is a part of a package, which its author checks.
    pub fn is_of_package(&self) -> bool {
        self.0.path().contains("/node_modules/")
    }

    /// Whether its name says that it is written in TypeScript.
    pub(super) fn is_typescript(&self) -> bool {
        [".ts", ".mts", ".cts"]
            .iter()
            .any(|extension| self.0.path().ends_with(extension))
    }
}

impl fmt::Display for Specifier {
    /// A path or a URL, as people write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_path() {
            Some(path) => path.display().fmt(f),
            None => self.0.fmt(f),
        }
    }
}

/// What `written` means in the module `base`.
///
/// # Errors
/// When it means nothing, or something that there is not.
pub fn resolve(base: &Specifier, written: &str, builtins: Builtins<'_>) -> Result<Resolved, Unresolved> {
    if builtins.present.contains(&written) {
        return Ok(Resolved::Builtin(written.to_owned()));
    }
    if written == "k6" || written.starts_with("k6/") {
        return Err(builtin::unknown(written, builtins));
    }
    let url = absolute(base, written)?;
    if url.path().ends_with(".json") {
        return Err(Unresolved::Json {
            written: plimsoll_redacted::url_with_query(written).into_owned(),
        });
    }
    match url.scheme() {
        "file" if base.is_remote() => Err(Unresolved::FileFromRemote {
            written: plimsoll_redacted::url_with_query(written).into_owned(),
        }),
        "file" | "https" => Ok(Resolved::Module(Specifier::new(url))),
        "http" => with_tls(&url)
            .filter(|secure| jslib::equivalent(secure.as_str()).is_some())
            .map(Resolved::Module)
            .ok_or_else(|| Unresolved::Http {
                written: plimsoll_redacted::url_with_query(written).into_owned(),
            }),
        _ => Err(Unresolved::Scheme {
            written: plimsoll_redacted::url_with_query(written).into_owned(),
        }),
    }
}

/// Old scripts import libraries without TLS; where there is an equivalent, nothing is fetched anyway.
fn with_tls(url: &Url) -> Option<Specifier> {
    let mut secure = url.clone();
    secure.set_scheme("https").ok()?;
    Some(Specifier::new(secure))
}

fn absolute(base: &Specifier, written: &str) -> Result<Url, Unresolved> {
    let is_relative =
        ["/", "./", "../"].iter().any(|start| written.starts_with(start)) || [".", ".."].contains(&written);
    if let Some((name, instead)) = node::find(written) {
        return Err(Unresolved::Node {
            name: name.to_owned(),
            instead,
        });
    }
    if !is_relative && !written.contains("://") {
        return Err(Unresolved::Bare {
            written: written.to_owned(),
        });
    }
    base.0.join(written).map_err(|reason| Unresolved::Url {
        written: plimsoll_redacted::url_with_query(written).into_owned(),
        reason: reason.to_string(),
    })
}

/// A path without `.` and `..`. Symbolic links are not followed.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests;
