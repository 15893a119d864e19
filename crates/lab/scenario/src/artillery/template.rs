//! Templates: texts with `{{ … }}` in them, which are replaced for each virtual user.
//!
//! A template is taken apart once, before the run; an expression that cannot be is a mistake of the file, and so is a
//! function that does not exist.

use std::borrow::Cow;

use serde_json::Value;

use super::variables::{Variables, write};

mod expression;
mod json;

use self::expression::Expression;
pub(crate) use self::{expression::TemplateError, json::JsonTemplate};

/// A text, and what in it is replaced.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(Box<str>),
    Expression(Expression),
}

impl Template {
    /// Takes a text apart. `{{{ … }}}` is the same as `{{ … }}`.
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once("{{") {
            if !before.is_empty() {
                pieces.push(Piece::Text(before.into()));
            }
            let is_triple = after.starts_with('{');
            let (inside, end) = if is_triple {
                (&after[1..], "}}}")
            } else {
                (after, "}}")
            };
            let (expression, behind) = inside.split_once(end).ok_or(TemplateError::Unclosed { end })?;
            pieces.push(Piece::Expression(Expression::parse(expression.trim())?));
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.into()));
        }
        Ok(Self { pieces })
    }

    /// A text in which nothing is replaced.
    pub(crate) fn constant_of(text: &str) -> Self {
        Self {
            pieces: vec![Piece::Text(text.into())],
        }
    }

    /// The text when nothing in it is replaced.
    pub(crate) fn constant(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text for one user. What is not known leaves nothing.
    pub(crate) fn render(&self, variables: &Variables) -> Cow<'_, str> {
        if let Some(text) = self.constant() {
            return Cow::Borrowed(text);
        }
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Expression(expression) => write(&expression.value(variables), &mut text),
            }
        }
        Cow::Owned(text)
    }

    /// The value for one user: a text that is nothing but one expression keeps the kind of what that is.
    pub(crate) fn value(&self, variables: &Variables) -> Value {
        match self.pieces.as_slice() {
            [Piece::Expression(expression)] => expression.value(variables),
            _ => Value::String(self.render(variables).into_owned()),
        }
    }

    /// The names of the variables that it reads.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Expression(expression) => expression.name(),
        })
    }
}

#[cfg(test)]
mod tests;
