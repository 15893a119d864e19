//! CSV files (RFC 4180), with the options of `payload.options`.

use super::PayloadError;

/// How a table is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Between values; not empty.
    pub(crate) delimiter: String,
    /// Around values that contain delimiters. `None`: no character is special.
    pub(crate) quote: Option<char>,
    /// Before a quote that belongs to a value in quotes.
    pub(crate) escape: Option<char>,
    /// From there to the end of the line, text is ignored; not empty.
    pub(crate) comment: Option<String>,
    /// Whether blanks around values are ignored.
    pub(crate) trims_start: bool,
    pub(crate) trims_end: bool,
    /// The first and last line that is read, from 1.
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
    /// The first and last row that is read, from 1; lines that are left out are not rows.
    pub(crate) first_row: usize,
    pub(crate) last_row: usize,
    /// Whether numbers are converted.
    pub(crate) casts: bool,
    /// Whether empty lines are skipped.
    pub(crate) skips_empty_lines: bool,
    /// Whether rows may have any number of values.
    pub(crate) is_ragged: bool,
}

impl Default for Form {
    fn default() -> Self {
        Self {
            delimiter: ",".to_owned(),
            quote: Some('"'),
            escape: Some('"'),
            comment: None,
            trims_start: false,
            trims_end: false,
            first_line: 1,
            last_line: usize::MAX,
            first_row: 1,
            last_row: usize::MAX,
            casts: true,
            skips_empty_lines: true,
            is_ragged: false,
        }
    }
}

/// A row, with the line on which it begins.
pub(super) type Record = (usize, Vec<String>);

/// The rows of a text.
pub(super) fn records(text: &str, form: &Form) -> Result<Vec<Record>, PayloadError> {
    let mut scanner = Scanner {
        form,
        rest: text.strip_prefix('\u{feff}').unwrap_or(text),
        line: 1,
        first_line: 1,
        field: String::new(),
        is_quoted: false,
        record: Vec::new(),
        records: Vec::new(),
    };
    while !scanner.rest.is_empty() {
        scanner.step()?;
    }
    if scanner.has_values() {
        scanner.end_record();
    }
    let lines = form.first_line..=form.last_line;
    let mut records = scanner.records;
    records.retain(|(line, record)| {
        let is_empty = matches!(record.as_slice(), [only] if only.is_empty());
        lines.contains(line) && !(form.skips_empty_lines && is_empty)
    });
    records.truncate(form.last_row);
    records.drain(..(form.first_row - 1).min(records.len()));
    Ok(records)
}

struct Scanner<'a> {
    form: &'a Form,
    rest: &'a str,
    line: usize,
    /// The line on which the row begins.
    first_line: usize,
    field: String,
    /// Whether the value was in quotes.
    is_quoted: bool,
    record: Vec<String>,
    records: Vec<Record>,
}

impl Scanner<'_> {
    /// Whether the row has any part yet.
    fn has_values(&self) -> bool {
        !self.record.is_empty() || !self.field.is_empty() || self.is_quoted
    }

    /// Takes the next part outside of quotes.
    fn step(&mut self) -> Result<(), PayloadError> {
        let form = self.form;
        let comment = form.comment.as_deref();
        if comment.is_some_and(|comment| self.rest.starts_with(comment)) {
            self.skip_comment();
            return Ok(());
        }
        if let Some(rest) = self.rest.strip_prefix(&*form.delimiter) {
            self.rest = rest;
            self.end_field();
            return Ok(());
        }
        let is_line_end = |rest: &str| rest.starts_with('\n') || rest.starts_with("\r\n");
        let is_end = is_line_end(self.rest);
        let Some(c) = self.take() else { return Ok(()) };
        match c {
            '\r' if is_end => {}
            '\n' => self.end_record(),
            c if Some(c) == form.quote && self.field.is_empty() && !self.is_quoted => {
                return self.take_quoted();
            }
            c if form.trims_start && c.is_whitespace() && self.field.is_empty() && !self.is_quoted => {}
            c if form.trims_end && c.is_whitespace() && self.is_quoted => {}
            c => self.field.push(c),
        }
        Ok(())
    }

    /// Takes a value to its closing quote.
    fn take_quoted(&mut self) -> Result<(), PayloadError> {
        let opened_in = self.line;
        self.is_quoted = true;
        while let Some(c) = self.take() {
            let next = self.rest.chars().next();
            let is_special = |c: Option<char>| c.is_some() && (c == self.form.quote || c == self.form.escape);
            if Some(c) == self.form.escape && is_special(next) {
                let escaped = self.take();
                self.field.extend(escaped);
            } else if Some(c) == self.form.quote {
                return Ok(());
            } else {
                self.field.push(c);
            }
        }
        Err(PayloadError::Unclosed { line: opened_in })
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// Skips the rest of the line, and the whole line if there is nothing before the comment.
    fn skip_comment(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
        if !self.has_values() {
            self.take();
            self.first_line = self.line;
        }
    }

    fn end_field(&mut self) {
        let mut field = std::mem::take(&mut self.field);
        if self.form.trims_end && !self.is_quoted {
            field.truncate(field.trim_end().len());
        }
        self.is_quoted = false;
        self.record.push(field);
    }

    fn end_record(&mut self) {
        self.end_field();
        let record = std::mem::take(&mut self.record);
        self.records.push((self.first_line, record));
        self.first_line = self.line;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, form: &Form, expected: &[&[&str]]) {
        let found = records(text, form).unwrap();
        let found: Vec<Vec<_>> = found
            .iter()
            .map(|(_, record)| record.iter().map(String::as_str).collect())
            .collect();
        assert_eq!(found, expected, "{text:?} {form:?}");
    }

    #[test]
    fn options_decide_how_a_file_is_read() {
        let form = Form::default;
        let of = |delimiter: &str| Form {
            delimiter: delimiter.to_owned(),
            ..form()
        };
        check("a;b\nc;d", &of(";"), &[&["a", "b"], &["c", "d"]]);
        check("a||b|c\n", &of("||"), &[&["a", "b|c"]]);
        check("a\tb", &of("\t"), &[&["a", "b"]]);
        let quote = |quote: Option<char>| Form { quote, ..form() };
        check("'a,b',\"c\n", &quote(Some('\'')), &[&["a,b", "\"c"]]);
        check("\"a\",b", &quote(None), &[&["\"a\"", "b"]]);
        let escape = Form {
            escape: Some('\\'),
            ..form()
        };
        check(r#""a\"b\\",c"#, &escape, &[&["a\"b\\", "c"]]);
        let comment = Form {
            comment: Some("#".to_owned()),
            ..form()
        };
        check(
            "# all\na,b#c\n#x\n\"#\",d\n# end",
            &comment,
            &[&["a", "b"], &["#", "d"]],
        );
        let trim = Form {
            trims_start: true,
            trims_end: true,
            ..form()
        };
        check(" a ,  \" b \"  ,c d \n", &trim, &[&["a", " b ", "c d"]]);
        let lines = Form {
            first_line: 2,
            last_line: 4,
            ..form()
        };
        check("1\n2\n\"3\n4\"\n5\n", &lines, &[&["2"], &["3\n4"]]);
        let rows = Form {
            first_row: 2,
            last_row: 3,
            ..form()
        };
        check("1\n\n2\n3\n4", &rows, &[&["2"], &["3"]]);
        let empty = Form {
            skips_empty_lines: false,
            ..form()
        };
        check("1\n\n2", &empty, &[&["1"], &[""], &["2"]]);
        check("a,\"\"\n", &form(), &[&["a", ""]]);
        check("\"\"", &form(), &[]);
        check("", &form(), &[]);
    }
}
