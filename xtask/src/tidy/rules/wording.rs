//! Comments and pages are plain English: no words that stand in place of the thing meant (CONTRIBUTING.md, English).

use super::{
    super::tree::{is_page, prose},
    Finding, Source,
    citations::{comment_of, mark},
};

/// Phrases in place of the thing meant. In two parts each, so that this file passes its own rule.
const PHRASES: [&str; 6] = [
    concat!("no", "body"),
    concat!("some", "body"),
    concat!("wh", "om"),
    concat!("like", "wise"),
    concat!("that is ", "none"),
    concat!("that are ", "none"),
];

pub(super) fn no_vague_words(source: &Source<'_>) -> Vec<Finding> {
    if is_page(source.path) {
        return prose(source.text)
            .filter_map(|(number, line)| Some((number, problem(line)?)))
            .collect();
    }
    let Some(mark) = mark(source) else {
        return Vec::new();
    };
    source.each_line(|line| problem(comment_of(line, mark)?))
}

/// The complaint about the first phrase in a line. Text in backticks is a quotation and may use every word.
fn problem(line: &str) -> Option<String> {
    let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let plain = plain.to_lowercase();
    let found = PHRASES.into_iter().find(|phrase| has_words(&plain, phrase))?;
    Some(format!(
        "says `{found}`: name the thing meant (CONTRIBUTING.md, English)"
    ))
}

/// Whether `line` has `phrase` as whole words.
fn has_words(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + phrase.len()..].chars().next();
        let is_letter = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        !is_letter(before) && !is_letter(after)
    })
}
