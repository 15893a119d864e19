//! Plugins that change values or publish figures, and proxies of the environment.

use super::*;
use crate::artillery::test::{Gateway, Publication};

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
    let [Publication::Samples { output, environment }] = test.publications() else {
        panic!("one reporter is one output");
    };
    assert_eq!(*output, "opentelemetry");
    let environment = environment.iter();
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
        let [Publication::Samples { output, environment }] = test.publications() else {
            panic!("one reporter is one output");
        };
        assert_eq!(*output, "statsd");
        let environment = environment.iter();
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
            test.yml:1:146: config.plugins.slack.webhookUrl: expected the URL of an incoming webhook of Slack, for example "{{ $env.SLACK_WEBHOOK_URL }}"; it begins with https://, and is not shown because it is a secret
            test.yml:1:192: config.plugins.memory-inspector: the plugin is not supported; --watch PID measures the memory and CPU of a process
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
fn figures_are_pushed_to_a_gateway() {
    let read = |reporter: &str| {
        let plugins = format!("{{publish-metrics: [{{type: prometheus, {reporter}}}], fake-data: {{}}}}");
        read_with(&with_plugins(&plugins), |it| {
            it.system.insert("WORKER_ID".to_owned(), "w1".to_owned());
        })
    };
    let check = |reporter: &str, prefix: &str, labels: &[(&str, &str)], authorities: Option<&str>| {
        let test = read(reporter).unwrap();
        let labels = labels
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let gateway = Gateway {
            url: "http://u:secret@gw:9091".to_owned(),
            job: "w1".to_owned(),
            prefix: prefix.to_owned(),
            labels: labels.collect(),
            authorities: authorities.map(str::to_owned),
        };
        assert!(!format!("{gateway:?}").contains("secret"));
        assert_eq!(test.publications(), [Publication::Gateway(gateway)]);
    };
    let url = "pushgateway: 'http://u:secret@gw:9091'";
    check(url, "artillery", &[], None);
    check(
        &format!(
            "{url}, prefix: load_1, tags: ['team:a', 'url:http://x', 'host:{{{{ $env.HOST }}}}'], ca: ca.pem"
        ),
        "load_1",
        &[("team", "a"), ("url", "http://x"), ("host", "example.test")],
        Some("ca.pem"),
    );
    let check = |reporter: &str, expected: Expect| expected.assert_eq(&read(reporter).unwrap_err());
    check(
        "prefix: a",
        expect![[
            r#"test.yml:1:56: config.plugins.publish-metrics[0]: `pushgateway` is missing: expected the URL of a Pushgateway, for example http://localhost:9091"#
        ]],
    );
    check(
        "pushgateway: 'u:secret@gw:9091'",
        expect![[
            r#"test.yml:1:88: config.plugins.publish-metrics[0].pushgateway: expected the URL of a Pushgateway, for example http://localhost:9091"#
        ]],
    );
    check(
        &format!("{url}, prefix: a-b, tags: [alone, 'metric:a', 'a-b:c'], port: 1"),
        expect![[r#"
            test.yml:1:56: config.plugins.publish-metrics[0]: `prefix` is a-b; expected letters, digits and underlines, for example artillery
            test.yml:1:135: config.plugins.publish-metrics[0].tags[0]: `alone` is not a label of Prometheus; expected something like team:chat, and another name than `metric`
            test.yml:1:142: config.plugins.publish-metrics[0].tags[1]: `metric:a` is not a label of Prometheus; expected something like team:chat, and another name than `metric`
            test.yml:1:154: config.plugins.publish-metrics[0].tags[2]: `a-b:c` is not a label of Prometheus; expected something like team:chat, and another name than `metric`
            test.yml:1:164: config.plugins.publish-metrics[0].port: is not a key here; expected one of type, pushgateway, prefix, ca, tags, event"#]],
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
    assert_eq!(
        slack("{webhookUrl: '{{ $env.HOOK }}', notifyOnFailureOnly: true}"),
        (url, true)
    );
    let check = |slack: &str, url: &str, expected: Expect| expected.assert_eq(&read(slack, url).unwrap_err());
    check(
        "{}",
        "",
        expect![[
            r#"test.yml:1:45: config.plugins.slack: `webhookUrl` is missing: expected the URL of an incoming webhook of Slack, for example "{{ $env.SLACK_WEBHOOK_URL }}""#
        ]],
    );
    check(
        "{webhookUrl: '{{ $env.ABSENT }}'}",
        "",
        expect![[
            r#"test.yml:1:58: config.plugins.slack.webhookUrl: expected the URL of an incoming webhook of Slack, for example "{{ $env.SLACK_WEBHOOK_URL }}"; it begins with https://, and is not shown because it is a secret"#
        ]],
    );
    check(
        "{webhookUrl: '{{ $env.HOOK }}', channel: a}",
        "ftp://h/secret",
        expect![[r#"
            test.yml:1:58: config.plugins.slack.webhookUrl: expected the URL of an incoming webhook of Slack, for example "{{ $env.SLACK_WEBHOOK_URL }}"; it begins with https://, and is not shown because it is a secret
            test.yml:1:77: config.plugins.slack.channel: is not a key here; expected one of webhookUrl, notifyOnFailureOnly"#]],
    );
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
    expect![[r#"test.yml:1:42: config.http.proxy: has no effect, as in Artillery; set HTTP_PROXY and HTTPS_PROXY in the environment"#]].assert_eq(&of_config.warnings().join("\n"));
}
