//! Templates: texts with `{{ … }}`, which are replaced for each virtual user.
//!
//! A template is parsed once, before the run. An invalid expression is a mistake in the file, and so is an unknown
//! function.

use std::borrow::Cow;

use serde_json::Value;

use super::variables::{UNDEFINED, Variables, text_of, write};

mod expression;
mod fake;
mod json;

use self::expression::Expression;
pub(crate) use self::{
    expression::TemplateError,
    fake::{Fake, FakeOptions, LONGEST},
    json::JsonTemplate,
};

/// A text with replaceable parts.
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
    /// Parses a text. `{{{ … }}}` is equivalent to `{{ … }}`.
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

    /// A constant text.
    pub(crate) fn constant_of(text: &str) -> Self {
        Self {
            pieces: vec![Piece::Text(text.into())],
        }
    }

    /// The text, if it is constant.
    pub(crate) fn constant(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text for one user. Unknown names become `undefined` and nulls `null`, as in Artillery.
    pub(crate) fn render(&self, variables: &Variables) -> Cow<'_, str> {
        if let Some(text) = self.constant() {
            return Cow::Borrowed(text);
        }
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Expression(expression) => match expression.value(variables) {
                    Some(value) => write(&value, &mut text),
                    None => text.push_str(UNDEFINED),
                },
            }
        }
        Cow::Owned(text)
    }

    /// The value for one user. A text that consists of one variable keeps the variable's type, and is `None` if there
    /// is no such variable.
    pub(crate) fn value(&self, variables: &Variables) -> Option<Value> {
        match self.pieces.as_slice() {
            [Piece::Expression(expression)] => expression.value(variables),
            _ => Some(Value::String(self.render(variables).into_owned())),
        }
    }

    /// The text for one user; `None` if it consists of one unknown variable.
    pub(crate) fn known(&self, variables: &Variables) -> Option<Cow<'_, str>> {
        match self.pieces.as_slice() {
            [Piece::Expression(expression)] => Some(Cow::Owned(text_of(&expression.value(variables)?))),
            _ => Some(self.render(variables)),
        }
    }

    /// A function of the plugin `fake-data` that it calls.
    pub(crate) fn fake(&self) -> Option<&'static Fake> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Expression(expression) => expression.fake(),
        })
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
