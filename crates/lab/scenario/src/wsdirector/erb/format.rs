//! Ruby's `format`, for whole numbers, floats and texts.

use super::{functions::whole, value::Value};

/// The widest field.
const MAX_WIDTH: usize = 1000;

/// The pattern with values in place of `%d`, `%f`, `%s`, `%x` and `%%`, with flags, widths and precisions.
///
/// # Errors
/// What the pattern has that is not supported, or what does not fit.
pub(super) fn format(pattern: &str, values: &[Value]) -> Result<String, String> {
    let (mut text, mut rest) = (String::new(), pattern);
    let mut values = values.iter();
    while let Some(start) = rest.find('%') {
        text.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            text.push('%');
            rest = behind;
            continue;
        }
        let split =
            |text: &'static str| move |rest: &str| rest.find(|c| !text.contains(c)).unwrap_or(rest.len());
        let (flags, behind) = rest.split_at(split("0- +")(rest));
        let (width, behind) = behind.split_at(split("0123456789")(behind));
        let (precision, behind) = match behind.strip_prefix('.') {
            Some(behind) => {
                let (precision, behind) = behind.split_at(split("0123456789")(behind));
                (Some(number(precision)?), behind)
            }
            None => (None, behind),
        };
        let kind = behind.chars().next().unwrap_or('%');
        rest = behind.get(kind.len_utf8()..).unwrap_or_default();
        let value = values
            .next()
            .ok_or_else(|| format!("format: no value for %{kind}"))?;
        text.push_str(&field(flags, number(width)?, precision, kind, value)?);
    }
    text.push_str(rest);
    Ok(text)
}

fn number(text: &str) -> Result<usize, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let number = text.parse().ok().filter(|number| *number <= MAX_WIDTH);
    number.ok_or_else(|| format!("format: expected a width up to {MAX_WIDTH}, and got {text}"))
}

fn field(
    flags: &str,
    width: usize,
    precision: Option<usize>,
    kind: char,
    value: &Value,
) -> Result<String, String> {
    let unsuited = || format!("format: %{kind} does not work for {}", value.class());
    let integer = || {
        let number = match value {
            Value::Integer(number) => Some(*number),
            Value::Float(number) => whole(number.floor()),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        };
        number.ok_or_else(unsuited)
    };
    let (is_negative, digits) = match kind {
        'd' | 'i' | 'u' => (integer()? < 0, integer()?.unsigned_abs().to_string()),
        'x' if integer()? >= 0 => (false, format!("{:x}", integer()?)),
        'f' => {
            let number = value.number().ok_or_else(unsuited)?;
            (
                number < 0.0,
                format!("{:.*}", precision.unwrap_or(6), number.abs()),
            )
        }
        's' => {
            let text = value.shown();
            let cut = precision.map(|n| text.chars().take(n).collect());
            (false, cut.unwrap_or(text))
        }
        kind => {
            return Err(format!(
                "format: %{kind} is not supported; expected %d, %f, %s or %x"
            ));
        }
    };
    let sign = match (is_negative, kind) {
        (true, _) => "-",
        (false, 's') => "",
        _ if flags.contains('+') => "+",
        _ if flags.contains(' ') => " ",
        _ => "",
    };
    let n_missing = width.saturating_sub(sign.len() + digits.chars().count());
    Ok(match (flags.contains('-'), flags.contains('0') && kind != 's') {
        (true, _) => format!("{sign}{digits}{}", " ".repeat(n_missing)),
        (false, true) => format!("{sign}{}{digits}", "0".repeat(n_missing)),
        (false, false) => format!("{}{sign}{digits}", " ".repeat(n_missing)),
    })
}
