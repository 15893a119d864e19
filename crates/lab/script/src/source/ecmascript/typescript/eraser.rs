//! What is known while a tree is gone through, and how text is blanked.

use std::collections::HashSet;

use oxc_span::Span;

use super::edits::Edits;

/// Goes through a tree and notes what becomes of its text.
pub(super) struct Eraser<'s> {
    pub(super) source: &'s str,
    /// Names that are used as values anywhere.
    pub(super) values: HashSet<String>,
    /// Names of the types that the module declares.
    pub(super) types: HashSet<String>,
    /// Of the enum whose initializers are being read.
    pub(super) scope: Scope,
    pub(super) edits: Edits,
    /// The first thing that has no counterpart: what, what to write instead, and where.
    pub(super) refused: Option<(&'static str, &'static str, Span)>,
}

/// The enum whose initializers are read: its members go by their bare names there.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) name: String,
    pub(super) members: Vec<String>,
}

impl Eraser<'_> {
    pub(super) fn refuse(&mut self, what: &'static str, instead: &'static str, span: Span) {
        self.refused.get_or_insert((what, instead, span));
    }

    /// A statement ends where its type ended, by a line break. Without the type, the next line might go on with it.
    pub(super) fn end_statement(&mut self, span: Span) {
        self.edits.separate_at(span.end);
    }

    /// The byte of `mark` from `start` on, which is known to come, outside of comments.
    pub(super) fn find_mark(&self, mark: u8, start: u32) -> Option<u32> {
        let bytes = self.source.as_bytes();
        let mut at = start as usize;
        while let Some(&byte) = bytes.get(at) {
            let rest = &self.source[at..];
            at += match byte {
                _ if byte == mark => return u32::try_from(at).ok(),
                b'/' if rest.starts_with("//") => rest.find('\n')?,
                b'/' if rest.starts_with("/*") => rest.find("*/")? + 2,
                _ => rest.chars().next()?.len_utf8(),
            };
        }
        None
    }

    /// Blanks `mark`, which is known to come after `start`.
    pub(super) fn blank_mark(&mut self, mark: u8, start: u32) {
        if let Some(at) = self.find_mark(mark, start) {
            self.edits.blank(at, at + 1);
        }
    }

    /// Blanks those of `words` that stand between two bytes.
    pub(super) fn blank_words(&mut self, words: &[&str], start: u32, end: u32) -> Option<u32> {
        let text = self.source.get(start as usize..end as usize)?;
        let mut first = None;
        for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
            if words.contains(&word) {
                let at = start + u32::try_from(word.as_ptr() as usize - text.as_ptr() as usize).ok()?;
                self.edits.blank(at, at + u32::try_from(word.len()).ok()?);
                first = first.or(Some(at));
            }
        }
        first
    }

    pub(super) fn is_multi_line(&self, span: Span) -> bool {
        self.source
            .get(span.start as usize..span.end as usize)
            .is_some_and(|text| text.contains('\n'))
    }
}
