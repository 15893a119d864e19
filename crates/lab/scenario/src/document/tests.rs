//! Valid and invalid documents.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn json(text: &str) -> String {
    let document = Document::read("test.yml", text).unwrap();
    document.finish().unwrap();
    serde_json::to_string(document.root().node()).unwrap()
}

#[track_caller]
fn refused(text: &str, expected: &Expect) {
    let mistakes = match Document::read("test.yml", text) {
        Err(mistakes) => mistakes,
        Ok(document) => document.finish().unwrap_err(),
    };
    expected.assert_eq(&mistakes.to_string());
}

#[test]
fn yaml_and_json_make_the_same_tree() {
    let check = |text: &str, expected: &str| assert_eq!(json(text), expected, "{text}");
    check("", "null");
    check("# nothing\n", "null");
    check("- a\n- 'b'\n- \"c\\n\"\n- |\n  d\n", r#"["a","b","c\n","d\n"]"#);
    check(
        "b: 1\na: {z: ~, y: [true, 0.5]}\n",
        r#"{"b":1,"a":{"z":null,"y":[true,0.5]}}"#,
    );
    check(
        "200: ok\ntrue: 1\n1.50: x\n",
        r#"{"200":"ok","true":1,"1.50":"x"}"#,
    );
    check("a: &x {n: 1}\nb: *x\n", r#"{"a":{"n":1},"b":{"n":1}}"#);
    check(
        "a: &x {n: 1, m: 2}\nb: {<<: *x, m: 3}\nc: {<<: [*x, {n: 4, k: 5}]}\n",
        r#"{"a":{"n":1,"m":2},"b":{"m":3,"n":1},"c":{"n":1,"m":2,"k":5}}"#,
    );
    check("!!str 5", r#""5""#);
    check("---\n[1]\n...\n", "[1]");
    // JSON's peculiarities: tabs, no space after a colon, and characters as pairs of escapes.
    check(
        "{\n\t\"a\":\"\\ud83d\\ude00 \\/ \\u00e9\",\n\t\"b\":[1,-2.5e3,null]\n}",
        "{\"a\":\"😀 / é\",\"b\":[1,-2500.0,null]}",
    );
}

#[test]
fn places_are_those_of_the_file() {
    let document = Document::read("test.yml", "é: 1\nlist:\n  - {key: value}\n").unwrap();
    let list = document.root().node().value.get("list").unwrap();
    let Value::List(items) = &list.value else {
        panic!("{list:?}")
    };
    let Value::Map(entries) = &items[0].value else {
        panic!("{items:?}")
    };
    assert_eq!(items[0].place.to_string(), "3:5");
    assert_eq!(entries[0].place.to_string(), "3:6");
    assert_eq!(entries[0].node.place.to_string(), "3:11");
}

#[test]
fn what_is_no_document_is_told_with_its_place() {
    refused(
        "a: [1, 2\nb: 3\n",
        &expect![
            "test.yml:2:2: this is not valid YAML or JSON: illegal placement of ':' indicator; is a ] or a } missing before this place?"
        ],
    );
    refused(
        "a: 1\n  b: 2\n",
        &expect![
            "test.yml:2:4: this is not valid YAML or JSON: mapping values are not allowed in this context; text with \
             a colon and a space needs quotes"
        ],
    );
    refused(
        "\"\\ud83d\"",
        &expect![
            "test.yml:1:1: this is not valid YAML or JSON: while parsing a quoted scalar, found high surrogate without following low surrogate"
        ],
    );
    refused(
        "{\"a\": 1",
        &expect!["test.yml:1:1: this is not valid YAML or JSON: unclosed bracket '{'"],
    );
    refused(
        "a: *nobody\n",
        &expect!["test.yml:1:4: this is not valid YAML or JSON: while parsing node, found unknown anchor"],
    );
    refused(
        "a: &x [*x]\n",
        &expect!["test.yml:1:8: an alias refers to a value that contains it"],
    );
    refused(
        "a: 1\n---\nb: 2\n",
        &expect![
            "test.yml:2:1: a second document begins here, but a file has only one; \
            remove everything from `---` on"
        ],
    );
    refused("? [1]\n: 2\n", &expect!["test.yml:1:3: a key has to be a string"]);
    refused(
        "a: 1\nb: 2\na: 3\nc: !thing 4\n<<: 5\n",
        &expect![[r#"
            test.yml:3:1: a: this key is a duplicate of the one at 1:1
            test.yml:4:11: the tag `!thing` is not known here; write the value without it
            test.yml:5:5: <<: expected a map to merge, for example *defaults, found 5"#]],
    );
}

#[test]
fn the_cost_of_a_document_is_bounded() {
    let bomb = (1..12).fold("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |bomb, n| {
        format!(
            "{bomb}a{n}: &a{n} [{}]\n",
            vec![format!("*a{}", n - 1); 9].join(", ")
        )
    });
    refused(
        &bomb,
        &expect!["test.yml:6:10: the file has more than 200000 values with aliases expanded; split the file"],
    );
    let long = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(100_000),
        vec!["*a"; 1000].join(", ")
    );
    refused(
        &long,
        &expect![
            "test.yml:2:665: its strings have more than 16777216 bytes in total with aliases expanded; split the file"
        ],
    );
    refused(
        &"[".repeat(100_000),
        &expect!["test.yml:1:256: this is not valid YAML or JSON: recursion limit exceeded"],
    );
    refused(
        &"- ".repeat(100_000),
        &expect!["test.yml:1:129: lists and maps are nested more than 64 levels deep"],
    );
    let deep = (1..100).fold("a0: &a0 [x]\n".to_owned(), |deep, n| {
        format!("{deep}a{n}: &a{n} [*a{}]\n", n - 1)
    });
    refused(
        &deep,
        &expect!["test.yml:64:12: lists and maps are nested more than 64 levels deep"],
    );
}

#[test]
fn reading_gathers_all_mistakes() {
    let text = "name: 5\ncount: -1\nratio: high\non: \"true\"\nitems: {}\nsteps:\n  - sned: hi\n  - 7\n  - {}\n'odd key': 1\n";
    let document = Document::read("test.yml", text).unwrap();
    let mut fields = document.root().fields().unwrap();
    assert_eq!(fields.get("name").unwrap().text(), None);
    assert_eq!(fields.get("count").unwrap().whole(), None);
    assert_eq!(fields.get("ratio").unwrap().number(), None);
    assert_eq!(fields.get("on").unwrap().boolean(), None);
    assert!(fields.get("items").unwrap().list().is_none());
    assert!(
        fields
            .require("url", "a URL, for example ws://localhost")
            .is_none()
    );
    for step in fields.get("steps").unwrap().list().unwrap() {
        if let Some(mut fields) = step.fields() {
            assert!(fields.require("send", "a text, for example send: hi").is_none());
            fields.finish();
        }
    }
    fields.finish();
    expect![[r#"
        test.yml:1:1: `url` is missing: expected a URL, for example ws://localhost
        test.yml:1:7: name: expected a text, found 5
        test.yml:2:8: count: expected a whole number, for example 10, found -1
        test.yml:3:8: ratio: expected a number, for example 0.5, found "high"
        test.yml:4:5: on: expected true or false, found "true"
        test.yml:5:8: items: expected a list, found a map
        test.yml:7:5: steps[0]: `send` is missing: expected a text, for example send: hi
        test.yml:7:5: steps[0].sned: is not a key here; did you mean `send`?
        test.yml:8:5: steps[1]: expected a map, found 7
        test.yml:9:5: steps[2]: `send` is missing: expected a text, for example send: hi
        test.yml:10:1: ["odd key"]: is not a key here; expected one of name, count, ratio, on, items, url, steps"#]].assert_eq(&document.finish().unwrap_err().to_string());
    document.finish().unwrap();
}

#[test]
fn values_that_are_right_are_read() {
    let document = Document::read("test.yml", "{a: text, b: 2.0, c: 0.5, d: true, e: [1], f: null}").unwrap();
    let mut fields = document.root().fields().unwrap();
    assert_eq!(fields.get("a").unwrap().text(), Some("text"));
    assert_eq!(fields.get("b").unwrap().whole(), Some(2));
    assert_eq!(fields.get("c").unwrap().number(), Some(0.5));
    assert_eq!(fields.get("d").unwrap().boolean(), Some(true));
    let items: Vec<_> = fields.get("e").unwrap().list().unwrap().collect();
    assert_eq!((items[0].path(), items[0].whole()), ("e[0]", Some(1)));
    assert!(fields.get("f").is_none());
    assert!(fields.find("f").is_some());
    assert_eq!(fields.all().map(|(key, _)| key).collect::<String>(), "abcdef");
    fields.finish();
    document.finish().unwrap();
}

#[test]
fn a_tag_is_a_mistake_unless_somebody_takes_it() {
    let document = Document::read("test.yml", "[!ruby/regexp /ping/i, !ruby/regexp /pong/]").unwrap();
    let items: Vec<_> = document.root().list().unwrap().collect();
    items[0].accept_tag("ruby/regexp");
    items[1].accept_tag("other");
    assert_eq!(items[0].text(), Some("/ping/i"));
    expect!["test.yml:1:37: the tag `!ruby/regexp` is not known here; write the value without it"]
        .assert_eq(&document.finish().unwrap_err().to_string());
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        // YAML has no control characters, while JSON has DEL.
        "\\PC{0,12}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map("[^<\\pC]\\PC{0,8}", inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn json_is_read_as_what_it_is(value in any_json()) {
        let document = Document::read("test.json", &value.to_string()).unwrap();
        prop_assert_eq!(serde_json::to_value(document.root().node()).unwrap(), value.clone());
        let document = Document::read("test.json", &serde_json::to_string_pretty(&value).unwrap()).unwrap();
        prop_assert_eq!(serde_json::to_value(document.root().node()).unwrap(), value);
        prop_assert!(document.finish().is_ok());
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-a:{}\\[\\],&*!|>'\"#%@`\n\t <~.0-9]{0,64}") {
        if let Ok(document) = Document::read("test.yml", &text) {
            drop(document.finish());
        }
    }
}
