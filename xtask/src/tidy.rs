//! `cargo xtask tidy`: rules of this repository that neither rustfmt nor clippy knows.
//!
//! Each rule is a pure function over one file's path and text, and over the names of all files; this file reads them and
//! prints what the rules find.

mod rules;
mod tree;

use std::{fs, path::PathBuf};

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

/// Checks every text file of the repository and prints `path:line: what is wrong` for each finding.
pub(crate) fn run() -> Result<(), Error> {
    let files: Vec<_> = repository::files()?.into_iter().filter_map(read).collect();
    let mut tree = Tree::default();
    for (path, text) in &files {
        tree.add(path, text.as_deref());
    }
    let mut n_findings = 0;
    for (path, text) in &files {
        let Some(text) = text else { continue };
        let source = Source {
            path,
            text,
            tree: &tree,
        };
        for finding in findings(&source) {
            println!("{finding}");
            n_findings += 1;
        }
    }
    if n_findings > 0 {
        return Err(Error::Untidy {
            n_findings,
            n_files: files.len(),
        });
    }
    println!("tidy: {} files, {} rules", files.len(), RULES.len());
    Ok(())
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
