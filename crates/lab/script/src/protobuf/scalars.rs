//! Numbers, texts, bytes and enums of a message, from JSON.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use prost_reflect::{EnumDescriptor, Kind, MapKey, Value};

use super::{
    cursor::{Cursor, Kind as JsonKind, Token},
    invalid::Invalid,
};

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const FOR_URLS: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// The enum that stands for JSON's null.
pub(super) const NULL_VALUE: &str = "google.protobuf.NullValue";

/// Reads the value of a field that is not a message; `name` is that of the field.
///
/// # Errors
/// It has the wrong type, or does not fit.
pub(super) fn read_scalar(cursor: &mut Cursor<'_>, kind: &Kind, name: &str) -> Result<Value, Invalid> {
    let token = cursor.next();
    if matches!(token.kind, JsonKind::ObjectOpen | JsonKind::ArrayOpen) {
        return Err(cursor.unexpected(&token));
    }
    let value = match kind {
        Kind::Bool => match token.kind {
            JsonKind::True => Some(Value::Bool(true)),
            JsonKind::False => Some(Value::Bool(false)),
            _ => None,
        },
        Kind::String => token.text().map(Value::String),
        Kind::Bytes => token
            .text()
            .and_then(|text| bytes(&text))
            .map(|bytes| Value::Bytes(bytes.into())),
        Kind::Enum(kind) => enum_number(&token, kind).map(Value::EnumNumber),
        Kind::Float => float(&token, f64::from(f32::MAX)).map(|number| Value::F32(number as f32)),
        Kind::Double => float(&token, f64::MAX).map(Value::F64),
        Kind::Message(_) => None,
        kind => whole(&token).and_then(|number| integer(kind, number)),
    };
    value.ok_or_else(|| {
        let text = format!("invalid value for {} field {name}: {}", words(kind), token.raw);
        cursor.invalid(&token, text)
    })
}

/// Reads the key of a map.
///
/// # Errors
/// It does not fit.
pub(super) fn read_key(cursor: &mut Cursor<'_>, kind: &Kind) -> Result<MapKey, Invalid> {
    let token = cursor.next();
    let text = token.text();
    let key = match (kind, text.as_deref()) {
        (Kind::String, Some(text)) => Some(MapKey::String(text.to_owned())),
        (Kind::Bool, Some("true")) => Some(MapKey::Bool(true)),
        (Kind::Bool, Some("false")) => Some(MapKey::Bool(false)),
        (kind, Some(_)) => whole(&token).and_then(|number| integer(kind, number)?.into_map_key()),
        (_, None) => None,
    };
    key.ok_or_else(|| {
        let text = format!("invalid value for {} key: {}", words(kind), token.raw);
        cursor.invalid(&token, text)
    })
}

/// The name of a kind in `.proto` files.
fn words(kind: &Kind) -> &'static str {
    match kind {
        Kind::Double => "double",
        Kind::Float => "float",
        Kind::Int32 => "int32",
        Kind::Int64 => "int64",
        Kind::Uint32 => "uint32",
        Kind::Uint64 => "uint64",
        Kind::Sint32 => "sint32",
        Kind::Sint64 => "sint64",
        Kind::Fixed32 => "fixed32",
        Kind::Fixed64 => "fixed64",
        Kind::Sfixed32 => "sfixed32",
        Kind::Sfixed64 => "sfixed64",
        Kind::Bool => "bool",
        Kind::String => "string",
        Kind::Bytes => "bytes",
        Kind::Message(_) => "message",
        Kind::Enum(_) => "enum",
    }
}

/// The text of a number, which may stand in quotes.
fn digits(token: &Token<'_>) -> Option<String> {
    match token.kind {
        JsonKind::Number => Some(token.raw.to_owned()),
        JsonKind::Text => {
            let text = token.text()?;
            let is_number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
            Some(text).filter(|text| is_number && !text.ends_with('.'))
        }
        _ => None,
    }
}

/// A whole number, also as `1.0` or `1e3`.
fn whole(token: &Token<'_>) -> Option<i128> {
    let digits = digits(token)?;
    if let Ok(number) = digits.parse() {
        return Some(number);
    }
    // Longer than any field, but not than its type.
    let number: f64 = digits.parse().ok()?;
    (number.fract() == 0.0 && number.abs() < 1e30).then_some(number as i128)
}

/// A number in the type of its field; `None` if it does not fit.
fn integer(kind: &Kind, number: i128) -> Option<Value> {
    Some(match kind {
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(number.try_into().ok()?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(number.try_into().ok()?),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(number.try_into().ok()?),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(number.try_into().ok()?),
        _ => return None,
    })
}

fn float(token: &Token<'_>, max: f64) -> Option<f64> {
    let text = match token.kind {
        JsonKind::Text => token.text(),
        _ => None,
    };
    match text.as_deref() {
        Some("NaN") => return Some(f64::NAN),
        Some("Infinity") => return Some(f64::INFINITY),
        Some("-Infinity") => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let number: f64 = digits(token)?.parse().ok()?;
    (number.abs() <= max).then_some(number)
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let engine = if text.contains(['-', '_']) {
        &FOR_URLS
    } else {
        &STANDARD
    };
    engine.decode(text).ok()
}

fn enum_number(token: &Token<'_>, kind: &EnumDescriptor) -> Option<i32> {
    match token.kind {
        JsonKind::Text => kind.get_value_by_name(&token.text()?).map(|value| value.number()),
        JsonKind::Number => whole(token)?.try_into().ok(),
        JsonKind::Null if kind.full_name() == NULL_VALUE => Some(0),
        _ => None,
    }
}
