//! `cargo xtask tidy`: rules of this repository that neither rustfmt nor clippy knows.
//!
//! Each rule is a pure function over one file's path and text; this file reads the tree and prints what they find.

mod rules;

use std::{fs, path::Path};

use crate::{command, repository};
use rules::{RULES, Source};

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
    let files = repository::files()?;
    let mut n_findings = 0;
    for path in &files {
        let Some(text) = read_text(path) else { continue };
        for finding in findings(&Source { path, text: &text }) {
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

/// The file's text; `None` for a file that is deleted in the tree or is not UTF-8, such as a picture.
fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(fs::read(repository::root().join(path)).ok()?).ok()
}

fn findings(source: &Source<'_>) -> Vec<String> {
    let at = |(line, what): (usize, String)| format!("{}:{line}: {what}", source.path.display());
    RULES.iter().flat_map(|rule| rule(source)).map(at).collect()
}
