//! Text of others inside HTML and XML.

/// Text as the content of an element, or of an attribute in quotes. What XML 1.0 cannot hold at all (§2.2, control
/// characters) becomes the replacement character; line ends and tabs stay.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(character),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_element() {
        assert_eq!(
            escaped("</td><script a='b' c=\"d\">&]]>\n"),
            "&lt;/td&gt;&lt;script a=&#39;b&#39; c=&quot;d&quot;&gt;&amp;]]&gt;\n"
        );
        assert_eq!(escaped("a\0b\u{1b}\u{ffff}"), "a\u{fffd}b\u{fffd}\u{fffd}");
    }
}
