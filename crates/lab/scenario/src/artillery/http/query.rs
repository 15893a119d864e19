//! JMESPath: the expectations `jmespath` and `jpath` of Artillery's plugin `expect`.

use jmespath::{DEFAULT_RUNTIME, Expression, Variable, ast::Ast};
use serde_json::Value;

/// The length limit of an expression, in bytes. Reason: parser and interpreter recurse, at most once per byte.
const LONGEST_BYTES: usize = 1_000;

/// The limit of positions and steps. Reason: the interpreter adds them to positions in 32 bits.
const GREATEST_NUMBER: i32 = 1_000_000_000;

const EXPECTED: &str = "expected something like length(items) > `0`";

/// A JMESPath expression, as <https://jmespath.org/specification.html> has it.
#[derive(Clone, Debug)]
pub(crate) struct Query(Expression<'static>);

impl Query {
    /// # Errors
    /// The text is no such expression, too long, or calls a function that does not exist. The error is for people.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST_BYTES {
            return Err(format!(
                "this expression has {} bytes; the limit is {LONGEST_BYTES}",
                text.len()
            ));
        }
        let expression = jmespath::compile(text).map_err(|error| {
            format!(
                "this is not a JMESPath expression, from character {} on; {EXPECTED}",
                error.offset + 1
            )
        })?;
        match problem(expression.as_ast()) {
            Some(problem) => Err(problem),
            None => Ok(Self(expression)),
        }
    }

    /// Whether the result is true in JavaScript: empty lists and maps are, 0 and empty texts are not. Not if a function
    /// gets a value of another type than it wants.
    pub(crate) fn holds(&self, value: &Value) -> bool {
        self.0.search(value).is_ok_and(|found| is_true(&found))
    }
}

fn is_true(found: &Variable) -> bool {
    match found {
        Variable::Null => false,
        Variable::Bool(value) => *value,
        Variable::Number(number) => number.as_f64() != Some(0.0),
        Variable::String(text) => !text.is_empty(),
        Variable::Array(_) | Variable::Object(_) | Variable::Expref(_) => true,
    }
}

/// What an expression cannot be run with, if anything.
fn problem(expression: &Ast) -> Option<String> {
    let mut open = vec![expression];
    while let Some(node) = open.pop() {
        let problem = own_problem(node);
        if problem.is_some() {
            return problem;
        }
        open.extend(parts(node));
    }
    None
}

fn own_problem(node: &Ast) -> Option<String> {
    let is_great = |number: i32| number.unsigned_abs() > GREATEST_NUMBER.unsigned_abs();
    match node {
        Ast::Function { name, .. } if DEFAULT_RUNTIME.get_function(name).is_none() => {
            Some(format!("JMESPath has no function `{name}`; {EXPECTED}"))
        }
        Ast::Index { idx, .. } if is_great(*idx) => Some(too_great()),
        Ast::Slice {
            start, stop, step, ..
        } if [*start, *stop, Some(*step)].into_iter().flatten().any(is_great) => Some(too_great()),
        _ => None,
    }
}

fn too_great() -> String {
    format!("a position in a list is at most {GREATEST_NUMBER}")
}

/// The expressions that an expression is made of.
fn parts(node: &Ast) -> Vec<&Ast> {
    match node {
        Ast::Identity { .. }
        | Ast::Field { .. }
        | Ast::Index { .. }
        | Ast::Literal { .. }
        | Ast::Slice { .. } => Vec::new(),
        Ast::Expref { ast: node, .. }
        | Ast::Flatten { node, .. }
        | Ast::Not { node, .. }
        | Ast::ObjectValues { node, .. } => vec![node],
        Ast::Comparison { lhs, rhs, .. }
        | Ast::Projection { lhs, rhs, .. }
        | Ast::And { lhs, rhs, .. }
        | Ast::Or { lhs, rhs, .. }
        | Ast::Subexpr { lhs, rhs, .. } => vec![lhs, rhs],
        Ast::Condition { predicate, then, .. } => vec![predicate, then],
        Ast::Function { args: nodes, .. } | Ast::MultiList { elements: nodes, .. } => nodes.iter().collect(),
        Ast::MultiHash { elements, .. } => elements.iter().map(|pair| &pair.value).collect(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[test]
    fn results_count_as_in_javascript() {
        let value = json!({
            "id": 7, "zero": 0, "no": false, "none": null, "empty": "", "text": "x", "list": [], "map": {},
            "items": [{"price": 3, "name": "tea"}, {"price": 5, "name": "milk"}],
        });
        for (expression, expected) in [
            ("id", true),
            ("zero", false),
            ("no", false),
            ("none", false),
            ("absent", false),
            ("empty", false),
            ("text", true),
            ("list", true),
            ("map", true),
            ("id == `7`", true),
            ("id == '7'", false),
            ("length(items) > `1`", true),
            ("length(items) > `2`", false),
            ("items[?price > `4`].name | [0] == 'milk'", true),
            ("sum(items[*].price) == `8`", true),
            ("items[-1].name", true),
            ("items[5].name", false),
            ("!no && contains(text, 'x')", true),
            ("items[::2] | length(@) == `1`", true),
            ("{a: id, b: [text]}.b[0]", true),
            // A value of another type.
            ("length(id)", false),
            ("items[::0]", false),
        ] {
            let query = Query::parse(expression).expect(expression);
            assert_eq!(query.holds(&value), expected, "{expression}");
        }
    }

    #[test]
    fn mistakes_are_found_before_the_run() {
        let check = |text: &str, expected: Expect| expected.assert_eq(&Query::parse(text).unwrap_err());
        check(
            "",
            expect![
                "this is not a JMESPath expression, from character 1 on; expected something like length(items) > `0`"
            ],
        );
        check(
            "items[",
            expect![
                "this is not a JMESPath expression, from character 7 on; expected something like length(items) > `0`"
            ],
        );
        check(
            "a ==",
            expect![
                "this is not a JMESPath expression, from character 5 on; expected something like length(items) > `0`"
            ],
        );
        check(
            "size(items)",
            expect!["JMESPath has no function `size`; expected something like length(items) > `0`"],
        );
        check(
            "items[*].{n: count(@)}",
            expect!["JMESPath has no function `count`; expected something like length(items) > `0`"],
        );
        check(
            "items[2000000000]",
            expect!["a position in a list is at most 1000000000"],
        );
        check(
            "items[::2147483647]",
            expect!["a position in a list is at most 1000000000"],
        );
        check(
            "items[99999999999]",
            expect![
                "this is not a JMESPath expression, from character 7 on; expected something like length(items) > `0`"
            ],
        );
        check(
            &"(".repeat(2_000),
            expect!["this expression has 2000 bytes; the limit is 1000"],
        );
    }

    #[test]
    fn deep_expressions_end() {
        for text in [
            format!("{}a{}", "(".repeat(499), ")".repeat(499)),
            format!("{}a", "!".repeat(999)),
            format!("a{}", "[]".repeat(499)),
            format!("a{}", ".a".repeat(499)),
            format!("a{}", "||a".repeat(333)),
        ] {
            let query = Query::parse(&text).expect(&text);
            query.holds(&json!({"a": [1]}));
        }
    }
}
