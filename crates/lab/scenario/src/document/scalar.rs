//! What a scalar means (YAML 1.2.2 §10.3, the core schema).

use serde_json::Number;

use super::Value;

/// The value of a scalar without quotes and tag.
pub(super) fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Boolean(true),
        "false" | "False" | "FALSE" => Value::Boolean(false),
        _ => match number(text) {
            Some(number) => Value::Number(number),
            None => Value::Text(text.to_owned()),
        },
    }
}

/// A number. Not-a-number and infinity are not JSON, so they stay texts.
fn number(text: &str) -> Option<Number> {
    let radix = |prefix, radix| u64::from_str_radix(text.strip_prefix(prefix)?, radix).ok();
    // Rust's own parser also accepts `inf`, `nan` and `infinity`.
    if !text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
        || text.ends_with(|last: char| !last.is_ascii_digit() && last != '.' && !text.starts_with("0x"))
    {
        return None;
    }
    if let Some(whole) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return Some(whole.into());
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    match text.parse::<u64>() {
        Ok(whole) => Some(whole.into()),
        Err(_) => Number::from_f64(text.parse().ok()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_have_the_core_schemas_meaning() {
        let check = |text: &str, expected: serde_json::Value| {
            let place = super::super::Place {
                file: 0,
                line: 1,
                column: 1,
            };
            let value = plain(text);
            let found = serde_json::to_value(super::super::Node { place, value }).unwrap();
            assert_eq!(found, expected, "{text}");
        };
        use serde_json::json;
        check("", json!(null));
        check("~", json!(null));
        check("Null", json!(null));
        check("TRUE", json!(true));
        check("yes", json!("yes"));
        check("off", json!("off"));
        check("12", json!(12));
        check("+12", json!(12));
        check("-12", json!(-12));
        check("0x1f", json!(31));
        check("0o17", json!(15));
        check("017", json!(17));
        check("18446744073709551615", json!(u64::MAX));
        check("1.50", json!(1.5));
        check("1e3", json!(1000.0));
        check(".5", json!(0.5));
        check("5.", json!(5.0));
        check("-", json!("-"));
        check("-inf", json!("-inf"));
        check(".nan", json!(".nan"));
        check(".inf", json!(".inf"));
        check("nan", json!("nan"));
        check("1s", json!("1s"));
        check("1_000", json!("1_000"));
        check("127.0.0.1", json!("127.0.0.1"));
        check("0xyz", json!("0xyz"));
        check("1e999", json!("1e999"));
    }
}
