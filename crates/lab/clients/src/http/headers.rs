//! Header fields of a response, in one allocation.

/// Fields in the order of their arrival. Names keep their case; lookups ignore it (RFC 9110 §5.1).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// All names and values, without separators.
    text: Vec<u8>,
    /// Where each name and each value ends in `text`.
    ends: Box<[(u32, u32)]>,
}

impl Headers {
    /// Copies fields, for which `n_bytes` is enough. They must be shorter than 4 GiB, which the limit of heads ensures.
    pub(super) fn new<'a>(n_bytes: usize, fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let mut text = Vec::with_capacity(n_bytes);
        let ends = fields.map(|(name, value)| {
            text.extend_from_slice(name);
            let name_end = text.len() as u32;
            text.extend_from_slice(value);
            (name_end, text.len() as u32)
        });
        let ends = ends.collect();
        Self { text, ends }
    }

    /// All names and values. A name is a token of ASCII; a value may be any bytes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let fields = self.fields();
        fields.map(|(name, value)| (std::str::from_utf8(name).unwrap_or_default(), value))
    }

    fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |&(name_end, end)| {
            let (name_end, end) = (name_end as usize, end as usize);
            let field = (&self.text[start..name_end], &self.text[name_end..end]);
            start = end;
            field
        })
    }

    /// All values of the fields with this name.
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let fields = self.fields();
        fields
            .filter(move |(other, _)| other.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value)
    }

    /// The value of the first field with this name.
    pub fn get<'a>(&'a self, name: &'a str) -> Option<&'a [u8]> {
        self.get_all(name).next()
    }

    /// The value as text, if it is text.
    pub fn text<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.get(name).and_then(|value| std::str::from_utf8(value).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_without_regard_to_case() {
        let fields: [(&[u8], &[u8]); 3] = [(b"Set-Cookie", b"a=1"), (b"X", b""), (b"set-cookie", b"b=2")];
        let headers = Headers::new(99, fields.into_iter());
        assert_eq!(headers.iter().count(), 3);
        assert_eq!(
            headers.get_all("SET-COOKIE").collect::<Vec<_>>(),
            [b"a=1", b"b=2"]
        );
        assert_eq!(headers.get("x"), Some(&b""[..]));
        assert_eq!(headers.text("y"), None);
    }
}
