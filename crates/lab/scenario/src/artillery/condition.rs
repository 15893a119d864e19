//! Conditions: the expressions of `ifTrue`, `whileTrue` and of `ensure`, in filtrex's notation.
//!
//! `and`, `or`, `not`, comparisons, `in (…)`, arithmetic, texts in double quotes, names with dots or in single quotes.

use std::str::FromStr;

use serde_json::Value;

use super::variables::is_true;

mod parser;

use self::parser::ConditionError;

/// An expression that was read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    root: Term,
}

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Constant(Value),
    Name(String),
    Not(Box<Term>),
    Negative(Box<Term>),
    Binary(Operator, Box<Term>, Box<Term>),
    In(Box<Term>, Vec<Term>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self {
            root: parser::parse(text)?,
        })
    }
}

impl Condition {
    /// Whether the condition holds. `lookup` gives the value of a name; unknown names are null.
    pub(super) fn holds(&self, lookup: &dyn Fn(&str) -> Option<Value>) -> bool {
        is_true(&self.root.value(lookup))
    }

    /// All names in it.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.root.gather(&mut names);
        names
    }
}

impl Term {
    fn value(&self, lookup: &dyn Fn(&str) -> Option<Value>) -> Value {
        match self {
            Self::Constant(value) => value.clone(),
            Self::Name(name) => lookup(name).unwrap_or_default(),
            Self::Not(term) => (!is_true(&term.value(lookup))).into(),
            Self::Negative(term) => term
                .value(lookup)
                .as_f64()
                .map_or(Value::Null, |number| (-number).into()),
            Self::In(term, list) => {
                let value = term.value(lookup);
                list.iter()
                    .any(|item| are_equal(&value, &item.value(lookup)))
                    .into()
            }
            Self::Binary(Operator::And, left, right) => {
                (is_true(&left.value(lookup)) && is_true(&right.value(lookup))).into()
            }
            Self::Binary(Operator::Or, left, right) => {
                (is_true(&left.value(lookup)) || is_true(&right.value(lookup))).into()
            }
            Self::Binary(operator, left, right) => operator.apply(&left.value(lookup), &right.value(lookup)),
        }
    }

    fn gather<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::Constant(_) => {}
            Self::Name(name) => names.push(name),
            Self::Not(term) | Self::Negative(term) => term.gather(names),
            Self::Binary(_, left, right) => [left, right].into_iter().for_each(|term| term.gather(names)),
            Self::In(term, list) => {
                term.gather(names);
                list.iter().for_each(|term| term.gather(names));
            }
        }
    }
}

impl Operator {
    fn apply(self, left: &Value, right: &Value) -> Value {
        match self {
            Self::Equal => return are_equal(left, right).into(),
            Self::Unequal => return (!are_equal(left, right)).into(),
            Self::And | Self::Or => return Value::Null,
            _ => {}
        }
        if let (Value::String(left), Value::String(right)) = (left, right) {
            return match self {
                Self::Less => (left < right).into(),
                Self::LessOrEqual => (left <= right).into(),
                Self::Greater => (left > right).into(),
                Self::GreaterOrEqual => (left >= right).into(),
                Self::Add => format!("{left}{right}").into(),
                _ => Value::Null,
            };
        }
        // A value that is not a number compares with nothing.
        let (Some(left), Some(right)) = (number(left), number(right)) else {
            return match self {
                Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual => false.into(),
                _ => Value::Null,
            };
        };
        match self {
            Self::Less => (left < right).into(),
            Self::LessOrEqual => (left <= right).into(),
            Self::Greater => (left > right).into(),
            Self::GreaterOrEqual => (left >= right).into(),
            Self::Add => (left + right).into(),
            Self::Subtract => (left - right).into(),
            Self::Multiply => (left * right).into(),
            Self::Divide => (left / right).into(),
            Self::Remainder => (left % right).into(),
            Self::Equal | Self::Unequal | Self::And | Self::Or => Value::Null,
        }
    }
}

/// A number, also from a text, as in values from a table.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(is_true) => Some(f64::from(u8::from(*is_true))),
        _ => None,
    }
}

/// Equal values; a number also equals the text that it is written as.
pub(super) fn are_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(_), Value::Number(_) | Value::String(_)) | (Value::String(_), Value::Number(_)) => {
            number(left).is_some_and(|left| Some(left) == number(right))
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests;
