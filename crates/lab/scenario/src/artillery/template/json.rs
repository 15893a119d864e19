//! JSON whose texts and keys are templates.

use serde_json::{Map, Value};

use super::{Fake, Template, TemplateError};
use crate::artillery::variables::Variables;

/// A value that is computed for each user.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonTemplate {
    /// The same for all.
    Constant(Value),
    /// A text with templates.
    Text(Template),
    /// A list.
    List(Vec<JsonTemplate>),
    /// A map.
    Map(Vec<(Template, JsonTemplate)>),
}

impl JsonTemplate {
    /// Takes all texts of a value apart.
    pub(crate) fn parse(value: &Value) -> Result<Self, TemplateError> {
        Ok(match value {
            Value::String(text) => match Template::parse(text)? {
                template if template.constant().is_some() => Self::Constant(value.clone()),
                template => Self::Text(template),
            },
            Value::Array(items) => Self::of_list(items)?,
            Value::Object(entries) => Self::of_map(entries)?,
            value => Self::Constant(value.clone()),
        })
    }

    fn of_list(items: &[Value]) -> Result<Self, TemplateError> {
        let items = items.iter().map(Self::parse).collect::<Result<Vec<_>, _>>()?;
        let constants: Option<Vec<_>> = items.iter().map(Self::constant).collect();
        Ok(match constants {
            Some(constants) => Self::Constant(constants.into_iter().cloned().collect()),
            None => Self::List(items),
        })
    }

    fn of_map(entries: &Map<String, Value>) -> Result<Self, TemplateError> {
        let parsed = entries
            .iter()
            .map(|(key, value)| Ok((Template::parse(key)?, Self::parse(value)?)));
        let parsed = parsed.collect::<Result<Vec<_>, TemplateError>>()?;
        let is_constant =
            |(key, value): &(Template, Self)| key.constant().is_some() && value.constant().is_some();
        Ok(if parsed.iter().all(is_constant) {
            Self::Constant(Value::Object(entries.clone()))
        } else {
            Self::Map(parsed)
        })
    }

    /// A function of the plugin `fake-data` that it calls.
    pub(crate) fn fake(&self) -> Option<&'static Fake> {
        match self {
            Self::Constant(_) => None,
            Self::Text(template) => template.fake(),
            Self::List(items) => items.iter().find_map(Self::fake),
            Self::Map(entries) => entries
                .iter()
                .find_map(|(key, value)| key.fake().or_else(|| value.fake())),
        }
    }

    /// The value, if it is constant.
    pub(crate) fn constant(&self) -> Option<&Value> {
        match self {
            Self::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The value for one user. An unknown variable is null.
    pub(crate) fn value(&self, variables: &Variables) -> Value {
        self.known(variables).unwrap_or_default()
    }

    /// The value for one user; `None` for an unknown variable. A map leaves such entries out, as JavaScript does when it
    /// writes JSON.
    pub(crate) fn known(&self, variables: &Variables) -> Option<Value> {
        Some(match self {
            Self::Constant(value) => value.clone(),
            Self::Text(template) => return template.value(variables),
            Self::List(items) => items.iter().map(|item| item.value(variables)).collect(),
            Self::Map(entries) => {
                let entries = entries.iter().filter_map(|(key, value)| {
                    Some((key.render(variables).into_owned(), value.known(variables)?))
                });
                Value::Object(entries.collect())
            }
        })
    }

    /// The names of the variables that it reads.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::Text(template) => template.names().collect(),
            Self::List(items) => items.iter().flat_map(Self::names).collect(),
            Self::Map(entries) => {
                let names = entries
                    .iter()
                    .flat_map(|(key, value)| key.names().chain(value.names()));
                names.collect()
            }
        }
    }
}
