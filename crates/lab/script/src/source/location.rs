//! A place in a source, and the line there, for people.

use std::fmt;

/// Longer lines are shown in part: a bundle may be one line of a megabyte.
const MAX_SHOWN: usize = 110;

/// A place in a file or in a fetched module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// A path or a URL.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

impl Location {
    /// The place of a byte of `source`; its end when there are fewer.
    pub(super) fn at(file: &str, source: &str, offset: usize) -> Self {
        let mut end = offset.min(source.len());
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        let before = &source[..end];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            file: file.to_owned(),
            line: count(before.matches('\n').count()).saturating_add(1),
            column: count(before[line_start..].chars().count()).saturating_add(1),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column } = self;
        write!(f, "{file}:{line}:{column}")
    }
}

/// A place with its line, shown on several lines of text with a caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The place.
    pub location: Location,
    /// The line, or the part of it around the place; empty when the source has no such line.
    line: String,
    /// What is before the caret, as wide as what is before the place.
    indent: String,
}

impl Excerpt {
    /// The place in its source.
    pub fn new(location: Location, source: &str) -> Self {
        let index = |number: u32| usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        let whole = source.split('\n').nth(index(location.line)).unwrap_or_default();
        let whole = whole.strip_suffix('\r').unwrap_or(whole);
        let column = index(location.column).min(whole.chars().count());
        let skipped = if column > MAX_SHOWN * 3 / 4 {
            column - MAX_SHOWN / 2
        } else {
            0
        };
        let mut line: String = whole.chars().skip(skipped).take(MAX_SHOWN).collect();
        let is_cut = whole.chars().nth(skipped.saturating_add(MAX_SHOWN)).is_some();
        let before = line.chars().take(column - skipped);
        // Tabs stay tabs, so that the caret is where it belongs, however wide a tab is shown.
        let mut indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        if skipped > 0 {
            line.insert(0, '…');
            indent.insert(0, ' ');
        }
        if is_cut {
            line.push('…');
        }
        Self {
            location,
            line,
            indent,
        }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            location,
            line,
            indent,
        } = self;
        let number = location.line.to_string();
        let margin = " ".repeat(number.len());
        write!(f, "{margin}--> {location}")?;
        if line.trim().is_empty() {
            Ok(())
        } else {
            write!(f, "\n{number} | {line}\n{margin} | {indent}^")
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(source: &str, marked: &str, expected: &Expect) {
        let offset = source.find(marked).expect("what is marked is in the source");
        let location = Location::at("chat.js", source, offset);
        expected.assert_eq(&Excerpt::new(location, source).to_string());
    }

    #[test]
    fn carets_are_below_the_place() {
        check(
            "import http from \"k6/http\";\nhttp.gett();\n",
            "gett",
            &expect![[r#"
                 --> chat.js:2:6
                2 | http.gett();
                  |      ^"#]],
        );
        check(
            "\tlet grüße = ß;\r\n",
            "ß;",
            &expect![[r#"
                 --> chat.js:1:14
                1 | 	let grüße = ß;
                  | 	            ^"#]],
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let bundle = format!("{}here{}", "a;".repeat(500), ";b".repeat(500));
        check(
            &bundle,
            "here",
            &expect![[r#"
                 --> chat.js:1:1001
                1 | …;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;here;b;b;b;b;b;b;b;b;b;b;b;b;b;b;b;b;b;b;b;b;b;b;b;b;b;…
                  |                                                         ^"#]],
        );
    }

    #[test]
    fn places_beyond_the_source_have_no_line() {
        let location = |line, column| Location {
            file: "chat.js".to_owned(),
            line,
            column,
        };
        for (line, column) in [(0, 0), (7, 3), (u32::MAX, u32::MAX)] {
            let shown = Excerpt::new(location(line, column), "").to_string();
            assert!(
                shown.ends_with(&format!("--> chat.js:{line}:{column}")),
                "{shown}"
            );
        }
        assert_eq!(Location::at("chat.js", "ab\n", 99), location(2, 1));
    }
}
