//! JSON for people and programs: an entry of an object per line, lists on one line, since series are long.

use std::io;

use serde::Serialize;
use serde_json::{Serializer, ser::Formatter};

/// `value` as JSON.
///
/// # Errors
/// A part of it has no form in JSON, such as a map whose keys are not texts.
pub fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Lines::default()))?;
    // The library writes UTF-8 only.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[derive(Default)]
struct Lines {
    depth: usize,
    /// Whether the innermost object has entries.
    has_entries: bool,
}

impl Lines {
    fn next_line<W: ?Sized + io::Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Lines {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b"," })
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.has_entries = false;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.has_entries {
            self.next_line(writer)?;
        }
        self.has_entries = true;
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        self.next_line(writer)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_entries = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::{Value, json};

    #[test]
    fn lists_stand_on_one_line() {
        let value = json!({ "a": [1, null, [2, 3], []], "b": { "c": {}, "d": "ö\n" }, "e": [{ "f": 1 }, { "f": 2 }] });
        let text = super::json(&value).unwrap();
        expect![[r#"
            {
              "a": [1,null,[2,3],[]],
              "b": {
                "c": {},
                "d": "ö\n"
              },
              "e": [{
                "f": 1
              },{
                "f": 2
              }]
            }"#]]
        .assert_eq(&text);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
