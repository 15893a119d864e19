//! Comma-separated values (RFC 4180) as Go's reader takes them, which k6 uses: empty lines are no records, and all records
//! have as many fields as the first.

use std::sync::Arc;

/// What a script wants of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// The byte between fields.
    pub(super) delimiter: u8,
    /// Whether the first record is left out.
    pub(super) skips_first_line: bool,
    /// The index of the first record, from 0.
    pub(super) from_line: Option<u64>,
    /// The index of the last record.
    pub(super) to_line: Option<u64>,
    /// Whether the first record names the fields of the others.
    pub(super) as_objects: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            delimiter: b',',
            skips_first_line: false,
            from_line: None,
            to_line: None,
            as_objects: false,
        }
    }
}

/// A record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Record {
    Fields(Vec<String>),
    Named(Vec<(String, String)>),
}

/// A file that is read record by record.
pub(super) struct Reader {
    content: Arc<[u8]>,
    at: usize,
    options: Options,
    names: Option<Vec<String>>,
    n_fields: Option<usize>,
    n_read: u64,
}

impl Options {
    /// # Errors
    /// When options exclude each other.
    pub(super) fn check(&self) -> Result<(), String> {
        let from = self.from_line.unwrap_or(0);
        if self.as_objects && self.skips_first_line {
            return Err("asObjects needs the first line, which skipFirstLine leaves out".to_owned());
        }
        if self.as_objects && from > 0 {
            return Err("asObjects needs the first line, which fromLine leaves out".to_owned());
        }
        match (self.from_line, self.to_line) {
            (Some(from), Some(to)) if from >= to => {
                Err(format!("fromLine ({from}) must be less than toLine ({to})"))
            }
            _ => Ok(()),
        }
    }
}

impl Reader {
    /// A reader of what follows the byte `at`.
    ///
    /// # Errors
    /// When options exclude each other, or the lines before the first record cannot be read.
    pub(super) fn new(content: Arc<[u8]>, at: usize, options: Options) -> Result<Self, String> {
        options.check()?;
        let mut reader = Self {
            content,
            at,
            names: None,
            n_fields: None,
            n_read: 0,
            options,
        };
        let from = reader.options.from_line.unwrap_or(0);
        if reader.options.as_objects {
            reader.names = Some(reader.expect("the names of the fields")?);
        }
        if reader.options.skips_first_line && from == 0 {
            reader.expect("the first line")?;
        }
        while reader.n_read < from {
            reader.expect("the line before fromLine")?;
        }
        Ok(reader)
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// When it is malformed, with its line.
    pub(super) fn next(&mut self) -> Result<Option<Record>, String> {
        let is_past = |to: u64| to > 0 && self.n_read > to;
        if self.options.to_line.is_some_and(is_past) {
            return Ok(None);
        }
        let Some(fields) = self.fields()? else {
            return Ok(None);
        };
        Ok(Some(match &self.names {
            None => Record::Fields(fields),
            Some(names) => Record::Named(names.iter().cloned().zip(fields).collect()),
        }))
    }

    fn expect(&mut self, what: &str) -> Result<Vec<String>, String> {
        self.fields()?
            .ok_or_else(|| format!("the file ends before {what}"))
    }

    fn fields(&mut self) -> Result<Option<Vec<String>>, String> {
        while let Some(length) = self.line_end() {
            self.at += length;
        }
        if self.at >= self.content.len() {
            return Ok(None);
        }
        let begin = self.at;
        let mut fields = Vec::new();
        loop {
            let field = if self.content.get(self.at) == Some(&b'"') {
                self.quoted(begin)?
            } else {
                self.plain(begin)?
            };
            fields.push(String::from_utf8_lossy(&field).into_owned());
            if self.content.get(self.at) == Some(&self.options.delimiter) {
                self.at += 1;
                continue;
            }
            self.at += self.line_end().unwrap_or(0);
            break;
        }
        self.n_read += 1;
        let expected = *self.n_fields.get_or_insert(fields.len());
        if fields.len() != expected {
            let (line, found) = (self.line_of(begin), fields.len());
            return Err(format!(
                "line {line} has {found} fields; the first one has {expected}"
            ));
        }
        Ok(Some(fields))
    }

    /// A field without quotes, up to the delimiter or the end of the line.
    fn plain(&mut self, begin: usize) -> Result<Vec<u8>, String> {
        let from = self.at;
        while self.at < self.content.len()
            && self.content[self.at] != self.options.delimiter
            && self.line_end().is_none()
        {
            self.at += 1;
        }
        let field = &self.content[from..self.at];
        if field.contains(&b'"') {
            let line = self.line_of(begin);
            return Err(format!(
                "line {line} has a quote inside of a field that does not begin with one"
            ));
        }
        Ok(field.to_vec())
    }

    /// A field in quotes; a quote in it is written twice.
    fn quoted(&mut self, begin: usize) -> Result<Vec<u8>, String> {
        let mut field = Vec::new();
        self.at += 1;
        loop {
            match self.content.get(self.at..).unwrap_or_default() {
                [] => {
                    let line = self.line_of(begin);
                    return Err(format!("the field in quotes of line {line} has no end"));
                }
                [b'"', b'"', ..] => {
                    field.push(b'"');
                    self.at += 2;
                }
                [b'"', ..] => {
                    self.at += 1;
                    let is_end = self.at >= self.content.len()
                        || self.content[self.at] == self.options.delimiter
                        || self.line_end().is_some();
                    if is_end {
                        return Ok(field);
                    }
                    let line = self.line_of(begin);
                    return Err(format!("line {line} has text behind a field in quotes"));
                }
                [b'\r', b'\n', ..] => {
                    field.push(b'\n');
                    self.at += 2;
                }
                [byte, ..] => {
                    field.push(*byte);
                    self.at += 1;
                }
            }
        }
    }

    /// The length of the end of a line that begins here.
    fn line_end(&self) -> Option<usize> {
        match self.content.get(self.at..)? {
            [b'\n', ..] => Some(1),
            [b'\r', b'\n', ..] => Some(2),
            // The last line.
            [b'\r'] => Some(1),
            _ => None,
        }
    }

    /// The line of a byte, from 1. For errors only: it counts all lines before.
    fn line_of(&self, at: usize) -> usize {
        let before = &self.content[..at];
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, options: Options) -> Result<Vec<Record>, String> {
        let mut reader = Reader::new(text.as_bytes().into(), 0, options)?;
        std::iter::from_fn(|| reader.next().transpose()).collect()
    }

    fn check(text: &str, expected: &[&[&str]]) {
        let expected = expected
            .iter()
            .map(|fields| Record::Fields(fields.iter().map(|&field| field.to_owned()).collect()));
        assert_eq!(all(text, Options::default()), Ok(expected.collect()), "{text:?}");
    }

    #[test]
    fn records_are_those_of_rfc_4180() {
        check("", &[]);
        check("a,b\n1,2\n", &[&["a", "b"], &["1", "2"]]);
        check("a,b\r\n1,2", &[&["a", "b"], &["1", "2"]]);
        check("\n\r\na\n\n\nb\r", &[&["a"], &["b"]]);
        check("a,\n,b\n", &[&["a", ""], &["", "b"]]);
        check("\"a,\"\"b\"\"\r\nc\",d\n", &[&["a,\"b\"\nc", "d"]]);
        check("\"\",\"x\"", &[&["", "x"]]);
        check(" a , b \n", &[&[" a ", " b "]]);
        check("a\rb\n", &[&["a\rb"]]);
    }

    #[test]
    fn malformed_records_say_their_line() {
        for (text, expected) in [
            ("a\n1,2\n", "line 2 has 2 fields; the first one has 1"),
            ("a\nx\"y\n", "line 2 has a quote inside"),
            ("\"a\nb", "line 1 has no end"),
            ("\n\na\n\"b\nc\"\n\n1,2\n", "line 7 has 2 fields"),
            ("a\n\"b\"c\n", "line 2 has text behind"),
        ] {
            let error = all(text, Options::default()).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn options_choose_records_and_their_form() {
        let text = "n;v\n1;a\n2;b\n3;c\n";
        let semicolons = Options {
            delimiter: b';',
            ..Options::default()
        };
        let first = |options: Options| {
            let all = all(text, options).unwrap();
            let first = all.iter().map(|record| match record {
                Record::Fields(fields) => fields[0].clone(),
                Record::Named(fields) => format!("{}={}", fields[0].0, fields[0].1),
            });
            first.collect::<Vec<_>>()
        };
        let skipping = Options {
            skips_first_line: true,
            ..semicolons.clone()
        };
        assert_eq!(first(skipping.clone()), ["1", "2", "3"]);
        let part = Options {
            from_line: Some(1),
            to_line: Some(2),
            ..semicolons.clone()
        };
        assert_eq!(first(part), ["1", "2"]);
        let named = Options {
            as_objects: true,
            ..semicolons
        };
        assert_eq!(first(named.clone()), ["n=1", "n=2", "n=3"]);
        let both = Options {
            as_objects: true,
            ..skipping
        };
        let late = Options {
            from_line: Some(1),
            ..named.clone()
        };
        let far = Options {
            from_line: Some(9),
            ..Options::default()
        };
        let backwards = Options {
            from_line: Some(3),
            to_line: Some(3),
            ..Options::default()
        };
        for options in [both, late, far, backwards] {
            assert!(all(text, options.clone()).is_err(), "{options:?}");
        }
        assert!(all("", named).is_err());
    }
}
