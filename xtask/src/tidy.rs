//! `cargo xtask tidy`: rules of this repository that neither rustfmt nor clippy knows.
//!
//! Most rules are pure functions over one file's path and text, and over the names of all files. [`invariants`] and
//! [`cycles`] are about whole crates. This file reads the tree and prints what they find.

mod cycles;
mod invariants;
mod names;
mod rules;
mod syntax;
mod tree;
mod workspace;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use crate::{command, repository};
use rules::{RULES, Source};
use tree::Tree;

/// Why the tree is not tidy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{n_findings} findings in {n_files} files")]
    Untidy { n_findings: usize, n_files: usize },
    #[error(transparent)]
    Listing(#[from] command::Error),
}

/// What is wrong with a crate, and where.
#[derive(Debug)]
struct Finding {
    path: PathBuf,
    line: usize,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.what)
    }
}

/// Checks every text file of the repository and prints `path:line: what is wrong` for each finding.
pub(crate) fn run() -> Result<(), Error> {
    let files: Vec<_> = repository::files()?.into_iter().filter_map(read).collect();
    let mut tree = Tree::default();
    for (path, text) in &files {
        tree.add(path, text.as_deref());
    }
    let texts: Vec<(&Path, &str)> = files
        .iter()
        .filter(|(path, _)| is_ours(path))
        .filter_map(|(path, text)| Some((path.as_path(), text.as_deref()?)))
        .collect();
    let of_files = texts.iter().flat_map(|&(path, text)| {
        findings(&Source {
            path,
            text,
            tree: &tree,
        })
    });
    let n_findings = of_files
        .chain(findings_in_crates(&texts))
        .inspect(|finding| println!("{finding}"))
        .count();
    if n_findings > 0 {
        return Err(Error::Untidy {
            n_findings,
            n_files: files.len(),
        });
    }
    println!("tidy: {} files, {} rules", files.len(), RULES.len() + 2);
    Ok(())
}

/// Whether the rules hold for a file: below `vendor`, only for the page that says what differs from the original.
fn is_ours(path: &Path) -> bool {
    !path.starts_with("vendor") || path.ends_with("README.md")
}

/// A file with its text; `None` for a file that is deleted in the tree. What is not UTF-8, such as a picture, has no text.
fn read(path: PathBuf) -> Option<(PathBuf, Option<String>)> {
    let content = fs::read(repository::root().join(&path)).ok()?;
    Some((path, String::from_utf8(content).ok()))
}

fn findings(source: &Source<'_>) -> Vec<String> {
    let at = |(line, what): (usize, String)| format!("{}:{line}: {what}", source.path.display());
    RULES.iter().flat_map(|rule| rule(source)).map(at).collect()
}

fn findings_in_crates(texts: &[(&Path, &str)]) -> Vec<String> {
    let crates = workspace::crates(texts);
    let invariants = invariants::findings(&crates, texts);
    let cycles = cycles::findings(&crates);
    invariants
        .iter()
        .chain(&cycles)
        .map(ToString::to_string)
        .collect()
}
