//! A command line taken apart as a shell does it, without its expansions.

/// A command line that ends within quotes.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the command ends within {0}…{0}; close the quotes")]
pub struct OpenQuotes(char);

/// The words of a line: separated by spaces, kept together by single and double quotes; a backslash takes the next
/// character as it is, except within single quotes.
pub(super) fn split(line: &str) -> Result<Vec<String>, OpenQuotes> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quotes = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (quotes, character) {
            (Some(open), close) if open == close => quotes = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(characters.next()),
            (Some(_), character) => word.get_or_insert_default().push(character),
            (None, open @ ('"' | '\'')) => {
                quotes = Some(open);
                word.get_or_insert_default();
            }
            (None, space) if space.is_whitespace() => words.extend(word.take()),
            (None, character) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    match quotes {
        Some(quotes) => Err(OpenQuotes(quotes)),
        None => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        for (line, expected) in [
            ("", &[][..]),
            ("  serve  --port 1\n", &["serve", "--port", "1"]),
            (r#"a "b c" 'd "e' f\ g"#, &["a", "b c", "d \"e", "f g"]),
            (r#"--x="a b"'c' '' "\"""#, &["--x=a bc", "", "\""]),
            (r"'a\' b\", &["a\\", "b"]),
        ] {
            assert_eq!(split(line).unwrap(), expected, "{line}");
        }
        assert_eq!(split("a 'b"), Err(OpenQuotes('\'')));
        assert_eq!(split("\"a'"), Err(OpenQuotes('"')));
    }
}
