//! The meaning of an import by Node's rules (<https://nodejs.org/api/modules.html>, <https://nodejs.org/api/esm.html>):
//! Node's modules, files whose extension may be left out, and packages in `node_modules`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Builtins, Resolved, Specifier, Unresolved, resolve as resolve_as_k6, specifier::node};

mod exports;
mod manifest;

use self::manifest::Manifest;

/// Extensions that a name may leave out, in the order in which they are tried.
const EXTENSIONS: [&str; 8] = ["js", "json", "ts", "mjs", "cjs", "mts", "cts", "node"];

/// What `written` means in the module `base`.
///
/// # Errors
/// When it means nothing, or something that cannot work here.
pub fn resolve(
    base: &Specifier,
    written: &str,
    is_require: bool,
    builtins: Builtins<'_>,
) -> Result<Resolved, Unresolved> {
    if builtins.present.contains(&written) || written == "k6" || written.starts_with("k6/") {
        return resolve_as_k6(base, written, builtins);
    }
    let names = builtins.node.unwrap_or_default();
    let name = written.strip_prefix("node:").unwrap_or(written);
    if names.contains(&name) {
        return Ok(Resolved::Builtin(format!("node:{name}")));
    }
    let Some(path) = base.to_path() else {
        return resolve_as_k6(base, written, builtins);
    };
    if written.contains("://") {
        return resolve_as_k6(base, written, builtins);
    }
    let absent = || Unresolved::AbsentOfNode {
        name: name.to_owned(),
        available: names.join(", "),
    };
    if name.len() < written.len() {
        return Err(absent());
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    let is_path = written.starts_with(['/', '.']);
    let found = if is_path {
        let is_lenient = is_require || base.is_typescript();
        file(&folder.join(written), is_lenient, base.is_typescript())
    } else if written.starts_with('#') {
        internal(folder, written, is_require)?
    } else {
        match package(folder, written, is_require) {
            Err(Unresolved::Package { .. }) if node::find(written).is_some() => return Err(absent()),
            found => found?,
        }
    };
    if found.extension().is_some_and(|extension| extension == "node") {
        return Err(Unresolved::NativeAddon {
            written: written.to_owned(),
        });
    }
    let specifier = Specifier::of_file(&found);
    specifier.map(Resolved::Module).ok_or_else(|| Unresolved::Bare {
        written: written.to_owned(),
    })
}

/// The file that a path means; the path itself when there is none, so that reading it says so.
fn file(path: &Path, is_lenient: bool, is_typescript: bool) -> PathBuf {
    if path.is_file() || !(is_lenient || is_typescript) {
        return path.to_owned();
    }
    // TypeScript names the file that its compiler would write.
    if is_typescript && let Some(end) = path.extension().and_then(|extension| extension.to_str()) {
        let source = path.with_extension(end.replace("js", "ts"));
        if source.is_file() {
            return source;
        }
    }
    with_extension(path)
        .or_else(|| main_of(path))
        .unwrap_or_else(|| path.to_owned())
}

fn with_extension(path: &Path) -> Option<PathBuf> {
    let mut tried = EXTENSIONS.iter().map(|extension| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(extension);
        PathBuf::from(name)
    });
    tried.find(|path| path.is_file())
}

/// The file that a folder stands for.
fn main_of(folder: &Path) -> Option<PathBuf> {
    let named = Manifest::read(folder)
        .ok()
        .flatten()
        .and_then(|manifest| manifest.main);
    let named = named.map(|main| folder.join(main)).and_then(|main| {
        let exact = main.is_file().then(|| main.clone());
        exact
            .or_else(|| with_extension(&main))
            .or_else(|| with_extension(&main.join("index")))
    });
    named.or_else(|| with_extension(&folder.join("index")))
}

/// A file of a package that is installed in `folder` or above.
fn package(folder: &Path, written: &str, is_require: bool) -> Result<PathBuf, Unresolved> {
    let n_parts = if written.starts_with('@') { 2 } else { 1 };
    let end = written.match_indices('/').nth(n_parts - 1).map(|(at, _)| at);
    let (name, rest) = written.split_at(end.unwrap_or(written.len()));
    let not_found = || Unresolved::Package {
        name: name.to_owned(),
        folder: folder.display().to_string(),
    };
    if name.is_empty() || name.contains(['\\', '%']) {
        return Err(Unresolved::Bare {
            written: written.to_owned(),
        });
    }
    // A package may ask for itself by its name.
    if let Some(manifest) = Manifest::above(folder)?
        && manifest.name.as_deref() == Some(name)
        && manifest.exports.is_some()
    {
        return exported(&manifest, name, written, rest, is_require);
    }
    let folders = folder.ancestors().filter(|at| !at.ends_with("node_modules"));
    let mut installed = folders.map(|at| at.join("node_modules").join(name));
    let place = installed.find(|place| place.is_dir()).ok_or_else(not_found)?;
    // Some package managers keep packages elsewhere and link to them; what a package needs is beside the package.
    let place = fs::canonicalize(&place).unwrap_or(place);
    let manifest = Manifest::read(&place)?;
    if let Some(manifest) = manifest.filter(|manifest| manifest.exports.is_some()) {
        return exported(&manifest, name, written, rest, is_require);
    }
    if rest.is_empty() {
        return main_of(&place).ok_or_else(not_found);
    }
    Ok(file(&place.join(rest.trim_start_matches('/')), true, false))
}

/// A file that a package offers.
fn exported(
    manifest: &Manifest,
    name: &str,
    written: &str,
    rest: &str,
    is_require: bool,
) -> Result<PathBuf, Unresolved> {
    let exports = manifest.exports.as_ref();
    let found = exports.and_then(|exports| exports::find(exports, &format!(".{rest}"), is_require));
    match found {
        Some(target) => Ok(manifest.folder.join(target)),
        None => Err(Unresolved::NotExported {
            name: name.to_owned(),
            written: written.to_owned(),
            manifest: manifest.path().display().to_string(),
        }),
    }
}

/// A name that begins with `#`, which a package defines for itself.
fn internal(folder: &Path, written: &str, is_require: bool) -> Result<PathBuf, Unresolved> {
    let manifest = Manifest::above(folder)?;
    let target = manifest.as_ref().and_then(|manifest| {
        let imports = manifest.imports.as_ref()?;
        Some((manifest, exports::find_internal(imports, written, is_require)?))
    });
    match target {
        Some((manifest, target)) if target.starts_with("./") => Ok(manifest.folder.join(target)),
        Some((manifest, target)) => package(&manifest.folder, &target, is_require),
        None => Err(Unresolved::Bare {
            written: written.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests;
