//! From msgpack to JSON text, in one pass over bytes that anybody may have sent.
//!
//! A length is held against the bytes that are there before anything is done with it, nothing is allocated but the text,
//! and what is inside of each other is counted.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{super::json_text::push_text, timestamp};

/// How deep lists and maps may be inside of each other, as in serde_json. The recursion is as deep.
const MAX_DEPTH: usize = 128;

/// The extension that is a timestamp.
const TIMESTAMP: i8 = -1;

/// Bytes are not the msgpack that was expected. Positions count from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MsgpackError {
    /// A value goes on behind the end.
    #[error("{what} at byte {at} needs {needed} B more, but {left} B follow")]
    Truncated {
        /// Where it begins.
        at: usize,
        /// What begins there.
        what: &'static str,
        /// How many bytes it needs at least behind what was read of it.
        needed: u64,
        /// How many there are.
        left: usize,
    },
    /// Lists and maps are too deep inside of each other.
    #[error("lists and maps are nested more than {MAX_DEPTH} deep at byte {at}")]
    TooDeep {
        /// Where the first one too many begins.
        at: usize,
    },
    /// A text has other bytes.
    #[error("the text at byte {at} is not UTF-8")]
    NotUtf8 {
        /// Where it begins.
        at: usize,
    },
    /// The one byte that never begins a value.
    #[error("no value begins with the byte 0xc1, which is at byte {at}")]
    NeverUsed {
        /// Where it is.
        at: usize,
    },
    /// A map has a key that no JSON object can have.
    #[error("expected a text or a whole number as key of a map at byte {at}, got {got}")]
    Key {
        /// Where the key begins.
        at: usize,
        /// What it is.
        got: &'static str,
    },
    /// Another value where a message has to be.
    #[error("expected a map such as {{\"type\":\"ping\"}}, got {got}")]
    NotAMap {
        /// What it is.
        got: &'static str,
    },
    /// More bytes behind the value.
    #[error("expected nothing behind the value, which ends at byte {at}, got {n_bytes} B more")]
    Trailing {
        /// Where the value ends.
        at: usize,
        /// How many follow.
        n_bytes: usize,
    },
}

/// Appends the JSON of a message, which has to be one map.
pub(in super::super) fn map_to_json(bytes: &[u8], json: &mut String) -> Result<(), MsgpackError> {
    match bytes.first() {
        Some(0x80..=0x8f | 0xde | 0xdf) => value_to_json(bytes, json),
        Some(&format) => Err(MsgpackError::NotAMap { got: kind_of(format) }),
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

/// What begins here, for errors: where, and what.
#[derive(Clone, Copy)]
struct Begin {
    at: usize,
    what: &'static str,
}

impl<'a> Reader<'a, '_> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `n` bytes of what has begun.
    fn take(&mut self, n: u64, begin: Begin) -> Result<&'a [u8], MsgpackError> {
        self.has(n, begin)?;
        let rest = &self.bytes[self.at..];
        // It is no longer than the rest, so it is a length on this machine.
        let taken = &rest[..usize::try_from(n).unwrap_or(rest.len())];
        self.at += taken.len();
        Ok(taken)
    }

    /// Whether there are at least `needed` bytes.
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

    /// A whole number of 1, 2, 4 or 8 bytes, without a sign.
    fn number(&mut self, width: u64, begin: Begin) -> Result<u64, MsgpackError> {
        let bytes = self.take(width, begin)?;
        Ok(bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    fn begin(&mut self) -> Result<(u8, Begin), MsgpackError> {
        let at = self.at;
        let first = self.take(1, Begin { at, what: "a value" })?[0];
        let what = kind_of(first);
        Ok((first, Begin { at, what }))
    }

    /// Appends the next value, which is inside of `depth` lists and maps.
    fn value(&mut self, depth: usize) -> Result<(), MsgpackError> {
        let (format, begin) = self.begin()?;
        match format {
            0xc0 => self.json.push_str("null"),
            0xc2 => self.json.push_str("false"),
            0xc3 => self.json.push_str("true"),
            0xca => {
                let bits = self.number(4, begin)?;
                self.float(f64::from(f32::from_bits(bits as u32)));
            }
            0xcb => {
                let bits = self.number(8, begin)?;
                self.float(f64::from_bits(bits));
            }
            0x80..=0x8f => self.map(u64::from(format & 0x0f), begin, depth)?,
            0xde..=0xdf => {
                let n = self.number(2 << (format - 0xde), begin)?;
                self.map(n, begin, depth)?;
            }
            0x90..=0x9f => self.list(u64::from(format & 0x0f), begin, depth)?,
            0xdc..=0xdd => {
                let n = self.number(2 << (format - 0xdc), begin)?;
                self.list(n, begin, depth)?;
            }
            0xc4..=0xc6 => {
                let n = self.number(1 << (format - 0xc4), begin)?;
                let bytes = self.take(n, begin)?;
                self.base64(bytes);
            }
            0xc7..=0xc9 => {
                let n = self.number(1 << (format - 0xc7), begin)?;
                self.extension(n, begin)?;
            }
            0xd4..=0xd8 => self.extension(1 << (format - 0xd4), begin)?,
            0xc1 => return Err(MsgpackError::NeverUsed { at: begin.at }),
            _ => match self.scalar_key(format, begin)? {
                Key::Text(text) => push_text(self.json, text),
                Key::Number(number) => self.digits(number),
            },
        }
        Ok(())
    }

    /// What may be a key: a text or a whole number.
    fn scalar_key(&mut self, format: u8, begin: Begin) -> Result<Key<'a>, MsgpackError> {
        Ok(match format {
            0x00..=0x7f => Key::Number(format.into()),
            0xe0..=0xff => Key::Number((format as i8).into()),
            0xcc..=0xcf => Key::Number(self.number(1 << (format - 0xcc), begin)?.into()),
            0xd0..=0xd3 => {
                let width = 1 << (format - 0xd0);
                let n_bits = 8 * width as u32;
                let shifted = self.number(width, begin)? << (u64::BITS - n_bits);
                // Shifting back brings the sign along.
                Key::Number((shifted as i64 >> (u64::BITS - n_bits)).into())
            }
            0xa0..=0xbf => self.text(u64::from(format & 0x1f), begin)?,
            0xd9..=0xdb => {
                let n = self.number(1 << (format - 0xd9), begin)?;
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
            let (format, begin) = self.begin()?;
            match self.scalar_key(format, begin)? {
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

    /// A list or a map begins: each value in it has at least one byte.
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
        // `Debug` writes an exponent where plain digits would be many, and always shows that it is no whole number.
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

fn kind_of(format: u8) -> &'static str {
    match format {
        0x00..=0x7f | 0xcc..=0xd3 | 0xe0..=0xff => "a whole number",
        0x80..=0x8f | 0xde | 0xdf => "a map",
        0x90..=0x9f | 0xdc | 0xdd => "a list",
        0xa0..=0xbf | 0xd9..=0xdb => "a text",
        0xc0 => "nil",
        0xc1 => "the byte 0xc1",
        0xc2 | 0xc3 => "true or false",
        0xc4..=0xc6 => "bytes",
        0xc7..=0xc9 | 0xd4..=0xd8 => "an extension",
        0xca | 0xcb => "a float",
    }
}
