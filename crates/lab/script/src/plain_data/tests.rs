//! Plain data as it is sent, next to what the engine's JSON becomes.

use plimsoll_cable::identifier::encode_action;
use proptest::prelude::*;
use rquickjs::{Context, Runtime};

use super::*;

fn context() -> Context {
    Context::full(&Runtime::new().expect("a runtime")).expect("a context")
}

/// What is sent of the value of an expression: as plain data, and by way of the engine's JSON. `None`: not plain; not an object.
fn both(context: &Context, expression: &str) -> (Option<String>, Option<String>) {
    context.with(|ctx| {
        let value: Value<'_> = ctx.eval(format!("({expression})")).expect(expression);
        let plain = encode_object(&value, Some(("action", "speak")));
        let json = ctx
            .json_stringify(value)
            .ok()
            .flatten()
            .and_then(|json| json.to_string().ok());
        (plain, json.and_then(|json| encode_action("speak", &json).ok()))
    })
}

#[track_caller]
fn check_plain(expression: &str, expected: &str) {
    let (plain, by_json) = both(&context(), expression);
    assert_eq!(plain.as_deref(), Some(expected), "{expression}");
    assert_eq!(by_json.as_deref(), Some(expected), "{expression}");
}

#[test]
fn plain_data_are_written_in_order() {
    check_plain("{}", r#"{"action":"speak"}"#);
    check_plain(
        "{ z: 1, b: 'x', action: 'other' }",
        r#"{"action":"speak","b":"x","z":1}"#,
    );
    check_plain(
        "{ payload: { n: 1, a: [true, null, undefined, {}, []], u: undefined } }",
        r#"{"action":"speak","payload":{"a":[true,null,null,{},[]],"n":1}}"#,
    );
    check_plain(
        "(() => { const o = { a: 1, b: 2 }; delete o.a; Object.defineProperty(o, 'hidden', { value: 1 }); o[Symbol.iterator] = 1; return o })()",
        r#"{"action":"speak","b":2}"#,
    );
    check_plain("Object.freeze({ a: [1] })", r#"{"a":[1],"action":"speak"}"#);
}

#[test]
fn texts_have_the_escapes_that_are_sent() {
    check_plain(
        r#"{ t: "<b>&é\n\u0001\u2028\"\\ÿ→😀" }"#,
        r#"{"action":"speak","t":"\u003cb\u003e\u0026é\n\u0001\u2028\"\\ÿ→😀"}"#,
    );
    check_plain(
        r#"{ "a<b": 1, "with \"quotes\"": 2 }"#,
        r#"{"a\u003cb":1,"action":"speak","with \"quotes\"":2}"#,
    );
    // A part of a longer text.
    check_plain(
        "{ t: 'a long text of which a part is sent'.slice(2, 11) }",
        r#"{"action":"speak","t":"long text"}"#,
    );
}

#[test]
fn numbers_are_those_of_the_language() {
    for number in [
        "0",
        "-0",
        "-1",
        "2147483648",
        "1e3",
        "1.5",
        "-0.1",
        "0.000001",
        "123456789012345680000",
        "9007199254740993",
        "NaN",
        "-Infinity",
        "5e-324 * 0",
        "Date.UTC(2026, 1)",
        "0.1 + 0.2",
    ] {
        let (plain, by_json) = both(&context(), &format!("{{ n: {number} }}"));
        assert_eq!(plain, by_json, "{number}");
        assert!(plain.is_some(), "{number}");
    }
}

#[test]
fn what_has_behaviour_is_left_to_the_engine() {
    for expression in [
        "{ at: new Date(0) }",
        "{ toJSON() { return { a: 1 } } }",
        "{ inner: { toJSON: 1 } }",
        "{ get a() { return 1 } }",
        "new (class { a = 1 })",
        "new Proxy({ a: 1 }, {})",
        "{ f() {} }",
        "{ s: Symbol.iterator }",
        "{ n: new Number(1) }",
        "Object.create({ a: 1 })",
        "Object.create(null)",
        "{ 1: 2 }",
        "{ é: 1 }",
        "{ n: 1e21 }",
        "{ n: 1e-7 }",
        "{ t: '\\ud800' }",
        "{ list: Object.assign([1], { more: 2 }) }",
        "{ list: new Array(3) }",
        "{ list: Object.seal([1]) }",
        "{ map: new Map([[1, 2]]) }",
        "{ bytes: new Uint8Array(2) }",
        "[1]",
        "'text'",
        "null",
        "() => 1",
    ] {
        assert_eq!(both(&context(), expression).0, None, "{expression}");
    }
}

#[test]
fn prototypes_that_say_how_they_are_written_are_asked() {
    for prototype in ["Object", "Array"] {
        let context = context();
        context.with(|ctx| {
            let source = format!("{prototype}.prototype.toJSON = () => 'other'");
            ctx.eval::<Value<'_>, _>(source)
                .map(drop)
                .expect("the source runs");
        });
        assert_eq!(both(&context, "{ list: [1] }").0, None, "{prototype}");
    }
    let context = context();
    context.with(|ctx| {
        let source = "Object.setPrototypeOf(Array.prototype, { toJSON: () => 'other' })";
        ctx.eval::<Value<'_>, _>(source)
            .map(drop)
            .expect("the source runs");
    });
    assert_eq!(both(&context, "{ list: [1] }").0, None);
}

#[test]
fn depth_and_length_have_an_end() {
    for (n_lists, is_plain) in [(31, true), (32, false)] {
        let lists = format!("{{ a: {}1{} }}", "[".repeat(n_lists), "]".repeat(n_lists));
        let (plain, by_json) = both(&context(), &lists);
        assert_eq!(plain.is_some(), is_plain, "{lists}");
        assert_eq!(plain, by_json, "{lists}");
    }
    let endless = "(() => { let o = {}; for (let i = 0; i < 30; i++) o = { a: o, b: o }; return o })";
    let circular = "(() => { const o = {}; o.o = o; return o })()";
    let context = context();
    context.with(|ctx| {
        for expression in [format!("{endless}()"), circular.to_owned()] {
            let value: Value<'_> = ctx.eval(expression).expect("the source runs");
            assert_eq!(encode_object(&value, None), None);
        }
    });
}

/// An expression of plain data and of some that are not.
fn data() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| format!("{n:e}").replace("inf", "Infinity")),
        (-1e6..1e6_f64).prop_map(|n| n.to_string()),
        ".{0,8}".prop_map(|text| serde_json::to_string(&text).expect("a text")),
        prop::sample::select(vec!["true", "null", "undefined", "new Date(0)"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(("[a-d<é1]{1,2}", inner), 0..4).prop_map(|fields| {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(key, value)| format!("{key:?}: {value}"))
                    .collect();
                format!("{{ {} }}", fields.join(", "))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn it_is_what_the_engines_json_becomes(value in data(), key in "[a-c]|action") {
        let (plain, by_json) = both(&context(), &format!("{{ {key}: {value}, b: {value} }}"));
        if plain.is_some() {
            prop_assert_eq!(plain, by_json);
        }
    }
}
