//! Counts: whole numbers that may depend on the scale of a run.
//!
//! As in wsdirector, `:scale` is replaced by the scale, and the rest is Ruby's integer arithmetic with `+`, `-`, `*`
//! and `/`, without parentheses; a division rounds down.

use serde_json::Number;

use crate::document::{Part, Value};

/// What to write, for error texts.
pub(super) const EXPECTED: &str = "a whole number or an expression with :scale, for example \":scale * 2\"";

/// The largest result: more repetitions or clients are a slip of the keyboard.
pub(super) const MOST: u32 = 1_000_000;

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ExpressionError {
    #[error("expected {EXPECTED}")]
    Malformed,
    #[error("this divides by zero")]
    DivisionByZero,
    #[error("this gives {0}; expected 0 to {MOST}")]
    OutOfRange(i64),
    #[error("this overflows a number; expected 0 to {MOST}")]
    Overflow,
}

/// The value of the expression in `part`. `None` if it has none, which is recorded as a mistake.
pub(super) fn evaluate(part: &Part<'_>, scale: u32) -> Option<u32> {
    let text = part.read(EXPECTED, |value| match value {
        Value::Number(number) => whole(number).map(|number| number.to_string()),
        Value::Text(text) => Some(text.clone()),
        _ => None,
    })?;
    let value = value_of(&text, scale);
    value.map_err(|error| part.mistake(error.to_string())).ok()
}

fn whole(number: &Number) -> Option<i64> {
    number.as_i64()
}

fn value_of(text: &str, scale: u32) -> Result<u32, ExpressionError> {
    let value = sum(&tokens(text, scale)?)?;
    u32::try_from(value)
        .ok()
        .filter(|value| *value <= MOST)
        .ok_or(ExpressionError::OutOfRange(value))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Number(i64),
    Operator(char),
}

fn tokens(text: &str, scale: u32) -> Result<Vec<Token>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let behind = match first {
            '+' | '-' | '*' | '/' => {
                tokens.push(Token::Operator(first));
                &rest[1..]
            }
            ':' => {
                let behind = rest.strip_prefix(":scale").ok_or(ExpressionError::Malformed)?;
                if behind.starts_with(|next: char| next.is_alphanumeric() || next == '_') {
                    return Err(ExpressionError::Malformed);
                }
                tokens.push(Token::Number(scale.into()));
                behind
            }
            _ => {
                let end = rest
                    .find(|next: char| !next.is_ascii_digit())
                    .unwrap_or(rest.len());
                if end == 0 {
                    return Err(ExpressionError::Malformed);
                }
                let number = rest[..end].parse().map_err(|_| ExpressionError::Overflow)?;
                tokens.push(Token::Number(number));
                &rest[end..]
            }
        };
        rest = behind.trim_start();
    }
    Ok(tokens)
}

/// Products, added and subtracted from left to right.
fn sum(tokens: &[Token]) -> Result<i64, ExpressionError> {
    let (mut total, mut rest) = product(tokens)?;
    while let [Token::Operator(operator), behind @ ..] = rest {
        let (value, further) = product(behind)?;
        total = match operator {
            '+' => total.checked_add(value),
            _ => total.checked_sub(value),
        }
        .ok_or(ExpressionError::Overflow)?;
        rest = further;
    }
    match rest {
        [] => Ok(total),
        _ => Err(ExpressionError::Malformed),
    }
}

/// Numbers, multiplied and divided from left to right, and the rest.
fn product(tokens: &[Token]) -> Result<(i64, &[Token]), ExpressionError> {
    let (mut total, mut rest) = number(tokens)?;
    while let [Token::Operator(operator @ ('*' | '/')), behind @ ..] = rest {
        let (value, further) = number(behind)?;
        total = match (operator, value) {
            ('/', 0) => return Err(ExpressionError::DivisionByZero),
            ('/', _) => floor_division(total, value),
            _ => total.checked_mul(value),
        }
        .ok_or(ExpressionError::Overflow)?;
        rest = further;
    }
    Ok((total, rest))
}

/// A number with its signs.
fn number(tokens: &[Token]) -> Result<(i64, &[Token]), ExpressionError> {
    match tokens {
        [Token::Number(number), rest @ ..] => Ok((*number, rest)),
        [Token::Operator('-'), rest @ ..] => number(rest).map(|(number, rest)| (-number, rest)),
        [Token::Operator('+'), rest @ ..] => number(rest),
        _ => Err(ExpressionError::Malformed),
    }
}

/// Ruby rounds down, also below zero.
fn floor_division(dividend: i64, divisor: i64) -> Option<i64> {
    let quotient = dividend.checked_div(divisor)?;
    let is_between = dividend % divisor != 0 && (dividend < 0) != (divisor < 0);
    Some(if is_between { quotient - 1 } else { quotient })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn expressions_are_integer_arithmetic() {
        let check = |text: &str, expected: Result<u32, ExpressionError>| {
            assert_eq!(value_of(text, 10), expected, "{text}");
        };
        check("1", Ok(1));
        check(" 007 ", Ok(7));
        check(":scale", Ok(10));
        check(":scale * 2", Ok(20));
        check(":scale*:scale+1", Ok(101));
        check("2 + 3 * 4", Ok(14));
        check("20 - 5 - 5", Ok(10));
        check(":scale / 3", Ok(3));
        check(":scale / 3 * 3", Ok(9));
        check("0 - 7 / 2 + 10", Ok(7));
        check("10 + -7 / 2", Ok(6));
        check("0", Ok(0));
        check("1 - 2", Err(ExpressionError::OutOfRange(-1)));
        check("1000001", Err(ExpressionError::OutOfRange(1_000_001)));
        check("99999999999999999999", Err(ExpressionError::Overflow));
        check("9999999999 * 9999999999", Err(ExpressionError::Overflow));
        check("1 / 0", Err(ExpressionError::DivisionByZero));
        for malformed in [
            "", " ", "1 2", "* 2", "2 *", "(1)", "scale", ":scales", ":scale2", "1.5", "two",
        ] {
            check(malformed, Err(ExpressionError::Malformed));
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-+*/0-9 :scale]{0,24}") {
            if let Ok(value) = value_of(&text, u32::MAX) {
                prop_assert!(value <= MOST);
            }
        }

        #[test]
        fn division_rounds_down(dividend in any::<i32>(), divisor in any::<i32>()) {
            prop_assume!(divisor != 0);
            let expected = (f64::from(dividend) / f64::from(divisor)).floor() as i64;
            prop_assert_eq!(floor_division(dividend.into(), divisor.into()), Some(expected));
        }
    }
}
