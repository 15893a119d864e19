//! msgpack as the specification of 2013 has it, from JSON text and to JSON text. Keys keep their order, and whole numbers of
//! 64 bits their digits.

use std::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::super::message::quoted;

/// The deepest nesting of lists and maps. Reason: no message of a case is deeper, and the recursion is as deep.
const MAX_DEPTH: usize = 128;

/// The msgpack of a JSON text. Whole numbers beyond 64 bits become floats.
pub(super) fn from_json(json: &str) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(json);
    Value(&mut out).deserialize(&mut reader)?;
    reader.end()?;
    Ok(out)
}

/// The JSON text of one value.
///
/// # Errors
/// The bytes are not exactly one value that JSON can hold; the text says what is wrong.
pub(super) fn to_json(bytes: &[u8]) -> Result<String, String> {
    let mut reader = Reader {
        rest: bytes,
        json: String::new(),
    };
    reader.value(0)?;
    match reader.rest {
        [] => Ok(reader.json),
        rest => Err(format!("{} bytes follow the value", rest.len())),
    }
}

/// Appends the value that it visits.
struct Value<'a>(&'a mut Vec<u8>);

/// The first bytes of values with a length: up to `fixed` values in one byte, and then in a byte of their own with a length of
/// one, two or four bytes.
struct Head {
    fixed: (usize, u8),
    one: Option<u8>,
    two: u8,
    four: u8,
}

const TEXT: Head = Head {
    fixed: (31, 0xa0),
    one: Some(0xd9),
    two: 0xda,
    four: 0xdb,
};
const LIST: Head = Head {
    fixed: (15, 0x90),
    one: None,
    two: 0xdc,
    four: 0xdd,
};
const MAP: Head = Head {
    fixed: (15, 0x80),
    one: None,
    two: 0xde,
    four: 0xdf,
};

impl Head {
    fn bytes<E: Error>(&self, n: usize) -> Result<Vec<u8>, E> {
        let with = |first: u8, length: &[u8]| [&[first], length].concat();
        let too_long = |_| E::custom("longer than msgpack can say");
        Ok(match (n, self.one) {
            (n, _) if n <= self.fixed.0 => vec![self.fixed.1 | n as u8],
            (..=0xff, Some(one)) => vec![one, n as u8],
            (..=0xffff, _) => with(self.two, &(n as u16).to_be_bytes()),
            _ => with(self.four, &u32::try_from(n).map_err(too_long)?.to_be_bytes()),
        })
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

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.push(0xc0);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.push(0xc2 | u8::from(value));
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        match value {
            0..=0x7f => self.0.push(value as u8),
            0x80..=0xff => self.0.extend([0xcc, value as u8]),
            0x100..=0xffff => {
                self.0.push(0xcd);
                self.0.extend((value as u16).to_be_bytes());
            }
            0x1_0000..=0xffff_ffff => {
                self.0.push(0xce);
                self.0.extend((value as u32).to_be_bytes());
            }
            _ => {
                self.0.push(0xcf);
                self.0.extend(value.to_be_bytes());
            }
        }
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        match value {
            -32..=0 => self.0.push(value as u8),
            _ => {
                self.0.push(0xd3);
                self.0.extend(value.to_be_bytes());
            }
        }
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.0.push(0xcb);
        self.0.extend(value.to_be_bytes());
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.0.extend(TEXT.bytes(value.len())?);
        self.0.extend(value.as_bytes());
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let (mut content, mut n) = (Vec::new(), 0);
        while values.next_element_seed(Value(&mut content))?.is_some() {
            n += 1;
        }
        self.0.extend(LIST.bytes(n)?);
        self.0.extend(content);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let (mut content, mut n) = (Vec::new(), 0);
        while entries.next_key_seed(Value(&mut content))?.is_some() {
            entries.next_value_seed(Value(&mut content))?;
            n += 1;
        }
        self.0.extend(MAP.bytes(n)?);
        self.0.extend(content);
        Ok(())
    }
}

/// Reads values from the front of `rest` and appends their JSON.
struct Reader<'a> {
    rest: &'a [u8],
    json: String,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self
            .rest
            .split_at_checked(n)
            .ok_or_else(|| format!("a value needs {n} bytes more, but {} follow", self.rest.len()))?;
        self.rest = rest;
        Ok(taken)
    }

    /// A number of `n` bytes, at most 8.
    fn number(&mut self, n: usize) -> Result<u64, String> {
        let bytes = self.take(n)?;
        Ok(bytes
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn length(&mut self, n: usize) -> Result<usize, String> {
        self.number(n).map(|length| length as usize)
    }

    /// Appends the value. One of JSON's kinds comes out, or it is an error: no server has a reason to send another.
    fn value(&mut self, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("values are nested more than {MAX_DEPTH} deep"));
        }
        let first = self.take(1)?[0];
        match first {
            0x80..=0x8f => self.map(usize::from(first & 0x0f), depth),
            0x90..=0x9f => self.list(usize::from(first & 0x0f), depth),
            0xdc | 0xdd => {
                let n = self.length(if first == 0xdc { 2 } else { 4 })?;
                self.list(n, depth)
            }
            0xde | 0xdf => {
                let n = self.length(if first == 0xde { 2 } else { 4 })?;
                self.map(n, depth)
            }
            0xc0 => self.word("null"),
            0xc2 => self.word("false"),
            0xc3 => self.word("true"),
            0xca => {
                let bits = self.number(4)? as u32;
                self.float(f64::from(f32::from_bits(bits)))
            }
            0xcb => {
                let bits = self.number(8)?;
                self.float(f64::from_bits(bits))
            }
            _ => match self.scalar(first)? {
                Scalar::Text(text) => self.word(&quoted(text)),
                Scalar::Number(number) => self.word(&number.to_string()),
            },
        }
    }

    /// A text or a whole number, which can also be a key.
    fn scalar(&mut self, first: u8) -> Result<Scalar<'a>, String> {
        Ok(match first {
            0x00..=0x7f => Scalar::Number(first.into()),
            0xe0..=0xff => Scalar::Number((first as i8).into()),
            0xcc..=0xcf => Scalar::Number(self.number(1 << (first - 0xcc))?.into()),
            0xd0 => Scalar::Number((self.number(1)? as i8).into()),
            0xd1 => Scalar::Number((self.number(2)? as i16).into()),
            0xd2 => Scalar::Number((self.number(4)? as i32).into()),
            0xd3 => Scalar::Number((self.number(8)? as i64).into()),
            0xa0..=0xbf => self.text(usize::from(first & 0x1f))?,
            0xd9..=0xdb => {
                let n = self.length(1 << (first - 0xd9))?;
                self.text(n)?
            }
            _ => {
                return Err(format!(
                    "a value begins with 0x{first:02x}, which JSON has no form for"
                ));
            }
        })
    }

    fn text(&mut self, n: usize) -> Result<Scalar<'a>, String> {
        let bytes = self.take(n)?;
        let text = str::from_utf8(bytes).map_err(|error| format!("a text is not UTF-8: {error}"))?;
        Ok(Scalar::Text(text))
    }

    fn list(&mut self, n: usize, depth: usize) -> Result<(), String> {
        self.json.push('[');
        for idx in 0..n {
            self.separate(idx);
            self.value(depth + 1)?;
        }
        self.word("]")
    }

    fn map(&mut self, n: usize, depth: usize) -> Result<(), String> {
        self.json.push('{');
        for idx in 0..n {
            self.separate(idx);
            let first = self.take(1)?[0];
            let key = match self.scalar(first)? {
                Scalar::Text(text) => text.to_owned(),
                Scalar::Number(number) => number.to_string(),
            };
            self.word(&quoted(&key))?;
            self.json.push(':');
            self.value(depth + 1)?;
        }
        self.word("}")
    }

    fn separate(&mut self, idx: usize) {
        if idx > 0 {
            self.json.push(',');
        }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        self.json.push_str(word);
        Ok(())
    }

    fn float(&mut self, number: f64) -> Result<(), String> {
        if !number.is_finite() {
            return Err(format!("the number {number} is not one of JSON"));
        }
        write!(self.json, "{number:?}").map_err(|error| error.to_string())
    }
}

enum Scalar<'a> {
    Text(&'a str),
    Number(i128),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, bytes: &[u8]) {
        assert_eq!(from_json(json).unwrap(), bytes, "{json}");
        assert_eq!(to_json(bytes).as_deref(), Ok(json));
    }

    #[test]
    fn values_have_the_bytes_of_the_specification() {
        check("null", b"\xc0");
        check("true", b"\xc3");
        check("false", b"\xc2");
        check("127", b"\x7f");
        check("128", b"\xcc\x80");
        check("65535", b"\xcd\xff\xff");
        check("65536", b"\xce\x00\x01\x00\x00");
        check("18446744073709551615", b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff");
        check("-32", b"\xe0");
        check("-33", b"\xd3\xff\xff\xff\xff\xff\xff\xff\xdf");
        check("1.5", b"\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00");
        check(r#""ü""#, b"\xa2\xc3\xbc");
        check(r#"[1,[]]"#, b"\x92\x01\x90");
        check(r#"{"b":{},"a":"x"}"#, b"\x82\xa1b\x80\xa1a\xa1x");
    }

    #[test]
    fn lengths_take_one_two_or_four_bytes() {
        for (n, head) in [
            (31, &b"\xbf"[..]),
            (32, b"\xd9\x20"),
            (256, b"\xda\x01\x00"),
            (65536, b"\xdb\x00\x01\x00\x00"),
        ] {
            let text = "x".repeat(n);
            check(&format!("\"{text}\""), &[head, text.as_bytes()].concat());
        }
        for (n, head) in [
            (15, &b"\x9f"[..]),
            (16, b"\xdc\x00\x10"),
            (65536, b"\xdd\x00\x01\x00\x00"),
        ] {
            let json = format!("[{}]", vec!["0"; n].join(","));
            check(&json, &[head, &vec![0; n]].concat());
        }
    }

    #[test]
    fn other_widths_are_read_as_well() {
        for (bytes, expected) in [
            (&b"\xd0\xff"[..], "-1"),
            (b"\xd1\xff\xfe", "-2"),
            (b"\xd2\xff\xff\xff\xfd", "-3"),
            (b"\xca\x3f\x80\x00\x00", "1.0"),
            (b"\x81\x07\xc0", r#"{"7":null}"#),
        ] {
            assert_eq!(to_json(bytes).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn bytes_that_are_no_value_are_an_error() {
        let deep = vec![0x91; 1000];
        for bytes in [
            &b""[..],
            b"\xc1",
            b"\xc4\x00",
            b"\xd4\x00\x00",
            b"\xa2x",
            b"\xa1\xff",
            b"\x92\x01",
            b"\xdf\xff\xff\xff\xff",
            b"\x81\xc0\xc0",
            b"\xc0\xc0",
            b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
            &deep,
        ] {
            assert!(to_json(bytes).is_err(), "{bytes:02x?}");
        }
        for json in ["", "{", "1 2"] {
            assert!(from_json(json).is_err(), "{json}");
        }
    }
}
