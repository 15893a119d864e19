//! From JSON text to msgpack, each value in its shortest form.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The msgpack of a JSON text. Whole numbers beyond 64 bits become floats, which msgpack has instead.
pub(in super::super) fn from_json(json: &str) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = Vec::with_capacity(json.len());
    let mut reader = serde_json::Deserializer::from_str(json);
    reader.deserialize_any(Value(&mut out))?;
    reader.end()?;
    Ok(out)
}

/// Appends the value that it visits.
struct Value<'a>(&'a mut Vec<u8>);

/// The first bytes of texts, lists and maps: of the short form with its length in the same byte, and of the forms with
/// lengths of 1, 2 and 4 bytes.
struct Heads {
    short: u8,
    max_short: usize,
    long: [Option<u8>; 3],
}

const TEXT: Heads = Heads {
    short: 0xa0,
    max_short: 31,
    long: [Some(0xd9), Some(0xda), Some(0xdb)],
};
const LIST: Heads = Heads {
    short: 0x90,
    max_short: 15,
    long: [None, Some(0xdc), Some(0xdd)],
};
const MAP: Heads = Heads {
    short: 0x80,
    max_short: 15,
    long: [None, Some(0xde), Some(0xdf)],
};

impl Heads {
    /// The head for `n` bytes or values.
    fn of<E: Error>(&self, n: usize) -> Result<Head, E> {
        let n_long = u32::try_from(n).map_err(|_| E::custom("longer than msgpack can say"))?;
        let all = n_long.to_be_bytes();
        let width = match n {
            _ if n <= self.max_short => return Ok(Head::new(self.short | all[3], &[])),
            ..=0xff if self.long[0].is_some() => 0,
            ..=0xffff => 1,
            _ => 2,
        };
        Ok(Head::new(
            self.long[width].unwrap_or_default(),
            &all[4 - (1 << width)..],
        ))
    }
}

/// At most five bytes.
struct Head {
    bytes: [u8; 5],
    n_bytes: usize,
}

impl Head {
    fn new(first: u8, length: &[u8]) -> Self {
        let mut bytes = [first, 0, 0, 0, 0];
        bytes[1..=length.len()].copy_from_slice(length);
        Self {
            bytes,
            n_bytes: 1 + length.len(),
        }
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.n_bytes]
    }
}

impl Value<'_> {
    fn push(self, first: u8, rest: &[u8]) {
        self.0.push(first);
        self.0.extend_from_slice(rest);
    }

    /// Puts a head in front of everything from `start` on: JSON says how many values there were only behind them.
    fn put_head<E: Error>(self, start: usize, heads: &Heads, n: usize) -> Result<(), E> {
        let head = heads.of(n)?;
        self.0.splice(start..start, head.as_slice().iter().copied());
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.push(0xc0, &[]);
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.push(if value { 0xc3 } else { 0xc2 }, &[]);
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        let bytes = value.to_be_bytes();
        match value {
            ..=0x7f => self.push(bytes[7], &[]),
            0x80..=0xff => self.push(0xcc, &bytes[7..]),
            0x100..=0xffff => self.push(0xcd, &bytes[6..]),
            0x1_0000..=0xffff_ffff => self.push(0xce, &bytes[4..]),
            _ => self.push(0xcf, &bytes),
        }
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        let bytes = value.to_be_bytes();
        match value {
            0.. => return self.visit_u64(value.unsigned_abs()),
            -0x20..=-1 => self.push(bytes[7], &[]),
            -0x80..=-0x21 => self.push(0xd0, &bytes[7..]),
            -0x8000..=-0x81 => self.push(0xd1, &bytes[6..]),
            -0x8000_0000..=-0x8001 => self.push(0xd2, &bytes[4..]),
            _ => self.push(0xd3, &bytes),
        }
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.push(0xcb, &value.to_be_bytes());
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        let head = TEXT.of(value.len())?;
        self.0.extend_from_slice(head.as_slice());
        self.0.extend_from_slice(value.as_bytes());
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let (start, mut n) = (self.0.len(), 0);
        while values.next_element_seed(Value(self.0))?.is_some() {
            n += 1;
        }
        self.put_head(start, &LIST, n)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let (start, mut n) = (self.0.len(), 0);
        while entries.next_key_seed(Value(self.0))?.is_some() {
            entries.next_value_seed(Value(self.0))?;
            n += 1;
        }
        self.put_head(start, &MAP, n)
    }
}
