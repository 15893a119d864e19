//! The crates of the product as the rules see them: what each depends on, and the names in its files.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::names::Names;

/// A crate below `crates/`, in a group's folder or beside the groups.
#[derive(Debug)]
pub(super) struct Crate<'a> {
    /// The name of the folder: `hub` for the package `plimsoll-hub`.
    pub(super) name: &'a str,
    /// The folder, relative to the root of the repository: `crates/server/hub`.
    pub(super) folder: &'a Path,
    pub(super) dependencies: Vec<Dependency<'a>>,
    /// The files that are compiled into the product, by module. Files of tests are left out.
    pub(super) files: BTreeMap<Module<'a>, File<'a>>,
}

/// The path of a module within its crate. The root's is empty.
pub(super) type Module<'a> = Vec<&'a str>;

#[derive(Debug)]
pub(super) struct File<'a> {
    pub(super) path: &'a Path,
    pub(super) names: Names<'a>,
}

/// A line of a manifest.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
}

impl Crate<'_> {
    /// The manifest, relative to the root of the repository.
    pub(super) fn manifest(&self) -> PathBuf {
        self.folder.join("Cargo.toml")
    }
}

/// The crates among files with these paths and texts, by name.
pub(super) fn crates<'a>(files: &[(&'a Path, &'a str)]) -> BTreeMap<&'a str, Crate<'a>> {
    let mut crates = BTreeMap::new();
    for &(path, text) in files {
        if let Some((folder, name)) = folder_of(path) {
            let of = Crate {
                name,
                folder,
                dependencies: dependencies(text),
                files: BTreeMap::new(),
            };
            crates.insert(name, of);
        }
    }
    for &(path, text) in files {
        if let Some(of) = crates.values_mut().find(|of| path.starts_with(of.folder))
            && let Ok(inside) = path.strip_prefix(of.folder)
            && let ["src", rest @ ..] = &parts(inside)[..]
            && let Some(module) = module(rest)
        {
            let names = Names::read(text);
            of.files.insert(module, File { path, names });
        }
    }
    crates.values_mut().for_each(drop_tests);
    crates
}

/// The folder and the name of the crate that a file is the manifest of.
fn folder_of(manifest: &Path) -> Option<(&Path, &str)> {
    let is_manifest = manifest.starts_with("crates") && manifest.ends_with("Cargo.toml");
    let folder = manifest.parent().filter(|_| is_manifest)?;
    Some((folder, folder.file_name()?.to_str()?))
}

fn parts(path: &Path) -> Vec<&str> {
    path.iter().filter_map(|part| part.to_str()).collect()
}

/// The module that a file below `src` holds.
fn module<'a>(rest: &[&'a str]) -> Option<Module<'a>> {
    let (file, folders) = rest.split_last()?;
    let mut module = folders.to_vec();
    match file.strip_suffix(".rs")? {
        "lib" | "main" if folders.is_empty() => {}
        name => module.push(name),
    }
    Some(module)
}

/// Leaves the files that the root reaches without `#[cfg(test)]`.
fn drop_tests(of: &mut Crate<'_>) {
    let mut reached = Vec::new();
    let mut waiting = vec![Module::new()];
    while let Some(module) = waiting.pop() {
        let Some(file) = of.files.get(&module) else {
            continue;
        };
        for child in &file.names.modules {
            waiting.push(module.iter().chain([child]).copied().collect());
        }
        reached.push(module);
    }
    of.files.retain(|module, _| reached.contains(module));
}

/// The dependencies of a manifest, those for tests left out.
fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut counts = false;
    let mut dependencies = Vec::new();
    for (text, line) in manifest.lines().zip(1..) {
        if text.starts_with('[') {
            counts = text.ends_with("dependencies]") && !text.contains("dev-dependencies");
        } else if counts && text.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            let end = text.find(['.', ' ', '=']).unwrap_or(text.len());
            dependencies.push(Dependency {
                name: &text[..end],
                line,
            });
        }
    }
    dependencies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_those_of_the_product() {
        let manifest = "[package]\nname = \"a\"\n[dependencies]\n# Why.\nb.workspace = true\nc = { workspace = true }\n\
                        [target.'cfg(unix)'.dependencies]\nd=\"1\"\n[dev-dependencies]\ne.workspace = true\n\
                        [build-dependencies]\nf.workspace = true\n";
        let found: Vec<_> = dependencies(manifest)
            .iter()
            .map(|dependency| (dependency.name, dependency.line))
            .collect();
        assert_eq!(found, [("b", 5), ("c", 6), ("d", 8), ("f", 12)]);
    }

    #[test]
    fn files_of_tests_are_left_out() {
        let files = [
            ("crates/group/a/Cargo.toml", ""),
            ("crates/group/a/src/lib.rs", "mod b; #[cfg(test)] mod c;"),
            ("crates/group/a/src/b.rs", "mod d;"),
            ("crates/group/a/src/b/d.rs", "#[cfg(test)] mod tests;"),
            ("crates/group/a/src/b/d/tests.rs", ""),
            ("crates/group/a/src/c.rs", "mod e;"),
            ("crates/group/a/src/c/e.rs", ""),
            ("xtask/src/main.rs", ""),
        ];
        let crates = crates(&files.map(|(path, text)| (Path::new(path), text)));
        let modules: Vec<_> = crates["a"].files.keys().map(|module| module.join("::")).collect();
        assert_eq!(modules, ["", "b", "b::d"]);
    }
}
