//! The tokens of a JSON text, with their places.
//!
//! The text comes from the engine's own `JSON.stringify`, so its grammar is right: commas and colons only separate.

use super::invalid::Invalid;

/// The deepest nesting, also of messages in protobuf.
const MAX_DEPTH: usize = 100;

/// A place in a text.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// A token as it stands in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) raw: &'a str,
    at: usize,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    ObjectOpen,
    ObjectClose,
    ArrayOpen,
    ArrayClose,
    Text,
    Number,
    True,
    False,
    Null,
    End,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
        }
    }

    /// The next token, which stays the next one.
    pub(super) fn peek(&self) -> Token<'a> {
        let separators = |c: char| c == ',' || c == ':' || c.is_ascii_whitespace();
        let rest = self.text[self.at..].trim_start_matches(separators);
        let at = self.text.len() - rest.len();
        let (kind, length) = match rest.bytes().next() {
            None => (Kind::End, 0),
            Some(b'{') => (Kind::ObjectOpen, 1),
            Some(b'}') => (Kind::ObjectClose, 1),
            Some(b'[') => (Kind::ArrayOpen, 1),
            Some(b']') => (Kind::ArrayClose, 1),
            Some(b'"') => (Kind::Text, text_length(rest)),
            Some(b't') => (Kind::True, 4),
            Some(b'f') => (Kind::False, 5),
            Some(b'n') => (Kind::Null, 4),
            Some(_) => {
                let end = |c: char| c == ',' || c == '}' || c == ']';
                (Kind::Number, rest.find(end).unwrap_or(rest.len()))
            }
        };
        Token {
            kind,
            raw: &rest[..length.min(rest.len())],
            at,
        }
    }

    pub(super) fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at = token.at + token.raw.len();
        token
    }

    /// Takes the token that opens an object or an array.
    ///
    /// # Errors
    /// Another token is next, or the nesting is too deep.
    pub(super) fn open(&mut self, kind: Kind) -> Result<Token<'a>, Invalid> {
        let token = self.next();
        if token.kind != kind {
            return Err(self.unexpected(&token));
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.invalid(&token, "exceeded maximum recursion depth"));
        }
        Ok(token)
    }

    /// Takes the token that closes an object or an array, if it is next.
    pub(super) fn closes(&mut self, kind: Kind) -> bool {
        let closes = self.peek().kind == kind;
        if closes {
            self.next();
            self.depth -= 1;
        }
        closes
    }

    /// Takes the next value, whatever it is.
    pub(super) fn skip(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.next().kind {
                Kind::ObjectOpen | Kind::ArrayOpen => depth += 1,
                Kind::ObjectClose | Kind::ArrayClose => depth = depth.saturating_sub(1),
                Kind::End => return,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// A fault at a token.
    pub(super) fn invalid(&self, token: &Token<'_>, text: impl std::fmt::Display) -> Invalid {
        Invalid(format!("{}: {text}", self.place(token)))
    }

    /// A token that cannot stand here.
    pub(super) fn unexpected(&self, token: &Token<'_>) -> Invalid {
        Invalid(format!(
            "syntax error {}: unexpected token {}",
            self.place(token),
            token.raw
        ))
    }

    fn place(&self, token: &Token<'_>) -> String {
        let before = &self.text[..token.at];
        let (lines, last) = before.rsplit_once('\n').unwrap_or(("", before));
        let line = if before.contains('\n') {
            lines.matches('\n').count() + 2
        } else {
            1
        };
        format!("(line {line}:{})", last.chars().count() + 1)
    }
}

impl Token<'_> {
    /// The text of a token [`Kind::Text`]; `None` for other tokens, and for half a surrogate pair.
    pub(super) fn text(&self) -> Option<String> {
        (self.kind == Kind::Text).then(|| serde_json::from_str(self.raw).ok())?
    }
}

/// The length of the text token at the begin.
fn text_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (index, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    rest.len()
}
