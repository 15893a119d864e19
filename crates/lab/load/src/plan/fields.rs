//! Reads JSON objects field by field, so that an error gives the path and the expected value.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value};

use super::{OptionsError, duration::parse_duration};
use crate::executor::{RateStage, Stage};

/// A type that a field can have.
pub(super) trait FromJson: Sized {
    /// What to write instead, with an example.
    const EXPECTED: &'static str;

    /// Reads the value at `path`.
    fn from_json(value: &Value, path: &str) -> Result<Self, OptionsError> {
        Self::read(value).ok_or_else(|| {
            OptionsError::new(
                path,
                format!("expected {}, found {}", Self::EXPECTED, found(value)),
            )
        })
    }

    /// Whether an empty text stands for no value, as of a variable that is not set: `__ENV.USERS`.
    const EMPTY_IS_ABSENT: bool = false;

    /// Reads the value. `None` if it has another type.
    fn read(value: &Value) -> Option<Self>;
}

/// A value for an error text. A long one is cut.
pub(super) fn found(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The fields of one object.
pub(super) struct Fields<'a> {
    path: &'a str,
    values: &'a Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of the object at `path`.
    pub(super) fn of(value: &'a Value, path: &'a str) -> Result<Self, OptionsError> {
        let values = value
            .as_object()
            .ok_or_else(|| OptionsError::new(path, format!("expected an object, found {}", found(value))))?;
        Ok(Self {
            path,
            values,
            known: Vec::new(),
        })
    }

    /// The path of a field of this name.
    pub(super) fn path_of(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// A field. `None` if it is absent or null.
    pub(super) fn get<T: FromJson>(&mut self, name: &'static str) -> Result<Option<T>, OptionsError> {
        self.known.push(name);
        match self.values.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if T::EMPTY_IS_ABSENT && text.is_empty() => Ok(None),
            Some(value) => T::from_json(value, &self.path_of(name)).map(Some),
        }
    }

    /// A required field.
    pub(super) fn require<T: FromJson>(&mut self, name: &'static str) -> Result<T, OptionsError> {
        self.get(name)?.ok_or_else(|| {
            OptionsError::new(
                self.path_of(name),
                format!("is missing; expected {}", T::EXPECTED),
            )
        })
    }

    /// Refuses all unknown fields.
    pub(super) fn finish(self) -> Result<(), OptionsError> {
        match self
            .values
            .keys()
            .find(|name| !self.known.contains(&name.as_str()))
        {
            None => Ok(()),
            Some(name) => {
                let known = self.known.join(", ");
                Err(OptionsError::new(
                    self.path_of(name),
                    format!("is not a field here; expected one of {known}"),
                ))
            }
        }
    }
}

impl FromJson for u64 {
    const EXPECTED: &'static str = "a whole number, for example 10";
    const EMPTY_IS_ABSENT: bool = true;

    fn read(value: &Value) -> Option<Self> {
        // As in k6: variables of the environment are text.
        if let Some(text) = value.as_str() {
            return text.parse().ok();
        }
        value.as_u64().or_else(|| {
            // JavaScript has one kind of number, so 10 may arrive as 10.0.
            let number = value.as_f64()?;
            (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as Self)
        })
    }
}

impl FromJson for u32 {
    const EXPECTED: &'static str = u64::EXPECTED;
    const EMPTY_IS_ABSENT: bool = u64::EMPTY_IS_ABSENT;

    fn read(value: &Value) -> Option<Self> {
        u64::read(value)?.try_into().ok()
    }
}

impl FromJson for f64 {
    const EXPECTED: &'static str = "a number, for example 0.5";
    const EMPTY_IS_ABSENT: bool = true;

    fn read(value: &Value) -> Option<Self> {
        match value.as_str() {
            Some(text) => text.parse().ok().filter(|number: &Self| number.is_finite()),
            None => value.as_f64(),
        }
    }
}

impl FromJson for bool {
    const EXPECTED: &'static str = "true or false";

    fn read(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl FromJson for String {
    const EXPECTED: &'static str = "a text";

    fn read(value: &Value) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

impl FromJson for Duration {
    const EXPECTED: &'static str = "a duration, for example \"1m30s\", or a number of milliseconds";

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => parse_duration(text).ok(),
            Value::Number(ms) => parse_duration(&ms.to_string()).ok(),
            _ => None,
        }
    }
}

impl FromJson for BTreeMap<String, String> {
    const EXPECTED: &'static str = "an object of strings, for example {\"team\": \"chat\"}";

    fn read(value: &Value) -> Option<Self> {
        let fields = value.as_object()?.iter();
        fields
            .map(|(name, value)| Some((name.clone(), String::read(value)?)))
            .collect()
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    const EXPECTED: &'static str = "a list";

    fn from_json(value: &Value, path: &str) -> Result<Self, OptionsError> {
        let values = value.as_array().ok_or_else(|| {
            OptionsError::new(
                path,
                format!("expected a list, each {}, found {}", T::EXPECTED, found(value)),
            )
        })?;
        let items = values.iter().enumerate();
        items
            .map(|(position, value)| T::from_json(value, &format!("{path}[{position}]")))
            .collect()
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(T::read).collect()
    }
}

const STAGE: &str = "a stage, for example {\"duration\": \"30s\", \"target\": 20}";

/// The duration of a stage, and its target: a number of users or a rate.
fn stage<T: FromJson>(value: &Value, path: &str) -> Result<(Duration, T), OptionsError> {
    let mut fields = Fields::of(value, path)?;
    let stage = (fields.require("duration")?, fields.require("target")?);
    fields.finish()?;
    Ok(stage)
}

impl FromJson for Stage {
    const EXPECTED: &'static str = STAGE;

    fn from_json(value: &Value, path: &str) -> Result<Self, OptionsError> {
        let (duration, target) = stage(value, path)?;
        Ok(Self { duration, target })
    }

    fn read(value: &Value) -> Option<Self> {
        Self::from_json(value, "").ok()
    }
}

impl FromJson for RateStage {
    const EXPECTED: &'static str = STAGE;

    fn from_json(value: &Value, path: &str) -> Result<Self, OptionsError> {
        let (duration, target) = stage(value, path)?;
        Ok(Self { duration, target })
    }

    fn read(value: &Value) -> Option<Self> {
        Self::from_json(value, "").ok()
    }
}
