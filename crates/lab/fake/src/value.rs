//! Invented values.

use std::borrow::Cow;

/// What a function of the catalog makes.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(Cow<'static, str>),
    /// A number; whole ones beyond 2^53 are rounded, as all numbers of JavaScript are.
    Number(f64),
    /// A truth value.
    Boolean(bool),
    /// A list.
    List(Vec<Value>),
    /// Names with values, in the order in which people read them.
    Object(Vec<(Cow<'static, str>, Value)>),
}

impl Value {
    /// An object with these names.
    pub(crate) fn object<const N: usize>(fields: [(&'static str, Self); N]) -> Self {
        let fields = fields.into_iter();
        Self::Object(fields.map(|(name, value)| (name.into(), value)).collect())
    }

    /// A list of what converts to values.
    pub(crate) fn list<T: Into<Self>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number as f64)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number as f64)
    }
}

impl From<bool> for Value {
    fn from(is: bool) -> Self {
        Self::Boolean(is)
    }
}
