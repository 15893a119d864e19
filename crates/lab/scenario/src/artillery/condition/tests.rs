//! The meaning of conditions, and the errors for invalid ones.

use serde_json::json;

use super::*;

fn lookup(name: &str) -> Option<Value> {
    Some(match name {
        "a" => json!(1),
        "text" => json!("abc"),
        "number" => json!("12"),
        "http.response_time.p95" => json!(249.5),
        "vusers.created_by_name.My test" => json!(3),
        "yes" => json!(true),
        _ => return None,
    })
}

#[test]
fn conditions_hold_or_not() {
    let check = |text: &str, expected: bool| {
        let condition: Condition = text.parse().unwrap();
        assert_eq!(condition.holds(&lookup), expected, "{text}");
    };
    check("a == 1", true);
    check("a != 1", false);
    check("a = 1 or true", true);
    check("http.response_time.p95 < 250 and a >= 1", true);
    check("http.response_time.p95 < 249.5", false);
    check("'vusers.created_by_name.My test' == 3", true);
    check("text == \"abc\" && number == 12", true);
    check("number + 1 == 13", true);
    check("unknown < 5", false);
    check("unknown > 5", false);
    check("unknown == null", true);
    check("not unknown", true);
    check("!yes || a > 5", false);
    check("not a == 2", true);
    check("a in (3, 2, 1)", true);
    check("a not in (3, 2, 1)", false);
    check("1 + 2 * 3 == 7 and (1 + 2) * 3 == 9", true);
    check("-a < 0 and 7 % 4 == 3 and 1 - 1 - 1 == -1", true);
    check("yes", true);
    check("text > \"abb\"", true);
    check("true or a > 5 and false", true);
}

#[test]
fn the_names_in_a_condition_are_known() {
    let condition: Condition = "a.b > 1 and not ('c d' in (e, 2))".parse().unwrap();
    assert_eq!(condition.names(), ["a.b", "c d", "e"]);
}

#[test]
fn bad_conditions_are_explained() {
    let check = |text: &str, expected: &str| {
        let error = text.parse::<Condition>().unwrap_err().to_string();
        let example = "; expected something like http.response_time.p95 < 250 and http.codes.200 > 0";
        assert_eq!(error, format!("{expected}{example}"), "{text}");
    };
    check("", "a name or a value is missing at the end");
    check("a >", "a name or a value is missing at the end");
    check("a b", "nothing may follow here at `b`");
    check("(a", "`)` is missing at the end");
    check("a in 5", "`in` needs a list such as (1, 2) at `5`");
    check("max(a)", "conditions have no functions at `max(a)`");
    check("a ; b", "this is not part of a condition at `; b`");
    check("\"open", "this is not part of a condition at `\"open`");
    check(
        &"(".repeat(100),
        &format!("the nesting is too deep at `{}`", "(".repeat(36)),
    );
}
