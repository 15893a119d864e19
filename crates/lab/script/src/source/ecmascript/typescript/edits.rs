//! Changes of a text that keep its lines, and as far as they fit its columns.

/// Changes, in any order; they do not overlap.
#[derive(Default)]
pub(super) struct Edits(Vec<Edit>);

struct Edit {
    start: u32,
    end: u32,
    /// What comes instead. What remains of the place is filled with spaces; line breaks stay.
    text: String,
}

impl Edits {
    pub(super) fn replace(&mut self, start: u32, end: u32, text: impl Into<String>) {
        self.0.push(Edit {
            start,
            end,
            text: text.into(),
        });
    }

    pub(super) fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.replace(at, at, text);
    }

    pub(super) fn blank(&mut self, start: u32, end: u32) {
        self.replace(start, end, "");
    }

    /// A semicolon stays, because the line before may have none.
    pub(super) fn blank_statement(&mut self, span: oxc_span::Span) {
        self.replace(span.start, span.end, ";");
    }

    /// Puts a semicolon where the last change ends, if it is here.
    pub(super) fn separate_at(&mut self, end: u32) {
        if let Some(last) = self.0.last_mut()
            && last.end == end
            && last.text.is_empty()
        {
            last.text.push(';');
        }
    }

    pub(super) fn apply(mut self, source: &str) -> String {
        self.0.sort_by_key(|edit| (edit.start, edit.end));
        let mut result = String::with_capacity(source.len());
        let mut done = 0;
        for edit in &self.0 {
            let (start, end) = (edit.start as usize, edit.end as usize);
            result.push_str(source.get(done..start).unwrap_or_default());
            result.push_str(&edit.text);
            fill(&mut result, edit.text.chars().count(), &source[start..end]);
            done = end;
        }
        result.push_str(&source[done..]);
        result
    }
}

/// Spaces for `replaced`, less the `n_used` characters that its place already has.
fn fill(result: &mut String, mut n_used: usize, replaced: &str) {
    for c in replaced.chars() {
        match c {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => result.push(c),
            _ if n_used > 0 => n_used -= 1,
            _ => result.push(' '),
        }
    }
}
