//! Values as k6's errors show them: in the syntax of Go.

use rquickjs::{Array, Value};

use crate::arguments::utf8;

/// A value in Go's syntax (`%#v`).
pub(super) fn value(value: &Value<'_>) -> String {
    if value.is_null() || value.is_undefined() {
        return "<nil>".to_owned();
    }
    if let Some(text) = value.as_string() {
        return format!("{:?}", utf8(text).unwrap_or_default());
    }
    if let Some(number) = value.as_number() {
        return number.to_string();
    }
    if let Some(items) = value.as_array().map(Array::iter::<Value<'_>>) {
        let items: Vec<_> = items.filter_map(|item| Some(self::value(&item.ok()?))).collect();
        return format!("[]interface {{}}{{{}}}", items.join(", "));
    }
    if let Some(object) = value.as_object() {
        let mut entries: Vec<_> = object
            .props::<String, Value<'_>>()
            .filter_map(Result::ok)
            .map(|(name, value)| format!("{name:?}:{}", self::value(&value)))
            .collect();
        entries.sort();
        return format!("map[string]interface {{}}{{{}}}", entries.join(", "));
    }
    value.as_bool().unwrap_or_default().to_string()
}

/// The type of a value in Go (`%T`).
pub(super) fn type_of(value: &Value<'_>) -> &'static str {
    if value.is_null() || value.is_undefined() {
        "<nil>"
    } else if value.is_bool() {
        "bool"
    } else if value.is_array() {
        "[]interface {}"
    } else {
        "map[string]interface {}"
    }
}
