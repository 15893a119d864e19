//! Paths into JSON, as `Response.json` takes them: a part of GJSON's syntax, which k6 uses.
//!
//! `a.b` keys, `a.0` an element, `a.#` how many, `a.#.b` of each, `a.#(b=="x")` the first that is so, `a.#(b>1)#` all
//! that are so, `*` and `?` in keys, and `\` before a character that means itself. Left out, and refused by name:
//! modifiers (`@`), pipes, JSON lines and several paths at once.

use std::cmp::Ordering;

use rquickjs::{Array, Ctx, Result, Value};

/// A path, read.
#[derive(Debug, PartialEq)]
pub(super) struct JsonPath(Vec<Step>);

#[derive(Debug, PartialEq)]
enum Step {
    /// A key, or the number of an element.
    Key { text: String, is_pattern: bool },
    /// `#`.
    Each,
    /// `#(…)` and `#(…)#`.
    Where { condition: Condition, all: bool },
}

#[derive(Debug, PartialEq)]
struct Condition {
    path: JsonPath,
    /// `None` asks only whether there is such a thing.
    comparison: Option<(Operator, serde_json::Value)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Like,
    Unlike,
}

/// A path that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the path {path:?} of json(): {reason}")]
pub(super) struct BadPath {
    path: String,
    reason: &'static str,
}

/// Longer spellings before their beginnings.
const OPERATORS: [(&str, Operator); 9] = [
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("!%", Operator::Unlike),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("%", Operator::Like),
];

impl JsonPath {
    /// Parses a path.
    ///
    /// # Errors
    /// When the path is invalid or uses an unsupported feature.
    pub(super) fn parse(path: &str) -> std::result::Result<Self, BadPath> {
        let bad = |reason| BadPath {
            path: path.to_owned(),
            reason,
        };
        let mut steps = Vec::new();
        let mut rest = path;
        loop {
            let (step, after) = step(rest).map_err(bad)?;
            steps.push(step);
            match after.strip_prefix('.') {
                Some(next) => rest = next,
                None if after.is_empty() => return Ok(Self(steps)),
                None => return Err(bad("expected `.` or the end after a condition")),
            }
        }
    }

    /// The value at the path.
    pub(super) fn find<'js>(&self, ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<Value<'js>>> {
        find(ctx, value, &self.0)
    }
}

fn step(text: &str) -> std::result::Result<(Step, &str), &'static str> {
    if text.starts_with(['@', '!', '{', '[']) {
        return Err("modifiers, literals and several paths at once are not supported");
    }
    if text.starts_with("..") {
        return Err("JSON lines are not supported");
    }
    if let Some(condition) = text.strip_prefix("#(") {
        let end = find_outside(condition, |c| c == ')').ok_or("a condition `#(` without its `)`")?;
        let (inner, after) = (&condition[..end], &condition[end + 1..]);
        let (all, after) = match after.strip_prefix('#') {
            Some(after) => (true, after),
            None => (false, after),
        };
        let condition = condition_of(inner)?;
        return Ok((Step::Where { condition, all }, after));
    }
    let (mut key, mut is_pattern) = (String::new(), false);
    let mut chars = text.char_indices();
    let mut end = text.len();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => key.extend(chars.next().map(|(_, c)| c)),
            '.' => {
                end = at;
                break;
            }
            '|' => return Err("pipes are not supported; use `.`"),
            '*' | '?' => {
                is_pattern = true;
                key.push(c);
            }
            c => key.push(c),
        }
    }
    let step = if &text[..end] == "#" {
        Step::Each
    } else {
        Step::Key {
            text: key,
            is_pattern,
        }
    };
    Ok((step, &text[end..]))
}

/// The position of the first such character outside of quotes and parentheses.
fn find_outside(text: &str, is_wanted: impl Fn(char) -> bool) -> Option<usize> {
    let (mut depth, mut is_quoted) = (0_usize, false);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            c if depth == 0 && is_wanted(c) => return Some(at),
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn condition_of(text: &str) -> std::result::Result<Condition, &'static str> {
    let operator = find_outside(text, |c| "=!<>%".contains(c));
    let path = |text: &str| {
        let text = text.trim();
        if text.is_empty() {
            return Ok(JsonPath(Vec::new()));
        }
        JsonPath::parse(text).map_err(|error| error.reason)
    };
    let Some(at) = operator else {
        return Ok(Condition {
            path: path(text)?,
            comparison: None,
        });
    };
    let mut operators = OPERATORS.iter();
    let (spelling, operator) = operators
        .find(|(spelling, _)| text[at..].starts_with(spelling))
        .ok_or("an unknown comparison")?;
    let value = text[at + spelling.len()..].trim();
    let value =
        serde_json::from_str(value).map_err(|_| "a comparison needs a value, for example \"text\" or 5")?;
    Ok(Condition {
        path: path(&text[..at])?,
        comparison: Some((*operator, value)),
    })
}

fn find<'js>(ctx: &Ctx<'js>, value: &Value<'js>, steps: &[Step]) -> Result<Option<Value<'js>>> {
    let Some((step, rest)) = steps.split_first() else {
        return Ok(Some(value.clone()));
    };
    match step {
        Step::Key { text, is_pattern } => match child(value, text, *is_pattern)? {
            Some(child) => find(ctx, &child, rest),
            None => Ok(None),
        },
        Step::Each => {
            let Some(array) = value.as_array() else {
                return Ok(None);
            };
            if rest.is_empty() {
                return Ok(Some(Value::new_number(ctx.clone(), array.len() as f64)));
            }
            each(ctx, array, rest, |_| Ok(true)).map(Some)
        }
        Step::Where { condition, all } => {
            let Some(array) = value.as_array() else {
                return Ok(None);
            };
            if *all {
                return each(ctx, array, rest, |element| condition.holds(ctx, element)).map(Some);
            }
            for element in array.iter::<Value<'js>>() {
                let element = element?;
                if condition.holds(ctx, &element)? {
                    return find(ctx, &element, rest);
                }
            }
            Ok(None)
        }
    }
}

/// The values at the rest of a path, for each element.
fn each<'js>(
    ctx: &Ctx<'js>,
    array: &Array<'js>,
    rest: &[Step],
    holds: impl Fn(&Value<'js>) -> Result<bool>,
) -> Result<Value<'js>> {
    let found = Array::new(ctx.clone())?;
    for element in array.iter::<Value<'js>>() {
        let element = element?;
        if holds(&element)?
            && let Some(value) = find(ctx, &element, rest)?
        {
            found.set(found.len(), value)?;
        }
    }
    Ok(found.into_value())
}

fn child<'js>(value: &Value<'js>, key: &str, is_pattern: bool) -> Result<Option<Value<'js>>> {
    if let Some(array) = value.as_array() {
        let index = key.parse::<usize>().ok().filter(|index| *index < array.len());
        return index.map(|index| array.get(index)).transpose();
    }
    let Some(object) = value.as_object() else {
        return Ok(None);
    };
    for entry in object.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        if name == key || (is_pattern && matches(&name, key)) {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

impl Condition {
    fn holds<'js>(&self, ctx: &Ctx<'js>, element: &Value<'js>) -> Result<bool> {
        let Some(found) = self.path.find(ctx, element)? else {
            return Ok(false);
        };
        let Some((operator, wanted)) = &self.comparison else {
            return Ok(true);
        };
        Ok(operator.holds(&found, wanted))
    }
}

impl Operator {
    fn holds(self, found: &Value<'_>, wanted: &serde_json::Value) -> bool {
        use serde_json::Value as Json;
        let text = || found.as_string().and_then(|text| text.to_string().ok());
        let order = match wanted {
            Json::String(wanted) => {
                let Some(text) = text() else {
                    return self == Self::NotEqual;
                };
                match self {
                    Self::Like => return matches(&text, wanted),
                    Self::Unlike => return !matches(&text, wanted),
                    _ => Some(text.as_str().cmp(wanted)),
                }
            }
            Json::Number(wanted) => {
                let wanted = wanted.as_f64().unwrap_or_default();
                found.as_number().and_then(|found| found.partial_cmp(&wanted))
            }
            Json::Bool(wanted) => found.as_bool().map(|found| found.cmp(wanted)),
            _ => found.is_null().then_some(Ordering::Equal),
        };
        match (self, order) {
            (Self::NotEqual, order) => order != Some(Ordering::Equal),
            (_, None) | (Self::Like | Self::Unlike, _) => false,
            (Self::Equal, Some(order)) => order.is_eq(),
            (Self::Less, Some(order)) => order.is_lt(),
            (Self::LessOrEqual, Some(order)) => order.is_le(),
            (Self::Greater, Some(order)) => order.is_gt(),
            (Self::GreaterOrEqual, Some(order)) => order.is_ge(),
        }
    }
}

/// Whether a text is what a pattern says, `*` being any text and `?` any character. Takes no longer than the product of
/// both lengths.
fn matches(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
    let (mut t, mut p) = (0, 0);
    // Where to go on when a `*` has to take one more.
    let mut star = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == text[t]) {
            (t, p) = (t + 1, p + 1);
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            (t, p) = (taken + 1, at + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    const DOCUMENT: &str = r#"{
        "name": {"first": "Tom", "last": "Anderson"}, "age": 37, "a.b": 1, "children": ["Sara", "Alex"],
        "friends": [
            {"first": "Dale", "age": 44, "ok": true},
            {"first": "Roger", "age": 68, "ok": false},
            {"first": "Jane", "age": 47, "nets": ["ig"]}
        ]
    }"#;

    #[test]
    fn paths_lead_into_documents() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            let document: Value<'_> = ctx.json_parse(DOCUMENT).unwrap();
            let check = |path: &str, expected: &str| {
                let found = JsonPath::parse(path).unwrap().find(&ctx, &document).unwrap();
                let found =
                    found.map(|found| ctx.json_stringify(found).unwrap().unwrap().to_string().unwrap());
                assert_eq!(found.as_deref().unwrap_or("nothing"), expected, "{path}");
            };
            check("age", "37");
            check("name.last", "\"Anderson\"");
            check("nam?.f*t", "\"Tom\"");
            check("a\\.b", "1");
            check("children.1", "\"Alex\"");
            check("children.2", "nothing");
            check("children.x", "nothing");
            check("age.x", "nothing");
            check("children.#", "2");
            check("age.#", "nothing");
            check("friends.#.first", r#"["Dale","Roger","Jane"]"#);
            check("friends.#.nets.0", r#"["ig"]"#);
            check(r#"friends.#(first=="Roger").age"#, "68");
            check(r#"friends.#(first=="Nobody").age"#, "nothing");
            check("friends.#(age>45)#.first", r#"["Roger","Jane"]"#);
            check("friends.#(age<=44)#.first", r#"["Dale"]"#);
            check(r#"friends.#(first!%"D*")#.first"#, r#"["Roger","Jane"]"#);
            check(r#"friends.#(first%"D*").first"#, "\"Dale\"");
            check("friends.#(ok==true).first", "\"Dale\"");
            check("friends.#(nets).first", "\"Jane\"");
            check(r#"friends.#(nets.#(="ig"))#.first"#, r#"["Jane"]"#);
            check(r#"children.#(!="Sara")"#, "\"Alex\"");
        });
    }

    #[test]
    fn what_is_left_out_is_named() {
        let check = |path: &str, expected: &str| {
            let error = JsonPath::parse(path).unwrap_err().to_string();
            assert!(error.contains(expected), "{path}: {error}");
        };
        check("children|@reverse", "pipes");
        check("@reverse", "modifiers");
        check("..#", "JSON lines");
        check("a.#(b==1", "without its `)`");
        check("a.#(b==x)", "needs a value");
        check("a.#(b)x", "expected `.`");
        check("[a,b]", "several paths");
    }

    #[test]
    fn patterns_match() {
        let check = |text: &str, pattern: &str, expected: bool| {
            assert_eq!(matches(text, pattern), expected, "{pattern}");
        };
        check("abc", "a*c", true);
        check("abc", "*", true);
        check("", "*", true);
        check("abc", "a?c", true);
        check("abc", "a?", false);
        check("abcbd", "a*bd", true);
        check("abcb", "a*bd", false);
    }
}
