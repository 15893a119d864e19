//! The licences of everything that is in the program, for those who pass it on.

use std::{collections::BTreeMap, fs, path::PathBuf};

use super::{Error, Release, dependencies::Dependency, staging};
use crate::repository;

/// Our own licence, here and in packages.
pub(super) const OWN: &str = "LICENSE";
/// The licences of others.
pub(super) const OF_OTHERS: &str = "THIRD-PARTY-LICENSES.txt";

/// How files with licences begin, in lower case.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "copyright"];

/// Writes both files. A text that several crates have is there once, below their names.
pub(super) fn write(release: &Release, shipped: &[Dependency]) -> Result<(), Error> {
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without_text = Vec::new();
    for dependency in shipped {
        let title = format!(
            "{} {} ({})",
            dependency.name, dependency.version, dependency.licence
        );
        let texts = texts(dependency)?;
        if texts.is_empty() {
            without_text.push(title.clone());
        }
        for text in texts {
            by_text.entry(text).or_default().push(title.clone());
        }
    }
    let text = page(&by_text, &without_text);
    staging::write(&release.artefact(OF_OTHERS), text.as_bytes(), staging::FILE)?;
    staging::copy(
        &repository::root().join(OWN),
        &release.artefact(OWN),
        staging::FILE,
    )
}

/// The licence files of a crate, its own and those of C code in it.
fn texts(dependency: &Dependency) -> Result<Vec<String>, Error> {
    let mut texts = Vec::new();
    for path in staging::files(&dependency.folder)?.iter().filter(is_licence) {
        let bytes = fs::read(path).map_err(Error::file(path))?;
        let text = String::from_utf8_lossy(&bytes)
            .replace("\r\n", "\n")
            .trim()
            .to_owned();
        if !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    Ok(texts)
}

fn is_licence(path: &&PathBuf) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let is_code = [".rs", ".c", ".h", ".py", ".sh", ".tt"]
        .iter()
        .any(|end| name.ends_with(end));
    NAMES.iter().any(|start| name.starts_with(start)) && !is_code
}

fn page(by_text: &BTreeMap<String, Vec<String>>, without_text: &[String]) -> String {
    let line = "=".repeat(100);
    let mut page = String::from("The program plimsoll contains the following code of others.\n");
    for (text, titles) in by_text {
        page.push_str(&format!("\n{line}\n{}\n\n{text}\n", titles.join("\n")));
    }
    if !without_text.is_empty() {
        page.push_str(&format!(
            "\n{line}\nWithout a text of their own, under the licences named:\n\n{}\n",
            without_text.join("\n")
        ));
    }
    page
}
