//! Tests of typical settings of AnyCable users.

use expect_test::expect;

use super::{check_arguments, check_environment, check_file};

#[test]
fn what_is_not_supported_is_named_with_what_happens_instead() {
    check_file(
        "presets = ['broker']\n[embedded_nats]\nservice_addr = 'nats://a'\nenabled = false",
        &expect![[r#"
            warning: anycable.toml:3:1: embedded_nats.service_addr is not supported: there is no embedded NATS server; connect servers with a NATS or a Redis of your own (--pubsub, --broker).
            presets = ["broker"]  # anycable.toml:1"#]],
    );
    check_file(
        "[[embedded_nats.routes]]\na = 1",
        &expect![
            "warning: anycable.toml:1:17: embedded_nats.routes is not supported: there is no embedded NATS server; \
             connect servers with a NATS or a Redis of your own (--pubsub, --broker)."
        ],
    );
    check_environment(
        &[("ANYCABLE_PUSHER_APP_ID", "1"), ("ANYCABLE_EMBED_NATS", "false")],
        &expect![
            "warning: ANYCABLE_PUSHER_APP_ID is not supported: the Pusher protocol is not supported; clients connect with Action Cable."
        ],
    );
    check_arguments(
        &[
            "--embed-nats",
            "--enats-addr",
            "nats://a",
            "--hub-gopool-size=16",
            "--port=1",
        ],
        &expect![[r#"
            warning: --embed-nats is not supported: there is no embedded NATS server; connect servers with a NATS or a Redis of your own (--pubsub, --broker).
            warning: --enats-addr is not supported: there is no embedded NATS server; connect servers with a NATS or a Redis of your own (--pubsub, --broker).
            warning: --hub-gopool-size is not supported: it is not needed: one thread per core serves its own clients (--shards).
            port = 1  # command line"#]],
    );
}

#[test]
fn variables_that_nobody_knows_are_warnings_and_those_of_others_are_left_alone() {
    check_environment(
        &[
            ("ANYCABLE_PROT", "1"),
            ("ANYCABLE_WHATEVER_ELSE", "1"),
            ("ANYCABLE_RPC_TLS_CERT", "a.pem"),
            ("ANYCABLE_HTTP_BROADCAST_URL", "http://localhost:8080/_broadcast"),
            ("ANYCABLE_HTTP_RPC_MOUNT_PATH", "/_anycable"),
            ("PLIMSOLL_DATA_DIR", "/var/lib/plimsoll"),
            ("PLIMSOLL_NO_SAVE", "1"),
        ],
        &expect![[r#"
            warning: ANYCABLE_PROT is unknown and has no effect. Did you mean ANYCABLE_PORT?
            warning: ANYCABLE_WHATEVER_ELSE is unknown and has no effect."#]],
    );
}

#[test]
fn old_names_still_work() {
    check_environment(
        &[("ANYCABLE_HTTP_BROADCAST_SECRET", "s")],
        &expect![[r#"
            warning: ANYCABLE_HTTP_BROADCAST_SECRET is an old name; use ANYCABLE_BROADCAST_KEY.
            # broadcast_key = "***"  # ANYCABLE_HTTP_BROADCAST_SECRET"#]],
    );
    check_file(
        "broadcast_key = 'new'\n[http_broadcast]\nsecret = 'old'",
        &expect![[r#"
            warning: anycable.toml:3:1: http_broadcast.secret is an old name; use broadcast_key.
            # broadcast_key = "***"  # anycable.toml:1"#]],
    );
    check_arguments(
        &["--disable-disconnect", "--http-broadcast-secret", "s"],
        &expect![[r#"
        warning: --disable-disconnect is an old name; use --disconnect-mode=never.
        warning: --http-broadcast-secret is an old name; use --broadcast-key.
        # broadcast_key = "***"  # --http-broadcast-secret
        disconnect_mode = "never"  # --disable-disconnect"#]],
    );
    check_arguments(
        &["--http-broadcast-secret"],
        &expect!["--http-broadcast-secret: a value is required, as in --http-broadcast-secret=VALUE"],
    );
}

#[test]
fn a_server_that_its_platform_cannot_reach_says_so() {
    check_environment(
        &[("FLY_APP_NAME", "app"), ("PORT", "1")],
        &expect![[r#"
        warning: FLY_APP_NAME is set, but platforms are not detected, and other machines cannot reach this server on localhost; set PLIMSOLL_HOST=0.0.0.0.
        port = 1  # PORT"#]],
    );
    check_environment(
        &[("FLY_APP_NAME", "app"), ("ANYCABLE_HOST", "0.0.0.0")],
        &expect![[r#"host = "0.0.0.0"  # ANYCABLE_HOST"#]],
    );
}
