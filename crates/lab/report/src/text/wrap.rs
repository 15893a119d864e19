//! Sentences in lines.

/// Breaks `text` at spaces into lines of at most `width` characters, the first with the prefix `first` and the others
/// with `rest`. A longer word gets a line of its own.
pub fn wrap(text: &str, first: &str, rest: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_long_as_they_may_be() {
        for (text, width, expected) in [
            ("one two three", 80, &["- one two three"][..]),
            ("one two three", 9, &["- one two", "  three"]),
            ("one two three", 8, &["- one", "  two", "  three"]),
            ("µµµ µµµ", 9, &["- µµµ µµµ"]),
            ("unbreakable", 4, &["- unbreakable"]),
            ("", 4, &["- "]),
        ] {
            assert_eq!(wrap(text, "- ", "  ", width), expected, "{text} in {width}");
        }
    }
}
