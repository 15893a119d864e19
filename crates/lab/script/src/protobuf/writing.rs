//! A message as JSON: absent fields have their default values, absent messages are null, and 64-bit numbers are texts.

use std::fmt::{Display, Write as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, ReflectMessage as _, Syntax, Value};
use prost_types::{Any, Duration, Timestamp};

use super::{
    scalars::NULL_VALUE,
    types::Types,
    well_known::{self, TYPE_FIELD, VALUE_FIELD},
};

/// A message has no JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("failed to marshal the message: proto: {0}")]
pub(crate) struct Unwritable(String);

/// The JSON text of a message.
///
/// # Errors
/// It holds a message of an unknown type, or a time that does not exist.
pub(crate) fn write(message: &DynamicMessage, types: Types<'_>) -> Result<String, Unwritable> {
    let mut writer = Writer {
        out: String::new(),
        types,
    };
    writer.message(message)?;
    Ok(writer.out)
}

/// The JSON text of a packed message.
///
/// # Errors
/// As for [`write`].
pub(crate) fn write_any(any: &Any, types: Types<'_>) -> Result<String, Unwritable> {
    let mut writer = Writer {
        out: String::new(),
        types,
    };
    writer.any(&any.type_url, &any.value)?;
    Ok(writer.out)
}

struct Writer<'a> {
    out: String,
    types: Types<'a>,
}

impl Writer<'_> {
    fn message(&mut self, message: &DynamicMessage) -> Result<(), Unwritable> {
        let kind = message.descriptor();
        if let Some(name) = well_known::name_of(&kind) {
            return self.well_known(message, name);
        }
        self.out.push('{');
        self.fields(message, true)?;
        self.out.push('}');
        Ok(())
    }

    /// The fields in the order of their definition.
    fn fields(&mut self, message: &DynamicMessage, mut is_first: bool) -> Result<(), Unwritable> {
        let kind = message.descriptor();
        let is_old = kind.parent_file().syntax() == Syntax::Proto2;
        for field in kind.fields() {
            let is_set = message.has_field(&field);
            if !is_set && field.containing_oneof().is_some() {
                continue;
            }
            if !is_first {
                self.out.push(',');
            }
            is_first = false;
            self.text(field.json_name());
            self.out.push(':');
            let is_single = !field.is_list() && !field.is_map();
            let has_no_default = is_old || field.kind().as_message().is_some();
            if !is_set && is_single && has_no_default {
                self.out.push_str("null");
            } else {
                self.field(&field, &message.get_field(&field))?;
            }
        }
        Ok(())
    }

    fn field(&mut self, field: &FieldDescriptor, value: &Value) -> Result<(), Unwritable> {
        match value {
            Value::List(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.out.push(',');
                    }
                    self.value(&field.kind(), item)?;
                }
                self.out.push(']');
                Ok(())
            }
            Value::Map(entries) => {
                let kind = field.kind();
                let entry = kind
                    .as_message()
                    .map(|entry| entry.map_entry_value_field().kind());
                let Some(kind) = entry else { return Ok(()) };
                // In an order of its own, because that of the table is random.
                let mut entries: Vec<_> = entries
                    .iter()
                    .map(|(key, value)| (key_text(key), value))
                    .collect();
                entries.sort_by(|(one, _), (other, _)| one.cmp(other));
                self.out.push('{');
                for (index, (key, value)) in entries.into_iter().enumerate() {
                    if index > 0 {
                        self.out.push(',');
                    }
                    self.text(&key);
                    self.out.push(':');
                    self.value(&kind, value)?;
                }
                self.out.push('}');
                Ok(())
            }
            value => self.value(&field.kind(), value),
        }
    }

    fn value(&mut self, kind: &Kind, value: &Value) -> Result<(), Unwritable> {
        match value {
            Value::Bool(value) => self.plain(value),
            Value::I32(value) => self.plain(value),
            Value::U32(value) => self.plain(value),
            Value::I64(value) => self.quoted(value),
            Value::U64(value) => self.quoted(value),
            Value::F32(value) => self.float(f64::from(*value), value),
            Value::F64(value) => self.float(*value, value),
            Value::String(text) => self.text(text),
            Value::Bytes(bytes) => self.quoted(&BASE64_STANDARD.encode(bytes)),
            Value::EnumNumber(number) => self.enum_value(kind, *number),
            Value::Message(message) => return self.message(message),
            // Protobuf has no lists of lists.
            Value::List(_) | Value::Map(_) => {}
        }
        Ok(())
    }

    fn enum_value(&mut self, kind: &Kind, number: i32) {
        let found = kind
            .as_enum()
            .map(|kind| (kind.full_name(), kind.get_value(number)));
        match found {
            Some((NULL_VALUE, _)) => self.out.push_str("null"),
            Some((_, Some(value))) => self.text(value.name()),
            _ => self.plain(&number),
        }
    }

    fn well_known(&mut self, message: &DynamicMessage, name: &str) -> Result<(), Unwritable> {
        let get = |name: &str| message.get_field_by_name(name);
        match name {
            "Any" => {
                let url = get("type_url").and_then(|url| url.as_str().map(str::to_owned));
                let bytes = get(VALUE_FIELD).and_then(|value| value.as_bytes().cloned());
                return self.any(&url.unwrap_or_default(), &bytes.unwrap_or_default());
            }
            "Timestamp" => {
                let time = message.transcode_to::<Timestamp>();
                let time = time.map_err(|error| Unwritable(error.to_string()))?;
                self.quoted(&time);
            }
            "Duration" => {
                let time = message.transcode_to::<Duration>();
                let time = time.map_err(|error| Unwritable(error.to_string()))?;
                self.quoted(&time);
            }
            "FieldMask" => {
                let paths = get("paths");
                let paths = paths.as_deref().and_then(Value::as_list).unwrap_or_default();
                let paths: Vec<_> = paths.iter().filter_map(Value::as_str).map(camel_case).collect();
                self.text(&paths.join(","));
            }
            "Value" => return self.any_json(message),
            name => {
                let only = match name {
                    "Struct" => "fields",
                    "ListValue" => "values",
                    _ => VALUE_FIELD,
                };
                if let Some(field) = message.descriptor().get_field_by_name(only) {
                    return self.field(&field, &message.get_field(&field));
                }
            }
        }
        Ok(())
    }

    /// A `google.protobuf.Value`.
    fn any_json(&mut self, message: &DynamicMessage) -> Result<(), Unwritable> {
        match message.fields().next() {
            Some((field, Value::F64(number))) if !number.is_finite() => {
                let text = format!("{}: cannot have {number} value", field.full_name());
                Err(Unwritable(text))
            }
            Some((field, value)) => self.field(&field, value),
            None => Err(Unwritable(
                "google.protobuf.Value: none of the oneof fields is set".to_owned(),
            )),
        }
    }

    fn any(&mut self, url: &str, bytes: &[u8]) -> Result<(), Unwritable> {
        if url.is_empty() {
            if bytes.is_empty() {
                self.out.push_str("{}");
                return Ok(());
            }
            let text = "google.protobuf.Any: missing type_url value";
            return Err(Unwritable(text.to_owned()));
        }
        let Some(kind) = self.types.find(url) else {
            let text = format!("google.protobuf.Any: unable to resolve {url:?}: \"not found\"");
            return Err(Unwritable(text));
        };
        let message = DynamicMessage::decode(kind.clone(), bytes);
        let message = message.map_err(|error| {
            Unwritable(format!(
                "google.protobuf.Any: unable to unmarshal {url:?}: {error}"
            ))
        })?;
        self.out.push('{');
        self.text(TYPE_FIELD);
        self.out.push(':');
        self.text(url);
        if well_known::name_of(&kind).is_some() {
            self.out.push(',');
            self.text(VALUE_FIELD);
            self.out.push(':');
            self.message(&message)?;
        } else {
            self.fields(&message, false)?;
        }
        self.out.push('}');
        Ok(())
    }

    fn float(&mut self, number: f64, shortest: &impl Display) {
        if number.is_nan() {
            self.out.push_str("\"NaN\"");
        } else if number.is_infinite() {
            self.out.push_str(if number > 0.0 {
                "\"Infinity\""
            } else {
                "\"-Infinity\""
            });
        } else {
            self.plain(shortest);
        }
    }

    fn plain(&mut self, value: &impl Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{value}");
    }

    fn quoted(&mut self, value: &impl Display) {
        let _ = write!(self.out, "\"{value}\"");
    }

    fn text(&mut self, text: &str) {
        self.plain(&serde_json::Value::from(text));
    }
}

fn key_text(key: &prost_reflect::MapKey) -> String {
    use prost_reflect::MapKey;
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
    }
}

fn camel_case(path: &str) -> String {
    let mut is_upper = false;
    path.chars().fold(String::new(), |mut camel, c| {
        if c == '_' {
            is_upper = true;
        } else if std::mem::take(&mut is_upper) {
            camel.push(c.to_ascii_uppercase());
        } else {
            camel.push(c);
        }
        camel
    })
}
