//! Layers and error texts, without files and without a process.

use std::{ffi::OsString, io, path::Path};

use clap::{CommandFactory, FromArgMatches};
use expect_test::{Expect, expect};

use super::{ReadError, Reading, Surroundings, catalog::argument, read, table::SETTINGS};
use crate::{cli::CommandLine, serve::Options};

/// Flags about one start of the program. No variable and no key stands for them.
const COMMAND_LINE_ONLY: [&str; 3] = ["announce", "exit-with-stdin", "print-config"];

/// What a server is started with.
#[derive(Default, Clone, Copy)]
struct Start<'a> {
    /// The only file there is: `anycable.toml`.
    file: &'a str,
    environment: &'a [(&'a str, &'a str)],
    arguments: &'a [&'a str],
}

impl Start<'_> {
    fn read(&self) -> Result<Reading, ReadError> {
        let read_file = |path: &Path| match path.to_str() {
            Some("anycable.toml") if !self.file.is_empty() => Ok(self.file.to_owned()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let surroundings = Surroundings {
            environment: self
                .environment
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            read_file: &read_file,
        };
        let arguments = ["plimsoll", "serve"].iter().chain(self.arguments);
        let program = CommandLine::command();
        let reading = read(&program, arguments.map(OsString::from).collect(), &surroundings)?;
        CommandLine::from_arg_matches(&reading.matches)?;
        Ok(reading)
    }

    /// Warnings, and either what `--print-config` prints of what is no default, or what is wrong.
    fn outcome(&self) -> String {
        let arguments: Vec<&str> = self.arguments.iter().copied().chain(["--print-config"]).collect();
        let start = Start {
            arguments: &arguments,
            ..*self
        };
        match start.read() {
            Ok(reading) => {
                let text = reading.printed.expect("asked for");
                let given = |line: &&str| line.contains("  # ") && !line.ends_with("# default");
                let warnings = reading.warnings.iter().map(|text| format!("warning: {text}"));
                let lines: Vec<String> = warnings
                    .chain(text.lines().filter(given).map(str::to_owned))
                    .collect();
                lines.join("\n")
            }
            Err(ReadError::Below(errors)) => errors.join("\n"),
            Err(ReadError::CommandLine(error)) => error.to_string(),
        }
    }
}

#[track_caller]
fn check(start: Start<'_>, expected: &Expect) {
    expected.assert_eq(&start.outcome());
}

#[track_caller]
fn check_file(file: &str, expected: &Expect) {
    check(
        Start {
            file,
            ..Start::default()
        },
        expected,
    );
}

#[track_caller]
fn check_environment(environment: &[(&str, &str)], expected: &Expect) {
    check(
        Start {
            environment,
            ..Start::default()
        },
        expected,
    );
}

#[track_caller]
fn check_arguments(arguments: &[&str], expected: &Expect) {
    check(
        Start {
            arguments,
            ..Start::default()
        },
        expected,
    );
}

/// Every flag of `plimsoll serve` can be given in the environment and in a file, or is named as one that cannot.
#[test]
fn every_flag_is_in_the_table() {
    let serve = Options::command();
    let has_row =
        |flag| SETTINGS.iter().any(|setting| setting.flag == flag) || COMMAND_LINE_ONLY.contains(&flag);
    let missing: Vec<&str> = serve
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .filter(|flag| !has_row(flag))
        .collect();
    assert!(
        missing.is_empty(),
        "flags without a row: {missing:?}. Add a line like setting(\"the-flag\", \"section.key\") to SETTINGS in \
         crates/plimsoll/src/serve/settings/table.rs, beside its section, with .secret() if the value must not be \
         printed; the variables follow from the flag",
    );
    for flag in COMMAND_LINE_ONLY {
        assert!(argument(&serve, flag).is_some(), "--{flag} is gone: delete it");
    }
}

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
        &expect![
            "anycable.toml:2:1: server.port: invalid value '99999' for '--port <PORT>': 99999 is not in 0..=65535"
        ],
    );
    check_file(
        "[server]\nport = true\n[rpc]\nhost = ['a', 'b']",
        &expect![[r#"
        anycable.toml:4:1: rpc.host: expected one value, not a list
        anycable.toml:2:1: server.port: invalid value 'true' for '--port <PORT>': invalid digit found in string"#]],
    );
    check_file(
        "[server]\nport = [[1]]\nhost = 2026-01-01",
        &expect![[r#"
        anycable.toml:2:1: server.port: expected a string, a number or true/false, not a list in a list
        anycable.toml:3:1: server.host: expected a string, a number or true/false, not a date"#]],
    );
    check_file(
        "[server]\nping_interval = 5",
        &expect![
            "anycable.toml:2:1: server.ping_interval: there is no such key. Did you mean app.ping_interval?"
        ],
    );
    check_file(
        "broadcast_adapter = 'http'",
        &expect![
            "anycable.toml:1:1: broadcast_adapter: there is no such key. Did you mean broadcast_adapters?"
        ],
    );
    check_file(
        "[app]\nembedded = 'bencmark'",
        &expect![
            "anycable.toml:2:1: app.embedded: invalid value 'bencmark' for '--app <APP>' [possible values: benchmark, chat] tip: a similar value exists: 'benchmark'"
        ],
    );
    check_file(
        "[server\nport = 8080\n",
        &expect!["anycable.toml:1:8: [server: unclosed table, expected `]`"],
    );
    check_file(
        "server = 8080\n[redis.url]\na = 1",
        &expect![[r#"
            anycable.toml:1:1: server: is a section; write [server] and its keys on the lines below
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
        &[("ANYCABLE_PORT", "many"), ("PLIMSOLL_PING_INTERVAL", "0")],
        &expect![[r#"
            PLIMSOLL_PING_INTERVAL: invalid value '0' for '--ping-interval <PING_INTERVAL>': 0 is not in 1..=3600
            ANYCABLE_PORT: invalid value 'many' for '--port <PORT>': invalid digit found in string"#]],
    );
}

#[test]
fn what_is_not_supported_is_named_with_what_happens_instead() {
    check_file(
        "presets = ['broker']\n[nats]\nservers = 'nats://a'\n[embedded_nats]\nenabled = false",
        &expect![[r#"
            warning: anycable.toml:1:1: presets is not supported: platforms are not detected; give each setting, for example --host 0.0.0.0 in a container.
            warning: anycable.toml:3:1: nats.servers is not supported: there is no NATS here; take broadcasts over http, redis or redisx (--broadcast_adapter)."#]],
    );
    check_environment(
        &[("ANYCABLE_BROKER", "memory"), ("ANYCABLE_EMBED_NATS", "false")],
        &expect![
            "warning: ANYCABLE_BROKER is not supported: no history is kept: clients connect and subscribe anew, and what was published meanwhile is not sent again."
        ],
    );
    check_arguments(
        &[
            "--embed-nats",
            "--nats-servers",
            "nats://a",
            "--broker=nats",
            "--port=1",
        ],
        &expect![[r#"
            warning: --embed-nats is not supported: there is no NATS server inside; nodes are joined by Redis publish/subscribe (--broadcast_adapter redis).
            warning: --nats-servers is not supported: there is no NATS here; take broadcasts over http, redis or redisx (--broadcast_adapter).
            warning: --broker is not supported: no history is kept: clients connect and subscribe anew, and what was published meanwhile is not sent again.
            port = 1  # command line"#]],
    );
}

#[test]
fn variables_that_nobody_knows_are_warnings_and_the_gems_are_silent() {
    check_environment(
        &[
            ("ANYCABLE_PROT", "1"),
            ("ANYCABLE_WHATEVER_ELSE", "1"),
            ("ANYCABLE_RPC_TLS_CERT", "a.pem"),
            ("ANYCABLE_HTTP_BROADCAST_URL", "http://localhost:8080/_broadcast"),
            ("ANYCABLE_HTTP_RPC_MOUNT_PATH", "/_anycable"),
        ],
        &expect![[r#"
            warning: ANYCABLE_PROT is not known and has no effect. Did you mean ANYCABLE_PORT?
            warning: ANYCABLE_WHATEVER_ELSE is not known and has no effect."#]],
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
fn rules_between_flags_hold_at_the_command_line_only() {
    check(
        Start {
            file: "[http_broadcast]\nport = 1\n[rpc]\nconcurrency = 5",
            environment: &[("ANYCABLE_BROADCAST_KEY", "k")],
            ..Start::default()
        },
        &expect![[r#"
            warning: anycable.toml:2:1: http_broadcast.port has no effect: it and ANYCABLE_BROADCAST_KEY exclude each other.
            # broadcast_key = "***"  # ANYCABLE_BROADCAST_KEY
            concurrency = 5  # anycable.toml:4"#]],
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
            warning: ANYCABLE_RPC_HOST has no effect: it and --app exclude each other.
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
        error: invalid value 'x' for '--port <PORT>': invalid digit found in string

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn the_named_file_must_be_there() {
    check_arguments(
        &["--config-path", "nowhere.toml"],
        &expect!["cannot read the settings file nowhere.toml: entity not found"],
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
