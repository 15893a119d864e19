//! The `Sec-WebSocket-Extensions` field (RFC 6455 §9.1).

use std::{borrow::Cow, iter};

use super::field;

/// One element of the list: a name with parameters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Extension<'a> {
    pub(crate) name: &'a str,
    /// Parameters. Quotes and escapes are already removed from their values.
    pub(crate) parameters: Vec<(&'a str, Option<Cow<'a, str>>)>,
}

impl Extension<'_> {
    /// Whether its names and values are tokens, which RFC 6455 §9.1 requires of quoted values, too.
    pub(crate) fn is_well_formed(&self) -> bool {
        let mut parameters = self.parameters.iter();
        let is_value = |value: &Option<Cow<'_, str>>| value.as_deref().is_none_or(field::is_token);
        field::is_token(self.name) && parameters.all(|(name, value)| field::is_token(name) && is_value(value))
    }
}

/// The elements of one field value. A quoted string may contain separators.
pub(crate) fn parse(value: &str) -> impl Iterator<Item = Extension<'_>> {
    split(value, ',')
        .filter(|element| !element.is_empty())
        .map(|element| {
            let mut parts = split(element, ';');
            let name = parts.next().unwrap_or_default();
            Extension {
                name,
                parameters: parts.map(parse_parameter).collect(),
            }
        })
}

fn parse_parameter(parameter: &str) -> (&str, Option<Cow<'_, str>>) {
    let Some((name, value)) = parameter.split_once('=') else {
        return (parameter, None);
    };
    let value = value.trim();
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    (name.trim(), Some(quoted.map_or(Cow::Borrowed(value), unescape)))
}

/// A quoted string's text without the backslashes that escape a character (RFC 9110 §5.6.4). A backslash at the end is
/// kept.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut characters = text.chars();
    let next = move || match characters.next()? {
        '\\' => Some(characters.next().unwrap_or('\\')),
        character => Some(character),
    };
    iter::from_fn(next).collect()
}

/// Splits at `separator` outside quoted strings and trims the parts.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    text.split(move |character| {
        let is_escaped = escaped;
        escaped = quoted && !is_escaped && character == '\\';
        quoted ^= character == '"' && !is_escaped;
        !quoted && character == separator
    })
    .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lists_with_parameters_and_quotes() {
        let text =
            r#"permessage-deflate; client_max_window_bits; server_max_window_bits = "10" , x;a="b,\";c";d,"#;
        let parsed: Vec<_> = parse(text).map(|e| (e.name, e.parameters)).collect();
        let expected = [
            (
                "permessage-deflate",
                vec![
                    ("client_max_window_bits", None),
                    ("server_max_window_bits", Some("10".into())),
                ],
            ),
            ("x", vec![("a", Some(r#"b,";c"#.into())), ("d", None)]),
        ];
        assert_eq!(parsed, expected);
    }

    #[test]
    fn a_quoted_value_ends_at_its_quote() {
        for (text, expected) in [
            (r#"x; a="b", y"#, &["x", "y"][..]),
            (r#"x; a="bc", y"#, &["x", "y"]),
            (r#"x; a="b,c", y"#, &["x", "y"]),
            (r#"x; a="\"", y"#, &["x", "y"]),
            (r#"x; a="\", y"#, &["x"]),
            (r"x; a=\, y", &["x", "y"]),
        ] {
            let names: Vec<_> = parse(text).map(|extension| extension.name).collect();
            assert_eq!(names, expected, "{text}");
        }
    }

    #[test]
    fn values_are_tokens_with_or_without_quotes() {
        for (text, expected) in [
            ("x", true),
            ("x; a; b=1", true),
            (r#"x; a="b""#, true),
            (r#"x; a="\b""#, true),
            (r#"x; a="\b\c""#, true),
            (r"x; a=b\c", false),
            (r#"x; a="b\\c""#, false),
            (r#"x; a="\\""#, false),
            (r#"x; a="b\""#, false),
            (r#"x; a="b"c""#, false),
            (r#"x; a="b"#, false),
            (r#"x; a="""#, false),
            ("x; a=", false),
            (r#"x; a="b c""#, false),
            (r#"x; a="b, permessage-deflate; c""#, false),
            (r#"x; a="b\"c""#, false),
            ("x; a b", false),
        ] {
            let is_well_formed = parse(text).all(|extension| extension.is_well_formed());
            assert_eq!(is_well_formed, expected, "{text}");
        }
    }
}
