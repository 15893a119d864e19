//! Text of others inside HTML.

/// JSON as the content of a script element. Only strings of JSON have the characters that could end the element or
/// begin a comment in it, and strings can have them escaped. U+2028 and U+2029 end lines of scripts, though not of JSON.
pub fn in_script(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            other => text.push(other),
        }
    }
    text
}

/// Text as the content of an element, or of an attribute in quotes.
pub fn in_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_ends_the_element() {
        let json = serde_json::to_string("</script><!--<script>&\u{2028}\u{2029}").unwrap();
        assert_eq!(
            in_script(&json),
            r#""\u003c/script\u003e\u003c!--\u003cscript\u003e\u0026\u2028\u2029""#
        );
        assert_eq!(
            in_text("<a href='x'>\"&"),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_back(text: String) {
            let json = in_script(&serde_json::to_string(&text).unwrap());
            let has_special = json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']);
            prop_assert!(!has_special, "{}", json);
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
