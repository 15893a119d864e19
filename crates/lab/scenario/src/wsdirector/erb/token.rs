//! The words of the code in a template.

use super::{
    problem::Problem,
    template::{Part, cut},
};

/// A word and its position in the template.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) word: Word,
    /// Whether white space is before it.
    pub(super) is_apart: bool,
}

/// The kinds of words.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    /// Text of the template.
    Copied(String),
    /// The beginning of an expression whose value is written; it ends with an [`Word::End`].
    Output,
    /// The end of a statement.
    End,
    Integer(i64),
    Float(f64),
    /// A text between quotes, with its interpolated expressions.
    Text(Vec<Piece>),
    Symbol(String),
    /// A key of a map: `name:`.
    Label(String),
    /// A name in small letters, or a keyword.
    Name(String),
    /// A name that begins with a capital.
    Constant(String),
    Sign(&'static str),
}

/// A part of a text between quotes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Literal(String),
    Code(Vec<Token>),
}

/// Signs, the longest first.
const SIGNS: [&str; 44] = [
    "**=", "...", "<=>", "===", "||=", "&&=", "**", "==", "!=", "<=", ">=", "&&", "||", "<<", "..", "+=",
    "-=", "*=", "/=", "%=", "=>", "&.", "::", "->", "|", "+", "-", "*", "/", "%", "<", ">", "=", "!", "?",
    ":", ",", ".", "(", ")", "[", "]", "{", "}",
];

/// How deep texts may be nested in texts.
const MAX_DEPTH: usize = 16;

/// The words of a whole template.
///
/// # Errors
/// A word that cannot be read.
pub(super) fn words(template: &str) -> Result<Vec<Token>, Problem> {
    let mut tokens = Vec::new();
    for part in cut(template)? {
        match part {
            Part::Text(text) => tokens.push(token(0, Word::Copied(text.to_owned()))),
            Part::Code(code, at) => read(code, at, 0, &mut tokens)?,
            Part::Output(code, at) => {
                tokens.push(token(at, Word::Output));
                read(code, at, 0, &mut tokens)?;
            }
        }
        let at = tokens.last().map_or(0, |last: &Token| last.at);
        tokens.push(token(at, Word::End));
    }
    Ok(tokens)
}

fn token(at: usize, word: Word) -> Token {
    Token {
        at,
        word,
        is_apart: true,
    }
}

/// Reads code that begins at position `from` of the template.
fn read(code: &str, from: usize, depth: usize, tokens: &mut Vec<Token>) -> Result<(), Problem> {
    let mut rest = code;
    let mut is_apart = true;
    while let Some(first) = rest.chars().next() {
        let at = from + code.len() - rest.len();
        let (word, behind) = match first {
            ' ' | '\t' | '\r' => {
                rest = &rest[1..];
                is_apart = true;
                continue;
            }
            '#' => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            '\n' | ';' => (Word::End, &rest[1..]),
            '"' | '\'' => text(rest, at, depth)?,
            '0'..='9' => number(rest, at)?,
            _ if first.is_alphabetic() || first == '_' => name(rest),
            ':' if symbol(&rest[1..]).is_some() && !rest.starts_with("::") => {
                let name = symbol(&rest[1..]).unwrap_or_default();
                (Word::Symbol(name.to_owned()), &rest[1 + name.len()..])
            }
            _ => {
                let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
                let sign = sign
                    .ok_or_else(|| Problem::new(at, format!("{first:?} is not supported in a template")))?;
                (Word::Sign(sign), &rest[sign.len()..])
            }
        };
        rest = behind;
        tokens.push(Token { at, word, is_apart });
        is_apart = false;
    }
    Ok(())
}

/// The name at the beginning of a text.
fn symbol(text: &str) -> Option<&str> {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    let name = &text[..end];
    let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    begins.then_some(name)
}

fn name(text: &str) -> (Word, &str) {
    let name = symbol(text).unwrap_or_default();
    let mut behind = &text[name.len()..];
    let mut name = name.to_owned();
    if behind.starts_with(':') && !behind.starts_with("::") && name != "else" {
        // `a ? b : c` has a blank before the colon.
        return (Word::Label(name), &behind[1..]);
    }
    if name.starts_with(char::is_uppercase) {
        return (Word::Constant(name), behind);
    }
    let is_method = |mark: &str| behind.starts_with(mark) && !behind[1..].starts_with('=');
    // `x ?` is a condition, `x?` a method.
    if is_method("?") || (is_method("!") && !behind.starts_with("!=")) {
        name.push_str(&behind[..1]);
        behind = &behind[1..];
    }
    (Word::Name(name), behind)
}

fn number(text: &str, at: usize) -> Result<(Word, &str), Problem> {
    let is_part = |c: char| c.is_ascii_digit() || c == '_';
    let digits = |text: &str| text.find(|c| !is_part(c)).unwrap_or(text.len());
    let mut end = digits(text);
    let mut is_float = false;
    if text[end..].starts_with('.') && text[end + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        is_float = true;
        end += 1 + digits(&text[end + 1..]);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let n_digits = digits(&text[end + 1 + sign..]);
        if n_digits > 0 {
            is_float = true;
            end += 1 + sign + n_digits;
        }
    }
    let plain = text[..end].replace('_', "");
    let word = if is_float {
        plain.parse().map(Word::Float).ok()
    } else {
        plain.parse().map(Word::Integer).ok()
    };
    let word = word.ok_or_else(|| Problem::new(at, format!("the number {plain} is too large")))?;
    Ok((word, &text[end..]))
}

/// A text between quotes.
fn text(source: &str, at: usize, depth: usize) -> Result<(Word, &str), Problem> {
    let unending = || Problem::new(at, "this text has no closing quote");
    if depth > MAX_DEPTH {
        return Err(Problem::new(at, "texts are nested too deeply"));
    }
    let is_single = source.starts_with('\'');
    let (mut pieces, mut literal) = (Vec::new(), String::new());
    let mut rest = &source[1..];
    loop {
        let first = rest.chars().next().ok_or_else(unending)?;
        rest = &rest[first.len_utf8()..];
        match first {
            '\'' if is_single => break,
            '"' if !is_single => break,
            '\\' => {
                let next = rest.chars().next().ok_or_else(unending)?;
                rest = &rest[next.len_utf8()..];
                match (is_single, next) {
                    (true, '\'' | '\\') => literal.push(next),
                    (true, _) => literal.extend(['\\', next]),
                    (false, 'n') => literal.push('\n'),
                    (false, 't') => literal.push('\t'),
                    (false, 'r') => literal.push('\r'),
                    (false, '0') => literal.push('\0'),
                    (false, 'e') => literal.push('\u{1b}'),
                    (false, 's') => literal.push(' '),
                    (false, 'u' | 'x') => {
                        return Err(Problem::new(
                            at,
                            format!("\\{next} is not supported in a template; write the character itself"),
                        ));
                    }
                    (false, _) => literal.push(next),
                }
            }
            '#' if !is_single && rest.starts_with('{') => {
                let code = &rest[1..];
                let end = closing(code).ok_or_else(|| Problem::new(at, "this text has `#{` without `}`"))?;
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                let from = at + source.len() - code.len();
                let mut tokens = Vec::new();
                read(&code[..end], from, depth + 1, &mut tokens)?;
                tokens.push(token(from + end, Word::End));
                pieces.push(Piece::Code(tokens));
                rest = &code[end + 1..];
            }
            _ => literal.push(first),
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok((Word::Text(pieces), rest))
}

/// The position of the brace that closes the code.
fn closing(code: &str) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (at, c) in code.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth == 0 => return Some(at),
            (None, '}') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}
