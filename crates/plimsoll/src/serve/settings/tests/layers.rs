//! Tests of the precedence of layers, and of the output about it.

use expect_test::expect;

use super::{Start, check, check_arguments, check_environment, check_file};

#[test]
fn the_later_layer_wins() {
    check(
        Start {
            file: "[server]\nport = 1\nhost = 'a'\n[app]\nping_interval = 4",
            environment: &[("ANYCABLE_HOST", "b"), ("ANYCABLE_PORT", "2")],
            arguments: &["--port", "3"],
        },
        &expect![[r#"
            host = "b"  # ANYCABLE_HOST
            port = 3  # command line
            ping_interval = 4  # anycable.toml:5"#]],
    );
}

#[test]
fn of_several_variables_the_own_one_wins() {
    check_environment(
        &[("PORT", "3"), ("ANYCABLE_PORT", "2"), ("PLIMSOLL_PORT", "1")],
        &expect!["port = 1  # PLIMSOLL_PORT"],
    );
    check_environment(
        &[("PORT", "3"), ("ANYCABLE_PORT", "2")],
        &expect!["port = 2  # ANYCABLE_PORT"],
    );
    check_environment(
        &[("PORT", "3"), ("PATH", "/bin"), ("HOST", "b")],
        &expect!["port = 3  # PORT"],
    );
    check_environment(&[("ANYCABLE_PORT", ""), ("PORT", "")], &expect![""]);
}

#[test]
fn empty_values_are_not_given() {
    check_environment(&[("ANYCABLE_HEADERS", "")], &expect![""]);
    check_file(
        "broadcast_key = ''\n[rpc]\nproxy_headers = []\nhost = ''",
        &expect![""],
    );
}

#[test]
fn names_with_values_are_a_table_or_a_list() {
    check_file(
        "[metrics.tags]\nenv = 'production'\nshard = 1",
        &expect![[r#"
            warning: anycable.toml:1:10: metrics.tags has no effect without --metrics_http or --statsd_host.
            tags = ["env:production", "shard:1"]  # anycable.toml:1"#]],
    );
    check_file(
        "[metrics]\ntags = ['env:production']",
        &expect![[r#"
            warning: anycable.toml:2:1: metrics.tags has no effect without --metrics_http or --statsd_host.
            tags = ["env:production"]  # anycable.toml:2"#]],
    );
    check_environment(
        &[("ANYCABLE_METRICS_TAGS", "env:production")],
        &expect![[r#"
            warning: ANYCABLE_METRICS_TAGS has no effect without --metrics_http or --statsd_host.
            tags = ["env:production"]  # ANYCABLE_METRICS_TAGS"#]],
    );
}

#[test]
fn switches_and_lists() {
    check_file(
        "broadcast_adapters = ['http', 'redis']\n[ws]\npaths = '/a,/b'\nenable_compression = true\n",
        &expect![[r#"
            broadcast_adapters = ["http", "redis"]  # anycable.toml:1
            paths = ["/a", "/b"]  # anycable.toml:3
            enable_compression = true  # anycable.toml:4"#]],
    );
    check_environment(
        &[("ANYCABLE_ENABLE_WS_COMPRESSION", "1")],
        &expect!["enable_compression = true  # ANYCABLE_ENABLE_WS_COMPRESSION"],
    );
    check_environment(
        &[("ANYCABLE_ENABLE_WS_COMPRESSION", "perhaps")],
        &expect![[r#"ANYCABLE_ENABLE_WS_COMPRESSION: expected true or false, not "perhaps""#]],
    );
    check(
        Start {
            environment: &[("ANYCABLE_ENABLE_WS_COMPRESSION", "yes")],
            arguments: &["--enable-ws-compression=false"],
            ..Start::default()
        },
        &expect!["enable_compression = false  # --enable-ws-compression"],
    );
}

#[test]
fn rules_between_flags_hold_at_the_command_line_only() {
    check(
        Start {
            file: "[http_broadcast]\nport = 1\n[rpc]\nconcurrency = 5",
            environment: &[("ANYCABLE_BROADCAST_KEY", "k")],
            ..Start::default()
        },
        &expect![[r##"
            # broadcast_key = "***"  # ANYCABLE_BROADCAST_KEY
            concurrency = 5  # anycable.toml:4
            port = 1  # anycable.toml:2"##]],
    );
    check_environment(
        &[
            ("ANYCABLE_BROADCAST_KEY", "k"),
            ("ANYCABLE_HTTP_BROADCAST_PORT", "1"),
        ],
        &expect![[r##"
            # broadcast_key = "***"  # ANYCABLE_BROADCAST_KEY
            port = 1  # ANYCABLE_HTTP_BROADCAST_PORT"##]],
    );
    check(
        Start {
            environment: &[("ANYCABLE_RPC_HOST", "a:1")],
            arguments: &["--app", "chat"],
            ..Start::default()
        },
        &expect![[r#"
            warning: ANYCABLE_RPC_HOST has no effect: it cannot be combined with --app.
            embedded = "chat"  # command line"#]],
    );
    check(
        Start {
            environment: &[("ANYCABLE_RPC_HOST", "a:1")],
            arguments: &["--rpc-concurrency", "5"],
            ..Start::default()
        },
        &expect![[r#"
            host = "a:1"  # ANYCABLE_RPC_HOST
            concurrency = 5  # command line"#]],
    );
    // What the application's process needs, too, does not take an embedded one away.
    check(
        Start {
            file: "[app]\nembedded = \"chat\"\n",
            environment: &[("ANYCABLE_HEADERS", "x-api-token")],
            ..Start::default()
        },
        &expect![[r#"
            warning: ANYCABLE_HEADERS has no effect beside --app.
            embedded = "chat"  # anycable.toml:2
            proxy_headers = ["x-api-token"]  # ANYCABLE_HEADERS"#]],
    );
}

#[test]
fn the_named_file_must_be_there() {
    check_arguments(
        &["--config-path", "nowhere.toml"],
        &expect!["cannot read the settings file nowhere.toml: entity not found"],
    );
    for flag in ["--ignore-config-path", "--ignore-config-path=true"] {
        let start = Start {
            file: "[server]\nport = 1",
            environment: &[("ANYCABLE_CONFIG_PATH", "anycable.toml")],
            arguments: &[flag],
        };
        assert!(!start.outcome().contains("port"), "{flag}");
    }
    check(
        Start {
            file: "[server]\nport = 1",
            environment: &[("ANYCABLE_CONFIG_PATH", "anycable.toml")],
            arguments: &["--ignore-config-path=false"],
        },
        &expect!["port = 1  # anycable.toml:2"],
    );
    check(
        Start {
            file: "[server]\nport = 1",
            environment: &[("ANYCABLE_IGNORE_CONFIG_PATH", "true")],
            arguments: &["--config-path=anycable.toml"],
        },
        &expect![[r#"
            warning: ANYCABLE_IGNORE_CONFIG_PATH has no effect: it cannot be combined with --config-path.
            port = 1  # anycable.toml:2"#]],
    );
    check(
        Start {
            file: "[server]\nport = 1",
            arguments: &["--ignore-config-path"],
            ..Start::default()
        },
        &expect![""],
    );
    check(
        Start {
            file: "[server]\nport = 1",
            environment: &[("ANYCABLE_CONFIG_PATH", "anycable.toml")],
            ..Start::default()
        },
        &expect!["port = 1  # anycable.toml:2"],
    );
}

#[test]
fn secrets_are_not_printed() {
    check_file(
        "broadcast_key = 'hidden'\n[redis]\nurl = 'redis://me:hidden@[::1]:6379/1'",
        &expect![[r##"
            # broadcast_key = "***"  # anycable.toml:1
            # url = "redis://***@[::1]:6379/1"  # anycable.toml:3"##]],
    );
    check(
        Start {
            arguments: &[
                "--redis-url",
                "redis://:hidden@a:1,redis://:hidden@b:2,c:3",
                "--redis-sentinels",
                "10.0.0.1,:hidden@10.0.0.2:26380",
                "--jwt-jwks",
                "https://id.example/jwks?token=hidden&tenant=7",
            ],
            ..Start::default()
        },
        &expect![[r##"
            # jwks = "https://id.example/jwks?token=***&tenant=7"  # command line
            # url = "redis://***@a:1,redis://***@b:2,c:3"  # command line
            # sentinels = "10.0.0.1,***@10.0.0.2:26380"  # command line"##]],
    );
}

#[test]
fn what_is_printed_can_be_read_again() {
    let start = Start {
        file: "broadcast_adapters = ['redis', 'http']\n[ws]\nenable_compression = true\npaths = ['/a', '/b\"\\\\ ü']\n\
               [redis]\nurl = 'redis://h/1'",
        environment: &[("ANYCABLE_RPC_HOST", "a:1"), ("ANYCABLE_BROADCAST_KEY", "k")],
        arguments: &["--port", "1", "--print-config"],
    };
    let printed = |start: Start<'_>| start.read().expect("valid").printed.expect("asked for");
    let first = printed(start);
    let second = printed(Start {
        file: &first,
        environment: &[],
        arguments: &["--print-config"],
    });
    let values = |text: &str| -> Vec<String> {
        let values = text.lines().filter(|line| !line.starts_with('#'));
        values
            .map(|line| line.split("  # ").next().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(values(&first), values(&second));
}

#[test]
fn what_has_no_effect_is_said() {
    check_arguments(
        &["--sse-path", "/e", "--metrics-port=1", "--statsd-prefix", "p."],
        &expect![[r#"
            warning: --sse_path has no effect without --sse.
            warning: --metrics_port has no effect without --metrics_http.
            warning: --statsd_prefix has no effect without --statsd_host.
            path = "/e"  # command line
            port = 1  # command line
            prefix = "p."  # command line"#]],
    );
    check_arguments(
        &[
            "--sse",
            "--sse-path",
            "/e",
            "--statsd-host",
            "h:1",
            "--metrics-tags",
            "a:b",
        ],
        &expect![[r#"
            enabled = true  # command line
            path = "/e"  # command line
            tags = ["a:b"]  # command line
            host = "h:1"  # command line"#]],
    );
    check(
        Start {
            file: "[sse]\npath = '/events'\n[streams]\nturbo_secret = 's'\n[redis_stream_broadcast]\ngroup = 'g'",
            environment: &[
                ("ANYCABLE_RPC_CONCURRENCY", "5"),
                ("REDIS_URL", "redis://h"),
                ("ANYCABLE_JWT_PARAM", "t"),
            ],
            arguments: &["--norpc", "--broadcast-adapter", "http"],
        },
        &expect![[r#"
            warning: ANYCABLE_RPC_CONCURRENCY has no effect beside --norpc.
            warning: ANYCABLE_JWT_PARAM has no effect without --jwt_secret or --jwt_jwks or --secret.
            warning: anycable.toml:4:1: streams.turbo_secret has no effect without --turbo_streams.
            warning: anycable.toml:6:1: redis_stream_broadcast.group has no effect without --broadcast_adapter redisx.
            broadcast_adapters = ["http"]  # command line
            norpc = true  # command line
            path = "/events"  # anycable.toml:2
            concurrency = 5  # ANYCABLE_RPC_CONCURRENCY
            param = "t"  # ANYCABLE_JWT_PARAM
            # turbo_secret = "***"  # anycable.toml:4
            url = "redis://h"  # REDIS_URL
            group = "g"  # anycable.toml:6"#]],
    );
    check(
        Start {
            file: "broadcast_adapters = ['redisx']\n[redis_stream_broadcast]\ngroup = 'g'\n[sse]\nenabled = false\npath = '/e'",
            environment: &[
                ("ANYCABLE_REDIS_CHANNEL", "c"),
                ("ANYCABLE_HTTP_BROADCAST_PATH", "/b"),
            ],
            arguments: &[
                "--rpc-host",
                "h:1",
                "--rpc-concurrency",
                "5",
                "--rpc-concurrency-max=9",
            ],
        },
        &expect![[r#"
            warning: anycable.toml:6:1: sse.path has no effect without --sse.
            warning: --rpc_concurrency_max has no effect beside --rpc_concurrency.
            warning: ANYCABLE_HTTP_BROADCAST_PATH has no effect without --broadcast_adapter http.
            warning: ANYCABLE_REDIS_CHANNEL has no effect without --redis_url or --broadcast_adapter redis.
            broadcast_adapters = ["redisx"]  # anycable.toml:1
            enabled = false  # anycable.toml:5
            path = "/e"  # anycable.toml:6
            host = "h:1"  # command line
            concurrency = 5  # command line
            concurrency_max = 9  # command line
            path = "/b"  # ANYCABLE_HTTP_BROADCAST_PATH
            channel = "c"  # ANYCABLE_REDIS_CHANNEL
            group = "g"  # anycable.toml:3"#]],
    );
}

#[test]
fn a_server_may_have_a_name() {
    check_arguments(
        &["--node-id", "web-1"],
        &expect![[r#"node_id = "web-1"  # command line"#]],
    );
    check_file(
        "node_id = 'web-1'",
        &expect![[r#"node_id = "web-1"  # anycable.toml:1"#]],
    );
    check_environment(
        &[("ANYCABLE_NODE_ID", "a b")],
        &expect![
            "ANYCABLE_NODE_ID: invalid value 'a b' for '--node-id <NAME>': expected up to 255 characters of ASCII without spaces, for example web-1"
        ],
    );
}
