//! Everything that links and citations may lead to: the files of the repository, and the headings of its Markdown pages.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
};

/// The files of a repository, relative to its root, and the headings of the Markdown pages among them.
#[derive(Default)]
pub(super) struct Tree {
    paths: BTreeSet<PathBuf>,
    headings: BTreeMap<PathBuf, Vec<String>>,
}

impl Tree {
    /// Adds a file with the folders that it is in; `text` is its content, if it has one that people read.
    pub(super) fn add(&mut self, path: &Path, text: Option<&str>) {
        for folder in path.ancestors() {
            self.paths.insert(folder.to_owned());
        }
        if let Some(text) = text.filter(|_| is_page(path)) {
            self.headings
                .insert(path.to_owned(), headings(text).map(str::to_owned).collect());
        }
    }

    /// Whether there is a file or a folder at this path, which may hold `..`.
    pub(super) fn has(&self, path: &Path) -> bool {
        normal(path).is_some_and(|path| self.paths.contains(&path))
    }

    /// All Markdown pages.
    pub(super) fn pages(&self) -> impl Iterator<Item = &Path> {
        self.headings.keys().map(PathBuf::as_path)
    }

    /// The headings of a page as they are written; `None` for files that are not Markdown.
    pub(super) fn headings(&self, page: &Path) -> Option<&[String]> {
        self.headings.get(&normal(page)?).map(Vec::as_slice)
    }
}

/// Whether a file is a Markdown page.
pub(super) fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// The lines of a Markdown page outside of its code blocks, with their numbers.
pub(super) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_fence && !is_code
    })
}

fn headings(text: &str) -> impl Iterator<Item = &str> {
    prose(text).filter_map(|(_, line)| Some(line.strip_prefix('#')?.trim_start_matches('#').trim()))
}

/// The path without `.` and `..`; `None` for one that leads out of the repository.
pub(super) fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}
