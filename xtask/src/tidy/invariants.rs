//! What each crate must not know holds.
//!
//! ARCHITECTURE.md gives every crate a paragraph that ends with its invariant: clauses, with `; ` between them. The table
//! has the same clauses, each with what shows that it holds: dependencies that the crate must not have, names that its
//! code must not use, or a test. A clause that is in one of the two places only is a finding, too.
//!
//! Tests of a crate may use what the crate must not. A dependency is seen in the manifest, a name in the source:
//! what a crate does through a function of another one is not seen.

mod architecture;
mod names;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use self::{
    architecture::Paragraph,
    table::{Check, Invariant, TABLE},
};
use super::{
    Finding,
    names::{Form, Names},
    workspace::{Crate, File},
};

#[cfg(test)]
mod tests;

/// How packages of this workspace begin.
const OWN: &str = "plimsoll-";

/// Where invariants are written down.
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// The table's file, for those who have to change it.
const TABLE_FILE: &str = "xtask/src/tidy/invariants/table.rs";

type Crates<'a> = BTreeMap<&'a str, Crate<'a>>;

/// A file with its text.
type Text<'a> = (&'a std::path::Path, &'a str);

/// One finding for each place where a crate knows what it must not, and for each invariant that nothing checks.
pub(super) fn findings(crates: &Crates<'_>, texts: &[Text<'_>]) -> Vec<Finding> {
    findings_by(TABLE, crates, texts)
}

fn findings_by(table: &[Invariant], crates: &Crates<'_>, texts: &[Text<'_>]) -> Vec<Finding> {
    let text = text_of(texts, ARCHITECTURE).unwrap_or_default();
    let mut findings = architecture::differences(table, crates, text);
    for invariant in table {
        let Some(of) = crates.get(invariant.of) else {
            continue;
        };
        let law = Law {
            of: invariant.of,
            says: says(text, invariant.of),
        };
        findings.extend(unknown_dependencies(of, invariant, &law));
        for check in invariant.clauses.iter().flat_map(|clause| clause.checks) {
            findings.extend(held(check, of, &law, crates, texts));
        }
    }
    findings
}

/// The invariant that a finding quotes.
struct Law<'a> {
    of: &'a str,
    says: String,
}

impl Law<'_> {
    fn broken(&self, what: &str) -> String {
        format!(
            "{what}, which the invariant of `{}` excludes ({}): leave it to a crate that may, or change the invariant in \
             {ARCHITECTURE} and {TABLE_FILE}",
            self.of, self.says
        )
    }
}

fn says(architecture: &str, name: &str) -> String {
    let paragraph = Paragraph::of(architecture, name);
    paragraph.map_or_else(String::new, |paragraph| paragraph.invariant)
}

/// Crates of ours that the table does not list for this one.
fn unknown_dependencies(of: &Crate<'_>, invariant: &Invariant, law: &Law<'_>) -> Vec<Finding> {
    let own = of.dependencies.iter().filter_map(|dependency| {
        let name = dependency.name.strip_prefix(OWN)?;
        (!invariant.knows.contains(&name)).then_some((name, dependency.line))
    });
    own.map(|(name, line)| Finding {
        path: of.manifest(),
        line,
        what: law.broken(&format!("`{}` comes to know `{name}`", of.name)),
    })
    .collect()
}

fn held(
    check: &Check,
    of: &Crate<'_>,
    law: &Law<'_>,
    crates: &Crates<'_>,
    texts: &[Text<'_>],
) -> Vec<Finding> {
    match *check {
        Check::NoCrates(banned) => dependencies(of, law, |name| banned.contains(&name)),
        Check::NoCratesAtAll => dependencies(of, law, |_| true),
        Check::NotThrough(banned) => reached(of, law, crates, banned),
        Check::NoNames(banned) => names(of, law, banned, |_| true),
        Check::NoNamesIn(places, banned) => names(of, law, banned, |file| is_in(file, of, places)),
        Check::NoNamesBut(places, banned) => names(of, law, banned, |file| !is_in(file, of, places)),
        Check::OnlyModule(package, module) => other_modules(of, law, package, module),
        Check::Alone {
            packages,
            banned,
            besides,
        } => crates
            .values()
            .filter(|other| other.name != of.name && !besides.contains(&other.name))
            .flat_map(|other| {
                let mut findings = dependencies(other, law, |name| packages.contains(&name));
                findings.extend(names(other, law, banned, |_| true));
                findings
            })
            .collect(),
        Check::Test(file, name) => missing_test(texts, law, file, name),
    }
}

fn dependencies(of: &Crate<'_>, law: &Law<'_>, is_banned: impl Fn(&str) -> bool) -> Vec<Finding> {
    let banned = of
        .dependencies
        .iter()
        .filter(|dependency| is_banned(dependency.name));
    banned
        .map(|dependency| Finding {
            path: of.manifest(),
            line: dependency.line,
            what: law.broken(&format!("`{}` depends on `{}`", of.name, dependency.name)),
        })
        .collect()
}

/// Crates of ours that `of` needs, itself or through others.
fn reached(of: &Crate<'_>, law: &Law<'_>, crates: &Crates<'_>, banned: &[&str]) -> Vec<Finding> {
    let of_ours = |name: &str| {
        let dependencies = crates.get(name).map(|found| &found.dependencies);
        let dependencies = dependencies.into_iter().flatten();
        dependencies.filter_map(|dependency| dependency.name.strip_prefix(OWN))
    };
    let mut findings = Vec::new();
    for dependency in &of.dependencies {
        let mut waiting: Vec<_> = dependency.name.strip_prefix(OWN).into_iter().collect();
        let mut met = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            if met.insert(name) {
                waiting.extend(of_ours(name));
            }
        }
        findings.extend(
            banned
                .iter()
                .filter(|name| met.contains(*name))
                .map(|name| Finding {
                    path: of.manifest(),
                    line: dependency.line,
                    what: law.broken(&format!(
                        "`{}` needs `{name}` through `{}`",
                        of.name, dependency.name
                    )),
                }),
        );
    }
    findings
}

/// Whether a file is one of `places` below `src`, or in one of them.
fn is_in(file: &File<'_>, of: &Crate<'_>, places: &[&str]) -> bool {
    let inside = file.path.strip_prefix(of.folder.join("src")).unwrap_or(file.path);
    places
        .iter()
        .any(|place| inside.starts_with(place) || inside == std::path::Path::new(&format!("{place}.rs")))
}

fn names(
    of: &Crate<'_>,
    law: &Law<'_>,
    banned: &[&str],
    is_held: impl Fn(&File<'_>) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in of.files.values().filter(|file| is_held(file)) {
        let mut lines = BTreeSet::new();
        for (line, name) in used(&file.names, banned) {
            if lines.insert((line, name)) {
                findings.push(Finding {
                    path: file.path.to_owned(),
                    line,
                    what: law.broken(&format!("`{}` uses `{name}`", of.name)),
                });
            }
        }
    }
    findings
}

/// Lines that use one of `banned`: a path or a part of one (`std::net`), a method (`.elapsed`), a macro (`println!`).
fn used<'b>(names: &Names<'_>, banned: &'b [&'b str]) -> impl Iterator<Item = (usize, &'b str)> {
    let imported = names
        .imports
        .iter()
        .map(|import| (Form::Plain, import.path.clone(), import.line));
    let mentioned = names.mentions.iter().map(|mention| {
        let path = match mention.form {
            Form::Method | Form::Field | Form::Macro => mention.path.clone(),
            Form::Plain | Form::Call => full(names, &mention.path),
        };
        (mention.form, path, mention.line)
    });
    let all: Vec<_> = imported.chain(mentioned).collect();
    all.into_iter().flat_map(move |(form, path, line)| {
        let found = banned.iter().filter(move |name| is_called(form, &path, name));
        found.map(move |name| (line, *name)).collect::<Vec<_>>()
    })
}

/// `path` with what its first name was imported as: `thread::spawn` behind `use std::thread` is `std::thread::spawn`.
fn full<'a>(names: &Names<'a>, path: &[&'a str]) -> Vec<&'a str> {
    match path.split_first() {
        Some((first, rest)) if !rest.is_empty() => match names.import(first) {
            Some(import) => import.path.iter().chain(rest).copied().collect(),
            None => path.to_vec(),
        },
        _ => path.to_vec(),
    }
}

fn is_called(form: Form, path: &[&str], banned: &str) -> bool {
    if let Some(method) = banned.strip_prefix('.') {
        return form == Form::Method && path == [method];
    }
    if let Some(name) = banned.strip_suffix('!') {
        return form == Form::Macro && path.last() == Some(&name);
    }
    let banned: Vec<_> = banned.split("::").collect();
    let is_path = matches!(form, Form::Plain | Form::Call);
    is_path && path.windows(banned.len()).any(|part| part == banned)
}

/// Uses of a package of ours that go beyond one of its modules.
fn other_modules(of: &Crate<'_>, law: &Law<'_>, package: &str, module: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in of.files.values() {
        let imports = file
            .names
            .imports
            .iter()
            .map(|import| (&import.path, import.line));
        let mentions = file
            .names
            .mentions
            .iter()
            .map(|mention| (&mention.path, mention.line));
        for (path, line) in imports.chain(mentions) {
            if path.first() == Some(&package) && path.get(1) != Some(&module) {
                findings.push(Finding {
                    path: file.path.to_owned(),
                    line,
                    what: law.broken(&format!("`{}` uses `{}`", of.name, path.join("::"))),
                });
            }
        }
    }
    findings
}

fn missing_test(texts: &[Text<'_>], law: &Law<'_>, file: &str, name: &str) -> Vec<Finding> {
    let text = text_of(texts, file).unwrap_or_default();
    let is_there = text.contains(&format!("fn {name}("));
    let finding = || Finding {
        path: file.into(),
        line: 1,
        what: format!(
            "has no test `{name}`, which is to show the invariant of `{}` ({}): give {TABLE_FILE} the test that does",
            law.of, law.says
        ),
    };
    (!is_there).then(finding).into_iter().collect()
}

fn text_of<'a>(texts: &[Text<'a>], path: &str) -> Option<&'a str> {
    let found = texts
        .iter()
        .find(|(known, _)| *known == std::path::Path::new(path));
    found.map(|(_, text)| *text)
}

impl Invariant {
    /// The text that ARCHITECTURE.md has.
    fn text(&self) -> String {
        let clauses: Vec<_> = self.clauses.iter().map(|clause| clause.says).collect();
        clauses.join("; ")
    }
}
