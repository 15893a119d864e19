//! Environments and the flags of the command line over the file.

use super::*;

#[test]
fn an_environment_lies_over_the_configuration() {
    let text = "config:\n  target: 'ws://{{ host }}/x'\n  variables: {host: a}\n  phases: [{duration: 5, arrivalRate: 1}]\n  \
                environments:\n    staging:\n      variables: {host: '{{ $env.HOST }}'}\n      phases:\n      - {duration: 1m, \
                rampTo: '2.5', name: up, maxVusers: 7}\n      - pause: 500ms\nscenarios:\n- {engine: ws, flow: [{think: 1}]}\n";
    let target = |test: &Test| test.program.globals.values["target"].clone();
    let plain = read_text(text).unwrap();
    assert_eq!(target(&plain), json!("ws://a/x"));
    let staging = read_with(text, |surroundings| {
        surroundings.environment = Some("staging".to_owned());
    })
    .unwrap();
    assert_eq!(target(&staging), json!("ws://example.test/x"));
    let phase = &staging.phases()[0];
    let rate = |rate| Rate::per_second(rate).unwrap();
    // As in Artillery, a phase of the environment lies over the one with the same position.
    assert_eq!(phase.kind, Kind::Ramp(rate(1.0), rate(2.5)));
    assert_eq!(
        (phase.duration, phase.max_vusers),
        (Duration::from_secs(60), Some(7))
    );
    assert_eq!(staging.phases()[1].kind, Kind::Pause);
    let wrong = read_with(text, |surroundings| {
        surroundings.environment = Some("prod".to_owned());
    });
    assert_eq!(
        wrong.unwrap_err(),
        "test.yml:2:3: config: there is no environment `prod`; `environments` has staging"
    );
}

#[test]
fn overrides_lie_over_the_environment_and_the_flags() {
    let text = "config:\n  target: ws://file\n  phases: [{duration: 5, arrivalRate: 1}, {duration: 5, arrivalRate: 1}]\n  \
                environments: {prod: {target: 'ws://prod', phases: [{duration: 7}]}}\n\
                scenarios:\n- {engine: ws, flow: [{think: 1}]}\n";
    let check = |overrides: &str, expected_target: &str, expected_secs: &[u64]| {
        let test = read_with(text, |surroundings| {
            surroundings.environment = Some("prod".to_owned());
            surroundings.target = Some("ws://flag".to_owned());
            surroundings.overrides = Some(overrides.to_owned());
        })
        .unwrap();
        assert_eq!(
            test.program.globals.values["target"],
            json!(expected_target),
            "{overrides}"
        );
        let secs: Vec<_> = test
            .phases()
            .iter()
            .map(|phase| phase.duration.as_secs())
            .collect();
        assert_eq!(secs, expected_secs, "{overrides}");
    };
    check("{}", "ws://flag", &[7, 5]);
    check(r#"{"config": {"target": "ws://over"}}"#, "ws://over", &[7, 5]);
    check(
        r#"{"config": {"phases": [{"duration": 1, "arrivalCount": 2}]}}"#,
        "ws://flag",
        &[1],
    );
    let error = |overrides: &str| {
        let change =
            |surroundings: &mut Surroundings<'_>| surroundings.overrides = Some(overrides.to_owned());
        read_with(text, change).unwrap_err()
    };
    expect![[r#"--overrides:1:1: expected an object as JSON, for example {"config": {"phases": [{"duration": 1, "arrivalCount": 1}]}}, found a list"#]]
        .assert_eq(&error("[1]"));
    expect!["--overrides:1:13: config.tagret: is not a key here; did you mean `target`?"]
        .assert_eq(&error(r#"{"config": {"tagret": 1}}"#));
}

#[test]
fn a_table_may_be_named_by_a_flag() {
    let check = |payload: &str, flag: &str, expected: Result<usize, &str>| {
        let text = format!(
            "config:\n  target: ws://h\n  payload: {payload}\nscenarios:\n- {{engine: ws, flow: [{{send: '{{{{ name }}}}'}}]}}\n"
        );
        let found = read_with(&text, |surroundings| surroundings.payload = Some(flag.into()));
        let found = found.map(|test| test.program.payloads[0].rows.len());
        assert_eq!(found, expected.map_err(str::to_owned), "{payload} {flag}");
    };
    check("{fields: [name, age]}", "load/users.csv", Ok(2));
    check("{fields: [name, age], path: other.csv}", "users.csv", Ok(2));
    check(
        "[{fields: [name, age]}]",
        "load/users.csv",
        Err(
            "test.yml:3:12: config.payload: --payload gives the path of one table, but this is a list; write the paths \
             into the file",
        ),
    );
    let absent = "config: {target: 'ws://h'}\nscenarios:\n- {engine: ws, flow: [{think: 1}]}\n";
    let error = read_with(absent, |surroundings| surroundings.payload = Some("a.csv".into()));
    expect!["test.yml:1:9: config: --payload a.csv needs `payload` with the names of the columns, for example payload: { fields: [user] }"]
        .assert_eq(&error.unwrap_err());
}
