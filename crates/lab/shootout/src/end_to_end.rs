//! Whole runs over real sockets, against a server whose mistakes are known: the account must name exactly those.

mod agreement;
mod server;

use std::thread;

use clap::{Parser, Subcommand as _};
use plimsoll_load::machine::Machine;
use plimsoll_report::{
    Summary,
    summary::{Kind, Origin},
};
use serde_json::Value;
use tokio::sync::mpsc;

use self::server::{Dialect, Fault, Server};
use crate::{
    Bench, Error, Exchange, Interrupt, Prepared, Progress, Sink, Streams, Verdict, exchange, outcome,
};

#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    bench: Bench,
}

fn parse(arguments: &str) -> Bench {
    let words = ["bench"].into_iter().chain(arguments.split_whitespace());
    CommandLine::try_parse_from(words).unwrap().bench
}

/// What a run left behind.
struct Finished {
    verdict: Result<Verdict, Error>,
    stdout: String,
    stderr: String,
    /// `None` when it was not done.
    summary: Option<Summary>,
}

impl Finished {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{}{}", self.stdout, self.stderr))
    }

    /// The account of the first step.
    fn first_step(&self) -> Value {
        self.json()["steps"][0]["plimsoll"].clone()
    }

    /// `[expected, lost, duplicated, out of order, late]` of all steps.
    fn deliveries(&self) -> [u64; 5] {
        let keys = [
            "n_deliveries_expected",
            "n_lost",
            "n_duplicated",
            "n_out_of_order",
            "n_late",
        ];
        let json = self.json();
        keys.map(|key| json["plimsoll"]["deliveries"][key].as_u64().unwrap())
    }
}

fn bench(arguments: &str) -> Finished {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let streams = Streams {
        stdout: &mut stdout,
        stderr: &mut stderr,
        stderr_columns: None,
        stdin_is_terminal: false,
    };
    let (verdict, summary) =
        match Prepared::try_from(parse(arguments)).and_then(|bench| bench.execute(streams, None)) {
            Ok(finished) => {
                let summary = summary(&finished);
                (finished.verdict, Some(summary))
            }
            Err(error) => (Err(error), None),
        };
    let [stdout, stderr] = [stdout, stderr].map(|it| String::from_utf8(it).unwrap());
    if let (Some(summary), Ok(json)) = (&summary, serde_json::from_str(&stdout)) {
        agreement::check(summary, &json);
    }
    Finished {
        verdict,
        stdout,
        stderr,
        summary,
    }
}

fn summary(finished: &crate::Finished) -> Summary {
    let origin = Origin {
        plimsoll: "0",
        command: Vec::new(),
        name: &finished.name(),
        kind: Kind::Bench,
        salt: 0,
        machine: &Machine::read(),
    };
    finished.summarize(origin)
}

/// Ten broadcasts in each step, to six more clients on two workers.
fn broadcast(server: &Server, n_steps: usize, n_in_flight: usize, more: &str) -> Finished {
    let target = server.target();
    bench(&format!(
        "broadcast {target} --format json --step-size 6 --total-steps {n_steps} --sample-size 10 --workers 2 \
         --connect-concurrent 1 --concurrent {n_in_flight} --wait-broadcasts 1 {more}"
    ))
}

#[test]
fn a_faultless_server_is_found_faultless_in_every_dialect() {
    for dialect in [Dialect::Json, Dialect::Binary, Dialect::Cable] {
        let run = broadcast(
            &Server::start(dialect, Fault::None),
            3,
            4,
            "--payload-padding 200",
        );
        assert_eq!(
            run.verdict.as_ref().unwrap(),
            &Verdict::Clean,
            "{dialect:?} {}",
            run.stdout
        );
        // 10 broadcasts each to 6, 12 and 18 clients.
        assert_eq!(run.deliveries(), [360, 0, 0, 0, 0], "{dialect:?}");
        let steps = run.json()["steps"].as_array().unwrap().clone();
        assert_eq!(steps.len(), 3);
        for (step, n_clients) in steps.iter().zip([6, 12, 18]) {
            assert_eq!(step["clients"], n_clients);
            let detail = &step["plimsoll"];
            assert_eq!(detail["acknowledgement_us"]["count"], 10);
            assert_eq!(detail["last_delivery_us"]["count"], 10);
            assert_eq!(detail["listener_us"]["count"], 10 * n_clients);
            assert_eq!(detail["connect"]["latency_us"]["count"], 6);
        }
    }
}

#[test]
fn each_mistake_of_the_server_is_named() {
    let check = |fault, deliveries: [u64; 5], verdict| {
        for dialect in [Dialect::Json, Dialect::Binary, Dialect::Cable] {
            let run = broadcast(&Server::start(dialect, fault), 1, 1, "");
            assert_eq!(
                run.deliveries(),
                deliveries,
                "{fault:?} {dialect:?} {}",
                run.stdout
            );
            assert_eq!(run.verdict.unwrap(), verdict, "{fault:?}");
        }
    };
    // Client 0 is on the first worker, client 5 on the second. Side by side, because losses must be waited for.
    const LOST: [u64; 5] = [60, 1, 0, 0, 0];
    thread::scope(|scope| {
        scope.spawn(|| check(Fault::Lose(3, 0), LOST, Verdict::Faulty));
        scope.spawn(|| check(Fault::Lose(10, 5), LOST, Verdict::Faulty));
        scope.spawn(|| check(Fault::Swap(10, 2), LOST, Verdict::Faulty));
        scope.spawn(|| check(Fault::Repeat(3, 5), [60, 0, 1, 0, 0], Verdict::Clean));
        scope.spawn(|| check(Fault::Swap(3, 2), [60, 0, 0, 1, 0], Verdict::Clean));
    });
}

#[test]
fn a_late_arrival_is_never_both_lost_and_received() {
    let run = broadcast(&Server::start(Dialect::Json, Fault::Delay(4, 1, 15)), 2, 1, "");
    // It came in the second step, behind messages that were sent long after it was acknowledged.
    assert_eq!(run.deliveries(), [60 + 120, 0, 0, 1, 1], "{}", run.stdout);
    assert_eq!(run.verdict.unwrap(), Verdict::Clean);
}

#[test]
fn a_listener_that_drops_loses_what_it_was_due() {
    let run = broadcast(&Server::start(Dialect::Json, Fault::Cut(1, 3)), 1, 1, "");
    let step = run.first_step();
    assert_eq!(step["n_dropped"], 1, "{}", run.stdout);
    // How many broadcasts went out before the drop was noticed is a matter of luck; that they add up is not.
    let count = |key: &str| step[key].as_u64().unwrap();
    assert!((1..=10).contains(&count("n_lost")), "{}", run.stdout);
    assert_eq!(
        count("n_deliveries") + count("n_lost"),
        count("n_deliveries_expected")
    );
    assert_eq!(run.verdict.unwrap(), Verdict::Faulty);
}

#[test]
fn a_missing_acknowledgement_does_not_hang_the_run() {
    let server = Server::start(Dialect::Json, Fault::NoResult(2));
    let run = broadcast(&server, 1, 1, "--answer-timeout 0.3");
    assert_eq!(run.deliveries(), [60, 0, 0, 0, 0], "{}", run.stdout);
    let step = run.first_step();
    assert_eq!(
        (&step["n_unanswered"], &step["acknowledgement_us"]["count"]),
        (&1.into(), &9.into())
    );
    assert_eq!(run.verdict.unwrap(), Verdict::Faulty);
}

#[test]
fn messages_of_others_are_told_apart() {
    let run = broadcast(&Server::start(Dialect::Json, Fault::Foreign), 1, 1, "");
    assert_eq!(run.deliveries(), [60, 0, 0, 0, 0]);
    assert_eq!(run.json()["plimsoll"]["n_foreign"], 60);
    assert!(
        run.stderr.contains("messages that this run did not send: 60"),
        "{}",
        run.stderr
    );
    assert_eq!(run.verdict.unwrap(), Verdict::Clean);
}

#[test]
fn echoes_work_in_every_dialect() {
    let welcome = Some("Welcome to simple echo server");
    let plain = [Dialect::Echo(None), Dialect::Echo(welcome)];
    for dialect in [Dialect::Json, Dialect::Binary, Dialect::Cable]
        .into_iter()
        .chain(plain)
    {
        let target = Server::start(dialect, Fault::None).target();
        let arguments = "--step-size 5 --total-steps 2 --sample-size 50 --concurrent 7 --format json";
        let run = bench(&format!("echo {target} {arguments}"));
        let json = run.json();
        assert_eq!(run.verdict.unwrap(), Verdict::Clean, "{dialect:?} {}", run.stdout);
        for step in json["steps"].as_array().unwrap() {
            assert_eq!(step["plimsoll"]["acknowledgement_us"]["count"], 50, "{dialect:?}");
        }
        let run = &json["plimsoll"];
        assert_eq!((&run["n_foreign"], &run["deliveries"]), (&0.into(), &Value::Null));
    }
}

#[test]
fn an_echo_that_changed_is_no_echo() {
    let target = Server::start(Dialect::Echo(None), Fault::Alter).target();
    let run = bench(&format!(
        "echo {target} --step-size 2 --total-steps 1 --sample-size 4"
    ));
    assert_eq!(run.verdict.unwrap(), Verdict::Faulty);
    assert!(
        run.stderr.contains("echoes that came back changed: 4"),
        "{}",
        run.stderr
    );
    assert!(run.stdout.contains("4 sent, 4 unanswered"), "{}", run.stdout);
}

#[test]
fn connecting_is_timed_for_every_server_type() {
    for dialect in [
        Dialect::Json,
        Dialect::Binary,
        Dialect::Cable,
        Dialect::Echo(None),
    ] {
        let target = Server::start(dialect, Fault::None).target();
        let target = target.replace("actioncable", "actioncable-connect");
        let run = bench(&format!(
            "connect {target} --step-size 20 --total-steps 2 --format json"
        ));
        let json = run.json();
        assert_eq!(run.verdict.unwrap(), Verdict::Clean, "{dialect:?}");
        assert_eq!(json["steps"][1]["clients"], 40);
        let connect = &json["steps"][1]["plimsoll"]["connect"];
        assert_eq!(connect["latency_us"]["count"], 20);
        let n_subscribed = if dialect == Dialect::Cable { 20 } else { 0 };
        assert_eq!(connect["subscribe_us"]["count"], n_subscribed);
    }
}

#[test]
fn clients_that_fail_are_grouped_by_cause() {
    let target = Server::start(Dialect::Json, Fault::RefuseHalf).target();
    let run = bench(&format!(
        "connect {target} --step-size 10 --total-steps 1 --concurrent 10"
    ));
    assert_eq!(run.verdict.unwrap(), Verdict::Faulty);
    assert!(
        run.stdout.starts_with("clients:     5    95per-rtt: "),
        "{}",
        run.stdout
    );
    let group = "5 failed: upgrade refused with HTTP status 503 (5)";
    assert!(run.stdout.contains(group), "{}", run.stdout);
    let errors = run.summary.unwrap().errors;
    assert_eq!(
        (errors.len(), errors[0].cause.as_str(), errors[0].count),
        (1, "client not ready: upgrade refused with HTTP status 503", 5)
    );
}

#[test]
fn a_run_in_which_nobody_gets_ready_is_an_error() {
    let target = Server::start(Dialect::Cable, Fault::Reject).target();
    let error = bench(&format!("connect {target} --step-size 3"))
        .verdict
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "none of 3 clients got ready: subscription rejected (3)"
    );
    assert!(!error.is_wrong_usage());
}

#[test]
fn the_result_goes_into_a_file_and_the_target_is_watched() {
    let folder = std::env::temp_dir().join(format!("plimsoll-shootout-{}", std::process::id()));
    let file = folder.join("new/out.json");
    let more = format!("--filename {} --watch {}", file.display(), std::process::id());
    let run = broadcast(&Server::start(Dialect::Json, Fault::None), 1, 1, &more);
    assert_eq!((run.verdict.unwrap(), run.stdout.as_str()), (Verdict::Clean, ""));
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let watch = &json["steps"][0]["plimsoll"]["sampling"]["watch"];
    assert!(
        watch["rss_bytes"].as_u64().unwrap() > 0 && watch["cpu_seconds"].is_f64(),
        "{watch}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn help_names_every_flag_of_websocket_bench() {
    let mut command = Bench::augment_subcommands(clap::Command::new("bench"));
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

/// Hears everything and prints nothing; interrupts the run once, when the first message is answered.
struct Impatient {
    interrupt: Option<mpsc::Sender<()>>,
}

impl Sink for Impatient {
    fn progress(&mut self, progress: Progress) {
        if let Progress::Sampling { n_done: 1.., .. } = progress
            && let Some(interrupt) = self.interrupt.take()
        {
            interrupt.try_send(()).unwrap();
        }
    }

    fn step(&mut self, _: &outcome::Step) {}

    fn note(&mut self, _: &str) {}
}

#[tokio::test]
async fn an_interrupted_run_tells_what_there_is() {
    let target = Server::start(Dialect::Json, Fault::None).target();
    let Bench::Broadcast(args) = parse(&format!("broadcast {target} --sample-size 1000000 --step-size 3"))
    else {
        panic!()
    };
    let (interrupt, signals) = mpsc::channel(1);
    let mut sink = Impatient {
        interrupt: Some(interrupt),
    };
    let options = Exchange::try_from(args).unwrap();
    let outcome = exchange::run(&options, Interrupt::new(signals), &mut sink)
        .await
        .unwrap();
    assert_eq!((outcome.steps.len(), outcome.is_interrupted), (1, true));
    assert_eq!(outcome.messages, ["interrupted by the user"]);
    let counts = outcome.deliveries().unwrap();
    assert!(
        counts.n_expected > 0 && counts.n_delivered == counts.n_expected,
        "{counts:?}"
    );
}
