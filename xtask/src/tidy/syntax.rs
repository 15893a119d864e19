//! Rust source as tokens: enough to see which names a file uses, without comments, literals and tests.

/// The smallest piece of source that has a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// The text of a word or a sign. A literal has none, so that its content is never taken for code.
    pub(super) text: &'a str,
    /// Line number, counted from 1.
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or an identifier.
    Word,
    /// `::`, or one character of punctuation.
    Sign,
    /// A string, a character, a number or a lifetime.
    Literal,
}

impl Token<'_> {
    pub(super) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

/// The tokens of `text`, comments left out.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (length, kind) = match comment(rest).or_else(|| literal(rest)) {
            Some(Piece::Comment(length)) => (length, None),
            Some(Piece::Literal(length)) => (length, Some(Kind::Literal)),
            None if first.is_whitespace() => (first.len_utf8(), None),
            None if is_part_of_word(first) => (word(rest), Some(Kind::Word)),
            None if rest.starts_with("::") => (2, Some(Kind::Sign)),
            None => (first.len_utf8(), Some(Kind::Sign)),
        };
        let (piece, tail) = rest.split_at(length);
        if let Some(kind) = kind {
            let text = if kind == Kind::Literal { "" } else { piece };
            tokens.push(Token { text, line, kind });
        }
        line += piece.matches('\n').count();
        rest = tail;
    }
    tokens
}

/// `tokens` without the items behind `#[cfg(test)]`.
pub(super) fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut product = Vec::new();
    let mut rest = tokens;
    while let Some((first, tail)) = rest.split_first() {
        match after_test_attribute(rest) {
            Some(item) => rest = &item[item_length(item)..],
            None => {
                product.push(*first);
                rest = tail;
            }
        }
    }
    product
}

enum Piece {
    Comment(usize),
    Literal(usize),
}

fn comment(text: &str) -> Option<Piece> {
    if text.starts_with("//") {
        return Some(Piece::Comment(text.find('\n').unwrap_or(text.len())));
    }
    let mut rest = text.strip_prefix("/*")?;
    // Comments of this kind may be inside of each other.
    let mut depth = 1;
    while depth > 0 {
        let Some(at) = rest.find(['/', '*']) else {
            return Some(Piece::Comment(text.len()));
        };
        let ends = rest[at..].starts_with("*/");
        let begins = rest[at..].starts_with("/*");
        depth = if ends {
            depth - 1
        } else {
            depth + usize::from(begins)
        };
        rest = &rest[at + if ends || begins { 2 } else { 1 }..];
    }
    Some(Piece::Comment(text.len() - rest.len()))
}

fn literal(text: &str) -> Option<Piece> {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return Some(Piece::Literal(word(text)));
    }
    let begins = |prefix: &&str| {
        let rest = text.strip_prefix(*prefix);
        rest.is_some_and(|rest| rest.starts_with(['"', '#', '\'']))
    };
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(begins)?;
    let rest = &text[prefix.len()..];
    let length = match rest.as_bytes()[0] {
        b'"' | b'#' if prefix.ends_with('r') => raw_string(rest)?,
        b'"' => escaped(rest, '"'),
        b'\'' if matches!(prefix, "" | "b") => quote(rest)?,
        _ => return None,
    };
    Some(Piece::Literal(prefix.len() + length))
}

/// `"…"` or `#"…"#`, with any number of `#`. `None` for a raw identifier, `r#type`.
fn raw_string(text: &str) -> Option<usize> {
    let n_marks = text.len() - text.trim_start_matches('#').len();
    let body = text[n_marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(n_marks));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(n_marks + 1 + length)
}

/// A literal that begins and ends with `quote`, which `\` escapes.
fn escaped(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// A character, or a lifetime.
fn quote(text: &str) -> Option<usize> {
    let mut characters = text.chars().skip(1);
    let (first, second) = (characters.next()?, characters.next());
    if first == '\\' || second == Some('\'') {
        return Some(escaped(text, '\''));
    }
    Some(1 + word(&text[1..]))
}

fn word(text: &str) -> usize {
    text.find(|character| !is_part_of_word(character))
        .unwrap_or(text.len())
}

fn is_part_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// What follows `#[cfg(test)]`, if `tokens` begin with it.
fn after_test_attribute<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    let attribute = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (head, item) = tokens.split_at_checked(attribute.len())?;
    head.iter().map(|token| token.text).eq(attribute).then_some(item)
}

/// How many tokens the item at the beginning of `tokens` has: up to its `;`, or to the `}` of its body.
fn item_length(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" if depth <= 1 => return at + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let words: Vec<_> = tokens(text).iter().map(|token| token.text).collect();
        assert_eq!(words.join(" "), expected, "{text}");
    }

    #[test]
    fn comments_are_left_out() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check("a /* b", "a");
        check("//! std::net\nx::y", "x :: y");
    }

    #[test]
    fn literals_have_no_text() {
        check(
            r#"f("std::net", b"\"x", 'a', '\'', 1_000.5)"#,
            "f (  ,  ,  ,  ,  .  )",
        );
        check("r#\"a \" b\"# c br##\"\"# x\"## d", " c  d");
        check("&'a str, b'x' c\"y\" r\"\\\" z", "&  str ,    z");
        check("r#type", "r # type");
        check("rest bread crate", "rest bread crate");
    }

    #[test]
    fn lines_are_counted() {
        let lines: Vec<_> = tokens("a\n\"x\ny\" b /*\n*/ c")
            .iter()
            .map(|token| token.line)
            .collect();
        assert_eq!(lines, [1, 2, 3, 4]);
    }

    #[test]
    fn tests_are_left_out() {
        let check = |text: &str, expected: &str| {
            let left: Vec<_> = without_tests(&tokens(text))
                .iter()
                .map(|token| token.text)
                .collect();
            assert_eq!(left.join(" "), expected, "{text}");
        };
        check("a; #[cfg(test)] mod tests { fn b() { c } } d", "a ; d");
        check("#[cfg(test)] mod tests; d", "d");
        check("#[cfg(test)] impl A<[u8; 2]> { fn b(); } d", "d");
        check(
            "#[cfg(feature = \"x\")] mod a;",
            "# [ cfg ( feature =  ) ] mod a ;",
        );
    }
}
