//! The paragraphs of ARCHITECTURE.md and their invariants, held against the table.

use std::path::PathBuf;

use super::{ARCHITECTURE, Crates, Finding, Invariant, TABLE_FILE};

/// What ARCHITECTURE.md says of a crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Paragraph {
    /// Where it begins.
    pub(super) line: usize,
    /// Its invariant, on one line and without the full stop. Empty when it has none.
    pub(super) invariant: String,
}

impl Paragraph {
    /// The paragraph that begins with the name of a crate.
    pub(super) fn of(text: &str, name: &str) -> Option<Self> {
        let head = format!("**`{name}`**: ");
        let position = text.lines().position(|line| line.starts_with(&head))?;
        let lines = text.lines().skip(position).take_while(|line| !line.is_empty());
        let whole = lines.collect::<Vec<_>>().join(" ");
        let invariant = whole
            .split_once("*Invariant: ")
            .and_then(|(_, rest)| rest.split_once(".*"));
        Some(Self {
            line: position + 1,
            invariant: invariant.map_or_else(String::new, |(invariant, _)| invariant.to_owned()),
        })
    }
}

/// Crates without a paragraph or a row, and invariants that differ.
pub(super) fn differences(table: &[Invariant], crates: &Crates<'_>, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |line, what| {
        findings.push(Finding {
            path: PathBuf::from(ARCHITECTURE),
            line,
            what,
        });
    };
    for name in crates.keys() {
        let row = table.iter().find(|row| row.of == *name);
        match (Paragraph::of(text, name), row) {
            (None, _) => find(
                1,
                format!(
                    "has no paragraph of `{name}`: begin one with **`{name}`**: and end it with its invariant"
                ),
            ),
            (Some(paragraph), None) => find(
                paragraph.line,
                format!("nothing checks the invariant of `{name}`: add it to {TABLE_FILE}"),
            ),
            (Some(paragraph), Some(row)) if paragraph.invariant != row.text() => find(
                paragraph.line,
                format!(
                    "the invariant of `{name}` reads \"{}\" here and \"{}\" in {TABLE_FILE}: change one of them, and what is \
                     checked",
                    paragraph.invariant,
                    row.text()
                ),
            ),
            (Some(_), Some(_)) => {}
        }
    }
    for row in table.iter().filter(|row| !crates.contains_key(row.of)) {
        find(
            1,
            format!("there is no crate `{}`: take its row from {TABLE_FILE}", row.of),
        );
    }
    findings
}
