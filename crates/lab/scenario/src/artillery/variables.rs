//! The variables of a virtual user, which templates and conditions read.

use std::{collections::BTreeMap, rc::Rc, sync::Arc};

use serde_json::{Map, Value};

/// Variables that all users share: those of the configuration, and the built-in ones.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    /// By name.
    pub values: BTreeMap<String, Value>,
    /// Variables of the system (`$env` and `$processEnvironment`).
    pub environment: BTreeMap<String, String>,
    /// The options of functions that invent values, by the names of the functions.
    pub fakes: BTreeMap<String, Map<String, Value>>,
}

/// The variables of one virtual user. It owns few, so they are searched linearly.
#[derive(Clone, Debug)]
pub(crate) struct Variables {
    globals: Arc<Globals>,
    own: Vec<Own>,
}

/// A variable of one user.
#[derive(Clone, Debug)]
struct Own {
    name: Rc<str>,
    /// `None` if it is unset, which hides that of all users.
    value: Option<Value>,
    /// Whether the functions of the processor have this value.
    is_told: bool,
}

impl Variables {
    /// The variables of a user without its own ones.
    pub(crate) fn new(globals: Arc<Globals>) -> Self {
        Self {
            globals,
            own: Vec::new(),
        }
    }

    /// What all users share.
    pub(crate) fn globals(&self) -> &Globals {
        &self.globals
    }

    /// A variable by its name.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        match self.own.iter().find(|own| &*own.name == name) {
            Some(own) => own.value.as_ref(),
            None => self.globals.values.get(name),
        }
    }

    /// The value of a name in a condition: a variable, or a part of one after dots.
    pub(crate) fn get_path(&self, path: &str) -> Option<Value> {
        if let Some(value) = self.get(path) {
            return Some(value.clone());
        }
        let (name, keys) = path.split_once('.')?;
        let part = keys
            .split('.')
            .try_fold(self.get(name)?, |value, key| match key.parse::<usize>() {
                Ok(index) if value.is_array() => value.get(index),
                _ => value.get(key),
            });
        part.cloned()
    }

    /// Sets a variable of this user.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.put(name, Some(value), false);
    }

    /// Unsets a variable for this user.
    pub(crate) fn unset(&mut self, name: &str) {
        self.put(name, None, false);
    }

    fn put(&mut self, name: &str, value: Option<Value>, is_told: bool) {
        match self.own.iter_mut().find(|own| &*own.name == name) {
            Some(own) => (own.value, own.is_told) = (value, is_told),
            None => self.own.push(Own {
                name: name.into(),
                value,
                is_told,
            }),
        }
    }

    /// The shared ones.
    pub(crate) fn shared_globals(&self) -> &Arc<Globals> {
        &self.globals
    }

    /// The variables set since the last call, for the functions of the processor.
    pub(crate) fn tell(&mut self) -> Vec<(String, Value)> {
        let news = self.own.iter_mut().filter(|own| !own.is_told);
        news.map(|own| {
            own.is_told = true;
            (
                own.name.as_ref().to_owned(),
                own.value.clone().unwrap_or_default(),
            )
        })
        .collect()
    }

    /// Applies the changes of the processor's functions.
    pub(crate) fn hear(&mut self, changed: Vec<(String, Value)>) {
        for (name, value) in changed {
            self.put(&name, Some(value), true);
        }
    }

    /// The variables that only this user has.
    pub(crate) fn into_own(self) -> impl Iterator<Item = (String, Value)> {
        self.own
            .into_iter()
            .filter_map(|own| Some((own.name.as_ref().to_owned(), own.value?)))
    }
}

/// The text of an unknown variable within another text, as in JavaScript.
pub(crate) const UNDEFINED: &str = "undefined";

/// Writes a value as in templates: texts unchanged, everything else as JSON.
pub(crate) fn write(value: &Value, to: &mut String) {
    match value {
        Value::String(text) => to.push_str(text),
        value => to.push_str(&value.to_string()),
    }
}

/// The value as in templates.
pub(crate) fn text_of(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// Whether a value counts as true in a condition, as in JavaScript.
pub(crate) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_true) => *is_true,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn own_variables_hide_those_of_all() {
        let globals = Globals {
            values: [("a".to_owned(), json!(1)), ("b".to_owned(), json!(2))].into(),
            ..Globals::default()
        };
        let mut variables = Variables::new(Arc::new(globals));
        variables.set("a", json!("x"));
        variables.set("a", json!("y"));
        assert_eq!(variables.get("a"), Some(&json!("y")));
        assert_eq!(variables.get("b"), Some(&json!(2)));
        assert_eq!(variables.get("c"), None);
        assert_eq!(variables.into_own().count(), 1);
    }

    #[test]
    fn functions_are_told_what_is_new() {
        let mut variables = Variables::new(Arc::default());
        variables.set("a", json!(1));
        assert_eq!(variables.tell(), [("a".to_owned(), json!(1))]);
        variables.hear(vec![("b".to_owned(), json!(2))]);
        assert_eq!(variables.tell(), []);
        variables.set("b", json!(3));
        assert_eq!(variables.tell(), [("b".to_owned(), json!(3))]);
        assert_eq!(variables.get("b"), Some(&json!(3)));
    }

    #[test]
    fn values_are_written_as_texts() {
        for (value, expected) in [
            (json!("a"), "a"),
            (json!(1.5), "1.5"),
            (json!(null), "null"),
            (json!({"a": [1, true]}), r#"{"a":[1,true]}"#),
        ] {
            let mut text = String::new();
            write(&value, &mut text);
            assert_eq!(text, expected);
        }
    }
}
