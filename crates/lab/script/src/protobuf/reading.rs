//! A message from JSON.

use std::collections::HashMap;

use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value};

use super::{
    cursor::{Cursor, Kind as JsonKind},
    invalid::Invalid,
    reader::Reader,
    scalars::{NULL_VALUE, read_key, read_scalar},
    types::Types,
    well_known::{self, TYPE_FIELD},
};

/// Reads a message of this type from a JSON text.
///
/// # Errors
/// The first fault, with its place.
pub(crate) fn read(
    text: &str,
    kind: &MessageDescriptor,
    types: Types<'_>,
) -> Result<DynamicMessage, Invalid> {
    let mut reader = Reader {
        cursor: Cursor::new(text),
        types,
    };
    reader.message(kind)
}

impl Reader<'_> {
    /// A message, a well-known one in its own form.
    pub(super) fn message(&mut self, kind: &MessageDescriptor) -> Result<DynamicMessage, Invalid> {
        match well_known::read(self, kind) {
            Some(read) => read,
            None => self.fields(kind, false),
        }
    }

    /// The object of a message. `is_packed` says that it also has the field `@type`, which is skipped.
    pub(super) fn fields(
        &mut self,
        kind: &MessageDescriptor,
        is_packed: bool,
    ) -> Result<DynamicMessage, Invalid> {
        let mut message = DynamicMessage::new(kind.clone());
        self.cursor.open(JsonKind::ObjectOpen)?;
        let mut seen = Vec::new();
        while !self.cursor.closes(JsonKind::ObjectClose) {
            let token = self.cursor.next();
            let Some(name) = token.text() else {
                return Err(self.cursor.unexpected(&token));
            };
            if is_packed && name == TYPE_FIELD {
                self.cursor.skip();
                continue;
            }
            let field = kind
                .get_field_by_json_name(&name)
                .or_else(|| kind.get_field_by_name(&name));
            let Some(field) = field else {
                return Err(self
                    .cursor
                    .invalid(&token, format!("unknown field {}", token.raw)));
            };
            if self.cursor.peek().kind == JsonKind::Null && !takes_null(&field) {
                self.cursor.next();
                continue;
            }
            if seen.contains(&field.number()) {
                return Err(self
                    .cursor
                    .invalid(&token, format!("duplicate field {}", token.raw)));
            }
            seen.push(field.number());
            if let Some(oneof) = field.containing_oneof()
                && oneof
                    .fields()
                    .any(|other| other != field && seen.contains(&other.number()))
            {
                let text = format!(
                    "error parsing {}, oneof {} is already set",
                    token.raw,
                    oneof.full_name()
                );
                return Err(self.cursor.invalid(&token, text));
            }
            let value = self.field(&field)?;
            message.set_field(&field, value);
        }
        Ok(message)
    }

    fn field(&mut self, field: &FieldDescriptor) -> Result<Value, Invalid> {
        if field.is_list() {
            self.list(field)
        } else if field.is_map() {
            self.map(field)
        } else {
            self.single(&field.kind(), field.json_name())
        }
    }

    /// The items of a repeated field.
    pub(super) fn list(&mut self, field: &FieldDescriptor) -> Result<Value, Invalid> {
        let kind = field.kind();
        let mut items = Vec::new();
        self.cursor.open(JsonKind::ArrayOpen)?;
        while !self.cursor.closes(JsonKind::ArrayClose) {
            items.push(self.single(&kind, field.json_name())?);
        }
        Ok(Value::List(items))
    }

    /// The entries of a map.
    pub(super) fn map(&mut self, field: &FieldDescriptor) -> Result<Value, Invalid> {
        let mut entries = HashMap::new();
        let kind = field.kind();
        let entry = kind.as_message();
        let kinds = entry.map(|entry| (entry.map_entry_key_field().kind(), entry.map_entry_value_field()));
        self.cursor.open(JsonKind::ObjectOpen)?;
        while !self.cursor.closes(JsonKind::ObjectClose) {
            let Some((key_kind, value_field)) = &kinds else {
                break;
            };
            let token = self.cursor.peek();
            let key = read_key(&mut self.cursor, key_kind)?;
            let value = self.single(&value_field.kind(), value_field.json_name())?;
            if entries.insert(key, value).is_some() {
                return Err(self
                    .cursor
                    .invalid(&token, format!("duplicate map key {}", token.raw)));
            }
        }
        Ok(Value::Map(entries))
    }

    fn single(&mut self, kind: &Kind, name: &str) -> Result<Value, Invalid> {
        match kind {
            Kind::Message(kind) => self.message(kind).map(Value::Message),
            kind => read_scalar(&mut self.cursor, kind, name),
        }
    }
}

/// Whether null is a value of the field, and not its absence.
fn takes_null(field: &FieldDescriptor) -> bool {
    match field.kind() {
        Kind::Message(kind) => !field.is_list() && kind.full_name() == "google.protobuf.Value",
        Kind::Enum(kind) => !field.is_list() && kind.full_name() == NULL_VALUE,
        _ => false,
    }
}
