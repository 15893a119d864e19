//! The `Sec-WebSocket-Extensions` field (RFC 6455 §9.1).

use super::field;

/// One element of the list: a name with parameters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Extension<'a> {
    pub(crate) name: &'a str,
    pub(crate) parameters: Vec<(&'a str, Option<&'a str>)>,
}

impl Extension<'_> {
    /// Whether its names and values are tokens; values in quotes are, once their quotes and escapes are taken off (RFC 6455
    /// §9.1).
    pub(crate) fn is_well_formed(&self) -> bool {
        let is_value = |value: &str| field::is_token(&value.replace('\\', ""));
        let mut parameters = self.parameters.iter();
        field::is_token(self.name)
            && parameters.all(|(name, value)| field::is_token(name) && value.is_none_or(is_value))
    }
}

/// The elements of one field value. A quoted string may contain separators; escapes in it are left as they are,
/// which no valid parameter here needs.
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

fn parse_parameter(parameter: &str) -> (&str, Option<&str>) {
    let Some((name, value)) = parameter.split_once('=') else {
        return (parameter, None);
    };
    let value = value.trim();
    let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    (name.trim(), Some(unquoted.unwrap_or(value)))
}

/// Splits at `separator` outside of quoted strings and trims the parts.
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
                    ("server_max_window_bits", Some("10")),
                ],
            ),
            ("x", vec![("a", Some(r#"b,\";c"#)), ("d", None)]),
        ];
        assert_eq!(parsed, expected);
    }

    #[test]
    fn values_are_tokens_with_or_without_quotes() {
        for (text, expected) in [
            ("x", true),
            ("x; a; b=1", true),
            (r#"x; a="b""#, true),
            (r#"x; a="\b""#, true),
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
