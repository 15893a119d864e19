//! The results of templates, and the errors for invalid ones.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::artillery::variables::Globals;

fn variables() -> Variables {
    let globals = Globals {
        values: [
            ("name".to_owned(), json!("Ada")),
            (
                "user".to_owned(),
                json!({"id": 7, "tags": ["a", {"b": null}], "first name": "A"}),
            ),
        ]
        .into(),
        environment: [("HOST".to_owned(), "h".to_owned())].into(),
        ..Globals::default()
    };
    Variables::new(Arc::new(globals))
}

#[test]
fn templates_are_replaced() {
    let check = |text: &str, expected: &str| {
        let template = Template::parse(text).unwrap();
        assert_eq!(template.render(&variables()), expected, "{text}");
    };
    check("", "");
    check("plain { } text", "plain { } text");
    check("{{ name }}", "Ada");
    check("{{name}}-{{{ name }}}!", "Ada-Ada!");
    check(
        "{{ user.id }}/{{ user.tags[0] }}/{{ user['first name'] }}/{{ user.tags.0 }}",
        "7/a/A/a",
    );
    check("{{ user.tags }}", r#"["a",{"b":null}]"#);
    check(
        "<{{ unknown }} {{ user.none.deeper }} {{ user.tags[1].b }}>",
        "<undefined undefined null>",
    );
    check(
        "{{ $env.HOST }}{{ $processEnvironment.HOST }}{{ $env.NONE }}",
        "hhundefined",
    );
    check("{{ $randomNumber(5, 5) }}", "5");
    check("{{ $randomNumber(-3, -3) }}", "-3");
}

#[test]
fn random_texts_have_their_length() {
    let length = |text| Template::parse(text).unwrap().render(&variables()).len();
    assert_eq!(length("{{ $randomString() }}"), 10);
    assert_eq!(length("{{ $randomString(3) }}"), 3);
}

#[test]
fn a_lone_expression_keeps_its_kind() {
    let value = json!({"id": "{{ user.id }}", "text": "{{ user.id }}!", "{{ name }}": ["{{ unknown }}", 1]});
    let template = JsonTemplate::parse(&value).unwrap();
    let expected = json!({"id": 7, "text": "7!", "Ada": [null, 1]});
    assert_eq!(template.value(&variables()), expected);
    let mut names = template.names();
    names.sort_unstable();
    assert_eq!(names, ["name", "unknown", "user", "user"]);
    let constant = json!({"a": [1, "b", {"c": null}]});
    assert_eq!(
        JsonTemplate::parse(&constant).unwrap().constant(),
        Some(&constant)
    );
}

#[test]
fn bad_templates_are_explained() {
    let check = |text: &str, expected: &str| {
        let error = Template::parse(text).unwrap_err().to_string();
        assert_eq!(error, expected, "{text}");
    };
    check("{{ a", "`{{` has no `}}`; write a template as {{ name }}");
    check("{{{ a }}", "`{{` has no `}}}`; write a template as {{ name }}");
    check(
        "{{ a b }}",
        "`a b` is neither a variable nor a function call; expected something like {{ user.name }}, {{ ids[0] }} or {{ \
         $randomNumber(1, 10) }}",
    );
    check(
        "{{ $randomNumer(1, 2) }}",
        "`$randomNumer` is not a function; did you mean `$randomNumber`?",
    );
    check(
        "{{ $shuffle() }}",
        "`$shuffle` is not a function; there are $randomNumber, $randomString, and those of the plugin fake-data, such as \
         $internetEmail",
    );
    check(
        "{{ $randomNumber(5) }}",
        "`$randomNumber(5)` has wrong arguments; expected something like $randomNumber(1, 10)",
    );
}
