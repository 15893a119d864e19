//! Plugins that change values or publish figures, and proxies of the environment.

use super::*;

fn with_plugins(plugins: &str) -> String {
    format!(
        "config: {{target: http://h, plugins: {plugins}}}\nscenarios:\n- {{flow: [{{log: '{{{{ $internetEmail() }}}}'}}]}}\n"
    )
}

#[test]
fn figures_are_published_to_a_collector() {
    let reporter = "{publish-metrics: [{type: open-telemetry, serviceName: '{{ $env.HOST }}', resourceAttributes: \
                    {zone: a b}, metrics: {exporter: otlp-grpc, endpoint: 'http://c:4317', headers: {key: 'x=y'}, \
                    attributes: {run: 7}}}], fake-data: {}}";
    let test = read_text(&with_plugins(reporter)).unwrap();
    let [publication] = test.publications() else {
        panic!("one reporter is one output");
    };
    assert_eq!(publication.output, "opentelemetry");
    let environment = publication.environment.iter();
    let environment: Vec<_> = environment
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    expect![[r#"
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://c:4317
        OTEL_EXPORTER_OTLP_METRICS_HEADERS=key=x%3Dy
        OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=grpc
        OTEL_RESOURCE_ATTRIBUTES=zone=a%20b,run=7
        OTEL_SERVICE_NAME=example.test"#]]
    .assert_eq(&environment.join("\n"));
}

#[test]
fn figures_are_published_over_statsd() {
    let environment_of = |reporter: &str| {
        let test = read_text(&with_plugins(&format!(
            "{{publish-metrics: [{reporter}], fake-data: {{}}}}"
        )))
        .unwrap();
        let [publication] = test.publications() else {
            panic!("one reporter is one output");
        };
        assert_eq!(publication.output, "statsd");
        let environment = publication.environment.iter();
        let lines: Vec<_> = environment
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        lines.join("\n")
    };
    expect![[r#"
        K6_STATSD_ADDR=127.0.0.1:8125
        K6_STATSD_ENABLE_TAGS=false
        K6_STATSD_NAMESPACE=artillery."#]]
    .assert_eq(&environment_of("{type: statsd}"));
    expect![[r#"
        K6_STATSD_ADDR=example.test:1
        K6_STATSD_ENABLE_TAGS=true
        K6_STATSD_NAMESPACE=load.
        PLIMSOLL_STATSD_TAGS=team:a,zone:b"#]]
    .assert_eq(&environment_of(
        "{type: datadog, host: '{{ $env.HOST }}', port: 1, prefix: load., tags: ['team:a', 'zone:b'], event: {send: false}}",
    ));
    check_error(
        &with_plugins("{publish-metrics: [{type: influxdb-statsd, port: x, excluded: [a]}], fake-data: {}}"),
        &expect![[r#"
            test.yml:1:56: config.plugins.publish-metrics[0]: `port` is x; expected a number up to 65535, for example 8125
            test.yml:1:99: config.plugins.publish-metrics[0].excluded: all figures are sent; filter them in the agent"#]],
    );
}

#[test]
fn plugins_that_are_absent_are_mistakes() {
    check_error(
        &with_plugins(
            "{publish-metrics: [{type: newrelic, licenseKey: x}, {type: open-telemetry, traces: {}}], slack: {webhookUrl: \
             'hooks.slack.test/secret'}, memory-inspector: []}",
        ),
        &expect![[r#"
            test.yml:1:63: config.plugins.publish-metrics[0].type: the reporter `newrelic` is not supported; its agent or collector may take OTLP, as type: open-telemetry. Remove it, or run with --overrides '{"config": {"plugins": {"publish-metrics": []}}}'
            test.yml:1:89: config.plugins.publish-metrics[1]: `metrics` is missing: expected a map, for example metrics: { exporter: otlp-http }
            test.yml:1:133: config.plugins.slack: the plugin is not supported: no messages are sent; remove it, or run with --overrides '{"config": {"plugins": {"slack": null}}}' and report the exit code or `plimsoll runs show latest`
            test.yml:1:168: config.plugins.memory-inspector: the plugin is not supported; --watch PID measures the memory and CPU of a process
            test.yml:3:17: scenarios[0].flow[0].log: `$internetEmail` belongs to the plugin fake-data; name it in the configuration: plugins: { fake-data: {} }"#]],
    );
    // What takes a plugin out of a file.
    let change = |surroundings: &mut Surroundings<'_>| {
        surroundings.overrides = Some(r#"{"config": {"plugins": {"memory-inspector": null}}}"#.to_owned());
    };
    assert!(read_with(&with_plugins("{fake-data: {}, memory-inspector: []}"), change).is_ok());
    check_error(
        &with_plugins("{fake-data: {internetEmial: {}, numberInt: {most: 1}, internetEmail: {provider: 1}}}"),
        &expect![[r#"
            test.yml:1:65: config.plugins.fake-data.internetEmial: there is no function `$internetEmial`; did you mean `internetEmail`?
            test.yml:1:87: config.plugins.fake-data.numberInt.most: is not an option of `$numberInt`; expected one of min, max
            test.yml:1:117: config.plugins.fake-data.internetEmail.provider: is not an option of `$internetEmail`; it has no options here"#]],
    );
    check_error(
        &with_plugins("{}").replace("$internetEmail()", "$internetEmail(1)"),
        &expect![
            "test.yml:3:17: scenarios[0].flow[0].log: `$internetEmail(1)` has wrong arguments; expected something like $internetEmail(); options are in config.plugins.fake-data"
        ],
    );
    check_error(
        &with_plugins("{}").replace("$internetEmail()", "$internetMail()"),
        &expect![
            "test.yml:3:17: scenarios[0].flow[0].log: `$internetMail` is not a function; did you mean `$internetEmail`?"
        ],
    );
}

#[test]
fn slack_gets_a_message() {
    let read = |slack: &str, url: &str| {
        let plugins = format!("{{slack: {slack}, fake-data: {{}}}}");
        let variable = ("HOOK".to_owned(), url.to_owned());
        read_with(&with_plugins(&plugins), |it| it.system.extend([variable]))
    };
    let slack = |slack: &str| {
        let test = read(slack, "https://hooks.slack.test/T0/secret").unwrap();
        let slack = test.slack().unwrap();
        assert!(!format!("{slack:?}").contains("secret"));
        (slack.webhook.clone(), slack.on_failure_only)
    };
    let url = "https://hooks.slack.test/T0/secret".to_owned();
    assert_eq!(slack("{webhookUrl: '{{ $env.HOOK }}'}"), (url.clone(), false));
    assert_eq!(slack("{webhookUrl: '{{ $env.HOOK }}', notifyOnFailureOnly: true}"), (url, true));
    let check = |slack: &str, url: &str, expected: Expect| expected.assert_eq(&read(slack, url).unwrap_err());
    check("{}", "", expect![[""]]);
    check("{webhookUrl: '{{ $env.ABSENT }}'}", "", expect![[""]]);
    check("{webhookUrl: '{{ $env.HOOK }}', channel: a}", "ftp://h/secret", expect![[""]]);
}

#[test]
fn proxies_are_named() {
    let text = "config: {target: http://h}\nscenarios:\n- {flow: [{get: {url: /}}]}\n";
    let with = |text: &str, name: &str, value: &str| {
        let variable = (name.to_owned(), value.to_owned());
        read_with(text, |surroundings| surroundings.system.extend([variable]))
    };
    let with_proxy = |text: &str| with(text, "HTTP_PROXY", "http://user:secret@gateway:8000");
    let warnings = with_proxy(text).unwrap().warnings().join("\n");
    expect![
        "requests go through the proxy of the environment's HTTP_PROXY, so its time is part of all figures"
    ]
    .assert_eq(&warnings);
    let lowercase = with(text, "http_proxy", "http://gateway:8000").unwrap();
    expect!["the environment's http_proxy is not used, as in Artillery; write it in capital letters"]
        .assert_eq(&lowercase.warnings().join("\n"));
    expect!["test.yml:1:1: the environment's HTTPS_PROXY is not a proxy; expected something like http://gateway.example:3128, or unset it"]
        .assert_eq(&with(text, "HTTPS_PROXY", "gateway:8000").unwrap_err());
    let sockets = text.replace("{flow: [{get: {url: /}}]}", "{engine: ws, flow: [{think: 1}]}");
    assert!(with_proxy(&sockets).unwrap().warnings().is_empty());
    let of_config = text.replace("http://h", "http://h, http: {proxy: 'http://p'}");
    let of_config = read_text(&of_config).unwrap();
    expect![[""]].assert_eq(&of_config.warnings().join("\n"));
}
