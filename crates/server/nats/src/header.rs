//! The headers of messages.

/// The first line of a header, up to its status.
const VERSION: &str = "NATS/1.0";

/// The header of a message, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header<'a> {
    /// The status, for example 404 for a message that does not exist. `None`: it has none.
    pub status: Option<u16>,
    fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Header<'a> {
    /// Reads the bytes of a header. Lines that are no fields are passed over.
    pub fn read(bytes: &'a [u8]) -> Self {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        let mut lines = text.split("\r\n");
        let first = lines.next().and_then(|line| line.strip_prefix(VERSION));
        let status = first.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        let fields = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name, value.trim()))
        });
        Self {
            status,
            fields: fields.collect(),
        }
    }

    /// The value of the first field with this name, whose case counts.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        let field = self.fields.iter().find(|(field, _)| *field == name);
        field.map(|(_, value)| *value)
    }

    /// The number in the first field with this name.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }
}

/// The bytes of a header with these fields. Names and values are the caller's, without line breaks.
pub fn header(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!("{VERSION}\r\n");
    for (name, value) in fields {
        text.extend([name, ": ", value, "\r\n"]);
    }
    text.push_str("\r\n");
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, status: Option<u16>, fields: &[(&str, &str)]) {
        let fields = fields.to_vec();
        assert_eq!(
            Header::read(text.as_bytes()),
            Header { status, fields },
            "{text:?}"
        );
    }

    #[test]
    fn headers_of_a_server() {
        check("", None, &[]);
        check("NATS/1.0\r\n\r\n", None, &[]);
        check("NATS/1.0 503\r\n\r\n", Some(503), &[]);
        check("NATS/1.0 404 Message Not Found\r\n\r\n", Some(404), &[]);
        check(
            "NATS/1.0\r\nNats-Sequence: 7\r\nA:b:c\r\nnonsense\r\n\r\n",
            None,
            &[("Nats-Sequence", "7"), ("A", "b:c")],
        );
    }

    #[test]
    fn fields_are_found_by_their_names() {
        let bytes = header(&[("A", "1"), ("B", "two"), ("A", "3")]);
        let header = Header::read(&bytes);
        assert_eq!(
            (header.number("A"), header.get("B"), header.number("B")),
            (Some(1), Some("two"), None)
        );
        assert_eq!(header.get("a"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _any_header = Header::read(&bytes);
        }
    }
}
