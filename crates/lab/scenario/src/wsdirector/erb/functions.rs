//! Functions without a receiver, and the constants that have methods: `ENV`, `Random`, `SecureRandom`, `Time`.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{budget::Budget, format, problem::Problem, value::Value};

/// The constants that a template may name.
pub(super) const CONSTANTS: [&str; 5] = ["ENV", "Kernel", "Random", "SecureRandom", "Time"];

/// The libraries whose functions are always there.
const LIBRARIES: [&str; 5] = ["json", "securerandom", "time", "erb", "date"];

/// The most characters of a random text.
const MAX_RANDOM_CHARS: i64 = 65_536;

/// The value of a function; `None` for an unknown one.
pub(super) fn function(
    name: &str,
    arguments: &[Value],
    budget: &mut Budget,
    at: usize,
) -> Result<Option<Value>, Problem> {
    let wrong = |text: String| Problem::new(at, text);
    Ok(Some(match (name, arguments) {
        ("rand", []) => Value::Float(fastrand::f64()),
        ("rand", [limit]) => random(limit, at)?,
        ("format" | "sprintf", [Value::Text(pattern), values @ ..]) => {
            let text = format::format(pattern, values).map_err(wrong)?;
            budget.bytes(at, text.len() as u64)?;
            Value::text(text)
        }
        ("require", [Value::Text(library)]) => {
            if !LIBRARIES.contains(&&**library) {
                return Err(wrong(format!(
                    "the library {library:?} is not supported in a template; expected one of {}",
                    LIBRARIES.join(", ")
                )));
            }
            Value::Bool(false)
        }
        ("Integer", [value]) => {
            let number = match value {
                Value::Integer(number) => Some(*number),
                Value::Float(number) => whole(number.trunc()),
                Value::Text(text) => text.trim().replace('_', "").parse().ok(),
                _ => None,
            };
            Value::Integer(number.ok_or_else(|| wrong(format!("{} is no whole number", value.inspect())))?)
        }
        ("Float", [value]) => {
            let number = match value {
                Value::Text(text) => text.trim().replace('_', "").parse().ok(),
                value => value.number(),
            };
            Value::Float(number.ok_or_else(|| wrong(format!("{} is no number", value.inspect())))?)
        }
        ("String", [value]) => Value::text(value.shown()),
        _ => return Ok(None),
    }))
}

/// The value of a constant's method; `None` for an unknown one.
pub(super) fn of_constant(
    constant: &str,
    name: &str,
    arguments: &[Value],
    budget: &mut Budget,
    at: usize,
) -> Result<Option<Value>, Problem> {
    Ok(match (constant, name, arguments) {
        ("Random" | "Kernel", "rand", arguments) | ("SecureRandom", "random_number", arguments) => {
            function("rand", arguments, budget, at)?
        }
        ("SecureRandom", "hex" | "alphanumeric", arguments) => {
            let n = match arguments {
                [] => 16,
                [Value::Integer(n @ 0..=MAX_RANDOM_CHARS)] => *n,
                _ => {
                    return Err(Problem::new(
                        at,
                        format!("expected a number up to {MAX_RANDOM_CHARS}"),
                    ));
                }
            };
            let is_hex = name == "hex";
            let n_chars = if is_hex { 2 * n } else { n };
            budget.bytes(at, n_chars.unsigned_abs())?;
            let digit = |_| {
                if is_hex {
                    fastrand::digit(16)
                } else {
                    fastrand::alphanumeric()
                }
            };
            Some(Value::text((0..n_chars).map(digit).collect::<String>()))
        }
        ("SecureRandom", "uuid", []) => {
            let bits = fastrand::u128(..) & !(0xf000_c000 << 64 | 0xf << 76) | 0x4 << 76 | 0x8 << 60;
            let text = format!("{bits:032x}");
            let groups = [
                &text[..8],
                &text[8..12],
                &text[12..16],
                &text[16..20],
                &text[20..],
            ];
            Some(Value::text(groups.join("-")))
        }
        ("Time", "now", []) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            Some(Value::Time(now.unwrap_or_default().as_secs_f64()))
        }
        _ => None,
    })
}

/// `rand(limit)`: a whole number below it, or one of a range; for zero, a fraction.
fn random(limit: &Value, at: usize) -> Result<Value, Problem> {
    let below = |limit: i64| match limit.unsigned_abs() {
        0 => Value::Float(fastrand::f64()),
        limit => Value::Integer(i64::try_from(fastrand::u64(..limit)).unwrap_or(i64::MAX)),
    };
    match limit {
        Value::Nil => Ok(Value::Float(fastrand::f64())),
        Value::Integer(limit) => Ok(below(*limit)),
        // Ruby ignores the fraction.
        Value::Float(limit) => Ok(below(whole(limit.trunc()).unwrap_or(i64::MAX))),
        Value::Range(first, end, _) if first < end => Ok(Value::Integer(fastrand::i64(*first..*end))),
        Value::Range(..) => Ok(Value::Nil),
        other => Err(Problem::new(
            at,
            format!(
                "rand expects a number or a range such as 1..6, and got {}",
                other.class()
            ),
        )),
    }
}

/// The whole number, if it fits.
pub(super) fn whole(number: f64) -> Option<i64> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    (-END..END).contains(&number).then_some(number as i64)
}
