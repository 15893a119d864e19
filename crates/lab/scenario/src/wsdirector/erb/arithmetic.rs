//! Operators with two operands, on numbers, texts and lists, as in Ruby.

use std::cmp::Ordering;

use super::{budget::Budget, problem::Problem, value::Value};

/// The largest power. Reason: larger ones overflow any whole number but 0, 1 and -1.
const MAX_POWER: i64 = 10_000;

/// The value of `left operator right`.
///
/// # Errors
/// The operands do not go together, or the result is too large.
pub(super) fn binary(
    operator: &str,
    left: &Value,
    right: &Value,
    budget: &mut Budget,
    at: usize,
) -> Result<Value, Problem> {
    let unsuited = || {
        Problem::new(
            at,
            format!(
                "`{operator}` does not work for {} and {}",
                left.class(),
                right.class()
            ),
        )
    };
    if let Some(value) = comparison(operator, left, right, unsuited)? {
        return Ok(value);
    }
    match (operator, left, right) {
        (_, Value::Integer(a), Value::Integer(b)) => integers(operator, *a, *b, at)?.ok_or_else(unsuited),
        ("+", Value::Text(a), Value::Text(b)) => {
            budget.bytes(at, (a.len() + b.len()) as u64)?;
            Ok(Value::text(format!("{a}{b}")))
        }
        ("*", Value::Text(text), Value::Integer(n)) => {
            let n = usize::try_from(*n)
                .map_err(|_| Problem::new(at, "a text cannot be repeated less than 0 times"))?;
            budget.bytes(at, (text.len() as u64).saturating_mul(n as u64))?;
            Ok(Value::text(text.repeat(n)))
        }
        ("+", Value::List(a), Value::List(b)) => {
            let joined = [&a.borrow()[..], &b.borrow()[..]].concat();
            budget.bytes(at, joined.len() as u64 * size_of::<Value>() as u64)?;
            Ok(Value::list(joined))
        }
        ("-", Value::List(a), Value::List(b)) => {
            let b = b.borrow();
            let is_left = |value: &&Value| !b.iter().any(|other| other.equals(value));
            Ok(Value::list(a.borrow().iter().filter(is_left).cloned().collect()))
        }
        ("<<", Value::List(values), value) => {
            budget.bytes(at, size_of::<Value>() as u64)?;
            values.borrow_mut().push(value.clone());
            Ok(left.clone())
        }
        ("-", Value::Time(a), Value::Time(b)) => Ok(Value::Float(a - b)),
        ("+", Value::Time(a), b) => b.number().map(|b| Value::Time(a + b)).ok_or_else(unsuited),
        ("-", Value::Time(a), b) => b.number().map(|b| Value::Time(a - b)).ok_or_else(unsuited),
        (_, a, b) => {
            let (a, b) = a.number().zip(b.number()).ok_or_else(unsuited)?;
            floats(operator, a, b).ok_or_else(unsuited)
        }
    }
}

fn comparison(
    operator: &str,
    left: &Value,
    right: &Value,
    unsuited: impl Fn() -> Problem,
) -> Result<Option<Value>, Problem> {
    let order = || left.order(right).ok_or_else(&unsuited);
    Ok(Some(Value::Bool(match operator {
        "==" => left.equals(right),
        "<" => order()? == Ordering::Less,
        ">" => order()? == Ordering::Greater,
        "<=" => order()? != Ordering::Greater,
        ">=" => order()? != Ordering::Less,
        "<=>" => {
            let order = left.order(right);
            return Ok(Some(
                order.map_or(Value::Nil, |order| Value::Integer(order as i64)),
            ));
        }
        _ => return Ok(None),
    })))
}

fn integers(operator: &str, a: i64, b: i64, at: usize) -> Result<Option<Value>, Problem> {
    let by_zero = || Problem::new(at, "this divides by zero");
    let result = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        // Ruby rounds down, also below zero.
        "/" if b == 0 => return Err(by_zero()),
        "/" => a.checked_div_euclid(b).map(|quotient| {
            let is_below = b < 0 && a.rem_euclid(b) != 0;
            quotient - i64::from(is_below)
        }),
        "%" if b == 0 => return Err(by_zero()),
        "%" => a.checked_rem(b).map(|rest| {
            let is_other_side = rest != 0 && (rest < 0) != (b < 0);
            if is_other_side { rest + b } else { rest }
        }),
        "**" if b < 0 => {
            return Err(Problem::new(
                at,
                "a negative power of a whole number is a fraction, which is not supported; write 2.0 ** -1",
            ));
        }
        "**" if b > MAX_POWER => None,
        "**" => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        _ => return Ok(None),
    };
    let result =
        result.ok_or_else(|| Problem::new(at, "the result is too large for a whole number of 64 bits"))?;
    Ok(Some(Value::Integer(result)))
}

fn floats(operator: &str, a: f64, b: f64) -> Option<Value> {
    Some(Value::Float(match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "%" => a - b * (a / b).floor(),
        "**" => a.powf(b),
        _ => return None,
    }))
}
