//! Tables of variables (Artillery's `payload`): CSV files (RFC 4180), one row for each user.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde_json::{Map, Number, Value};

use super::variables::Variables;

mod csv;

pub(crate) use self::csv::Form;

/// A parsed table.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) fields: Vec<String>,
    pub(crate) rows: Vec<Vec<Value>>,
    pub(crate) order: Order,
    next: AtomicU64,
}

/// Which row a user gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// Any.
    #[default]
    Random,
    /// The next one; after the last comes the first.
    Sequence,
}

/// Why a table cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PayloadError {
    #[error("line {line} has {found} fields, expected {expected}: {fields}")]
    Ragged {
        line: usize,
        found: usize,
        expected: usize,
        fields: String,
    },
    #[error("a quote that opens in line {line} is never closed")]
    Unclosed { line: usize },
    #[error("there are no rows; expected at least one line of values")]
    Empty,
}

impl Payload {
    /// Reads a table.
    pub(crate) fn parse(
        text: &str,
        fields: Vec<String>,
        order: Order,
        form: &Form,
    ) -> Result<Self, PayloadError> {
        let mut rows = Vec::new();
        for (line, record) in csv::records(text, form)? {
            if record.len() != fields.len() && !form.is_ragged {
                return Err(PayloadError::Ragged {
                    line,
                    found: record.len(),
                    expected: fields.len(),
                    fields: fields.join(", "),
                });
            }
            let values = record.into_iter();
            rows.push(
                values
                    .map(|text| if form.casts { cast(text) } else { text.into() })
                    .collect(),
            );
        }
        if rows.is_empty() {
            return Err(PayloadError::Empty);
        }
        Ok(Self {
            fields,
            rows,
            order,
            next: AtomicU64::new(0),
        })
    }

    /// Gives a user the fields of its row that it reads. A user without a number gets the next row.
    pub(crate) fn give(&self, number: Option<u64>, reads: &dyn Fn(&str) -> bool, variables: &mut Variables) {
        let n_rows = self.rows.len() as u64;
        let row = match (self.order, number) {
            (Order::Random, _) => fastrand::u64(..n_rows),
            (Order::Sequence, Some(number)) => number % n_rows,
            (Order::Sequence, None) => self.next.fetch_add(1, Relaxed) % n_rows,
        };
        let row = &self.rows[usize::try_from(row).unwrap_or(0)];
        for (name, value) in self.fields.iter().zip(row).filter(|(name, _)| reads(name)) {
            variables.set(name, value.clone());
        }
    }

    /// The whole table, as a list of rows with names.
    pub(crate) fn into_objects(self) -> Value {
        let fields = self.fields;
        let rows = self.rows.into_iter().map(|row| {
            let entries = fields.iter().cloned().zip(row);
            Value::Object(entries.collect::<Map<_, _>>())
        });
        rows.collect()
    }
}

/// Numbers as such. Booleans stay texts, as in Artillery.
fn cast(text: String) -> Value {
    if let Ok(whole) = text.parse::<i64>() {
        return whole.into();
    }
    let number = text.parse::<f64>().ok().and_then(Number::from_f64);
    number.map_or(Value::String(text), Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str, form: &Form) -> Result<Value, String> {
        let fields = ["a", "b"].map(str::to_owned).to_vec();
        let payload = Payload::parse(text, fields, Order::Random, form).map_err(|error| error.to_string())?;
        Ok(payload.rows.into_iter().collect())
    }

    #[test]
    fn tables_are_read() {
        let check = |text: &str, form: &Form, expected: Value| {
            assert_eq!(read(text, form), Ok(expected), "{text}");
        };
        let usual = Form::default();
        check("1,x\n2.5,true\n", &usual, json!([[1, "x"], [2.5, "true"]]));
        check("1,x\r\n\r\n2,y", &usual, json!([[1, "x"], [2, "y"]]));
        check("\"a,\"\"b\"\"\n\",y", &usual, json!([["a,\"b\"\n", "y"]]));
        check(",\n", &usual, json!([["", ""]]));
        let header = Form {
            first_line: 2,
            casts: false,
            delimiter: ";".to_owned(),
            ..usual.clone()
        };
        check("a;b\n1;x", &header, json!([["1", "x"]]));
        let ragged = Form {
            is_ragged: true,
            ..usual
        };
        check("1\n2,x,y\n", &ragged, json!([[1], [2, "x", "y"]]));
    }

    #[test]
    fn bad_tables_are_explained() {
        let check = |text: &str, expected: &str| {
            assert_eq!(read(text, &Form::default()), Err(expected.to_owned()), "{text}");
        };
        check("1,x\n\"2\n\",y\n3", "line 4 has 1 fields, expected 2: a, b");
        check("1,\"x", "a quote that opens in line 1 is never closed");
        check("\n\n", "there are no rows; expected at least one line of values");
    }

    #[test]
    fn rows_in_sequence_begin_anew() {
        let fields = vec!["a".to_owned()];
        let payload = Payload::parse("1\n2\n", fields, Order::Sequence, &Form::default()).unwrap();
        let mut variables = Variables::new(std::sync::Arc::default());
        let mut row = |number| {
            payload.give(number, &|_| true, &mut variables);
            variables.get("a").cloned()
        };
        let numbers = [None, None, None, Some(3), Some(4), None];
        assert_eq!(
            numbers.map(&mut row),
            [1, 2, 1, 2, 1, 2].map(|number| Some(json!(number)))
        );
    }
}
