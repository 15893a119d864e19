//! The values of a template's expressions, and how Ruby writes and compares them.

use std::{cell::RefCell, cmp::Ordering, rc::Rc};

/// A value. Lists and maps are shared, as in Ruby.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Nil,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(Rc<str>),
    Symbol(Rc<str>),
    /// The first number, the number behind the last, and whether it was written with that number (`...`).
    Range(i64, i64, bool),
    List(Rc<RefCell<Vec<Value>>>),
    /// Pairs in the order of their insertion.
    Map(Rc<RefCell<Vec<(Value, Value)>>>),
    /// Seconds since 1970.
    Time(f64),
    /// A constant that has methods: `ENV`, `Time`, `Random`.
    Constant(Rc<str>),
}

/// How deep lists may be nested when they are written. A list may contain itself.
const MAX_DEPTH: usize = 32;

impl Value {
    pub(super) fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn list(values: Vec<Self>) -> Self {
        Self::List(Rc::new(RefCell::new(values)))
    }

    /// Whether a condition holds: all but `nil` and `false`.
    pub(super) fn is_true(&self) -> bool {
        !matches!(self, Self::Nil | Self::Bool(false))
    }

    /// The kind of the value in Ruby's words.
    pub(super) fn class(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Text(_) => "a text",
            Self::Symbol(_) => "a symbol",
            Self::Range(..) => "a range",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Time(_) => "a time",
            Self::Constant(_) => "a constant",
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// The text that a template gets (`to_s`).
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Nil => String::new(),
            Self::Text(text) | Self::Symbol(text) => text.to_string(),
            value => value.inspected(MAX_DEPTH),
        }
    }

    /// The text for developers (`inspect`).
    pub(super) fn inspect(&self) -> String {
        self.inspected(MAX_DEPTH)
    }

    fn inspected(&self, depth: usize) -> String {
        if depth == 0 {
            return "[...]".to_owned();
        }
        match self {
            Self::Nil => "nil".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => float(*value),
            Self::Text(text) => format!("{text:?}"),
            Self::Symbol(text) => format!(":{text}"),
            Self::Range(first, end, true) => format!("{first}...{end}"),
            Self::Range(first, end, false) => format!("{first}..{}", end.saturating_sub(1)),
            Self::List(values) => {
                let values = values.borrow();
                let values: Vec<_> = values.iter().map(|value| value.inspected(depth - 1)).collect();
                format!("[{}]", values.join(", "))
            }
            Self::Map(pairs) => {
                let pairs = pairs.borrow();
                let pair = |(key, value): &(Self, Self)| {
                    format!("{}=>{}", key.inspected(depth - 1), value.inspected(depth - 1))
                };
                format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
            Self::Time(seconds) => float(*seconds),
            Self::Constant(name) => name.to_string(),
        }
    }

    /// The value as JSON; `None` when it cannot be written so.
    pub(super) fn json(&self) -> Option<serde_json::Value> {
        self.json_within(MAX_DEPTH)
    }

    fn json_within(&self, depth: usize) -> Option<serde_json::Value> {
        let depth = depth.checked_sub(1)?;
        Some(match self {
            Self::Nil => serde_json::Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Integer(value) => (*value).into(),
            Self::Float(value) => serde_json::Number::from_f64(*value)?.into(),
            Self::Text(text) | Self::Symbol(text) => text.to_string().into(),
            Self::List(values) => {
                let values = values.borrow();
                let values = values.iter().map(|value| value.json_within(depth));
                values.collect::<Option<Vec<_>>>()?.into()
            }
            Self::Map(pairs) => {
                let pairs = pairs.borrow();
                let pairs = pairs
                    .iter()
                    .map(|(key, value)| Some((key.shown(), value.json_within(depth)?)));
                serde_json::Value::Object(pairs.collect::<Option<_>>()?)
            }
            Self::Range(..) | Self::Time(_) | Self::Constant(_) => self.shown().into(),
        })
    }

    /// Whether two values are equal (`==`).
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.equals_within(other, MAX_DEPTH)
    }

    fn equals_within(&self, other: &Self, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        match (self, other) {
            (Self::Nil, Self::Nil) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Text(a), Self::Text(b))
            | (Self::Symbol(a), Self::Symbol(b))
            | (Self::Constant(a), Self::Constant(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Range(a, b, _), Self::Range(c, d, _)) => (a, b) == (c, d),
            (Self::List(a), Self::List(b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equals_within(b, depth))
            }
            (Self::Map(a), Self::Map(b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                let has = |(key, value): &(Self, Self)| {
                    b.iter()
                        .any(|(k, v)| key.equals_within(k, depth) && value.equals_within(v, depth))
                };
                a.len() == b.len() && a.iter().all(has)
            }
            (a, b) => a.number().is_some() && a.number() == b.number(),
        }
    }

    /// The order of two values; `None` when they cannot be compared.
    pub(super) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Text(a), Self::Text(b)) | (Self::Symbol(a), Self::Symbol(b)) => Some(a.cmp(b)),
            (Self::Time(a), Self::Time(b)) => a.partial_cmp(b),
            (a, b) => a.number()?.partial_cmp(&b.number()?),
        }
    }
}

/// A float as Ruby writes it.
pub(super) fn float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if digits.contains('.') { "" } else { ".0" };
        let (sign, exponent) = exponent.strip_prefix('-').map_or(("+", exponent), |it| ("-", it));
        return format!("{digits}{point}e{sign}{exponent:0>2}");
    }
    format!("{value:?}")
}
