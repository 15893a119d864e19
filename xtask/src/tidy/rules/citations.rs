//! Comments cite what readers have: no text outside of the repository, and pages with headings that exist.

use std::path::Path;

use super::{Finding, Source};

/// Citations of texts that are not part of the repository. In two parts each, so that this file passes its own rule.
const ELSEWHERE: [&str; 2] = [concat!("spec", " §"), concat!("direction", " §")];

/// A numbered text that is not part of the repository, in front of its number.
const NUMBERED: &str = concat!("seed", " 0");

/// The folder of the pages that comments cite.
const PAGES: &str = "docs/";

/// The ending of a page.
const PAGE: &str = ".md";

pub(super) fn no_foreign_citations(source: &Source<'_>) -> Vec<Finding> {
    source.each_line(|line| {
        let found = ELSEWHERE.into_iter().find(|citation| line.contains(citation));
        let found = found.or_else(|| is_numbered(line).then_some(NUMBERED))?;
        Some(format!(
            "cites a text that is not part of the repository (`{found}`): cite a page under docs/, an RFC or a public page"
        ))
    })
}

fn is_numbered(line: &str) -> bool {
    let mut parts = line.split(NUMBERED).skip(1);
    parts.any(|rest| rest.starts_with(|character: char| character.is_ascii_digit()))
}

/// A comment may cite a page (`docs/protocols/cable.md`), and behind a comma one of its headings (`…/cable.md,
/// Commands`).
pub(super) fn cited_pages_exist(source: &Source<'_>) -> Vec<Finding> {
    comments(source)
        .iter()
        .flat_map(|comment| comment.findings(source))
        .collect()
}

/// Lines of comments that follow each other, as one text.
#[derive(Default)]
struct Comment {
    text: String,
    /// Where each line begins in the text, and its number.
    lines: Vec<(usize, usize)>,
}

impl Comment {
    fn push(&mut self, number: usize, line: &str) {
        self.lines.push((self.text.len(), number));
        self.text.push_str(line.trim());
        self.text.push(' ');
    }

    fn findings(&self, source: &Source<'_>) -> Vec<Finding> {
        let citations = self.text.match_indices(PAGES);
        citations
            .filter_map(|(at, _)| Some((self.number(at), problem(source, &self.text, at)?)))
            .collect()
    }

    /// The number of the line that has this byte of the text.
    fn number(&self, at: usize) -> usize {
        let lines = self.lines.iter().take_while(|(start, _)| *start <= at);
        lines.last().map_or(1, |(_, number)| *number)
    }
}

/// What is wrong with the citation at this byte.
fn problem(source: &Source<'_>, text: &str, at: usize) -> Option<String> {
    let is_part_of_path = |character: char| character.is_ascii_alphanumeric() || "._-/".contains(character);
    // In `crates/lab/report/docs/` and `https://host/docs/` it is another folder of this name; behind `../` it is ours.
    let before = text[..at].trim_end_matches("../");
    if before.ends_with(is_part_of_path) {
        return None;
    }
    let rest = &text[at..];
    let path = &rest[..rest
        .find(|character| !is_part_of_path(character))
        .unwrap_or(rest.len())];
    let path = &path[..path.rfind(PAGE)? + PAGE.len()];
    let Some(headings) = source.tree.headings(Path::new(path)) else {
        return Some(format!("cites `{path}`, which does not exist"));
    };
    let cited = rest[path.len()..].strip_prefix(", ")?;
    let names_heading = cited.starts_with(|first: char| first.is_uppercase() || first == '`');
    let is_known = headings.iter().any(|heading| cited.starts_with(heading.as_str()));
    (names_heading && !is_known).then(|| {
        let shown: String = cited.chars().take(30).collect();
        format!("cites a heading that `{path}` does not have: `{shown}…`")
    })
}

/// The comments of a file.
fn comments(source: &Source<'_>) -> Vec<Comment> {
    let Some(mark) = mark(source) else {
        return Vec::new();
    };
    let mut comments = vec![Comment::default()];
    for (number, line) in (1..).zip(source.text.lines()) {
        match (comment_of(line, mark), comments.last_mut()) {
            (Some(comment), Some(last)) => last.push(number, comment),
            _ => comments.push(Comment::default()),
        }
    }
    comments
}

/// How comments begin in the language of the file.
pub(super) fn mark(source: &Source<'_>) -> Option<&'static str> {
    if source.is_code() {
        return Some("//");
    }
    source
        .has_extension(&["toml", "yml", "yaml", "rb", "ru", "py", "sh"])
        .then_some("#")
}

/// The comment of a line, without its mark.
pub(super) fn comment_of<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let line = line.trim_start();
    let (_, comment) = if line.starts_with(mark) {
        line.split_once(mark)?
    } else {
        line.split_once(&format!(" {mark} "))?
    };
    Some(comment.trim_start_matches(['/', '!', '#']))
}
