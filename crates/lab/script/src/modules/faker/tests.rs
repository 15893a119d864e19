//! `k6/x/faker` as scripts see it: every function of the catalog, seeds, mistakes and the declarations for editors.

use std::{collections::BTreeSet, fmt::Write as _};

use expect_test::expect_file;
use plimsoll_fake::{
    Function, Kind, Parameter, Presence,
    catalog::{CATEGORIES, functions},
};
use serde_json::json;

use super::MODULE;
use crate::tests::{Trial, check, check_failure, program};

/// Arguments for all parameters without a default, in JavaScript.
fn sample(function: &Function) -> String {
    let argument = |parameter: &Parameter| match (parameter.presence, parameter.kind, parameter.name) {
        (Presence::Required, Kind::Number, "max") => "5",
        (Presence::Required, Kind::Number, _) => "3",
        (Presence::Required, Kind::Texts, _) => "['one', 'two', 'three']",
        (Presence::Required, Kind::Numbers, _) => "[14, 8, 13]",
        (Presence::Required, _, _) => "'a-##-??'",
        _ => "undefined",
    };
    let arguments: Vec<_> = function.parameters.iter().map(argument).collect();
    arguments.join(", ")
}

fn kind_in_typescript(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "string",
        Kind::Number => "number",
        Kind::Boolean => "boolean",
        Kind::Texts => "string[]",
        Kind::Numbers => "number[]",
        Kind::Object => "Record<string, unknown>",
    }
}

/// One iteration of a script that throws unless `expression` is true. It has two Fakers with one seed.
async fn holds(expression: &str) {
    let text = format!(
        "import faker, {{ Faker }} from 'k6/x/faker';
         const one = new Faker(11), other = new Faker(11);
         const thrown = (f) => {{ try {{ f() }} catch (error) {{ return `${{error.name}}: ${{error.message}}` }} }};
         export default () => {{ if (!({expression})) throw new Error('does not hold') }}"
    );
    check(&text, &[]).await;
}

#[tokio::test(start_paused = true)]
async fn every_function_gives_its_kind_in_three_ways() {
    let mut calls = String::new();
    for category in CATEGORIES {
        for function in category.functions() {
            let (name, arguments) = (function.name, sample(function));
            let kind = kind_in_typescript(function.result);
            let list = |of: &str| format!("{of}.{name}({arguments})");
            let _ = writeln!(
                calls,
                "all('{name}', '{kind}', {}, {}, faker.call('{name}', {arguments}));",
                list(&format!("faker.{}", category.name)),
                list("faker.zen"),
            );
        }
    }
    let text = format!(
        "import faker from 'k6/x/faker';
         const is = {{
           'string': (value) => typeof value === 'string' && value.length > 0,
           'number': (value) => typeof value === 'number' && Number.isFinite(value),
           'boolean': (value) => typeof value === 'boolean',
           'string[]': (value) => Array.isArray(value) && value.length > 0 && value.every(is.string),
           'number[]': (value) => Array.isArray(value) && value.length > 0 && value.every(is.number),
           'Record<string, unknown>': (value) => Object.keys(value).length > 1 && !Array.isArray(value),
         }};
         const all = (name, kind, ...values) => {{
           for (const value of values) if (!is[kind](value)) throw new Error(`${{name}}: ${{JSON.stringify(value)}}`);
         }};
         export default () => {{ {calls} }}"
    );
    check(&text, &[]).await;
}

#[tokio::test(start_paused = true)]
async fn seeds_decide_values() {
    holds("JSON.stringify(one.person.person()) === JSON.stringify(other.person.person())").await;
    holds("one.call('intRange', 1, 1e9) === other.zen.intRange('1', 1e9)").await;
    holds("new Faker(12).strings.letterN(20) !== one.strings.letterN(20)").await;
    holds("new Faker().strings.letterN(20) !== new Faker(0).strings.letterN(20)").await;
    holds("new Faker('11').strings.uuid() === one.strings.uuid() && one instanceof Faker").await;
    holds("(({ uuid }) => uuid() === other.strings.uuid())(one.strings)").await;
    let text = "import faker, { Faker } from 'k6/x/faker';
        export default () => { if (faker.strings.uuid() !== new Faker(11).strings.uuid()) throw new Error('another seed') }";
    let mut seeded = program(text);
    seeded.env.insert("XK6_FAKER_SEED".to_owned(), "11".to_owned());
    Trial::new(seeded).iterate(1).await.unwrap();
    check_failure(text, "another seed").await;
}

#[tokio::test(start_paused = true)]
async fn a_faker_lists_its_categories_and_stays_as_it_is() {
    holds("Object.keys(faker).length === 30 && Object.keys(faker).includes('zen') && !('persn' in faker)")
        .await;
    holds("one.animal.bird() && Object.keys(one).length === 30 && one.animal === one.animal && one.call === one.call").await;
    holds("Object.keys(one.app).join() === 'appAuthor,appName,appVersion' && 'appName' in one.app").await;
    holds("one.app.appNam === undefined && one.persn === undefined && one[Symbol.iterator] === undefined")
        .await;
    holds("`${one}` === '[object Object]' && one.hasOwnProperty('app') && Object.create(one).app.appName()")
        .await;
    holds("thrown(() => { one.app = 1 }) === 'TypeError: a Faker cannot be changed, so `app` cannot be set'")
        .await;
    holds("JSON.stringify(Object.keys(one.person.teams(['a'], ['__proto__', 'x']))) === '[\"__proto__\",\"x\"]'").await;
}

#[tokio::test(start_paused = true)]
async fn mistakes_are_type_errors() {
    let check = async |call: &str, expected: &str| {
        holds(&format!("thrown(() => {call}) === {expected:?}")).await;
    };
    check(
        "faker.numbers.intRange(1)",
        "TypeError: intRange(): `max` is missing; expected an integer",
    )
    .await;
    check(
        "faker.numbers.intRange(null, {})",
        "TypeError: intRange(): `min` is \"null\"; expected an integer",
    )
    .await;
    check(
        "faker.strings.digitN(2 ** 30)",
        "TypeError: digitN(): `count` is \"1073741824\"; expected an integer from 0 to 1048576",
    )
    .await;
    check(
        "faker.strings.randomString([])",
        "TypeError: randomString(): `strs` is an empty list; expected at least one item",
    )
    .await;
    check(
        "faker.strings.shuffleStrings(Array(100001).fill(''))",
        "RangeError: shuffleStrings(): `strs` has 100001 items; expected at most 100000",
    )
    .await;
    check(
        "faker.strings.shuffleStrings(Array(20).fill('x'.repeat(2 ** 20)))",
        "RangeError: shuffleStrings(): `strs` has more than 16 MiB of text; expected at most that",
    )
    .await;
    check(
        "faker.call('fristName')",
        "TypeError: call() knows no function `fristName`; did you mean `firstName`?",
    )
    .await;
    check(
        "faker.call()",
        "TypeError: call() knows no function ``; expected the name of a function, for example \"firstName\"",
    )
    .await;
    holds("thrown(() => faker.strings.digitN({ toString() { throw new RangeError('mine') } })) === 'RangeError: mine'").await;
    holds("faker.strings.digitN({ toString: () => faker.strings.digitN(1) === '' ? 1 : 3 }).length === 3")
        .await;
}

#[test]
fn the_table_has_all_categories() {
    let rows = MODULE
        .api
        .iter()
        .filter_map(|entry| entry.name.strip_prefix("Faker."));
    let rows: BTreeSet<_> = rows.collect();
    let categories = CATEGORIES.iter().map(|category| category.name);
    assert_eq!(rows, categories.chain(["call", "zen"]).collect());
}

#[test]
fn the_declarations_are_those_of_the_catalog() {
    let mut text = DECLARATIONS_HEAD.to_owned();
    let interface = |name: &str| format!("{}{}Functions", name[..1].to_uppercase(), &name[1..]);
    let everything = json!(functions().count());
    for category in CATEGORIES {
        let _ = write!(
            text,
            "    /** Invents {}. */\n    readonly {}: {};\n",
            category.about,
            category.name,
            interface(category.name)
        );
    }
    let all: Vec<_> = CATEGORIES
        .iter()
        .map(|category| interface(category.name))
        .collect();
    let _ = write!(
        text,
        "    /** All {everything} functions. */\n    readonly zen: {};\n  }}\n",
        all.join(" & ")
    );
    for category in CATEGORIES {
        let _ = write!(text, "\n  export interface {} {{\n", interface(category.name));
        for function in category.functions() {
            let parameters: Vec<_> = function.parameters.iter().map(parameter).collect();
            let result = kind_in_typescript(function.result);
            let _ = writeln!(
                text,
                "    {}({}): {result};",
                function.name,
                parameters.join(", ")
            );
        }
        text.push_str("  }\n");
    }
    text.push_str("\n  /** A Faker with the seed of the environment variable XK6_FAKER_SEED. */\n");
    text.push_str("  const faker: Faker;\n  export default faker;\n}\n");
    expect_file!["../types/faker.d.ts"].assert_eq(&text);
}

fn parameter(parameter: &Parameter) -> String {
    let mark = if parameter.presence == Presence::Required {
        ""
    } else {
        "?"
    };
    format!("{}{mark}: {}", parameter.name, kind_in_typescript(parameter.kind))
}

const DECLARATIONS_HEAD: &str = "\
declare module \"k6/x/faker\" {
  /** Invents values. Two with the same seed give the same values. */
  export class Faker {
    /** Without a seed, or with 0, the values differ each time. */
    constructor(seed?: number);
    /** Calls the function of this name. */
    call(func: string, ...args: unknown[]): unknown;
";
