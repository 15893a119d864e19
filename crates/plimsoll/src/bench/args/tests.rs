//! Tests of defaults, and of the messages about refused flags.

use std::time::Duration;

use clap::{CommandFactory as _, Parser, Subcommand};
use plimsoll_shootout::{Connect, Exchange, Model};

use super::*;
use crate::bench::{Command as Whole, options::UsageError};

#[derive(Debug, Parser)]
struct CommandLine {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, Subcommand)]
enum Bench {
    Broadcast(Whole<BroadcastArgs>),
    Connect(Whole<ConnectArgs>),
    Echo(Whole<EchoArgs>),
}

fn parse(arguments: &str) -> Result<Bench, clap::Error> {
    let words = ["bench"].into_iter().chain(arguments.split_whitespace());
    CommandLine::try_parse_from(words).map(|it| it.bench)
}

fn exchange(arguments: &str) -> Result<Exchange, UsageError> {
    match parse(arguments).unwrap() {
        Bench::Broadcast(args) => args.workload.try_into(),
        Bench::Echo(args) => args.workload.try_into(),
        Bench::Connect(_) => panic!("{arguments}"),
    }
}

fn connect(arguments: &str) -> Result<Connect, UsageError> {
    match parse(arguments).unwrap() {
        Bench::Connect(args) => args.workload.try_into(),
        _ => panic!("{arguments}"),
    }
}

/// Messages of each step, and messages in flight, of a closed loop.
fn closed(options: &Exchange) -> (usize, usize) {
    match options.model {
        Model::Closed { n_samples, width } => (n_samples, width),
        Model::Open(_) => panic!("{:?}", options.model),
    }
}

#[test]
fn a_rate_and_a_duration_are_an_open_model() {
    let options = exchange("broadcast ws://h/ --rate 30/m --duration 1m30s --drain-timeout 7.5").unwrap();
    let Model::Open(schedule) = &options.model else {
        panic!("{:?}", options.model);
    };
    assert_eq!(
        (schedule.rate().to_string(), schedule.duration().as_secs()),
        ("0.5/s".to_owned(), 90)
    );
    assert_eq!(options.model.n_messages(), 45);
    assert_eq!(options.waits.drain, Duration::from_millis(7_500));
    for (arguments, expected) in [
        ("--rate 5", "--duration"),
        ("--duration 5s", "--rate"),
        ("--rate 5 --duration 5s --concurrent 4", "--concurrent"),
        ("--rate 5 --duration 5s --sample-size 4", "--sample-size"),
        ("--rate 0 --duration 5s", "is not a rate"),
        ("--rate 5 --duration 9000h", "longer than a year"),
    ] {
        let error = parse(&format!("broadcast ws://h/ {arguments}"))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    let error = exchange("broadcast ws://h/ --rate 5 --duration 0s")
        .unwrap_err()
        .to_string();
    assert!(error.contains("--rate 5/s for --duration 0 s"), "{error}");
    let error = exchange("broadcast ws://h/ --rate 5 --duration 5s --command-delay 1").unwrap_err();
    assert!(
        error.to_string().contains("--command-delay does not fit --rate"),
        "{error}"
    );
}

#[test]
fn each_workload_has_its_documented_defaults() {
    let broadcast = exchange("broadcast ws://h/").unwrap();
    let steps = broadcast.steps;
    assert_eq!((closed(&broadcast), steps.connect_width), ((20, 4), 100));
    assert_eq!((steps.n_first, steps.n_more, steps.n_steps), (5000, 5000, None));
    assert_eq!(
        (broadcast.limit_percentile, broadcast.limit_rtt.as_millis()),
        (95, 500)
    );
    let waits = broadcast.waits;
    assert_eq!(
        [waits.quiet, waits.drain, waits.answer].map(|it| it.as_secs()),
        [15, 300, 60]
    );
    assert_eq!(broadcast.n_padding_bytes, 0);
    let common = &broadcast.common;
    assert_eq!(
        (common.origin.as_str(), &common.sub_protocol),
        ("http://localhost", &None)
    );
    assert_eq!(common.channel, r#"{"channel":"BenchmarkChannel"}"#);

    let echo = exchange("echo ws://h/").unwrap();
    assert_eq!((closed(&echo), echo.steps.connect_width), ((10_000, 50), 100));
    // Echoes that are in flight when the bench is interrupted are not lost.
    assert_eq!(echo.waits.quiet.as_secs(), 2);

    let steps = connect("connect ws://h/").unwrap().steps;
    assert_eq!(
        (steps.n_first, steps.connect_width, steps.n_steps),
        (5000, 50, None)
    );
}

#[test]
fn the_published_command_lines_are_understood() {
    let options = exchange(
        "broadcast ws://127.0.0.1:8080/cable --concurrent 8 --sample-size 100 --step-size 1000 \
         --payload-padding 200 --total-steps 10 --origin http://0.0.0.0 --server-type=actioncable",
    );
    let options = options.unwrap();
    assert_eq!((closed(&options), options.n_padding_bytes), ((100, 8), 200));
    assert_eq!(
        (options.steps.n_clients(), options.steps.n_added(9)),
        (Some(10_000), 1000)
    );

    let options = connect(
        "connect ws://127.0.0.1:8080/cable --concurrent 2000 --step-size 10000 --total-steps 2 \
         --server-type=actioncable-connect",
    );
    assert_eq!(options.unwrap().steps.n_clients(), Some(20_000));
}

#[test]
fn short_flags_lists_and_fractions() {
    let options = exchange(
        "broadcast ws://h/ -c 3 -s 7 -o http://o -l 127.0.0.1,127.0.0.2 -l ::1 --command-delay 0.5 \
         --command-delay-chance 30 --initial-clients 10 --step-size 4 --total-steps 3 --limit-rtt 1m30s",
    );
    let options = options.unwrap();
    assert_eq!(
        (closed(&options), options.common.local_addresses.len()),
        ((7, 3), 3)
    );
    let pacing = options.common.pacing;
    assert_eq!(
        (pacing.delay, pacing.chance_percent),
        (Duration::from_millis(500), 30)
    );
    assert_eq!(
        (options.steps.n_clients(), options.limit_rtt.as_secs()),
        (Some(18), 90)
    );
}

#[test]
fn what_cannot_be_done_is_refused_by_name() {
    let check = |error: UsageError, expected: &str| {
        let error = error.to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(
        connect("connect ws://h/ -w 10.0.0.1:3000").unwrap_err(),
        "--worker-addr is not supported",
    );
    check(
        exchange("echo ws://h/ --action-cable-encoding msgpack").unwrap_err(),
        "--action-cable-encoding msgpack does not fit --server-type json; expected actioncable",
    );
    check(
        exchange("echo ws://h/ --server-type actioncable --sub-protocol actioncable-v1-msgpack").unwrap_err(),
        "--sub-protocol actioncable-v1-msgpack means the encoding msgpack, but --action-cable-encoding is json",
    );
    check(
        exchange("broadcast ws://h/ --server-type echo").unwrap_err(),
        "--server-type echo cannot broadcast",
    );
    check(
        exchange("echo ws://h/ --server-type actioncable-connect").unwrap_err(),
        "--server-type actioncable-connect cannot echo",
    );
    check(exchange("echo http://h/").unwrap_err(), "expected ws or wss");
    check(
        exchange("echo ws://h/ --threshold delivery:p(95)<5").unwrap_err(),
        "--threshold delivery:p(95)<5: bench echo does not measure delivery; it measures rtt",
    );
    check(
        exchange("echo ws://h/ --header Cookie").unwrap_err(),
        "Cookie: uid=1",
    );
}

#[test]
fn binary_encodings_offer_their_sub_protocol() {
    let check = |arguments: &str, expected: Option<&str>| {
        let common = exchange(&format!("echo ws://h/ --server-type actioncable {arguments}"))
            .unwrap()
            .common;
        assert_eq!(common.sub_protocol.as_deref(), expected, "{arguments}");
    };
    check("", None);
    check("--sub-protocol graphql-ws", Some("graphql-ws"));
    check("--action-cable-encoding msgpack", Some("actioncable-v1-msgpack"));
    check(
        "--action-cable-encoding protobuf",
        Some("actioncable-v1-protobuf"),
    );
    check(
        "--action-cable-encoding msgpack --sub-protocol actioncable-v1-ext-msgpack",
        Some("actioncable-v1-ext-msgpack"),
    );
}

#[test]
fn nonsense_is_refused_with_the_flag_and_what_was_expected() {
    let check = |arguments: &str, expected: &[&str]| {
        let error = parse(arguments).unwrap_err().to_string();
        assert!(
            expected.iter().all(|it| error.contains(it)),
            "{arguments}: {error}"
        );
    };
    check(
        "echo ws://h/ --server-type phoenix",
        &["--server-type", "not supported yet"],
    );
    check(
        "echo ws://h/ --server-type cable",
        &["--server-type", "unknown", "actioncable"],
    );
    check(
        "echo ws://h/ --action-cable-encoding cbor",
        &["--action-cable-encoding", "unknown encoding", "msgpack"],
    );
    check(
        "echo ws://h/ --concurrent 0",
        &["--concurrent", "a number of at least 1"],
    );
    check("echo ws://h/ --limit-rtt 500", &["--limit-rtt", "500ms"]);
    check(
        "broadcast ws://h/ --payload-padding 99999999",
        &["--payload-padding", "16777216"],
    );
    check("connect ws://h/ --command-delay=-1", &["--command-delay"]);
    check("connect ws://h/ --watch port", &["--watch", ":8080"]);
    check("connect ws://h/ --pusher-app-id x", &["--pusher-app-id"]);
    check(
        "connect ws://h/ --threshold connect",
        &["--threshold", "no colon"],
    );
    check("connect", &["<URL>"]);
}

#[test]
fn help_names_every_flag_of_websocket_bench() {
    let mut command = CommandLine::command();
    let common = "--origin --local-addr --worker-addr --server-type --concurrent --step-size --total-steps \
                  --interactive --steps-delay --command-delay --command-delay-chance --format --filename \
                  --action-cable-encoding --channel";
    let sampling = "--sub-protocol --sample-size --limit-percentile --limit-rtt --payload-padding";
    let broadcast = "--connect-concurrent --initial-clients --wait-broadcasts";
    for (name, more) in [
        ("connect", ""),
        ("echo", sampling),
        ("broadcast", sampling),
        ("broadcast", broadcast),
    ] {
        let help = command
            .find_subcommand_mut(name)
            .unwrap()
            .render_long_help()
            .to_string();
        let words: Vec<_> = help.split_whitespace().collect();
        for flag in common.split_whitespace().chain(more.split_whitespace()) {
            assert!(words.contains(&flag), "{name} has no {flag}");
        }
    }
}
