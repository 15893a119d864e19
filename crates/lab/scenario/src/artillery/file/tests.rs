//! Files, and the errors for invalid ones.

use std::{collections::BTreeMap, io, path::Path, rc::Rc, time::Duration};

use expect_test::{Expect, expect};
use plimsoll_load::{
    metrics::{MetricSet, Recorder},
    run::RunHandle,
};
use serde_json::json;

use super::*;
use crate::artillery::{
    flow::{LoopKind, Payload, Step, Time},
    hooks,
    http::Guard,
    phase::{Kind, Rate, Spacing},
    program::Reads,
    user::User,
    websocket::Session,
};

mod layers;
mod parts;
mod plugins;
mod proxies;

fn surroundings(read_file: &dyn Fn(&Path) -> io::Result<String>) -> Surroundings<'_> {
    Surroundings {
        path: Path::new("load/test.yml"),
        config_path: None,
        overrides: None,
        payload: None,
        environment: None,
        target: None,
        variables: BTreeMap::new(),
        is_insecure: false,
        scenario_name: None,
        is_solo: false,
        max_duration: None,
        system: [("HOST".to_owned(), "example.test".to_owned())].into(),
        read_file,
        read_bytes: Arc::new(|path, _| files(path).map(String::into_bytes)),
        read_selector: &|_| Err("it is not read here".to_owned()),
        load_processor: &load_processor,
        seed: 7,
    }
}

fn files(path: &Path) -> io::Result<String> {
    match path.to_str() {
        Some("load/users.csv") => Ok("name,age\nAda,36\n".to_owned()),
        Some("load/ragged.csv") => Ok("Ada,36\nBob\n".to_owned()),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

/// A module of functions that is never called.
#[derive(Debug)]
struct Module;

impl hooks::Processor for Module {
    fn functions(&self) -> Vec<&str> {
        vec!["login", "logout", "isReady"]
    }

    fn mentions(&self, word: &str) -> bool {
        ["token", "orders.placed"].contains(&word)
    }

    fn instance(&self) -> Result<Rc<dyn hooks::Instance>, String> {
        Err("it is not run here".to_owned())
    }
}

fn load_processor(path: &Path) -> Result<Arc<dyn hooks::Processor>, String> {
    match path.to_str() {
        Some("load/functions.js") => Ok(Arc::new(Module)),
        _ => Err("it is not there".to_owned()),
    }
}

fn read_with(text: &str, change: impl FnOnce(&mut Surroundings<'_>)) -> Result<Test, String> {
    let mut surroundings = surroundings(&files);
    change(&mut surroundings);
    let document = Document::read("test.yml", text).map_err(|mistakes| mistakes.to_string())?;
    read(document, &surroundings).map_err(|mistakes| mistakes.to_string())
}

fn read_text(text: &str) -> Result<Test, String> {
    read_with(text, |_| {})
}

fn check_error(text: &str, expected: &Expect) {
    expected.assert_eq(&read_text(text).unwrap_err());
}

/// A file with this flow.
fn with_flow(flow: &str) -> String {
    format!(
        "config: {{target: 'ws://h', variables: {{ids: [1, 2], room: a}}}}\nscenarios:\n- engine: ws\n  flow:\n{flow}"
    )
}

#[test]
fn a_file_with_one_message_is_read() {
    let text = "scenarios:\n  - name: Nim WebSocket load test\n    engine: ws\n    flow:\n      - send: \"Stress test\"\n\n\
                config:\n  target: \"ws://localhost:9001/ws\"\n  phases:\n    - duration: 30\n      arrivalRate: 10\n";
    let test = read_text(text).unwrap();
    assert_eq!(test.n_due(Duration::from_secs(30)), 300);
    assert_eq!(test.n_due(Duration::from_millis(950)), 10);
    assert_eq!(test.plan().unwrap().scenarios.len(), 1);
    let scenario = &test.program.scenarios[0];
    assert_eq!(scenario.created, "vusers.created_by_name.Nim WebSocket load test");
    assert!(matches!(
        scenario.flow.steps.as_slice(),
        [Step::Send(send)] if matches!(&send.payload, Payload::Constant(text) if &**text == "Stress test")
    ));
    assert!(test.warnings().is_empty());
}

#[test]
fn a_loop_without_a_count_has_no_end() {
    let flow = "  - loop:\n    - send: hi\n    - think: 0.01\n";
    let test = read_text(&with_flow(flow)).unwrap();
    let steps = &test.program.scenarios[0].flow.steps;
    assert!(matches!(&steps[0], Step::Loop { head, end: 3 } if matches!(head.kind, LoopKind::Forever)));
    assert!(
        matches!(&steps[2], Step::Think(think) if matches!(think.time, Time::Fixed(time) if time == Duration::from_millis(10)))
    );
    assert!(matches!(&steps[3], Step::Repeat { head: 0 }));
}

#[test]
fn tables_are_read_beside_the_file() {
    let text = "config:\n  target: ws://h\n  payload: {path: users.csv, fields: [name, age], skipHeader: true}\n\
                scenarios:\n- {engine: ws, flow: [{send: 'I am {{ name }}'}]}\n";
    let test = read_text(text).unwrap();
    let variables = test.program.variables_for(&test.program.scenarios[0], None);
    assert_eq!(variables.get("name"), Some(&json!("Ada")));
    // No template reads it.
    assert_eq!(variables.get("age"), None);
    check_error(
        &text
            .replace("users.csv", "ragged.csv")
            .replace(", skipHeader: true", ""),
        &expect![
            "test.yml:3:19: config.payload.path: ragged.csv: line 2 has 1 fields, expected 2: name, age"
        ],
    );
    check_error(
        &text.replace("users.csv", "absent.csv"),
        &expect!["test.yml:3:19: config.payload.path: cannot read load/absent.csv: entity not found"],
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    check_error(
        "config:\n  tarqet: ws://h\n  phases:\n  - {duration: 10, arivalRate: 5}\n  - {duration: soon, arrivalRate: -1}\n  - \
         {arrivalRate: 1}\n  - {pause: 1, arrivalRate: 1}\n  mode: gauss\n  processor: ./x.js\n  statsInterval: 5\n\
         scenarios:\n- flow: []\n- engine: socketio\n  flow: [{emit: x}]\n- engine: ws\n  beforeScenario: x\n  flow:\n  - \
         sned: x\n  - get: {url: /}\n  - send: x\n    think: 1\n  - think\n  - function: f\n  - send: '{{ nme }}'\n  - loop: \
         [{think: 1}]\n    count: many\n",
        &expect![[r#"
            test.yml:2:3: config.tarqet: is not a key here; did you mean `target`?
            test.yml:2:3: config: `target` is missing: expected a URL, for example ws://localhost:3334/echo, or --target
            test.yml:4:5: config.phases[0]: no user arrives in this phase; expected `arrivalRate`, `arrivalCount`, `rampTo`, `users` or `pause`, for example { duration: 60, arrivalRate: 10 }
            test.yml:4:20: config.phases[0].arivalRate: is not a key here; did you mean `arrivalRate`?
            test.yml:5:16: config.phases[1].duration: expected seconds, for example 0.5, or a duration such as 500ms, 30s, 2m or 1h, found "soon"
            test.yml:5:35: config.phases[1].arrivalRate: expected users per second, for example 10 or 0.5, found -1
            test.yml:6:5: config.phases[2]: `duration` is missing: expected seconds, for example duration: 60
            test.yml:7:5: config.phases[3]: no user arrives during a `pause`; write the arrivals as a separate phase
            test.yml:8:9: config.mode: expected uniform or poisson, found "gauss"
            test.yml:9:14: config.processor: cannot use load/x.js: it is not there
            test.yml:13:11: scenarios[1].engine: the engine `socketio` is not supported; expected http or ws, or the test as a script (`plimsoll new`)
            test.yml:18:5: scenarios[2].flow[0]: there is no step `sned` in the engine `ws`; did you mean `send`?
            test.yml:19:5: scenarios[2].flow[1]: there is no step `get` in the engine `ws`; it belongs to another engine
            test.yml:20:5: scenarios[2].flow[2]: `think` and `send` are two steps; write each as a separate list item
            test.yml:22:5: scenarios[2].flow[3]: expected a step with its value, for example { send: hello } or { think: 1 }, found "think"
            test.yml:26:12: scenarios[2].flow[6].count: expected a number of rounds or a range, for example 10 or "1-10", found "many""#]],
    );
}

#[test]
fn mistakes_of_steps_are_told() {
    let check = |flow: &str, expected: &Expect| check_error(&with_flow(flow), expected);
    check(
        "  - send: {payload: x, capture: {json: id, as: a}}\n  - send: {payload: x, capture: {regexp: '(', as: a}}\n  - send: \
         {payload: x, capture: {xpath: //a, as: a}}\n  - send: {payload: x, capture: {json: $.a}}\n  - send: {payload: x, \
         match: {json: $.a}}\n  - send: {payload: x, answers: 0}\n  - wait: {}\n    timeout: 3\n",
        &expect![[r#"
            test.yml:5:40: scenarios[0].flow[0].send.capture.json: this is not a JSONPath: at position 0, parser error; expected something like $.items[0].id
            test.yml:6:42: scenarios[0].flow[1].send.capture.regexp: this regular expression is not supported (look-around and back-references are not): error: unclosed group
            test.yml:7:41: scenarios[0].flow[2].send.capture.xpath: `xpath` is not supported, and in Artillery its package artillery-xml-capture cannot be installed with Node 22; take the part with `selector` or `regexp`
            test.yml:8:33: scenarios[0].flow[3].send.capture: `as` is missing: expected the name of the variable, for example as: id
            test.yml:9:31: scenarios[0].flow[4].send.match: `value` is missing: expected the expected value, for example value: pong
            test.yml:10:33: scenarios[0].flow[5].send.answers: expected a number of messages from 1 to 10000, found 0
            test.yml:12:5: scenarios[0].flow[6].timeout: is not a key here; expected one of wait, connection"#]],
    );
    check(
        "  - think: 1\n  - connect: '/x'\n  - think: later\n  - think: 1\n    jitter: 200%\n  - loop: []\n  - loop: \
         [{log: x}]\n    over: roms\n  - loop: [{log: x}]\n    whileTrue: room ==\n  - loop: [{log: x}]\n    whileTrue: \
         myFunction\n    count: 3\n",
        &expect![[r#"
            test.yml:6:14: scenarios[0].flow[1].connect: `connect` without a name can only be the first step; give further connections a name, for example connect: { name: second, target: ws://localhost:3334/echo }
            test.yml:7:12: scenarios[0].flow[2].think: expected seconds, for example 0.5, or a duration such as 500ms, 30s, 2m or 1h, found "later"
            test.yml:9:13: scenarios[0].flow[3].jitter: expected a share such as "20%", or milliseconds such as 500, found "200%"
            test.yml:10:11: scenarios[0].flow[4].loop: the loop has no steps
            test.yml:14:16: scenarios[0].flow[6].whileTrue: a name or a value is missing at the end; expected something like http.response_time.p95 < 250 and http.codes.200 > 0
            test.yml:15:5: scenarios[0].flow[7]: `over`, `whileTrue` and `count` each define when the loop ends; keep one of them"#]],
    );
}

#[test]
fn checks_are_about_metrics_that_exist() {
    let ensure = |ensure: &str| {
        format!(
            "config: {{target: 'ws://h', ensure: {ensure}}}\nscenarios:\n- {{engine: ws, flow: [{{think: 1}}]}}\n"
        )
    };
    let test = read_text(&ensure(
        "{thresholds: [{websocket.response_time.p95: 100}], conditions: [{expression: vusers.failed < 1, strict: false}], \
         maxErrorRate: 5}",
    ));
    let verdicts = test.unwrap().ensure().judge(&|name| match name {
        "websocket.response_time.p95" => Some(99.0),
        "vusers.created" => Some(100.0),
        "vusers.completed" => Some(94.0),
        "vusers.failed" => Some(6.0),
        _ => None,
    });
    let verdicts: Vec<_> = verdicts
        .iter()
        .map(|it| (it.text.as_str(), it.holds, it.is_strict))
        .collect();
    assert_eq!(
        verdicts,
        [
            ("websocket.response_time.p95 < 100", true, true),
            ("vusers.failed < 1", false, false),
            ("maxErrorRate < 5", false, true)
        ]
    );
    check_error(
        &ensure("{thresholds: [{websocket.respons_time.p95: 100}], conditions: [{expression: vusers.fail}]}"),
        &expect![[r#"
            test.yml:1:79: config.ensure.thresholds[0]["websocket.respons_time.p95"]: there is no metric `websocket.respons_time.p95`; did you mean `websocket.response_time.p95`?
            test.yml:1:112: config.ensure.conditions[0].expression: there is no metric `vusers.fail`; did you mean `vusers.failed`?"#]],
    );
}

#[test]
fn checks_may_end_the_run() {
    let ensure = |ensure: &str| {
        format!(
            "config: {{target: 'ws://h', ensure: {ensure}}}\nscenarios:\n- {{engine: ws, flow: [{{think: 1}}]}}\n"
        )
    };
    let test = read_text(&ensure(
        "{thresholds: [{vusers.failed: 5, abortOnFail: true, delayAbortEval: 10s}], conditions: [{expression: \
         vusers.skipped < 1, abortOnFail: false}]}",
    ))
    .unwrap();
    let breach = |secs| {
        let elapsed = Duration::from_secs(secs);
        test.ensure().breach(elapsed, &|_| Some(5.0)).map(str::to_owned)
    };
    assert!(test.ensure().may_abort());
    assert_eq!(
        (breach(9), breach(10).as_deref()),
        (None, Some("vusers.failed < 5"))
    );
    check_error(
        &ensure(
            "{thresholds: [{vusers.failed: 5, delayAbortEval: 10}, {vusers.failed: 5, abortOnFail: 1}], conditions: \
             [{expression: vusers.failed < 1, strict: false, abortOnFail: true}]}",
        ),
        &expect![[r#"
            test.yml:1:85: config.ensure.thresholds[0].delayAbortEval: this only has an effect together with `abortOnFail: true`; add that
            test.yml:1:122: config.ensure.thresholds[1].abortOnFail: expected true or false, found 1
            test.yml:1:140: config.ensure.conditions[0]: a check that can end the run must be strict; remove `strict: false` or `abortOnFail`"#]],
    );
}

#[test]
fn phases_may_hold_users_and_arrivals_be_random() {
    let phases = |phases: &str| {
        format!(
            "config:\n  target: ws://h\n  mode: poisson\n  environments: {{even: {{mode: uniform}}}}\n  phases:\n{phases}scenarios:\n- {{engine: ws, flow: [{{think: 1}}]}}\n"
        )
    };
    let text = phases(
        "  - {users: 5, duration: 1m}\n  - {users: '10', rampTo: 0, duration: 5}\n  - {arrivalRate: 3, duration: 5}\n  - \
         {arrivalRate: 3, duration: 5, mode: uniform}\n",
    );
    let test = read_text(&text).unwrap();
    let kinds: Vec<_> = test.phases().iter().map(|phase| phase.kind).collect();
    let rate = Kind::Rate(Rate::per_second(3.0).unwrap());
    assert_eq!(kinds, [Kind::Users(5), Kind::RampingUsers(10, 0), rate, rate]);
    assert!(matches!(test.phases()[2].spacing, Spacing::Poisson { .. }));
    assert_eq!(test.phases()[3].spacing, Spacing::Even);
    let even = read_with(&text, |surroundings| {
        surroundings.environment = Some("even".to_owned());
    });
    assert_eq!(even.unwrap().phases()[2].spacing, Spacing::Even);
    assert_eq!(test.plan().unwrap(), test.plan().unwrap());
    check_error(
        &phases(
            "  - {users: 2000000, duration: 1}\n  - {users: 5, arrivalRate: 1, duration: 1}\n  - {users: 5, maxVusers: 5, \
             duration: 1}\n  - {users: 5}\n  - {users: 0, duration: 1}\n  - {users: 1.5, rampTo: 7, duration: 1}\n",
        ),
        &expect![[r#"
            test.yml:6:13: config.phases[0].users: expected a number of users from 0 to 1000000, for example 100, found 2000000
            test.yml:7:5: config.phases[1]: `users` keeps a constant number of users, without an arrival rate; use it alone or with `rampTo`
            test.yml:8:27: config.phases[2].maxVusers: `users` already limits the number of users; remove `maxVusers`
            test.yml:9:5: config.phases[3]: `duration` is missing: expected seconds, for example duration: 60
            test.yml:11:13: config.phases[5].users: expected a whole number, for example 10, found 1.5"#]],
    );
}

#[test]
fn what_has_no_effect_is_said() {
    let text = "config:\n  target: ws://h\n  statsInterval: 5\n  ws: {perMessageDeflate: true}\n  http: {pool: 5}\n\
                scenarios:\n- {engine: ws, flow: [{think: 1}]}\n";
    expect![[r#"
        test.yml:4:27: config.ws.perMessageDeflate: has no effect: this program does not use Node's client
        test.yml:5:16: config.http.pool: has no effect: each user has its own connections and cookies
        test.yml:3:18: config.statsInterval: has no effect, as in Artillery: each report covers 10 seconds"#]]
    .assert_eq(&read_text(text).unwrap().warnings().join("\n"));
}

#[test]
fn connections_have_names() {
    let flow = "  - connect: {name: second, target: 'ws://other'}\n  - send: a\n  - send: b\n    connection: second\n  - wait: {}\n    \
                connection: second\n  - connect: {name: third}\n  - receive: 1\n    connection: third\n";
    let test = read_text(&with_flow(flow)).unwrap();
    let places = test.program.scenarios[0]
        .flow
        .steps
        .iter()
        .map(|step| match step {
            Step::Connect(step) => step.place,
            Step::Send(step) => step.place,
            Step::Wait(step) => step.place,
            Step::Receive(step) => step.place,
            _ => unreachable!("{step:?}"),
        });
    assert_eq!(places.collect::<Vec<_>>(), [1, 0, 1, 1, 2, 2]);
    check_error(
        &with_flow(
            "  - send: a\n    connection: second\n  - connect: {name: second}\n  - send: a\n    connection: secnod\n  - think: 1\n    \
             connection: second\n",
        ),
        &expect![[r#"
            test.yml:6:17: scenarios[0].flow[0].connection: no step opens the connection `second`; expected a step before it, for example connect: { name: second, target: ws://localhost:3334/echo }
            test.yml:9:17: scenarios[0].flow[2].connection: no step opens the connection `secnod`; did you mean `second`?
            test.yml:11:5: scenarios[0].flow[3].connection: is not a key here; expected one of think, jitter"#]],
    );
}

#[test]
fn one_scenario_can_be_chosen() {
    let text = "config: {target: 'ws://h'}\nscenarios:\n- {name: a, engine: ws, weight: 0, flow: [{think: 1}]}\n- {name: b, \
                engine: ws, flow: [{think: 1}]}\n";
    let choose = |name: &str| {
        read_with(text, |surroundings| {
            surroundings.scenario_name = Some(name.to_owned());
        })
    };
    let test = choose("a").unwrap();
    assert_eq!(
        (test.program.scenarios.len(), test.program.choose().name.as_str()),
        (1, "a")
    );
    let error = choose("c").unwrap_err();
    expect![[
        r#"test.yml:3:3: scenarios: --scenario-name "c" matches 0 scenarios instead of one; there are: a, b"#
    ]]
    .assert_eq(&error);
    let both = read_text(text).unwrap();
    assert!((0..100).all(|_| both.program.choose().name == "b"));
}

/// A file with this processor and one scenario.
fn with_processor(scenario: &str) -> String {
    format!("config: {{target: 'http://h', processor: ./functions.js}}\nscenarios:\n- {scenario}\n")
}

#[test]
fn functions_are_called_where_a_file_says() {
    let text = with_processor(
        "{beforeScenario: login, afterScenario: [logout], beforeRequest: login, onError: logout, flow: [{get: {url: /, \
         beforeRequest: [logout], afterResponse: login, ifTrue: isReady}}, {function: login}, {loop: [{log: '{{ token }}'}], \
         whileTrue: isReady}, {parallel: [{get: {url: /a}}, {post: {url: /b, ifTrue: token > 1}}], limit: 2}]}",
    );
    let test = read_text(&text).unwrap();
    let scenario = &test.program.scenarios[0];
    let names = |names: &[Arc<str>]| names.join(",");
    assert_eq!(
        (names(&scenario.before), names(&scenario.after)),
        ("login".into(), "logout".into())
    );
    assert!(
        scenario
            .specification
            .as_ref()
            .is_some_and(|it| it.contains("isReady"))
    );
    let Step::Request(request) = &scenario.flow.steps[0] else {
        panic!("a request")
    };
    assert_eq!(names(&request.hooks.before), "login,logout");
    assert_eq!(names(&request.hooks.after), "login");
    assert_eq!(names(&request.hooks.on_error), "logout");
    assert!(matches!(&request.guard, Some(Guard::Function(name)) if &**name == "isReady"));
    assert!(matches!(&scenario.flow.steps[1], Step::Function(name) if &**name == "login"));
    assert!(
        matches!(&scenario.flow.steps[2], Step::Loop { head, .. } if matches!(head.kind, LoopKind::WhileFunction(_)))
    );
    let Step::Parallel(parallel) = &scenario.flow.steps[5] else {
        panic!("requests")
    };
    assert_eq!((parallel.requests.len(), parallel.limit), (2, 2));
    // The variables that functions read are unknown.
    assert_eq!(scenario.reads, Reads::All);
    let without = read_text(&with_processor("{flow: [{get: {url: /}}]}")).unwrap();
    assert_eq!(without.program.scenarios[0].specification, None);
    assert!(without.program.instance().unwrap().is_none());
}

#[test]
fn functions_that_are_not_there_are_refused() {
    check_error(
        &with_processor(
            "{beforeScenario: [logn, other], flow: [{function: logut}, {get: {url: '/{{ tken }}', afterResponse: {}}}, {parallel: \
             [{think: 1}], limit: 0}]}",
        ),
        &expect![[r#"
            test.yml:3:21: scenarios[0].beforeScenario[0]: the processor exports no function `logn`; did you mean `login`?
            test.yml:3:27: scenarios[0].beforeScenario[1]: the processor exports no function `other`; it exports login, logout, isReady
            test.yml:3:53: scenarios[0].flow[0].function: the processor exports no function `logut`; did you mean `logout`?
            test.yml:3:103: scenarios[0].flow[1].get.afterResponse: expected a text, found a map
            test.yml:3:121: scenarios[0].flow[2].parallel[0]: only requests can run in parallel; expected something like { get: { url: / } }
            test.yml:3:141: scenarios[0].flow[2].limit: expected the number of parallel requests, 1 to 1000, found 0"#]],
    );
    check_error(
        &with_processor("{flow: [{get: {url: /}}]}").replace("functions.js", "absent.js"),
        &expect!["test.yml:1:41: config.processor: cannot use load/absent.js: it is not there"],
    );
    check_error(
        &with_flow("  - function: f\n  - connect: {function: f}\n"),
        &expect![[r#"
            test.yml:5:15: scenarios[0].flow[0].function: `f` needs a module of functions; name the module in `config`, for example processor: ./functions.js
            test.yml:6:25: scenarios[0].flow[1].connect.function: `f` needs a module of functions; name the module in `config`, for example processor: ./functions.js"#]],
    );
}

#[test]
fn checks_may_be_about_what_functions_count() {
    let ensure = |condition: &str| {
        with_processor("{flow: [{get: {url: /}}]}").replace(
            "processor:",
            &format!("ensure: {{conditions: [{{expression: {condition}}}]}}, processor:"),
        )
    };
    assert!(read_text(&ensure("orders.placed > 1")).is_ok());
    assert!(read_text(&ensure("orders.placed.p95 < 1")).is_ok());
    check_error(
        &ensure("orders.plced > 1"),
        &expect![
            "test.yml:1:65: config.ensure.conditions[0].expression: there is no metric `orders.plced`; expected a counter such as vusers.failed, or vusers.session_length, vusers.lateness, http.response_time, http.response_time.2xx, http.response_time.3xx, http.response_time.4xx, http.response_time.5xx, http.dns, http.tcp, http.tls, http.total, websocket.connect_time, websocket.response_time with .p95 and the like"
        ],
    );
}

#[test]
fn forms_have_values_and_files() {
    let text = |form: &str| {
        format!(
            "config: {{target: 'http://h'}}\nscenarios:\n- {{flow: [{{post: {{url: /, formData: {form}}}}}]}}\n"
        )
    };
    let test = read_text(&text(
        "{a: 1, b: {value: '{{ $env.HOST }}', contentType: text/html}, c: {fromFile: ./users.csv}}",
    ));
    let test = test.unwrap();
    let Step::Request(request) = &test.program.scenarios[0].flow.steps[0] else {
        panic!("a request")
    };
    let variables = test.program.variables_for(&test.program.scenarios[0], None);
    let (body, content_type) = request.body.for_user(&variables).unwrap();
    let content_type = content_type.unwrap().into_owned();
    let boundary = content_type
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap();
    let body = String::from_utf8(body)
        .unwrap()
        .replace(boundary, "B")
        .replace("\r\n", "\n");
    expect![[r#"
        --B
        Content-Disposition: form-data; name="a"

        1
        --B
        Content-Disposition: form-data; name="b"
        Content-Type: text/html

        example.test
        --B
        Content-Disposition: form-data; name="c"; filename="users.csv"
        Content-Type: application/octet-stream

        name,age
        Ada,36

        --B--
    "#]]
    .assert_eq(&body);
    check_error(
        &text("{a: {fromFile: absent.png}, b: {fromFile: '{{ x }}'}, c: {}, d: {value: 1, type: x}}"),
        &expect![[r#"
            test.yml:3:52: scenarios[0].flow[0].post.formData.a.fromFile: cannot read load/absent.png: entity not found
            test.yml:3:94: scenarios[0].flow[0].post.formData.c: expected one of `fromFile` and `value`, for example { fromFile: ./cat.png }
            test.yml:3:112: scenarios[0].flow[0].post.formData.d.type: is not a key here; expected one of contentType, fromFile, value"#]],
    );
    check_error(
        &text("{}").replace("formData", "json: 1, formData"),
        &expect![
            "test.yml:3:18: scenarios[0].flow[0].post: `json`, `body`, `form` and `formData` each set the whole \
             body; keep one of them"
        ],
    );
}

#[test]
fn a_user_that_waits_is_small() {
    let test = read_text(&with_flow("  - think: 1\n  - send: a\n")).unwrap();
    let scenario = &test.program.scenarios[0];
    let recorder = Recorder::new(MetricSet::new(Arc::new(test.registry.clone())));
    let mut user = User::new(&test.program, scenario, None, (recorder, &RunHandle::new()), None);
    // Without its connection, whose buffers are only as large as needed. The budget is 8 KB of resident memory for all
    // of it.
    let n_bytes = size_of_val(&user) + size_of_val(&user.act(scenario));
    assert!(n_bytes <= 896, "{n_bytes} bytes");
    assert!(size_of::<Session<'_>>() <= 464);
}
