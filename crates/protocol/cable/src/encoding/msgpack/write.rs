//! From JSON text to msgpack, each value in its shortest form, which rmp chooses.

use std::fmt;

use rmp::{
    Marker,
    encode::{
        ValueWriteError, write_array_len, write_bool, write_f64, write_map_len, write_nil, write_sint,
        write_str, write_uint,
    },
};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The msgpack of a JSON text. Whole numbers beyond 64 bits become floats.
pub(in super::super) fn from_json(json: &str) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = Vec::with_capacity(json.len());
    let mut reader = serde_json::Deserializer::from_str(json);
    reader.deserialize_any(Value(&mut out))?;
    reader.end()?;
    Ok(out)
}

/// Appends the value that it visits.
struct Value<'a>(&'a mut Vec<u8>);

/// Writes the head of a list or map with this many values.
type WriteHead = fn(&mut Vec<u8>, u32) -> Result<Marker, ValueWriteError>;

impl Value<'_> {
    /// Puts the head of `n` values in front of them, from `start` on: JSON tells their number only behind them.
    fn put_head<E: Error>(self, start: usize, n: usize, write_head: WriteHead) -> Result<(), E> {
        let end = self.0.len();
        write_head(self.0, length(n)?).map_err(E::custom)?;
        let n_head_bytes = self.0.len() - end;
        self.0[start..].rotate_right(n_head_bytes);
        Ok(())
    }
}

/// A length as msgpack has it. rmp would cut a longer one.
fn length<E: Error>(n: usize) -> Result<u32, E> {
    u32::try_from(n).map_err(|_| E::custom("longer than msgpack can say"))
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
        write_nil(self.0).map_err(E::custom)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        write_bool(self.0, value).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        write_uint(self.0, value).map(drop).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        write_sint(self.0, value).map(drop).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        write_f64(self.0, value).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        length::<E>(value.len())?;
        write_str(self.0, value).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let (start, mut n) = (self.0.len(), 0);
        while values.next_element_seed(Value(self.0))?.is_some() {
            n += 1;
        }
        self.put_head(start, n, write_array_len)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let (start, mut n) = (self.0.len(), 0);
        while entries.next_key_seed(Value(self.0))?.is_some() {
            entries.next_value_seed(Value(self.0))?;
            n += 1;
        }
        self.put_head(start, n, write_map_len)
    }
}
