//! Prometheus's text format (version 0.0.4, and the part of OpenMetrics that is compatible): a page of metrics as
//! samples.
//!
//! Pure, with only a list of samples that borrow from the page, so that an untrusted page costs at most a few times its
//! own size.

use std::collections::HashMap;

/// A parsed page.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Exposition<'a> {
    /// In the order of the page.
    pub(super) samples: Vec<Sample<'a>>,
    types: HashMap<&'a str, Type>,
}

/// One line with a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample<'a> {
    /// The metric's name.
    pub(super) name: &'a str,
    /// The text between the braces, without commas and blanks around it. Empty without labels.
    pub(super) labels: &'a str,
    /// The value, which may be infinite or no number.
    pub(super) value: f64,
}

/// The type of a metric in a `# TYPE` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Counter,
    Gauge,
    Histogram,
    Summary,
    Untyped,
}

/// A page that is not in this format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ParseError {
    /// A line that is neither a sample nor a comment.
    #[error(
        "line {line} is not a sample: `{text}`; expected something like `http_requests_total{{method=\"get\"}} 7`"
    )]
    Line {
        /// Counted from 1.
        line: usize,
        /// Its beginning.
        text: String,
    },
    /// The page is empty.
    #[error("it has no samples")]
    Empty,
}

/// So much of a bad line is shown, in characters.
const SHOWN_CHARS: usize = 60;

impl<'a> Exposition<'a> {
    /// Parses a page.
    ///
    /// # Errors
    /// A line is invalid. As in Prometheus, the whole page is refused, because missing lines would look like removed
    /// metrics.
    pub(super) fn parse(page: &'a str) -> Result<Self, ParseError> {
        let mut exposition = Self::default();
        for (idx, line) in page.lines().enumerate() {
            let line = line.trim();
            if let Some(comment) = line.strip_prefix('#') {
                exposition.note_type(comment);
            } else if !line.is_empty() {
                let sample = Sample::parse(line).ok_or_else(|| ParseError::Line {
                    line: idx + 1,
                    text: shown(line),
                })?;
                exposition.samples.push(sample);
            }
        }
        if exposition.samples.is_empty() {
            Err(ParseError::Empty)
        } else {
            Ok(exposition)
        }
    }

    /// What the metric `name` is. OpenMetrics leaves the `_total` of counters out of their types.
    pub(super) fn type_of(&self, name: &str) -> Type {
        let family = || {
            name.strip_suffix("_total")
                .and_then(|family| self.types.get(family))
        };
        self.types
            .get(name)
            .or_else(family)
            .copied()
            .unwrap_or(Type::Untyped)
    }

    fn note_type(&mut self, comment: &'a str) {
        let mut words = comment.split_ascii_whitespace();
        if let (Some("TYPE"), Some(name), Some(kind)) = (words.next(), words.next(), words.next()) {
            let kind = match kind {
                "counter" => Type::Counter,
                "gauge" => Type::Gauge,
                "histogram" | "gaugehistogram" => Type::Histogram,
                "summary" => Type::Summary,
                _ => Type::Untyped,
            };
            self.types.insert(name, kind);
        }
    }
}

fn shown(line: &str) -> String {
    let text: String = line
        .chars()
        .take(SHOWN_CHARS)
        .map(|character| {
            if character.is_control() {
                '\u{fffd}'
            } else {
                character
            }
        })
        .collect();
    if text.len() < line.len() {
        text + "…"
    } else {
        text
    }
}

impl<'a> Sample<'a> {
    /// Parses `name{label="value",…} value`, perhaps with a time and an exemplar after it.
    fn parse(line: &'a str) -> Option<Self> {
        let name_end = line.find(|character: char| !is_of_name(character))?;
        let (name, rest) = line.split_at(name_end);
        let is_name = name.chars().next().is_some_and(|first| !first.is_ascii_digit());
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(rest) => {
                let end = end_of_labels(rest)?;
                (rest[..end].trim_matches([',', ' ', '\t']), &rest[end + 1..])
            }
            None => ("", rest),
        };
        let value = rest.split_ascii_whitespace().next()?;
        is_name.then_some(Self {
            name,
            labels,
            value: parse_value(value)?,
        })
    }
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | ':')
}

/// The position of the closing brace. A quoted value may contain braces, too.
fn end_of_labels(text: &str) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (idx, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'}' if !is_quoted => return Some(idx),
            _ => {}
        }
    }
    None
}

/// Parses a value. Rust accepts the forms that Go writes, including `+Inf` and `NaN`.
fn parse_value(text: &str) -> Option<f64> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample<'a>(name: &'a str, labels: &'a str, value: f64) -> Sample<'a> {
        Sample { name, labels, value }
    }

    #[test]
    fn reads_samples_of_all_forms() {
        for (line, expected) in [
            ("up 1", sample("up", "", 1.0)),
            ("a:b_c\t-2.5e3", sample("a:b_c", "", -2_500.0)),
            ("a{} 3 1395066363000", sample("a", "", 3.0)),
            (r#"a{x="1",y="2",} 4"#, sample("a", r#"x="1",y="2""#, 4.0)),
            (r#"a{x="}\"{\\"} 5"#, sample("a", r#"x="}\"{\\""#, 5.0)),
            (
                r#"a_bucket{le="+Inf"} 6 # {id="7"} 0.67"#,
                sample("a_bucket", r#"le="+Inf""#, 6.0),
            ),
            ("a +Inf", sample("a", "", f64::INFINITY)),
        ] {
            assert_eq!(Exposition::parse(line).unwrap().samples, [expected], "{line}");
        }
    }

    #[test]
    fn knows_types() {
        let page = "# HELP a Help.\n# TYPE a counter\na 1\n#TYPE b gauge\nb 2\n# TYPE c histogram\n# EOF\n";
        let page = Exposition::parse(page).unwrap();
        for (name, expected) in [
            ("a", Type::Counter),
            ("a_total", Type::Counter),
            ("b", Type::Gauge),
            ("c", Type::Histogram),
            ("d", Type::Untyped),
        ] {
            assert_eq!(page.type_of(name), expected, "{name}");
        }
    }

    #[test]
    fn says_which_line_is_bad() {
        for (page, expected) in [
            ("up 1\n<html>", "line 2 is not a sample: `<html>`"),
            ("{a=\"b\"} 1", "line 1 is"),
            ("a{b=\"c 1", "line 1 is"),
            ("1a 1", "line 1 is"),
            ("a", "line 1 is"),
            ("a b", "line 1 is"),
            ("a\u{7} 1", "line 1 is not a sample: `a\u{fffd} 1`"),
            ("", "no samples"),
            ("# TYPE a counter\n\n", "no samples"),
        ] {
            let error = Exposition::parse(page).unwrap_err().to_string();
            assert!(error.contains(expected), "{page}: {error}");
        }
        let error = Exposition::parse(&"ß".repeat(1_000)).unwrap_err().to_string();
        assert!(error.len() < 300 && error.contains('…'), "{error}");
    }

    proptest! {
        #[test]
        fn anything_is_read_or_refused(page in "\\PC*") {
            let _either = Exposition::parse(&page);
        }

        #[test]
        fn what_nearly_is_a_page_is_read_or_refused(page in r#"([a#{}"\\,= \n1.:eT_-]|TYPE ){0,80}"#) {
            if let Ok(exposition) = Exposition::parse(&page) {
                for sample in exposition.samples {
                    prop_assert!(!sample.name.is_empty());
                }
            }
        }

        #[test]
        fn what_is_written_is_read(name in "[a-z_:][a-z0-9_:]{0,9}", label in "[ -~]{0,9}", value: f64) {
            let quoted = label.replace('\\', r"\\").replace('"', r#"\""#);
            let line = format!("{name}{{l=\"{quoted}\"}} {value}");
            let page = Exposition::parse(&line).unwrap();
            prop_assert_eq!(page.samples[0].name, name);
            prop_assert_eq!(page.samples[0].labels, format!("l=\"{quoted}\""));
            prop_assert_eq!(page.samples[0].value.to_bits(), value.to_bits());
        }
    }
}
