//! The rules of `cargo xtask tidy`, one function each.

mod citations;
mod hashing;
mod links;
mod wording;

use std::path::Path;

use super::tree::Tree;

/// One text file.
pub(super) struct Source<'a> {
    /// Relative to the root of the repository.
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    /// The repository that it is a part of.
    pub(super) tree: &'a Tree,
}

/// A line number, counted from 1, and what is wrong there.
type Finding = (usize, String);

/// Longer files hold more than one concept.
const MAX_LINES: usize = 600;

/// Sleeps in real time, of Rust and of Node.js. In two parts each, so that this file passes its own rule.
const NAPS: [&str; 2] = [concat!("thread::", "sleep"), concat!("timers/", "promises")];
/// A sleep in the time of tokio's clock.
const TOKIO_NAP: &str = concat!("time::", "sleep(");

/// All rules, in the order in which their findings are printed.
pub(super) const RULES: [fn(&Source<'_>) -> Vec<Finding>; 14] = [
    rust_files_say_why_they_exist,
    no_trailing_whitespace,
    no_long_files,
    no_todo_without_issue,
    no_sleeping_tests,
    no_ignored_tests,
    no_machine_paths,
    no_package_sources,
    hashing::no_hashes_without_key,
    links::no_dead_links,
    links::index_is_complete,
    citations::no_foreign_citations,
    citations::cited_pages_exist,
    wording::no_vague_words,
];

impl Source<'_> {
    fn has_extension(&self, extensions: &[&str]) -> bool {
        self.path
            .extension()
            .is_some_and(|extension| extensions.iter().any(|known| extension == *known))
    }

    /// Code that people write; lock files and raw results are none.
    fn is_code(&self) -> bool {
        self.has_extension(&["rs", "mjs", "js", "ts", "tsx"])
    }

    fn is_inside(&self, folder: &str) -> bool {
        self.path
            .components()
            .any(|component| component.as_os_str() == folder)
    }

    /// Line number of the first line that belongs to tests, if any line does.
    fn tests_start(&self) -> Option<usize> {
        if self.is_inside("tests") || self.path.ends_with("tests.rs") {
            return Some(1);
        }
        self.text
            .lines()
            .position(|line| line.trim() == "#[cfg(test)]")
            .map(|index| index + 1)
    }

    /// A finding for each line that `wrong` returns a text for.
    fn each_line(&self, wrong: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
        self.text
            .lines()
            .zip(1..)
            .filter_map(|(line, number)| Some((number, wrong(line)?)))
            .collect()
    }
}

fn rust_files_say_why_they_exist(source: &Source<'_>) -> Vec<Finding> {
    let silent = source.has_extension(&["rs"]) && !source.text.starts_with("//!");
    let what = "starts without `//!`: say why the file exists and where it fits";
    silent.then(|| (1, what.into())).into_iter().collect()
}

fn no_trailing_whitespace(source: &Source<'_>) -> Vec<Finding> {
    source.each_line(|line| line.ends_with([' ', '\t']).then(|| "trailing whitespace".into()))
}

fn no_long_files(source: &Source<'_>) -> Vec<Finding> {
    let n_lines = source.text.lines().count();
    let what = format!("{n_lines} lines, at most {MAX_LINES}: split it by concept");
    (source.is_code() && n_lines > MAX_LINES)
        .then_some((n_lines, what))
        .into_iter()
        .collect()
}

fn no_todo_without_issue(source: &Source<'_>) -> Vec<Finding> {
    // Written in two parts so that this file passes its own rule.
    let mark = concat!("TO", "DO");
    source.each_line(|line| {
        let rest = &line[line.find(mark)? + mark.len()..];
        let numbered = rest
            .strip_prefix("(#")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        (!numbered && source.is_code()).then(|| format!("a {mark} needs its issue: `{mark}(#12)`"))
    })
}

/// In virtual time a sleep costs nothing and wakes at a known moment, so a file with paused clocks may use it.
fn no_sleeping_tests(source: &Source<'_>) -> Vec<Finding> {
    let Some(start) = source.tests_start() else {
        return Vec::new();
    };
    let is_virtual = ["start_paused", "time::pause"]
        .iter()
        .any(|mark| source.text.contains(mark));
    let naps: &[&str] = if is_virtual {
        &NAPS
    } else {
        &[NAPS[0], NAPS[1], TOKIO_NAP]
    };
    let napping = |line: &str| naps.iter().any(|nap| line.contains(nap));
    let what = "a test sleeps: wait for the event, or pause the clock";
    let mut findings = source.each_line(|line| (source.is_code() && napping(line)).then(|| what.into()));
    findings.retain(|(line, _)| *line >= start);
    findings
}

fn no_ignored_tests(source: &Source<'_>) -> Vec<Finding> {
    let mark = concat!("#[", "ignore");
    let is_rust = source.has_extension(&["rs"]);
    let what = "an ignored test proves nothing: fix or delete it";
    source.each_line(|line| (is_rust && line.contains(mark)).then(|| what.into()))
}

/// A path of one developer's machine means nothing to others.
fn no_machine_paths(source: &Source<'_>) -> Vec<Finding> {
    let folders: &[&str] = if source.has_extension(&["md"]) {
        &[
            concat!("/", "work"),
            concat!("/", "root"),
            concat!("/", "home"),
            concat!("/", "tmp"),
        ]
    } else {
        &[concat!("/", "work"), concat!("/", "root"), concat!("/", "home")]
    };
    source.each_line(|line| {
        let found = folders.iter().find(|folder| names_path(line, folder))?;
        Some(format!("a path of one machine (`{found}`)"))
    })
}

/// Whether `line` has `folder` as the start of an absolute path: nothing of a path before it, `/` after it.
fn names_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + folder.len()..].chars().next();
        let starts =
            before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '/' | '}' | ']'));
        starts && after == Some('/')
    })
}

/// Where packages are fetched from is the business of each machine's own configuration.
fn no_package_sources(source: &Source<'_>) -> Vec<Finding> {
    if source.path.ends_with("Cargo.lock") {
        return Vec::new();
    }
    let is_lock = source.path.ends_with("package-lock.json");
    source.each_line(|line| {
        let named = line.split("://").skip(1).any(is_package_host);
        let resolved = is_lock && line.trim_start().starts_with("\"resolved\"");
        (named || resolved).then(|| "names a package registry or mirror".into())
    })
}

/// Whether the host at the start of `rest` is called like a registry or a mirror of one.
fn is_package_host(rest: &str) -> bool {
    let host = rest
        .split(['/', ':', '"', '\'', ' ', '`', ')'])
        .next()
        .unwrap_or_default();
    ["registry", "mirror", "artifact", "nexus", "proxy"]
        .iter()
        .any(|word| host.contains(word))
}

#[cfg(test)]
mod tests;
