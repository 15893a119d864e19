//! Tests of whole runs over real sockets, against a server with known mistakes. The account must name exactly these.

mod agents;
mod agreement;
mod draining;
mod nodes;
mod options;
mod server;

use std::{thread, time::Duration};

use plimsoll_clients::target::Target;
use plimsoll_load::{machine::Machine, metrics::sample_queue};
use plimsoll_report::{
    Summary,
    summary::{Kind, Origin},
};
use serde_json::Value;
use tokio::{runtime::Builder, sync::mpsc};

use self::{
    options::{broadcast, connect, echo},
    server::{Dialect, Fault, Server},
};
use crate::{
    Bench, Company, Connect, Error, Exchange, Format, Interrupt, Model, Progress, Results, RunError,
    ServerType, Sink, Streams, Verdict, Waits, exchange, outcome,
};

/// The result of a finished run.
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

/// Executes the bench; its result is for machines, unless it says otherwise.
fn execute(bench: impl FnOnce(Results) -> Bench) -> Finished {
    execute_to(
        Results {
            format: Format::Json,
            path: None,
        },
        bench,
    )
}

fn execute_to(results: Results, bench: impl FnOnce(Results) -> Bench) -> Finished {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let streams = Streams {
        stdout: &mut stdout,
        stderr: &mut stderr,
        stderr_columns: None,
        is_quiet: false,
    };
    let (_orders, interrupt) = mpsc::channel(1);
    let (samples, mut taken) = sample_queue();
    let company = Company {
        interrupt: Interrupt::new(interrupt),
        onlooker: None,
        samples: vec![samples],
        sampling: None,
        agents: None,
    };
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (verdict, summary) = match runtime.block_on(bench(results).execute(streams, company)) {
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
    if let Some(summary) = &summary {
        agreement::samples(summary, std::iter::from_fn(|| taken.blocking_recv()));
    }
    Finished {
        verdict,
        stdout,
        stderr,
        summary,
    }
}

/// Results as text, for people.
fn text() -> Results {
    Results {
        format: Format::Text,
        path: None,
    }
}

fn exchanging(options: Exchange) -> impl FnOnce(Results) -> Bench {
    move |results| Bench::Exchange(Box::new(options), results)
}

fn connecting(options: Connect) -> impl FnOnce(Results) -> Bench {
    move |results| Bench::Connect(Box::new(options), results)
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

#[test]
fn a_faultless_server_is_found_faultless_in_every_dialect() {
    for dialect in [Dialect::Json, Dialect::Binary, Dialect::Cable] {
        let run = execute(exchanging(Exchange {
            n_padding_bytes: 200,
            ..broadcast(&Server::start(dialect, Fault::None), 3, 4)
        }));
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
            let run = execute(exchanging(broadcast(&Server::start(dialect, fault), 1, 1)));
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
    let server = Server::start(Dialect::Json, Fault::Delay(4, 1, 15));
    let run = execute(exchanging(broadcast(&server, 2, 1)));
    // It came in the second step, behind messages that were sent long after it was acknowledged.
    assert_eq!(run.deliveries(), [60 + 120, 0, 0, 1, 1], "{}", run.stdout);
    assert_eq!(run.verdict.unwrap(), Verdict::Clean);
}

#[test]
fn a_listener_that_drops_loses_what_it_was_due() {
    let server = Server::start(Dialect::Json, Fault::Cut(1, 3));
    let run = execute(exchanging(broadcast(&server, 1, 1)));
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
    let run = execute(exchanging(Exchange {
        waits: Waits {
            answer: Duration::from_millis(300),
            ..broadcast(&server, 1, 1).waits
        },
        ..broadcast(&server, 1, 1)
    }));
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
    let server = Server::start(Dialect::Json, Fault::Foreign);
    let run = execute(exchanging(broadcast(&server, 1, 1)));
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
        let run = execute(exchanging(echo(&Server::start(dialect, Fault::None), 5, 2, 50)));
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
    let server = Server::start(Dialect::Echo(None), Fault::Alter);
    let run = execute_to(text(), exchanging(echo(&server, 2, 1, 4)));
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
        let mut options = connect(&Server::start(dialect, Fault::None), 20, 2);
        if dialect == Dialect::Cable {
            options.common.server_type = ServerType::ActionCableConnect;
        }
        let run = execute(connecting(options));
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
    let server = Server::start(Dialect::Json, Fault::RefuseHalf);
    let run = execute_to(text(), connecting(connect(&server, 10, 1)));
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
        (
            1,
            "client not ready: upgrade refused with HTTP status 503: the server is overloaded or stops; use fewer \
             connections at a time",
            5
        )
    );
}

#[test]
fn a_run_in_which_nobody_gets_ready_is_an_error() {
    let server = Server::start(Dialect::Cable, Fault::Reject);
    let error = execute(connecting(connect(&server, 3, 1))).verdict.unwrap_err();
    assert_eq!(
        error.to_string(),
        "none of the 3 clients became ready: subscription rejected (subscription to \
         {\"channel\":\"BenchmarkChannel\"} rejected: check the channel's name and parameters, and whether this user may \
         subscribe)"
    );
    assert!(!error.is_wrong_usage());
}

#[test]
fn the_result_goes_into_a_file_and_the_target_is_watched() {
    let folder = std::env::temp_dir().join(format!("plimsoll-shootout-{}", std::process::id()));
    let file = folder.join("new/out.json");
    let results = Results {
        format: Format::Json,
        path: Some(file.clone()),
    };
    let mut options = broadcast(&Server::start(Dialect::Json, Fault::None), 1, 1);
    let own = std::process::id().to_string().parse().unwrap();
    options.common.watched = vec![own];
    let run = execute_to(results, exchanging(options));
    assert_eq!((run.verdict.unwrap(), run.stdout.as_str()), (Verdict::Clean, ""));
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let watch = &json["steps"][0]["plimsoll"]["sampling"]["watch"];
    assert!(
        watch["rss_bytes"].as_u64().unwrap() > 0 && watch["cpu_seconds"].is_f64(),
        "{watch}"
    );
    std::fs::remove_dir_all(folder).unwrap();
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

    fn step(&mut self, _: &outcome::Step, _: &outcome::Setting) {}

    fn note(&mut self, _: &str) {}
}

/// Runs an exchange, and ends the run when the first message is answered.
async fn interrupted(options: Exchange) -> outcome::Outcome {
    let (interrupt, orders) = mpsc::channel(1);
    let mut sink = Impatient {
        interrupt: Some(interrupt),
    };
    let Model::Closed { width, .. } = options.model else {
        panic!("a closed loop");
    };
    let options = Exchange {
        model: Model::Closed {
            n_samples: 1_000_000,
            width,
        },
        ..options
    };
    let outcome = exchange::run(&options, Interrupt::new(orders), None, &mut sink).await;
    outcome.unwrap()
}

#[tokio::test]
async fn an_interrupted_run_waits_for_the_echoes_in_flight() {
    let server = Server::start(Dialect::Json, Fault::None);
    let outcome = interrupted(echo(&server, 5, 1, 1)).await;
    let sampling = outcome.steps[0].sampling.as_ref().unwrap();
    assert_eq!((outcome.is_interrupted, sampling.n_unanswered), (true, 0));
}

#[tokio::test]
async fn a_run_that_is_told_to_end_before_it_begins_has_no_result() {
    let server = Server::start(Dialect::Json, Fault::None);
    let (order, orders) = mpsc::channel(1);
    order.try_send(()).unwrap();
    let mut options = broadcast(&server, 1, 1);
    // Its name is never asked for.
    options.common.target = Target::parse("ws://host.invalid/").unwrap();
    let mut sink = Impatient { interrupt: None };
    let error = exchange::run(&options, Interrupt::new(orders), None, &mut sink).await;
    assert!(matches!(error, Err(RunError::Interrupted)), "{error:?}");
}

#[tokio::test]
async fn an_interrupted_run_tells_what_there_is() {
    let server = Server::start(Dialect::Json, Fault::None);
    let outcome = interrupted(broadcast(&server, 1, 4)).await;
    assert_eq!((outcome.steps.len(), outcome.is_interrupted), (1, true));
    assert_eq!(outcome.messages, ["interrupted before its end"]);
    let counts = outcome.deliveries().unwrap();
    assert!(
        counts.n_expected > 0 && counts.n_delivered == counts.n_expected,
        "{counts:?}"
    );
}
