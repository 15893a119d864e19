//! Messages of `google.protobuf` that have JSON of their own, from JSON.

use prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor, Value};
use prost_types::{Duration, Timestamp};

use super::{
    cursor::{Cursor, Kind},
    invalid::Invalid,
    reader::Reader,
    scalars::read_scalar,
};

/// The field with the type of a packed message.
pub(super) const TYPE_FIELD: &str = "@type";

/// The field with a packed message that is not an object.
pub(super) const VALUE_FIELD: &str = "value";

/// The messages around one value.
const WRAPPERS: [&str; 9] = [
    "DoubleValue",
    "FloatValue",
    "Int64Value",
    "UInt64Value",
    "Int32Value",
    "UInt32Value",
    "BoolValue",
    "StringValue",
    "BytesValue",
];

/// The name in `google.protobuf`; `None` for a message with ordinary JSON.
pub(super) fn name_of(kind: &MessageDescriptor) -> Option<&str> {
    const OTHERS: [&str; 7] = [
        "Any",
        "Timestamp",
        "Duration",
        "FieldMask",
        "Struct",
        "ListValue",
        "Value",
    ];
    let name = kind.full_name().strip_prefix("google.protobuf.")?;
    (OTHERS.contains(&name) || WRAPPERS.contains(&name)).then_some(name)
}

/// Reads a message that has JSON of its own; `None` for others.
pub(super) fn read(
    reader: &mut Reader<'_>,
    kind: &MessageDescriptor,
) -> Option<Result<DynamicMessage, Invalid>> {
    let name = name_of(kind)?;
    Some(match name {
        "Any" => any(reader, kind),
        "Timestamp" => time::<Timestamp>(reader, kind),
        "Duration" => time::<Duration>(reader, kind),
        "FieldMask" => field_mask(reader, kind),
        "Value" => value(reader, kind),
        "Struct" => whole(reader, kind, "fields"),
        "ListValue" => whole(reader, kind, "values"),
        _ => wrapper(reader, kind),
    })
}

/// A message whose only field is the JSON.
fn whole(reader: &mut Reader<'_>, kind: &MessageDescriptor, name: &str) -> Result<DynamicMessage, Invalid> {
    let mut message = DynamicMessage::new(kind.clone());
    if let Some(field) = kind.get_field_by_name(name) {
        let value = if field.is_map() {
            reader.map(&field)?
        } else {
            reader.list(&field)?
        };
        message.set_field(&field, value);
    }
    Ok(message)
}

fn wrapper(reader: &mut Reader<'_>, kind: &MessageDescriptor) -> Result<DynamicMessage, Invalid> {
    let mut message = DynamicMessage::new(kind.clone());
    if let Some(field) = kind.get_field_by_name(VALUE_FIELD) {
        let value = read_scalar(&mut reader.cursor, &field.kind(), field.json_name())?;
        message.set_field(&field, value);
    }
    Ok(message)
}

fn value(reader: &mut Reader<'_>, kind: &MessageDescriptor) -> Result<DynamicMessage, Invalid> {
    let token = reader.cursor.peek();
    let name = match token.kind {
        Kind::Null => "null_value",
        Kind::True | Kind::False => "bool_value",
        Kind::Number => "number_value",
        Kind::Text => "string_value",
        Kind::ObjectOpen => "struct_value",
        Kind::ArrayOpen => "list_value",
        Kind::ObjectClose | Kind::ArrayClose | Kind::End => return Err(reader.cursor.unexpected(&token)),
    };
    let mut message = DynamicMessage::new(kind.clone());
    if let Some(field) = kind.get_field_by_name(name) {
        let value = match field.kind().as_message() {
            Some(kind) => Value::Message(reader.message(kind)?),
            None => read_scalar(&mut reader.cursor, &field.kind(), field.json_name())?,
        };
        message.set_field(&field, value);
    }
    Ok(message)
}

/// A time as a text.
fn time<T: std::str::FromStr + prost::Message>(
    reader: &mut Reader<'_>,
    kind: &MessageDescriptor,
) -> Result<DynamicMessage, Invalid> {
    let token = reader.cursor.next();
    if token.kind != Kind::Text {
        return Err(reader.cursor.unexpected(&token));
    }
    let invalid = || {
        let text = format!("invalid {} value {}", kind.full_name(), token.raw);
        reader.cursor.invalid(&token, text)
    };
    let time: T = token
        .text()
        .and_then(|text| text.parse().ok())
        .ok_or_else(invalid)?;
    DynamicMessage::decode(kind.clone(), time.encode_to_vec().as_slice()).map_err(|_| invalid())
}

/// Paths in `camelCase`, with commas between.
fn field_mask(reader: &mut Reader<'_>, kind: &MessageDescriptor) -> Result<DynamicMessage, Invalid> {
    let token = reader.cursor.next();
    let Some(text) = token.text() else {
        return Err(reader.cursor.unexpected(&token));
    };
    let text = text.trim();
    let mut paths = Vec::new();
    for path in text.split(',').filter(|_| !text.is_empty()) {
        if path.contains('_') {
            let text = format!("{}.paths contains invalid path: {path:?}", kind.full_name());
            return Err(reader.cursor.invalid(&token, text));
        }
        paths.push(Value::String(snake_case(path)));
    }
    let mut message = DynamicMessage::new(kind.clone());
    message.set_field_by_name("paths", Value::List(paths));
    Ok(message)
}

fn snake_case(path: &str) -> String {
    path.chars().fold(String::new(), |mut snake, c| {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
        snake
    })
}

/// A message of any type, which the field `@type` names.
fn any(reader: &mut Reader<'_>, kind: &MessageDescriptor) -> Result<DynamicMessage, Invalid> {
    let mut message = DynamicMessage::new(kind.clone());
    let start = reader.cursor.peek();
    if start.kind != Kind::ObjectOpen {
        return Err(reader.cursor.unexpected(&start));
    }
    let mut ahead = reader.cursor.clone();
    let Some((url, packed)) = type_field(&mut ahead)? else {
        let mut rest = reader.cursor.clone();
        rest.next();
        if rest.closes(Kind::ObjectClose) {
            reader.cursor.skip();
            return Ok(message);
        }
        return Err(reader.cursor.invalid(&start, "missing \"@type\" field"));
    };
    let Some(found) = reader.types.find(&url) else {
        let text = format!("unable to resolve {url:?}: \"not found\"");
        return Err(reader.cursor.invalid(&packed, text));
    };
    let inner = if name_of(&found).is_some() {
        packed_value(reader, &found)?
    } else {
        reader.fields(&found, true)?
    };
    message.set_field_by_name("type_url", Value::String(url));
    message.set_field_by_name(VALUE_FIELD, Value::Bytes(inner.encode_to_vec().into()));
    Ok(message)
}

/// The value of the field `@type` of the object that is next, with its token.
fn type_field<'a>(cursor: &mut Cursor<'a>) -> Result<Option<(String, super::cursor::Token<'a>)>, Invalid> {
    cursor.open(Kind::ObjectOpen)?;
    while !cursor.closes(Kind::ObjectClose) {
        if cursor.next().text().as_deref() == Some(TYPE_FIELD) {
            let token = cursor.next();
            return match token.text() {
                Some(url) if !url.is_empty() => Ok(Some((url, token))),
                _ => Err(cursor.invalid(&token, "@type field contains empty value")),
            };
        }
        cursor.skip();
    }
    Ok(None)
}

/// A packed message that has JSON of its own: it is in the field `value`.
fn packed_value(reader: &mut Reader<'_>, kind: &MessageDescriptor) -> Result<DynamicMessage, Invalid> {
    let start = reader.cursor.open(Kind::ObjectOpen)?;
    let mut found = None;
    while !reader.cursor.closes(Kind::ObjectClose) {
        let token = reader.cursor.next();
        match token.text().as_deref() {
            Some(TYPE_FIELD) => reader.cursor.skip(),
            Some(VALUE_FIELD) if found.is_none() => found = Some(reader.message(kind)?),
            _ => {
                let text = format!("unknown field {}", token.raw);
                return Err(reader.cursor.invalid(&token, text));
            }
        }
    }
    found.ok_or_else(|| reader.cursor.invalid(&start, "missing \"value\" field"))
}
