//! Functions as users call them, on a paused clock.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use plimsoll_load::{
    metrics::{MetricSet, Recorder, Registry},
    run::RunHandle,
};
use plimsoll_scenario::artillery::{
    Globals,
    hooks::{self, Argument, Call, Guest, Instance, Introduction, Processor as _, Response, Returned},
};
use serde_json::{Value, json};
use tokio::task::LocalSet;

use super::Processor;
use crate::{Program, source::test_folder::Folder, tests::program_of};

/// The module on this thread, with the metrics of its users.
struct Trial {
    instance: std::rc::Rc<dyn Instance>,
    recorder: Recorder,
    globals: Arc<Globals>,
}

impl Trial {
    fn new(text: &str) -> Self {
        Self::of(Self::program(text))
    }

    fn program(text: &str) -> Program {
        let is_common_js = !text.contains("export ");
        program_of(&[("functions.js", text, is_common_js)])
    }

    fn of(program: Program) -> Self {
        let processor = Processor::read(program);
        let processor = processor.unwrap_or_else(|error| panic!("{error}"));
        Self {
            instance: processor.instance().unwrap(),
            recorder: Recorder::new(MetricSet::new(Arc::new(Registry::new()))),
            globals: Arc::new(Globals {
                values: [
                    ("room".to_owned(), json!("lobby")),
                    ("table".to_owned(), json!([[1]])),
                ]
                .into(),
                environment: [("HOST".to_owned(), "h".to_owned())].into(),
                ..Globals::default()
            }),
        }
    }

    fn guest(&self) -> Box<dyn Guest> {
        self.instance.guest(Introduction {
            uid: "u-1".to_owned(),
            scenario: r#"{"name": "chat"}"#.into(),
            globals: Arc::clone(&self.globals),
            recorder: self.recorder.clone(),
            run: RunHandle::new(),
        })
    }
}

fn call(function: &str, arguments: Vec<Argument>) -> Call {
    Call {
        function: function.into(),
        arguments,
        variables: vec![("n".to_owned(), json!(1))],
    }
}

/// A function step.
async fn step(guest: &dyn Guest, function: &str) -> Result<Returned, String> {
    let arguments = vec![Argument::Context, Argument::Events, Argument::Next];
    guest.call(call(function, arguments)).await
}

async fn check(text: &str, expected: Result<Value, &str>) {
    LocalSet::new()
        .run_until(async {
            let trial = Trial::new(text);
            let guest = trial.guest();
            let returned = step(&*guest, "f").await;
            let variables =
                returned.map(|returned| returned.variables.into_iter().collect::<serde_json::Map<_, _>>());
            assert_eq!(
                variables.map(Value::Object),
                expected.map_err(str::to_owned),
                "{text}"
            );
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn functions_end_with_next_or_their_promise() {
    let cases = [
        ("exports.f = (context, events, next) => { context.vars.a = context.vars.n + 1; next() }", json!({"a": 2})),
        ("module.exports = { f(context, ee, next) { setTimeout(() => { context.vars.a = [1]; next() }, 90000) } }", json!({"a": [1]})),
        ("export async function f(context) { await new Promise((done) => setTimeout(done, 60000)); context.vars.a = 'x' }", json!({"a": "x"})),
        ("export const f = (context) => Promise.resolve().then(() => { context.vars.a = 1 })", json!({"a": 1})),
        ("export default { f(context, ee, next) { context.vars.a = 1; next() } }", json!({"a": 1})),
        // A plain function that takes `next` ends when it calls `next`; its return value does not matter.
        ("exports.f = (c, ee, next) => { setTimeout(() => { c.vars.a = 1; next() }, 1000); return Promise.resolve() }", json!({"a": 1})),
        ("exports.f = (...all) => { all[0].vars.a = all.length; all[2](); all[2](new Error('again')) }", json!({"a": 3})),
        // What cannot be told stays with the functions.
        ("exports.f = ({ vars }, ee, next) => { vars.a = () => 1; vars.n = 2; delete vars.room; next() }", json!({"n": 2, "room": null})),
        ("exports.f = (context, ee, next) => { context.vars.table.push(1); context.vars.n = 1; next() }", json!({})),
        ("exports.f = (context, ee, next) => { context.vars = { a: 1 }; next() }",
         json!({"a": 1, "n": null, "room": null, "table": null, "$env": null, "$processEnvironment": null})),
        ("exports.f = ({ vars, scenario, _uid }, ee, next) => {
            vars.a = [vars.room, vars.$env.HOST, vars.$processEnvironment.HOST, process.env.NAME, scenario.name, _uid]; next() }",
         json!({"a": ["lobby", "h", "h", "value", "chat", "u-1"]})),
    ];
    for (text, expected) in cases {
        check(text, Ok(expected)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn failures_have_the_names_that_artillery_gives_them() {
    let cases = [
        (
            "exports.f = (context, ee, next) => next(new Error('no luck'))",
            "no luck",
        ),
        (
            "exports.f = (context, ee, next) => next(Object.assign(new Error('no luck'), { code: 'ENOLUCK' }))",
            "ENOLUCK",
        ),
        ("exports.f = (context, ee, next) => next('as text')", "as text"),
        (
            "exports.f = (context, ee, next) => { throw new Error('thrown') }",
            "thrown",
        ),
        (
            "exports.f = (context, ee, next) => { context.none.x = 1 }",
            "cannot set property 'x' of undefined",
        ),
        (
            "exports.f = (context, ee, next) => { setTimeout(() => { throw new Error('later') }, 1000) }",
            "later",
        ),
        (
            "export async function f() { throw new Error('rejected') }",
            "rejected",
        ),
        (
            "exports.f = (context, ee, next) => { Promise.reject(new Error('nobody looks')) }",
            "nobody looks",
        ),
        ("exports.f = (context, ee, next) => {}", "f never calls next()"),
        (
            "export async function f() { await new Promise(() => {}) }",
            "f never calls next()",
        ),
        (
            "exports.f = ({ vars }, ee, next) => { vars.self = vars; next() }",
            "circular reference",
        ),
        (
            "const { sleep } = require('k6'); exports.f = (context, ee, next) => { sleep(1); next() }",
            "this call blocks, which functions of a processor must not do; use a timer and next()",
        ),
    ];
    for (text, expected) in cases {
        check(text, Err(expected)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_loop_is_ended_and_others_go_on() {
    LocalSet::new()
        .run_until(async {
            let mut program = Trial::program(
                "exports.f = () => { while (true) {} }; exports.g = (context, ee, next) => next()",
            );
            program.limits.computing = Duration::from_millis(100);
            let trial = Trial::of(program);
            let (one, other) = (trial.guest(), trial.guest());
            let (failed, fine) = tokio::join!(step(&*one, "f"), step(&*other, "g"));
            assert_eq!(failed, Err("function runs without an end".to_owned()));
            assert_eq!(fine, Ok(Returned::default()));
            assert_eq!(step(&*one, "g").await, Ok(Returned::default()));
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn users_share_the_module_and_nothing_else() {
    LocalSet::new()
        .run_until(async {
            let trial = Trial::new(
                "let n = 0; exports.f = (context, ee, next) => { context.vars.n_calls = ++n; context.mine = (context.mine ?? 0) + 1;
                 context.vars.mine = context.mine; next() }",
            );
            let (one, other) = (trial.guest(), trial.guest());
            let of = |returned: Result<Returned, String>| returned.unwrap().variables;
            let told = |n, mine| vec![("n_calls".to_owned(), json!(n)), ("mine".to_owned(), json!(mine))];
            assert_eq!(of(step(&*one, "f").await), told(1, 1));
            assert_eq!(of(step(&*other, "f").await), told(2, 1));
            assert_eq!(of(step(&*one, "f").await), told(3, 2));
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn timers_end_with_their_user() {
    LocalSet::new()
        .run_until(async {
            let trial = Trial::new(
                "exports.f = (context, ee, next) => { setInterval(() => ee.emit('counter', 'ticks', 1), 1000); next() }",
            );
            let (one, other) = (trial.guest(), trial.guest());
            step(&*one, "f").await.unwrap();
            step(&*other, "f").await.unwrap();
            tokio::time::sleep(Duration::from_millis(2_500)).await;
            drop(one);
            tokio::time::sleep(Duration::from_secs(2)).await;
            let set = trial.recorder.take();
            assert_eq!(set.tallies().collect::<Vec<_>>(), [("ticks", 6)]);
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn parameters_come_back_and_answers_are_seen() {
    LocalSet::new()
        .run_until(async {
            let trial = Trial::new(
                "exports.before = (request, context, ee, next) => { request.headers = { a: context.vars.room }; delete request.json; next() };
                 exports.after = (request, response, context, ee, next) => {
                   context.vars.seen = [request.url, response.statusCode, response.headers, JSON.parse(response.body)]; next() };
                 exports.failed = (error, request, context, ee, next) => { context.vars.seen = [error.message, error.code]; next() };
                 exports.more = (context, next) => next(context.vars.n < 2); exports.is = (vars) => vars.room === 'lobby';
                 exports.not = async (vars) => 0;",
            );
            let guest = trial.guest();
            let perform = async |function: &str, arguments| guest.call(call(function, arguments)).await.unwrap();
            let parameters = || Argument::Parameters(json!({"url": "/x", "json": {"b": 1}}));
            let tail = || [Argument::Context, Argument::Events, Argument::Next];
            let before = perform("before", [parameters()].into_iter().chain(tail()).collect()).await;
            assert_eq!(before.parameters, Some(json!({"url": "/x", "headers": {"a": "lobby"}})));
            let response = Response {
                status: 200,
                headers: BTreeMap::from([
                    ("x".to_owned(), vec!["1".to_owned(), "2".to_owned()]),
                    ("set-cookie".to_owned(), vec!["a=b".to_owned()]),
                ]),
                body: "[1]".to_owned(),
                ..Response::default()
            };
            let response = Argument::Response(Arc::new(response));
            let after = perform("after", [parameters(), response].into_iter().chain(tail()).collect()).await;
            let seen = json!(["/x", 200, {"x": "1, 2", "set-cookie": ["a=b"]}, [1]]);
            assert_eq!(after.variables, [("seen".to_owned(), seen)]);
            let error = Argument::Error("ECONNREFUSED".to_owned());
            let failed = perform("failed", [error, parameters()].into_iter().chain(tail()).collect()).await;
            assert_eq!(failed.variables, [("seen".to_owned(), json!(["ECONNREFUSED", "ECONNREFUSED"]))]);
            assert!(perform("more", vec![Argument::Context, Argument::Verdict]).await.is_true);
            assert!(perform("is", vec![Argument::Variables]).await.is_true);
            assert!(!perform("not", vec![Argument::Variables]).await.is_true);
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn metrics_are_counted_under_any_name() {
    LocalSet::new()
        .run_until(async {
            let trial = Trial::new(
                "exports.f = (context, ee, next) => { ee.emit('counter', 'a', 2); ee.emit('counter', 'a', '3'); ee.emit('counter', 'a', -1);
                 ee.emit('histogram', 'b', 1.5); ee.emit('histogram', 'b', 'many'); ee.emit('customStat', { stat: 'b', value: 2 });
                 ee.emit('rate', 'c'); ee.emit('error', 'E1'); ee.emit('unknown'); next() }",
            );
            step(&*trial.guest(), "f").await.unwrap();
            let set = trial.recorder.take();
            assert_eq!(set.tallies().collect::<Vec<_>>(), [("a", 5), ("errors.E1", 1)]);
            assert_eq!(set.events().collect::<Vec<_>>(), [("c", 1)]);
            let all = set.distributions().map(|(name, it)| (name, it.count(), it.sum().as_micros()));
            assert_eq!(all.collect::<Vec<_>>(), [("b", 2, 3_500)]);
        })
        .await;
}

#[test]
fn a_module_that_cannot_be_used_says_why() {
    let check = |text: &str, expected: &str| {
        let error = Processor::read(program_of(&[("functions.js", text, true)])).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check("exports.a = 1", "the module exports no function");
    check("throw new Error('at once')", "at once");
    check("require('net')", "Node's module `net` does not exist here");
    check("require('node:vm')", "Node's module `vm` does not exist here");
    check(
        "require('faker')",
        "there is no package `faker` in /test or above",
    );
    check("require('./absent.js')", "cannot find the module `./absent.js`");
}

#[tokio::test(start_paused = true)]
async fn ticks_come_before_promises_and_these_before_timers() {
    let text = "exports.f = ({ vars }, ee, next) => {
        const seen = [];
        setTimeout(() => { vars.a = seen; next() }, 10);
        setImmediate(() => seen.push('immediate'));
        Promise.resolve().then(() => { seen.push('promise'); process.nextTick(() => seen.push('inner')) });
        queueMicrotask(() => seen.push('microtask'));
        process.nextTick((name) => seen.push(name), 'tick');
        seen.push('now');
    }";
    let order = json!(["now", "tick", "promise", "microtask", "inner", "immediate"]);
    check(text, Ok(json!({ "a": order }))).await;
    let thrown = "exports.f = () => process.nextTick(() => { throw new Error('in a tick') })";
    check(thrown, Err("in a tick")).await;
    let endless = "exports.f = () => { for (;;) process.nextTick(() => {}) }";
    check(
        endless,
        Err("100000 callbacks of process.nextTick() are already waiting"),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn nodes_modules_exist_once_something_asks_for_them() {
    let asking = "const { createHash } = require('node:crypto');
        exports.f = ({ vars }, ee, next) => { vars.a = createHash('sha1').update('x').digest('hex'); next() }";
    let digest = "11f6ad8ec52a2984abaafd7c3b516503785c2072";
    check(asking, Ok(json!({ "a": digest }))).await;
    let globals =
        "exports.f = ({ vars }, ee, next) => { vars.a = Buffer.from('hi').toString('hex'); next() }";
    check(globals, Ok(json!({"a": "6869"}))).await;
    // An accessor is what was not made yet.
    let untouched = "exports.f = ({ vars }, ee, next) => {
        const isMade = (name) => 'value' in Object.getOwnPropertyDescriptor(globalThis, name);
        vars.a = ['Buffer', 'process', 'fetch', 'console', 'setTimeout', 'structuredClone'].filter(isMade); next() }";
    check(untouched, Ok(json!({ "a": [] }))).await;
}

#[tokio::test(start_paused = true)]
async fn a_packed_processor_needs_no_files() {
    let folder = Folder::with(&[("users.json", "[1,2]"), ("late.json", "[3]")]);
    let text = "
        const fs = require('fs');
        const { double } = require('./double.js');
        const users = JSON.parse(fs.readFileSync('./users.json', 'utf8'));
        exports.f = ({ vars }, ee, next) => {
          const ask = (how) => { try { return how() } catch (error) { return error.message.slice(0, 60) } };
          vars.a = [double(users), fs.existsSync('x/../users.json'), fs.existsSync('late.json'), process.cwd(),
            process.env.NAME, ask(() => fs.readFileSync('late.json')), ask(() => fs.readFileSync('/etc/passwd')),
            ask(() => fs.readdirSync('/'))];
          next();
        }";
    let mut program = program_of(&[
        ("functions.js", text, true),
        (
            "double.js",
            "exports.double = (list) => list.map((one) => 2 * one)",
            true,
        ),
    ]);
    program.directory = folder.path().to_owned();
    let packed = Processor::read(program).unwrap().pack().unwrap();
    let packed = serde_json::from_str(&serde_json::to_string(&packed).unwrap()).unwrap();
    let cwd = folder.path().to_string_lossy().into_owned();
    drop(folder);
    let env = BTreeMap::from([("NAME".to_owned(), "n".to_owned())]);
    let processor = Processor::unpack(packed, env).unwrap();
    LocalSet::new()
        .run_until(async {
            let trial = Trial {
                instance: processor.instance().unwrap(),
                ..Trial::new("exports.f = () => {}")
            };
            let returned = step(&*trial.guest(), "f").await.unwrap();
            let Some((_, Value::Array(seen))) = returned.variables.first() else {
                panic!("{returned:?}");
            };
            assert_eq!(seen[..3], [json!([2, 4]), json!(true), json!(false)]);
            assert_eq!(seen[3], cwd);
            let absent = "ENOENT: no such file or directory, ";
            assert_eq!(seen[4], "n");
            for (answer, asked) in
                seen[5..]
                    .iter()
                    .zip(["open 'late.json'", "open '/etc/passwd'", "scandir '/'"])
            {
                let text = answer.as_str().unwrap();
                assert!(text.starts_with(&format!("{absent}{asked}")), "{text}");
            }
        })
        .await;
}

#[test]
fn names_of_functions_and_words_of_the_source_are_known() {
    let text = "exports.b = () => {}; exports.a = async () => {}; exports.c = 1; // context.vars.token";
    let processor = Processor::read(program_of(&[("functions.js", text, true)])).unwrap();
    assert_eq!(hooks::Processor::functions(&processor), ["a", "b"]);
    assert!(processor.mentions("token") && !processor.mentions("tokens"));
}
