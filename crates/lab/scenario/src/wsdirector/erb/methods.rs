//! Methods of values: the ones of Ruby that people use in scenarios.

use std::rc::Rc;

use super::{
    arithmetic::binary,
    budget::Budget,
    functions::{of_constant, whole},
    problem::Problem,
    value::Value,
};

/// The most items that a list made by a method has.
const MAX_ITEMS: i64 = 1_000_000;

/// The value of a method without a block; `None` for an unknown one.
///
/// # Errors
/// The method does not work for these values.
pub(super) fn method(
    receiver: &Value,
    name: &str,
    arguments: &[Value],
    budget: &mut Budget,
    at: usize,
) -> Result<Option<Value>, Problem> {
    if let Some(value) = of_any(receiver, name, arguments, budget, at)? {
        return Ok(Some(value));
    }
    match receiver {
        Value::Integer(number) => of_integer(*number, name, arguments, budget, at),
        Value::Float(number) => Ok(of_float(*number, name, arguments)),
        Value::Text(text) => of_text(text, name, arguments, budget, at),
        Value::Symbol(text) => Ok((name == "to_sym").then(|| Value::Symbol(Rc::clone(text)))),
        Value::Range(first, end, _) => of_range(*first, *end, name, arguments, budget, at),
        Value::List(values) => {
            if let ("push" | "append", [value]) = (name, arguments) {
                return binary("<<", receiver, value, budget, at).map(Some);
            }
            let values = values.borrow().clone();
            of_list(&values, name, arguments, budget, at)
        }
        Value::Map(pairs) => Ok(of_map(&pairs.borrow(), name, arguments)),
        Value::Time(seconds) => Ok(match (name, arguments) {
            ("to_i", []) => whole(seconds.floor()).map(Value::Integer),
            ("to_f", []) => Some(Value::Float(*seconds)),
            _ => None,
        }),
        Value::Nil => Ok(match (name, arguments) {
            ("to_i", []) => Some(Value::Integer(0)),
            ("to_f", []) => Some(Value::Float(0.0)),
            ("to_a", []) => Some(Value::list(Vec::new())),
            _ => None,
        }),
        Value::Constant(constant) => of_constant(constant, name, arguments, budget, at),
        Value::Bool(_) => Ok(None),
    }
}

fn of_any(
    receiver: &Value,
    name: &str,
    arguments: &[Value],
    budget: &mut Budget,
    at: usize,
) -> Result<Option<Value>, Problem> {
    Ok(Some(match (name, arguments) {
        ("to_s", []) => {
            let text = receiver.shown();
            budget.bytes(at, text.len() as u64)?;
            Value::text(text)
        }
        ("inspect", []) => {
            let text = receiver.inspect();
            budget.bytes(at, text.len() as u64)?;
            Value::text(text)
        }
        ("to_json", []) => {
            let json = receiver.json();
            let json = json.ok_or_else(|| Problem::new(at, "this value cannot be written as JSON"))?;
            let text = json.to_string();
            budget.bytes(at, text.len() as u64)?;
            Value::text(text)
        }
        ("nil?", []) => Value::Bool(matches!(receiver, Value::Nil)),
        _ => return Ok(None),
    }))
}

fn of_integer(
    number: i64,
    name: &str,
    arguments: &[Value],
    budget: &mut Budget,
    at: usize,
) -> Result<Option<Value>, Problem> {
    Ok(Some(match (name, arguments) {
        ("to_i" | "to_int" | "floor" | "ceil" | "round", []) => Value::Integer(number),
        ("to_f", []) => Value::Float(number as f64),
        ("abs", []) => Value::Integer(number.saturating_abs()),
        ("even?", []) => Value::Bool(number % 2 == 0),
        ("odd?", []) => Value::Bool(number % 2 != 0),
        ("zero?", []) => Value::Bool(number == 0),
        ("positive?", []) => Value::Bool(number > 0),
        ("negative?", []) => Value::Bool(number < 0),
        ("succ" | "next", []) => {
            return binary("+", &Value::Integer(number), &Value::Integer(1), budget, at).map(Some);
        }
        ("pred", []) => {
            return binary("-", &Value::Integer(number), &Value::Integer(1), budget, at).map(Some);
        }
        ("chr", []) => {
            let character = u8::try_from(number).ok().filter(u8::is_ascii);
            let character =
                character.ok_or_else(|| Problem::new(at, "chr expects a number from 0 to 127"))?;
            Value::text(char::from(character).to_string())
        }
        ("fdiv", [other]) => match other.number() {
            Some(other) => Value::Float(number as f64 / other),
            None => return Ok(None),
        },
        ("clamp", [Value::Integer(low), Value::Integer(high)]) if low <= high => {
            Value::Integer(number.clamp(*low, *high))
        }
        _ => return Ok(None),
    }))
}

fn of_float(number: f64, name: &str, arguments: &[Value]) -> Option<Value> {
    let integer = |number: f64| whole(number).map(Value::Integer);
    match (name, arguments) {
        ("to_f", []) => Some(Value::Float(number)),
        ("to_i" | "to_int" | "truncate", []) => integer(number.trunc()),
        ("floor", []) => integer(number.floor()),
        ("ceil", []) => integer(number.ceil()),
        ("round", []) => integer(number.round()),
        ("round", [Value::Integer(n_digits @ 1..=15)]) => {
            let text = format!("{number:.*}", usize::try_from(*n_digits).ok()?);
            text.parse().ok().map(Value::Float)
        }
        ("abs", []) => Some(Value::Float(number.abs())),
        ("zero?", []) => Some(Value::Bool(number == 0.0)),
        ("nan?", []) => Some(Value::Bool(number.is_nan())),
        _ => None,
    }
}

/// The whole number that a text begins with; 0 without one.
fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim_start().replace('_', "");
    let n_sign = usize::from(text.starts_with(['-', '+']));
    let n_digits = text[n_sign..]
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len() - n_sign);
    if n_digits == 0 {
        Some(0)
    } else {
        text[..n_sign + n_digits].parse().ok()
    }
}

/// The number that a text begins with; 0 without one.
fn leading_float(text: &str) -> f64 {
    let text = text.trim_start();
    let mut ends = (1..=text.len().min(40))
        .rev()
        .filter(|end| text.is_char_boundary(*end));
    let is_number = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
    let found = ends.find_map(|end| text[..end].parse().ok().filter(|_| is_number(&text[..end])));
    found.unwrap_or(0.0)
}

fn of_text(
    text: &str,
    name: &str,
    arguments: &[Value],
    budget: &mut Budget,
    at: usize,
) -> Result<Option<Value>, Problem> {
    budget.bytes(at, text.len() as u64)?;
    let n_chars = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    Ok(Some(match (name, arguments) {
        ("to_i", []) => match leading_integer(text) {
            Some(number) => Value::Integer(number),
            None => {
                return Err(Problem::new(
                    at,
                    format!("{text:?} is too large for a whole number of 64 bits"),
                ));
            }
        },
        ("to_f", []) => Value::Float(leading_float(text)),
        ("to_str", []) => Value::text(text),
        ("to_sym", []) => Value::Symbol(text.into()),
        ("length" | "size", []) => Value::Integer(n_chars()),
        ("bytesize", []) => Value::Integer(i64::try_from(text.len()).unwrap_or(i64::MAX)),
        ("empty?", []) => Value::Bool(text.is_empty()),
        ("upcase", []) => Value::text(text.to_uppercase()),
        ("downcase", []) => Value::text(text.to_lowercase()),
        ("capitalize", []) => {
            let mut chars = text.chars();
            let first = chars.next().map(|first| first.to_uppercase().to_string());
            Value::text(first.unwrap_or_default() + &chars.as_str().to_lowercase())
        }
        ("strip", []) => Value::text(text.trim()),
        ("chomp", []) => Value::text(text.strip_suffix('\n').unwrap_or(text)),
        ("reverse", []) => Value::text(text.chars().rev().collect::<String>()),
        ("chars", []) => Value::list(text.chars().map(|c| Value::text(c.to_string())).collect()),
        ("lines", []) => Value::list(text.split_inclusive('\n').map(Value::text).collect()),
        ("split", []) => Value::list(text.split_whitespace().map(Value::text).collect()),
        ("split", [Value::Text(separator)]) if separator.is_empty() => {
            Value::list(text.chars().map(|c| Value::text(c.to_string())).collect())
        }
        ("split", [Value::Text(separator)]) => {
            let mut parts: Vec<_> = text.split(&**separator).collect();
            // Ruby leaves out empty parts at the end.
            while parts.last().is_some_and(|last| last.is_empty()) {
                parts.pop();
            }
            Value::list(parts.into_iter().map(Value::text).collect())
        }
        ("include?", [Value::Text(part)]) => Value::Bool(text.contains(&**part)),
        ("start_with?", [Value::Text(part)]) => Value::Bool(text.starts_with(&**part)),
        ("end_with?", [Value::Text(part)]) => Value::Bool(text.ends_with(&**part)),
        ("sub", [Value::Text(from), Value::Text(to)]) => Value::text(text.replacen(&**from, to, 1)),
        ("gsub", [Value::Text(from), Value::Text(to)]) if !from.is_empty() => {
            budget.bytes(at, (text.len() as u64).saturating_mul(to.len() as u64 + 1))?;
            Value::text(text.replace(&**from, to))
        }
        ("rjust" | "ljust", [Value::Integer(width), padding @ ..]) => {
            let padding = match padding {
                [] => " ",
                [Value::Text(padding)] if !padding.is_empty() => padding,
                _ => return Ok(None),
            };
            let n_missing = usize::try_from(width.saturating_sub(n_chars())).unwrap_or(0);
            budget.bytes(at, n_missing as u64 * 4)?;
            let filling: String = padding.chars().cycle().take(n_missing).collect();
            if name == "rjust" {
                Value::text(filling + text)
            } else {
                Value::text(text.to_owned() + &filling)
            }
        }
        _ => return Ok(None),
    }))
}

/// The items of a range.
///
/// # Errors
/// There are too many of them.
pub(super) fn items(first: i64, end: i64, budget: &mut Budget, at: usize) -> Result<Vec<Value>, Problem> {
    let n = end.saturating_sub(first).max(0);
    if n > MAX_ITEMS {
        return Err(Problem::new(
            at,
            format!("a list of {n} items is too long; expected at most {MAX_ITEMS}"),
        ));
    }
    budget.bytes(at, n.unsigned_abs() * size_of::<Value>() as u64)?;
    Ok((first..end).map(Value::Integer).collect())
}

fn of_range(
    first: i64,
    end: i64,
    name: &str,
    arguments: &[Value],
    budget: &mut Budget,
    at: usize,
) -> Result<Option<Value>, Problem> {
    let or_nil = |number: i64| {
        if first < end {
            Value::Integer(number)
        } else {
            Value::Nil
        }
    };
    Ok(Some(match (name, arguments) {
        ("first" | "min" | "begin", []) => or_nil(first),
        ("last" | "max", []) => or_nil(end - 1),
        ("size" | "count", []) => Value::Integer(end.saturating_sub(first).max(0)),
        ("include?" | "cover?" | "member?", [Value::Integer(number)]) => {
            Value::Bool((first..end).contains(number))
        }
        (name, arguments) => return of_list(&items(first, end, budget, at)?, name, arguments, budget, at),
    }))
}

fn of_list(
    values: &[Value],
    name: &str,
    arguments: &[Value],
    budget: &mut Budget,
    at: usize,
) -> Result<Option<Value>, Problem> {
    budget.bytes(at, size_of_val(values) as u64)?;
    let first = |n: i64| {
        Value::list(
            values
                .iter()
                .take(usize::try_from(n).unwrap_or(0))
                .cloned()
                .collect(),
        )
    };
    Ok(Some(match (name, arguments) {
        ("length" | "size" | "count", []) => Value::Integer(i64::try_from(values.len()).unwrap_or(i64::MAX)),
        ("empty?", []) => Value::Bool(values.is_empty()),
        ("any?", []) => Value::Bool(values.iter().any(Value::is_true)),
        ("first", []) => values.first().cloned().unwrap_or(Value::Nil),
        ("last", []) => values.last().cloned().unwrap_or(Value::Nil),
        ("first" | "take", [Value::Integer(n)]) => first(*n),
        ("drop", [Value::Integer(n)]) => Value::list(
            values
                .iter()
                .skip(usize::try_from(*n).unwrap_or(0))
                .cloned()
                .collect(),
        ),
        ("to_a" | "dup", []) => Value::list(values.to_vec()),
        ("join", separator @ ([] | [Value::Text(_)])) => {
            let separator = separator.first().map_or_else(String::new, Value::shown);
            let parts: Vec<_> = values.iter().map(Value::shown).collect();
            let n_bytes = parts
                .iter()
                .map(|part| part.len() + separator.len())
                .sum::<usize>();
            budget.bytes(at, n_bytes as u64)?;
            Value::text(parts.join(&separator))
        }
        ("include?" | "member?", [value]) => Value::Bool(values.iter().any(|other| other.equals(value))),
        ("index", [value]) => {
            let found = values.iter().position(|other| other.equals(value));
            found
                .and_then(|at| i64::try_from(at).ok())
                .map_or(Value::Nil, Value::Integer)
        }
        ("sample", []) => match values {
            [] => Value::Nil,
            values => values[fastrand::usize(..values.len())].clone(),
        },
        ("shuffle", []) => {
            let mut values = values.to_vec();
            fastrand::shuffle(&mut values);
            Value::list(values)
        }
        ("reverse", []) => Value::list(values.iter().rev().cloned().collect()),
        ("compact", []) => Value::list(
            values
                .iter()
                .filter(|value| !matches!(value, Value::Nil))
                .cloned()
                .collect(),
        ),
        ("uniq", []) => {
            let mut kept: Vec<Value> = Vec::new();
            for value in values {
                budget.step(at)?;
                if !kept.iter().any(|other| other.equals(value)) {
                    kept.push(value.clone());
                }
            }
            Value::list(kept)
        }
        ("sum", []) => {
            let mut sum = Value::Integer(0);
            for value in values {
                sum = binary("+", &sum, value, budget, at)?;
            }
            sum
        }
        ("min" | "max" | "sort", []) => {
            let mut sorted = values.to_vec();
            let is_comparable = values.windows(2).all(|pair| pair[0].order(&pair[1]).is_some());
            if !is_comparable {
                return Err(Problem::new(
                    at,
                    format!("{name}: the items of this list cannot be compared"),
                ));
            }
            sorted.sort_by(|a, b| a.order(b).unwrap_or(std::cmp::Ordering::Equal));
            match name {
                "min" => sorted.first().cloned().unwrap_or(Value::Nil),
                "max" => sorted.last().cloned().unwrap_or(Value::Nil),
                _ => Value::list(sorted),
            }
        }
        _ => return Ok(None),
    }))
}

fn of_map(pairs: &[(Value, Value)], name: &str, arguments: &[Value]) -> Option<Value> {
    let find = |key: &Value| pairs.iter().find(|(other, _)| other.equals(key));
    Some(match (name, arguments) {
        ("length" | "size" | "count", []) => Value::Integer(i64::try_from(pairs.len()).unwrap_or(i64::MAX)),
        ("empty?", []) => Value::Bool(pairs.is_empty()),
        ("keys", []) => Value::list(pairs.iter().map(|(key, _)| key.clone()).collect()),
        ("values", []) => Value::list(pairs.iter().map(|(_, value)| value.clone()).collect()),
        ("key?" | "has_key?" | "include?", [key]) => Value::Bool(find(key).is_some()),
        ("fetch", [key, default]) => find(key).map_or_else(|| default.clone(), |(_, value)| value.clone()),
        ("to_a", []) => {
            let pair = |(key, value): &(Value, Value)| Value::list(vec![key.clone(), value.clone()]);
            Value::list(pairs.iter().map(pair).collect())
        }
        _ => return None,
    })
}
