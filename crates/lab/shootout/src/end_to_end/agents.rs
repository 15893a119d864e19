//! Several agents, whose clients are those of one process: the same mistakes of the server have the same account. The
//! clocks of the agents differ by hours.

use std::{
    rc::Rc,
    time::{Duration, Instant},
};

use plimsoll_load::run::ClockOffset;
use serde_json::{Value, value::RawValue};
use tokio::{
    runtime::{Builder, LocalOptions},
    sync::mpsc,
    task::spawn_local,
};

use super::{
    Dialect, Fault, Finished, Server, connecting, exchanging,
    options::{broadcast, connect, echo},
    summary,
};
use crate::{
    Bench, Company, Format, Interrupt, Model, Rate, Results, Schedule, Streams,
    agent::{Deputy, Shared},
    remote::{Agents, Clock, Clocks, Member, Post, Said},
};

/// A clock that shows an hour more for each agent.
#[derive(Debug, Clone, Copy)]
struct TestClock {
    epoch: Instant,
    agent: u32,
    uncertainty: Duration,
}

const HOUR: Duration = Duration::from_secs(3600);

impl Clock for TestClock {
    fn at(&self, instant: Instant) -> u64 {
        let since = (instant + HOUR).saturating_duration_since(self.epoch) + HOUR * self.agent;
        u64::try_from(since.as_nanos()).unwrap()
    }

    fn instant(&self, ns: u64) -> Instant {
        self.epoch + Duration::from_nanos(ns) - HOUR - HOUR * self.agent
    }
}

impl Clocks for TestClock {
    fn offset(&self, agent: usize) -> Option<ClockOffset> {
        Some(ClockOffset {
            ns: i64::try_from(HOUR.as_nanos()).unwrap() * (agent as i64 + 1),
            uncertainty_ns: u64::try_from(self.uncertainty.as_nanos()).unwrap(),
        })
    }
}

fn member(n: usize) -> Member {
    Member {
        name: format!("a{n}"),
        version: "0.1.0".to_owned(),
        n_cores: 4,
    }
}

/// What happens to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    /// The second one is lost when it has told so many parts.
    IsLost(usize),
    /// Instead of its part with this number, the second one tells this.
    Tells(usize, &'static str),
}

/// Runs a bench on agents.
fn execute(
    n_agents: usize,
    uncertainty: Duration,
    fate: Fate,
    bench: impl FnOnce(Results) -> Bench,
) -> Finished {
    let results = Results {
        format: Format::Json,
        path: None,
    };
    let mut bench = bench(results);
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default())
        .unwrap();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let finished = runtime.block_on(async {
        let job = bench.job(2).unwrap();
        let epoch = Instant::now();
        let (say, told) = mpsc::channel(8);
        let mut orders = Vec::new();
        for agent in 0..n_agents {
            let (order, ordered) = mpsc::channel(1);
            orders.push(order);
            let (tell, parts) = mpsc::channel(1);
            let clock = TestClock {
                epoch,
                agent: u32::try_from(agent).unwrap() + 1,
                uncertainty,
            };
            let post = Post {
                orders: ordered,
                told: tell,
                clock: Rc::new(clock),
            };
            let deputy = Deputy::prepare(&job, &[], agent, n_agents).await.unwrap();
            let work = spawn_local(deputy.serve(post));
            spawn_local(carry(
                agent,
                parts,
                say.clone(),
                if agent == 1 { fate } else { Fate::Stays },
                work,
            ));
        }
        drop(say);
        let clocks = TestClock {
            epoch,
            agent: 0,
            uncertainty,
        };
        let agents = Agents {
            members: (1..=n_agents).map(member).collect(),
            n_workers: 2,
            orders,
            told,
            clocks: Rc::new(clocks),
            goes_on: false,
        };
        let streams = Streams {
            stdout: &mut stdout,
            stderr: &mut stderr,
            stderr_columns: None,
            is_quiet: true,
        };
        let (_orders, interrupt) = mpsc::channel(1);
        let company = Company {
            interrupt: Interrupt::new(interrupt),
            onlooker: None,
            samples: Vec::new(),
            sampling: None,
            agents: Some(agents),
        };
        bench.execute(streams, company).await
    });
    let [stdout, stderr] = [stdout, stderr].map(|it| String::from_utf8(it).unwrap());
    let (verdict, summary) = match finished {
        Ok(finished) => {
            let summary = summary(&finished);
            (finished.verdict, Some(summary))
        }
        Err(error) => (Err(error), None),
    };
    Finished {
        verdict,
        stdout,
        stderr,
        summary,
    }
}

/// Carries what an agent tells to the coordinator.
async fn carry(
    agent: usize,
    mut parts: mpsc::Receiver<Box<RawValue>>,
    say: mpsc::Sender<(usize, Said)>,
    fate: Fate,
    work: tokio::task::JoinHandle<Result<(), String>>,
) {
    let mut n_told = 0;
    while let Some(part) = parts.recv().await {
        let said = match fate {
            Fate::IsLost(n) if n == n_told => {
                work.abort();
                say.send((agent, Said::Lost("it was killed".to_owned())))
                    .await
                    .unwrap();
                return;
            }
            Fate::Tells(n, text) if n == n_told => RawValue::from_string(text.to_owned()).unwrap(),
            _ => part,
        };
        n_told += 1;
        if say.send((agent, Said::Part(said))).await.is_err() {
            return;
        }
    }
    let ended = work.await.unwrap();
    assert_eq!(ended, Ok(()));
    let _over = say.send((agent, Said::Ended)).await;
}

const QUICK: Duration = Duration::from_micros(1);

#[track_caller]
fn check(dialect: Dialect, fault: Fault, expected: [u64; 5]) {
    for n_agents in [1, 2, 3] {
        let server = Server::start(dialect, fault);
        let run = execute(n_agents, QUICK, Fate::Stays, exchanging(broadcast(&server, 1, 1)));
        assert_eq!(
            run.deliveries(),
            expected,
            "{n_agents} agents, {fault:?}: {}{}",
            run.stdout,
            run.stderr
        );
        assert_eq!(
            run.json()["plimsoll"]["n_foreign"],
            0,
            "{n_agents} agents, {fault:?}"
        );
        assert_eq!(
            run.json()["plimsoll"]["agents"].as_array().unwrap().len(),
            n_agents
        );
    }
}

#[test]
fn each_mistake_has_its_account() {
    // The client with the number 1 is on the second agent, and the first one sends.
    check(Dialect::Json, Fault::None, [60, 0, 0, 0, 0]);
    check(Dialect::Binary, Fault::None, [60, 0, 0, 0, 0]);
    check(Dialect::Cable, Fault::Lose(4, 1), [60, 1, 0, 0, 0]);
    check(Dialect::Json, Fault::Repeat(4, 1), [60, 0, 1, 0, 0]);
    check(Dialect::Json, Fault::Swap(4, 1), [60, 0, 0, 1, 0]);
}

#[test]
fn a_client_that_is_cut_off_loses_what_was_sent_before() {
    for n_agents in [2, 3] {
        let server = Server::start(Dialect::Json, Fault::Cut(4, 1));
        let run = execute(n_agents, QUICK, Fate::Stays, exchanging(broadcast(&server, 1, 1)));
        let step = run.first_step();
        assert_eq!(step["n_dropped"], 1, "{}", run.stdout);
        // How many broadcasts went out before it was cut off is a matter of luck; that they add up is not.
        let count = |key: &str| step[key].as_u64().unwrap();
        assert!((1..=7).contains(&count("n_lost")), "{}", run.stdout);
        assert_eq!(
            count("n_deliveries") + count("n_lost"),
            count("n_deliveries_expected")
        );
        assert_eq!(
            count("n_deliveries"),
            53,
            "all but those of the fourth and later ones to it: {}",
            run.stdout
        );
    }
}

#[test]
fn a_schedule_is_kept_by_the_agents() {
    for (fault, expected) in [
        (Fault::None, [60, 0, 0, 0, 0]),
        // Each broadcast is acknowledged before the next one is sent, which only the agent of the sender knows in time.
        (Fault::Swap(4, 1), [60, 0, 0, 1, 0]),
    ] {
        let server = Server::start(Dialect::Json, fault);
        let mut options = broadcast(&server, 1, 1);
        let rate: Rate = "20/s".parse().unwrap();
        options.model = Model::Open(Schedule::new(rate, Duration::from_millis(500)).unwrap());
        let run = execute(2, QUICK, Fate::Stays, exchanging(options));
        assert_eq!(run.deliveries(), expected, "{}{}", run.stdout, run.stderr);
        let late = &run.first_step()["send_lateness_us"];
        assert_eq!(late["count"], 10, "{late}");
    }
}

#[test]
fn echoes_and_connects_are_spread_over_all_agents() {
    let server = Server::start(Dialect::Json, Fault::None);
    let run = execute(3, QUICK, Fate::Stays, exchanging(echo(&server, 12, 1, 80)));
    let json = run.json();
    let agents = json["plimsoll"]["agents"].as_array().unwrap();
    let sum = |key: &str| {
        agents
            .iter()
            .map(|agent| agent[key].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!((sum("clients"), sum("n_complete")), (12, 80), "{}", run.stdout);
    assert!(agents.iter().all(|agent| agent["n_complete"] != 0), "{agents:?}");
    let run = execute(3, QUICK, Fate::Stays, connecting(connect(&server, 20, 2)));
    let json = run.json();
    let clients: Vec<_> = json["plimsoll"]["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["clients"].clone())
        .collect();
    let all = json["steps"].as_array().unwrap().last().unwrap()["clients"]
        .as_u64()
        .unwrap();
    assert_eq!(clients.iter().map(|it| it.as_u64().unwrap()).sum::<u64>(), all);
}

/// The times of the only step: `(sum of counts, uncertainty)`.
fn times(run: &Finished) -> (u64, Value) {
    let step = run.first_step();
    let counts = ["listener_us", "last_delivery_us"].map(|key| step[key]["count"].as_u64().unwrap());
    (counts.iter().sum(), step["clock_uncertainty_us"].clone())
}

#[test]
fn times_are_shown_if_the_clocks_are_known_well() {
    let run = |uncertainty| {
        let server = Server::start(Dialect::Json, Fault::Late(50));
        execute(2, uncertainty, Fate::Stays, exchanging(broadcast(&server, 1, 1)))
    };
    let well = run(Duration::from_millis(1));
    assert_eq!(times(&well), (70, 2_000.into()), "{}", well.stdout);
    let median = well.first_step()["listener_us"]["p50"].as_u64().unwrap();
    assert!((50_000..5_000_000).contains(&median), "{median} µs");
    let badly = run(Duration::from_secs(10));
    assert_eq!(times(&badly), (0, 20_000_000.into()), "{}", badly.stdout);
    assert_eq!(badly.deliveries(), [60, 0, 0, 0, 0]);
    assert!(
        badly.stdout.contains("the times of deliveries are not shown"),
        "{}",
        badly.stdout
    );
    let metrics = badly.summary.unwrap().metrics;
    assert!(
        !metrics.contains_key("delivery") && metrics.contains_key("rtt"),
        "{:?}",
        metrics.keys()
    );
}

#[test]
fn a_lost_agent_ends_the_run() {
    let server = Server::start(Dialect::Json, Fault::None);
    let mut options = broadcast(&server, 1, 1);
    options.model = Model::Closed {
        n_samples: 1_000_000,
        width: 1,
    };
    for (fate, words) in [
        (
            Fate::IsLost(30),
            "(it was killed), and with it 50 % of the clients",
        ),
        (
            Fate::Tells(30, r#"[{"opened":[0,99,[1,1,null,null,1]]}]"#),
            "it told of a client that it does not have",
        ),
        (
            Fate::Tells(30, r#"[{"surveyed":[1,1,1]}]"#),
            "it told of an answer to no question",
        ),
        (Fate::Tells(30, "{}"), "what it told cannot be read"),
    ] {
        let run = execute(2, QUICK, fate, exchanging(options.clone()));
        let json = run.json();
        assert_eq!(json["plimsoll"]["interrupted"], true, "{fate:?}");
        assert!(
            json["messages"][0].as_str().unwrap().contains(words),
            "{}",
            run.stdout
        );
        let lost = |agent: usize| json["plimsoll"]["agents"][agent]["lost_at_seconds"].is_number();
        assert_eq!([lost(0), lost(1)], [false, true], "{fate:?}");
    }
}
