//! Tests of the messages about mistakes.

use expect_test::expect;

use super::{check_arguments, check_environment, check_file};

#[test]
fn a_mistake_in_the_file_is_named_with_its_place() {
    check_file(
        "[server]\nhost = 'a'\n  prot = 8080\n",
        &expect!["anycable.toml:3:3: server.prot: there is no such key. Did you mean server.port?"],
    );
    check_file(
        "[sever]\nport = 8080",
        &expect!["anycable.toml:1:2: sever: there is no section [sever]. Did you mean [server]?"],
    );
    check_file(
        "[server]\nport = 99999",
        &expect![[
            r#"anycable.toml:2:1: server.port: invalid value '99999' for '--port <PORT>': expected a whole number from 0 to 65535"#
        ]],
    );
    check_file(
        "[server]\nport = true\n[rpc]\nhost = ['a', 'b']",
        &expect![[r#"
        anycable.toml:4:1: rpc.host: expected one value, not a list
        anycable.toml:2:1: server.port: invalid value 'true' for '--port <PORT>': expected a whole number from 0 to 65535"#]],
    );
    check_file(
        "[server]\nport = [[1]]\nhost = 2026-01-01",
        &expect![[r#"
        anycable.toml:2:1: server.port: expected a string, a number or true/false, not a list in a list
        anycable.toml:3:1: server.host: expected a string, a number or true/false, not a date"#]],
    );
    check_file(
        "[server]\nping_interval = 5",
        &expect![[
            r#"anycable.toml:2:1: server.ping_interval: there is no such key. Did you mean app.ping_interval?"#
        ]],
    );
    check_file(
        "broadcast_adapter = 'http'",
        &expect![[
            r#"anycable.toml:1:1: broadcast_adapter: there is no such key. Did you mean broadcast_adapters?"#
        ]],
    );
    check_file(
        "[app]\nembedded = 'bencmark'",
        &expect![[
            r#"anycable.toml:2:1: app.embedded: invalid value 'bencmark' for '--app <APP>' [possible values: benchmark, chat, echo] tip: a similar value exists: 'benchmark'"#
        ]],
    );
    check_file(
        "[server\nport = 8080\n",
        &expect!["anycable.toml:1:8: [server: unclosed table, expected `]`"],
    );
    check_file(
        "server = 8080\n[redis.url]\na = 1",
        &expect![[r#"
            anycable.toml:1:1: server: this is a section; write [server] and its keys on the lines below
            anycable.toml:2:8: redis.url: expected a string, a number or true/false, not a section"#]],
    );
    check_file(
        "port = 8080\nport = 8081",
        &expect!["anycable.toml:2:1: port: duplicate key"],
    );
}

#[test]
fn a_mistake_in_a_variable_is_named_with_it() {
    check_environment(
        &[("PORT", "many")],
        &expect![[
            r#"PORT: invalid value 'many' for '--port <PORT>': expected a whole number from 0 to 65535 (PLIMSOLL_PORT wins over PORT)"#
        ]],
    );
    check_environment(
        &[("ANYCABLE_PORT", "many"), ("PLIMSOLL_PING_INTERVAL", "0")],
        &expect![[r#"
            PLIMSOLL_PING_INTERVAL: invalid value '0' for '--ping-interval <PING_INTERVAL>': expected a whole number from 1 to 3600
            ANYCABLE_PORT: invalid value 'many' for '--port <PORT>': expected a whole number from 0 to 65535"#]],
    );
}

#[test]
fn a_mistake_at_the_command_line_is_claps() {
    check_arguments(
        &["--prot", "1"],
        &expect![[r#"
        error: unexpected argument '--prot' found

          tip: a similar argument exists: '--port'

        Usage: plimsoll serve --port <PORT>

        For more information, try '--help'.
    "#]],
    );
    check_arguments(
        &["--port", "x"],
        &expect![[r#"
        error: invalid value 'x' for '--port <PORT>': expected a whole number from 0 to 65535

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn a_secret_is_not_in_the_error_text() {
    check_file(
        "secret: 'hidden'\nbroadcast_key 'hidden'\njwt.secret = 'hidden\n",
        &expect![[r#"
            anycable.toml:1:9: secret: key with no value, expected `=`
            anycable.toml:2:15: broadcast_key: key with no value, expected `=`
            anycable.toml:1:7: secret: invalid unquoted key, expected letters, numbers, `-`, `_`"#]],
    );
    check_environment(
        &[
            ("ANYCABLE_JWT_JWKS", "https://me:hidden@id.example/jwks"),
            ("ANYCABLE_RPC_HOST", "me:hidden@host:50051"),
        ],
        &expect![[r#"
            ANYCABLE_JWT_JWKS: invalid value 'https://***@id.example/jwks' for '--jwt-jwks <FILE_OR_URL>': a user and a password are never sent, because public keys need none; remove the part before the @
            ANYCABLE_RPC_HOST: invalid value '***@host:50051' for '--rpc-host <HOST>': "***@host:50051" is not a host and port; expected something like localhost:50051"#]],
    );
    check_environment(
        &[("ANYCABLE_RPC_HOST", "http://me:hid\"den@host/")],
        &expect![[
            r#"ANYCABLE_RPC_HOST: invalid value 'http://***@host/' for '--rpc-host <HOST>': "http://***@host/" has a user name, which is not sent; use --http_rpc_secret for a secret; expected something like http://localhost:3000/_anycable"#
        ]],
    );
    check_environment(
        &[("ANYCABLE_REDIS_URL", "redis://me:hidden@localhost:many")],
        &expect![[
            r#"ANYCABLE_REDIS_URL: invalid value 'redis://***@localhost:many' for '--redis-url <URL>': not a Redis URL (Redis URL did not parse - InvalidClientConfig); expected redis://[[user]:password@]host[:port][/database], or rediss:// for TLS"#
        ]],
    );
}
