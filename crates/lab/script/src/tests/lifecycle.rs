//! From reading a script to its summary.

use super::*;
use plimsoll_load::vu::Lifecycle as _;

#[test]
fn what_cannot_be_read_says_where() {
    check_refusal("export default function () {", "script.js:1:");
    check_refusal("export const a = 1", "exports no function");
    check_refusal("import { nothing } from 'k6'; export default () => {}", "nothing");
    check_refusal("throw new Error('at init'); export default () => {}", "at init");
    check_refusal("open('missing.txt'); export default () => {}", "missing.txt");
    check_refusal(
        "import { sleep } from 'k6'; sleep(1); export default () => {}",
        "init context",
    );
    check_refusal(
        "new (require('k6/metrics').Trend)('a b'); export default () => {}",
        "is not a metric name",
    );
    check_refusal(
        "export function options() {} ; export default () => {}",
        "`options` is a function",
    );
    check_refusal(
        "const a = 1;\nlet b = a.c.d;\nexport default () => {}",
        "2 | let b = a.c.d;",
    );
}

#[test]
fn options_are_what_the_script_says() {
    let script = Script::read(program(
        "export const options = { vus: 3, stages: [{ duration: '1s', target: 2 }] };
        export default () => {}; export function other() {}",
    ))
    .unwrap();
    let expected = serde_json::json!({ "vus": 3, "stages": [{ "duration": "1s", "target": 2 }] });
    assert_eq!(script.options().unwrap(), expected);
    assert_eq!(
        script.functions().iter().collect::<Vec<_>>(),
        ["default", "other"]
    );
}

#[tokio::test(start_paused = true)]
async fn modules_of_both_kinds_work_together() {
    let files = [
        ("script.js", "import { check } from 'k6';
          import twice, { three } from './common.js'; import * as ns from './es.js';
          export default () => check(null, { cjs: twice(2) === 4 && three === 3, es: ns.one === 1 && ns.default() === 'd' });", false),
        ("common.js", "const es = require('./es.js'); const k6 = require('k6'); undeclared = 3;
          module.exports = { default: (x) => x * (1 + es.one), three: undeclared, sleep: k6.sleep }; module.exports.__esModule = true", true),
        ("es.js", "export const one = 1; export default () => 'd';", false),
    ];
    let mut trial = Trial::new(program_of(&files));
    trial.iterate(2).await.unwrap();
    assert_eq!(trial.recorded(), ["checks=4/4"]);
    let cycle = [
        (
            "script.js",
            "exports.early = 'early'; exports.default = function () { require('k6').check(require('./other.js'), { cycle: (o) => o.seen === 'early' }) }; require('./other.js')",
            true,
        ),
        ("other.js", "exports.seen = require('./script.js').early", true),
    ];
    let mut trial = Trial::new(program_of(&cycle));
    trial.iterate(1).await.unwrap();
    assert_eq!(trial.recorded(), ["checks=1/1"]);
    let entry = [(
        "script.js",
        "exports.default = function () { require('k6').check(1, { ok: true }) }; exports.options = { vus: 2 }",
        true,
    )];
    let mut trial = Trial::new(program_of(&entry));
    trial.iterate(1).await.unwrap();
    assert_eq!(trial.recorded(), ["checks=1/1"]);
}

#[tokio::test(start_paused = true)]
async fn setup_data_reaches_everybody() {
    let mut trial = Trial::new(program(
        "import { check } from 'k6';
         export async function setup() { return { token: 'abc', list: [1] } }
         export default (data) => { check(data, { token: (d) => d.token === 'abc' && d.list.push(2) === __ITER + 2 }) }
         export function teardown(data) { check(data, { fresh: (d) => d.list.length === 1 }) }
         export function handleSummary(data) { return { stdout: data.metrics.x, 'a.bin': new Uint8Array([1, 2]).buffer } }",
    ));
    let (recorder, run) = (trial.recorder.clone(), trial.run.clone());
    trial
        .users
        .stages
        .setup(recorder.clone(), run.clone())
        .await
        .unwrap();
    trial.iterate(2).await.unwrap();
    trial.users.stages.teardown(recorder, run).await.unwrap();
    assert_eq!(trial.recorded(), ["checks=3/3"]);
    let files = trial
        .users
        .stages
        .handle_summary(&serde_json::json!({ "metrics": { "x": "text" } }))
        .await;
    let files = files.unwrap().unwrap();
    assert_eq!(
        files,
        [
            ("stdout".to_owned(), b"text".to_vec()),
            ("a.bin".to_owned(), vec![1, 2])
        ]
    );
}

/// What virtual users get from the return value of `setup`: JSON, or a part of the error.
async fn check_setup(returned: &str, expected: Result<&str, &str>) {
    let text = format!("export function setup() {{ return {returned} }}; export default () => {{}}");
    let mut trial = Trial::new(program(&text));
    let (recorder, run) = (trial.recorder.clone(), trial.run.clone());
    let outcome = trial.users.stages.setup(recorder, run).await;
    let data = trial.users.stages.setup_data();
    match (outcome, expected) {
        (Ok(()), Ok(json)) => assert_eq!(data.as_deref(), Some(json), "{returned}"),
        (Err(failure), Err(part)) => assert!(failure.to_string().contains(part), "{returned}: {failure}"),
        (outcome, _) => panic!("{returned}: {outcome:?}, {data:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn setup_data_has_the_shapes_of_k6() {
    for (returned, expected) in [
        (
            "{ a: undefined, b: [undefined, null] }",
            Ok(r#"{"a":null,"b":[null,null]}"#),
        ),
        (
            "new Map([['a', new Set([1])], ['b', undefined]])",
            Ok(r#"[["a",[1]],["b",null]]"#),
        ),
        (
            "[new Uint8Array([1, 2]), new Float32Array([1.5])]",
            Ok(r#"["AQI=",[1.5]]"#),
        ),
        ("[10n, Symbol('x'), -0, '<&>']", Ok(r#"[10,"x",0,"<&>"]"#)),
        (
            "[new Date(0), new Error('x'), /x/]",
            Ok(r#"["1970-01-01T00:00:00.000Z",{},{}]"#),
        ),
        ("{ a: [NaN] }", Err("returned the number NaN at `0`")),
        ("-Infinity", Err("returned the number -inf;")),
        ("{ f() {} }", Err("returned a function at `f`")),
        ("class {}", Err("returned a function;")),
        ("10n ** 400n", Err("returned the number inf;")),
    ] {
        check_setup(returned, expected).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_iteration_has_ended_and_the_user_goes_on() {
    for body in [
        "while (true) {}",
        "while (true) { try { sleep(1) } catch {} }",
        "sleep(1e9)",
        "try { sleep(100) } finally { sleep(5); n = 7 }",
        "const again = () => Promise.resolve().then(again); again(); ",
        "setInterval(() => {}, 10)",
    ] {
        let text = format!(
            "import {{ check, sleep }} from 'k6'; let n = 0;
             export default () => {{ if (__ITER > 0) {{ sleep(1); return check(n, {{ ok: true }}) }} {body} }}"
        );
        let trial = Trial::new(program(&text));
        let mut vu = trial.users.factory.create(VuId::FIRST).unwrap();
        let mut context = trial.context(0);
        {
            let mut iteration = vu.iterate(&mut context);
            let waker = std::task::Waker::noop();
            assert!(
                iteration
                    .as_mut()
                    .poll(&mut std::task::Context::from_waker(waker))
                    .is_pending(),
                "{body}"
            );
        }
        vu.iterate(&mut trial.context(1))
            .await
            .unwrap_or_else(|error| panic!("{error}: {body}"));
        assert_eq!(trial.recorded(), ["checks=1/1"], "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_script_can_end_its_run() {
    let mut trial = Trial::new(program(
        "import { test } from 'k6/execution';
        export default () => { try { test.abort('enough') } catch {} ; while (true) {} }",
    ));
    assert_eq!(trial.iterate(1).await, Ok(()), "its last iteration is complete");
}
