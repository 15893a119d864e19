//! Converts msgpack to JSON text, in one pass over untrusted bytes.
//!
//! A length is compared with the remaining bytes before it is used, only the text is allocated, and nesting is limited.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rmp::Marker;

use super::{super::json_text::push_text, timestamp};

/// The deepest nesting of lists and maps, as in serde_json. The recursion is as deep.
const MAX_DEPTH: usize = 128;

/// The extension type of timestamps.
const TIMESTAMP: i8 = -1;

/// Bytes that are not valid msgpack for a message. Positions count from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MsgpackError {
    /// A value extends beyond the end.
    #[error("{what} at byte {at} needs {needed} B more, but {left} B follow")]
    Truncated {
        /// The position where it begins.
        at: usize,
        /// The kind of value.
        what: &'static str,
        /// The least number of bytes that it needs after those that were read.
        needed: u64,
        /// The number of bytes that are left.
        left: usize,
    },
    /// Lists and maps are nested too deeply.
    #[error("lists and maps are nested more than {MAX_DEPTH} deep at byte {at}")]
    TooDeep {
        /// The position of the first one that is too deep.
        at: usize,
    },
    /// A text is not UTF-8.
    #[error("the text at byte {at} is not UTF-8")]
    NotUtf8 {
        /// The position where it begins.
        at: usize,
    },
    /// The one byte that never begins a value.
    #[error("no value begins with the byte 0xc1, which is at byte {at}")]
    NeverUsed {
        /// Its position.
        at: usize,
    },
    /// A map has a key that is impossible in JSON.
    #[error("expected a text or a whole number as key of a map at byte {at}, got {got}")]
    Key {
        /// The position where the key begins.
        at: usize,
        /// Its type.
        got: &'static str,
    },
    /// The value is not a map.
    #[error("expected a map such as {{\"type\":\"ping\"}}, got {got}")]
    NotAMap {
        /// Its type.
        got: &'static str,
    },
    /// Bytes follow the value.
    #[error("expected nothing after the value, which ends at byte {at}, got {n_bytes} B more")]
    Trailing {
        /// The position where the value ends.
        at: usize,
        /// The number of bytes that follow.
        n_bytes: usize,
    },
}

/// Appends the JSON of a message, which must be a single map.
pub(in super::super) fn map_to_json(bytes: &[u8], json: &mut String) -> Result<(), MsgpackError> {
    match bytes.first().copied().map(Marker::from_u8) {
        Some(Marker::FixMap(_) | Marker::Map16 | Marker::Map32) => value_to_json(bytes, json),
        Some(marker) => Err(MsgpackError::NotAMap { got: kind_of(marker) }),
        None => Err(MsgpackError::NotAMap { got: "nothing" }),
    }
}

/// Appends the JSON of exactly one value.
pub(in super::super) fn value_to_json(bytes: &[u8], json: &mut String) -> Result<(), MsgpackError> {
    let mut reader = Reader { bytes, at: 0, json };
    reader.value(0)?;
    match reader.left() {
        0 => Ok(()),
        n_bytes => Err(MsgpackError::Trailing {
            at: reader.at,
            n_bytes,
        }),
    }
}

struct Reader<'a, 'b> {
    bytes: &'a [u8],
    at: usize,
    json: &'b mut String,
}

/// The position and the kind of a value, for errors.
#[derive(Clone, Copy)]
struct Begin {
    at: usize,
    what: &'static str,
}

impl<'a> Reader<'a, '_> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `n` bytes of the value.
    fn take(&mut self, n: u64, begin: Begin) -> Result<&'a [u8], MsgpackError> {
        self.has(n, begin)?;
        let rest = &self.bytes[self.at..];
        // It is not longer than the rest, so it fits into a `usize`.
        let taken = &rest[..usize::try_from(n).unwrap_or(rest.len())];
        self.at += taken.len();
        Ok(taken)
    }

    /// Checks that at least `needed` bytes are left.
    fn has(&self, needed: u64, begin: Begin) -> Result<(), MsgpackError> {
        let left = self.left();
        if needed <= left as u64 {
            return Ok(());
        }
        let Begin { at, what } = begin;
        Err(MsgpackError::Truncated {
            at,
            what,
            needed,
            left,
        })
    }

    /// The whole number behind `marker`, without a sign: a value or a length.
    fn number(&mut self, marker: Marker, begin: Begin) -> Result<u64, MsgpackError> {
        let bytes = self.take(number_bytes(marker), begin)?;
        Ok(bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    fn begin(&mut self) -> Result<(Marker, Begin), MsgpackError> {
        let at = self.at;
        let first = self.take(1, Begin { at, what: "a value" })?[0];
        let marker = Marker::from_u8(first);
        let what = kind_of(marker);
        Ok((marker, Begin { at, what }))
    }

    /// Appends the next value, which is nested in `depth` lists and maps.
    fn value(&mut self, depth: usize) -> Result<(), MsgpackError> {
        let (marker, begin) = self.begin()?;
        match marker {
            Marker::Null => self.json.push_str("null"),
            Marker::False => self.json.push_str("false"),
            Marker::True => self.json.push_str("true"),
            Marker::F32 => {
                let bits = self.number(marker, begin)?;
                self.float(f64::from(f32::from_bits(bits as u32)));
            }
            Marker::F64 => {
                let bits = self.number(marker, begin)?;
                self.float(f64::from_bits(bits));
            }
            Marker::FixMap(n) => self.map(n.into(), begin, depth)?,
            Marker::Map16 | Marker::Map32 => {
                let n = self.number(marker, begin)?;
                self.map(n, begin, depth)?;
            }
            Marker::FixArray(n) => self.list(n.into(), begin, depth)?,
            Marker::Array16 | Marker::Array32 => {
                let n = self.number(marker, begin)?;
                self.list(n, begin, depth)?;
            }
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let n = self.number(marker, begin)?;
                let bytes = self.take(n, begin)?;
                self.base64(bytes);
            }
            Marker::Ext8 | Marker::Ext16 | Marker::Ext32 => {
                let n = self.number(marker, begin)?;
                self.extension(n, begin)?;
            }
            Marker::FixExt1 => self.extension(1, begin)?,
            Marker::FixExt2 => self.extension(2, begin)?,
            Marker::FixExt4 => self.extension(4, begin)?,
            Marker::FixExt8 => self.extension(8, begin)?,
            Marker::FixExt16 => self.extension(16, begin)?,
            Marker::Reserved => return Err(MsgpackError::NeverUsed { at: begin.at }),
            _ => match self.scalar_key(marker, begin)? {
                Key::Text(text) => push_text(self.json, text),
                Key::Number(number) => self.digits(number),
            },
        }
        Ok(())
    }

    /// Reads a key: a text or a whole number.
    fn scalar_key(&mut self, marker: Marker, begin: Begin) -> Result<Key<'a>, MsgpackError> {
        Ok(match marker {
            Marker::FixPos(number) => Key::Number(number.into()),
            Marker::FixNeg(number) => Key::Number(number.into()),
            Marker::U8 | Marker::U16 | Marker::U32 | Marker::U64 => {
                Key::Number(self.number(marker, begin)?.into())
            }
            Marker::I8 => Key::Number((self.number(marker, begin)? as i8).into()),
            Marker::I16 => Key::Number((self.number(marker, begin)? as i16).into()),
            Marker::I32 => Key::Number((self.number(marker, begin)? as i32).into()),
            Marker::I64 => Key::Number((self.number(marker, begin)? as i64).into()),
            Marker::FixStr(n) => self.text(n.into(), begin)?,
            Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                let n = self.number(marker, begin)?;
                self.text(n, begin)?
            }
            _ => {
                return Err(MsgpackError::Key {
                    at: begin.at,
                    got: begin.what,
                });
            }
        })
    }

    fn text(&mut self, n_bytes: u64, begin: Begin) -> Result<Key<'a>, MsgpackError> {
        let bytes = self.take(n_bytes, begin)?;
        let text = str::from_utf8(bytes).map_err(|_| MsgpackError::NotUtf8 { at: begin.at })?;
        Ok(Key::Text(text))
    }

    fn list(&mut self, n: u64, begin: Begin, depth: usize) -> Result<(), MsgpackError> {
        self.enter(n, begin, depth)?;
        self.json.push('[');
        for idx in 0..n {
            if idx > 0 {
                self.json.push(',');
            }
            self.value(depth + 1)?;
        }
        self.json.push(']');
        Ok(())
    }

    fn map(&mut self, n: u64, begin: Begin, depth: usize) -> Result<(), MsgpackError> {
        self.enter(2 * n, begin, depth)?;
        self.json.push('{');
        for idx in 0..n {
            if idx > 0 {
                self.json.push(',');
            }
            let (marker, begin) = self.begin()?;
            match self.scalar_key(marker, begin)? {
                Key::Text(text) => push_text(self.json, text),
                Key::Number(number) => {
                    self.json.push('"');
                    self.digits(number);
                    self.json.push('"');
                }
            }
            self.json.push(':');
            self.value(depth + 1)?;
        }
        self.json.push('}');
        Ok(())
    }

    /// Enters a list or a map. Checks that each of its values has at least one byte.
    fn enter(&self, n_values: u64, begin: Begin, depth: usize) -> Result<(), MsgpackError> {
        if depth >= MAX_DEPTH {
            return Err(MsgpackError::TooDeep { at: begin.at });
        }
        self.has(n_values, begin)
    }

    fn extension(&mut self, n_bytes: u64, begin: Begin) -> Result<(), MsgpackError> {
        let kind = self.take(1, begin)?[0] as i8;
        let data = self.take(n_bytes, begin)?;
        if kind == TIMESTAMP
            && let Some(time) = timestamp::to_text(data)
        {
            push_text(self.json, &time);
            return Ok(());
        }
        // Writing into a string never fails.
        let _ = write!(self.json, r#"{{"ext":{kind},"data":"#);
        self.base64(data);
        self.json.push('}');
        Ok(())
    }

    fn digits(&mut self, number: i128) {
        let _ = write!(self.json, "{number}");
    }

    fn float(&mut self, number: f64) {
        // `Debug` uses an exponent if there would be many digits, and always shows that the number is not an integer.
        let _ = if number.is_finite() {
            write!(self.json, "{number:?}")
        } else {
            write!(self.json, "null")
        };
    }

    fn base64(&mut self, bytes: &[u8]) {
        self.json.push('"');
        STANDARD.encode_string(bytes, self.json);
        self.json.push('"');
    }
}

enum Key<'a> {
    Text(&'a str),
    Number(i128),
}

/// The bytes of the number behind a marker. Zero where none follows.
fn number_bytes(marker: Marker) -> u64 {
    use Marker::*;
    match marker {
        U8 | I8 | Str8 | Bin8 | Ext8 => 1,
        U16 | I16 | Str16 | Bin16 | Ext16 | Array16 | Map16 => 2,
        U32 | I32 | F32 | Str32 | Bin32 | Ext32 | Array32 | Map32 => 4,
        U64 | I64 | F64 => 8,
        _ => 0,
    }
}

fn kind_of(marker: Marker) -> &'static str {
    use Marker::*;
    match marker {
        FixPos(_) | FixNeg(_) | U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64 => "a whole number",
        FixMap(_) | Map16 | Map32 => "a map",
        FixArray(_) | Array16 | Array32 => "a list",
        FixStr(_) | Str8 | Str16 | Str32 => "a text",
        Null => "nil",
        Reserved => "the byte 0xc1",
        False | True => "true or false",
        Bin8 | Bin16 | Bin32 => "bytes",
        Ext8 | Ext16 | Ext32 | FixExt1 | FixExt2 | FixExt4 | FixExt8 | FixExt16 => "an extension",
        F32 | F64 => "a float",
    }
}
