//! The clients of a scenario as virtual users of the engine: each runs one iteration, which is its course.

use std::{
    net::SocketAddr,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use plimsoll_clients::{
    dial::Traffic,
    target::{ResolveError, Target, TargetError},
    tls::Tls,
    websocket::Options,
};
use plimsoll_load::{
    executor::Executor,
    metrics::{
        RegisterError, Registry,
        built_in::{Data, WebSocket},
    },
    plan::Scenario as Part,
    segment::Split,
    vu::{Exchange, Iteration, IterationContext, IterationError, Lifecycle, Vu, VuFactory, VuId},
};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{
    barrier::Barrier,
    client::{Client, Connected},
    failure::{Failed, Failure, Failures, Unmet},
    outcome::{GroupOutcome, Outcome},
    scenario::{Action, Group, Scenario, Step, Turn},
    timings::Timings,
    voice::{Speaker, Voice},
};

/// The time limit of an iteration, which the engine requires. Iterations end before it, because every step has a time
/// limit.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The server, and the settings of connections.
#[derive(Clone, Debug)]
pub struct Connect {
    /// The server: `ws://host:port/path`; without a scheme it is `ws://`.
    pub url: String,
    /// The default sub-protocol of groups.
    pub subprotocol: Option<String>,
    /// The TLS settings for `wss://`.
    pub tls: Option<Arc<Tls>>,
    /// How long a `wait_all` waits without an arriving client.
    pub barrier_timeout: Duration,
    /// Where clients speak.
    pub voice: Voice,
}

/// Why clients cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum UsersError {
    /// The URL is none.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The host does not exist.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// A metric's name is already in use.
    #[error(transparent)]
    Register(#[from] RegisterError),
}

/// Everything that the engine needs of a scenario.
#[derive(Debug)]
pub struct Users {
    /// All metrics.
    pub registry: Registry,
    shared: Arc<Shared>,
}

/// What all clients share.
#[derive(Debug)]
struct Shared {
    scenario: Scenario,
    voice: Voice,
    /// By group.
    options: Vec<Options>,
    barrier: Arc<Barrier>,
    /// The split of a run that several instances make; `None` for one instance.
    split: Option<Split>,
    /// How many clients reached each turn that has a sample, by group.
    samples: Vec<Vec<AtomicU32>>,
    failures: Failures,
    /// By group.
    tallies: Vec<Tally>,
    timings: Arc<Timings>,
    websocket: WebSocket,
    data: Data,
}

/// The outcomes of a group's clients.
#[derive(Debug, Default)]
struct Tally {
    n_done: AtomicU32,
    n_failed: AtomicU32,
}

impl Users {
    /// Prepares the clients of a scenario, and resolves the server's addresses.
    ///
    /// # Errors
    /// [`UsersError`].
    pub async fn new(scenario: Scenario, connect: &Connect) -> Result<Self, UsersError> {
        let addresses = target(&connect.url, "")?.resolve().await?;
        Self::with(scenario, connect, &addresses, None)
    }

    /// Prepares the part of the instance with this split: its clients meet those of the other instances.
    ///
    /// # Errors
    /// [`UsersError`].
    pub async fn part(scenario: Scenario, connect: &Connect, split: Split) -> Result<Self, UsersError> {
        let addresses = target(&connect.url, "")?.resolve().await?;
        Self::with(scenario, connect, &addresses, Some(split))
    }

    /// The clients of a scenario that other instances run. The server need not be known here.
    ///
    /// # Errors
    /// [`UsersError`].
    pub fn elsewhere(scenario: Scenario, connect: &Connect) -> Result<Self, UsersError> {
        Self::with(scenario, connect, &[], None)
    }

    fn with(
        scenario: Scenario,
        connect: &Connect,
        addresses: &[SocketAddr],
        split: Option<Split>,
    ) -> Result<Self, UsersError> {
        let mut options = Vec::new();
        for group in &scenario.groups {
            let mut of_group =
                Options::new(target(&connect.url, &group.connecting.query)?, addresses.to_vec());
            of_group.tls.clone_from(&connect.tls);
            of_group.headers.clone_from(&group.connecting.headers);
            let subprotocol = group
                .connecting
                .subprotocol
                .as_ref()
                .or(connect.subprotocol.as_ref());
            of_group.protocols = group.protocol.subprotocols(subprotocol);
            options.push(of_group);
        }
        let mut registry = Registry::new();
        let groups = || scenario.groups.iter();
        let timings = Timings::register(&mut registry, groups().map(AsRef::as_ref))?;
        let counters = |group: &Arc<Group>| (0..group.n_samples).map(|_| AtomicU32::new(0)).collect();
        let shared = Shared {
            voice: connect.voice.clone(),
            options,
            barrier: Arc::new(Barrier::new(
                groups().map(|group| (group.name.clone(), group.n_clients)),
                connect.barrier_timeout,
            )),
            split,
            samples: groups().map(counters).collect(),
            failures: Failures::default(),
            tallies: groups().map(|_| Tally::default()).collect(),
            timings: Arc::new(timings),
            websocket: WebSocket::register(&mut registry)?,
            data: Data::register(&mut registry)?,
            scenario,
        };
        Ok(Self {
            registry,
            shared: Arc::new(shared),
        })
    }

    /// The groups as scenarios of a plan: all clients start at once, each runs one iteration.
    pub fn plan(&self) -> Vec<Part> {
        let groups = self.shared.scenario.groups().filter(|group| group.n_clients > 0);
        groups
            .map(|group| {
                let executor = Executor::PerVuIterations {
                    vus: group.n_clients,
                    iterations: 1,
                    max_duration: LONGEST,
                    graceful_stop: Duration::ZERO,
                };
                Part::new(&group.key, executor)
            })
            .collect()
    }

    /// Makes the clients.
    pub fn factory(&self) -> Arc<dyn VuFactory> {
        Arc::new(Factory(Arc::clone(&self.shared)))
    }

    /// What became of the clients; for when the run is over.
    pub fn report(&self) -> Report {
        Report(Arc::clone(&self.shared))
    }
}

/// What became of the clients of a run, and how they meet those of other instances.
#[derive(Clone, Debug)]
pub struct Report(Arc<Shared>);

/// What became of one instance's clients.
#[derive(Serialize, Deserialize)]
struct Account {
    /// By group.
    tallies: Vec<(u32, u32)>,
    failures: Vec<Failure>,
    n_further_failures: u64,
}

impl Lifecycle for Report {
    fn exchange(&self) -> Option<Arc<dyn Exchange>> {
        let has_barrier = self.0.scenario.groups().any(Group::meets);
        has_barrier.then(|| Arc::clone(&self.0.barrier) as Arc<dyn Exchange>)
    }

    fn outcome(&self) -> Option<String> {
        let tallies = self.0.tallies.iter();
        let (failures, n_further_failures) = self.0.failures.list();
        let account = Account {
            tallies: tallies
                .map(|tally| (tally.n_done.load(Relaxed), tally.n_failed.load(Relaxed)))
                .collect(),
            failures,
            n_further_failures,
        };
        serde_json::to_string(&account).ok()
    }

    fn add_outcome(&mut self, outcome: &str) -> Result<(), String> {
        let account: Account = serde_json::from_str(outcome).map_err(|error| error.to_string())?;
        for (tally, (n_done, n_failed)) in self.0.tallies.iter().zip(account.tallies) {
            tally.n_done.fetch_add(n_done, Relaxed);
            tally.n_failed.fetch_add(n_failed, Relaxed);
        }
        account
            .failures
            .into_iter()
            .for_each(|failure| self.0.failures.merge(failure));
        self.0.failures.add_further(account.n_further_failures);
        Ok(())
    }
}

impl Report {
    /// Their results so far.
    pub fn outcome(&self) -> Outcome {
        let groups = self.0.scenario.groups.iter().zip(&self.0.tallies);
        let (failures, n_further_failures) = self.0.failures.list();
        Outcome {
            groups: groups
                .map(|(group, tally)| {
                    GroupOutcome::new(group, tally.n_done.load(Relaxed), tally.n_failed.load(Relaxed))
                })
                .collect(),
            failures,
            n_further_failures,
        }
    }
}

/// The server, with more in its query.
fn target(url: &str, query: &str) -> Result<Target, TargetError> {
    let url = if url.contains("://") {
        url.to_owned()
    } else {
        format!("ws://{url}")
    };
    let separator = match (query.is_empty(), url.contains('?')) {
        (true, _) => "",
        (false, true) => "&",
        (false, false) => "?",
    };
    Target::parse(&format!("{url}{separator}{query}"))
}

struct Factory(Arc<Shared>);

impl VuFactory for Factory {
    fn create(&self, _: VuId) -> Result<Box<dyn Vu>, String> {
        Ok(Box::new(ScenarioVu(Arc::clone(&self.0))))
    }
}

struct ScenarioVu(Arc<Shared>);

impl Vu for ScenarioVu {
    fn iterate<'a>(&'a mut self, context: &'a mut IterationContext) -> Iteration<'a> {
        let shared = &*self.0;
        let groups = &shared.scenario.groups;
        Box::pin(async move {
            let group = groups.iter().position(|group| group.key == context.scenario.name);
            let Some(group) = group else {
                return Err(IterationError::new("no group has the name of this scenario"));
            };
            let run = ClientRun {
                shared,
                group,
                context,
            };
            run.run().await
        })
    }
}

/// One client's way through its course.
struct ClientRun<'a> {
    shared: &'a Shared,
    /// The position of its group.
    group: usize,
    context: &'a IterationContext,
}

impl<'a> ClientRun<'a> {
    async fn run(self) -> Result<(), IterationError> {
        let tally = &self.shared.tallies[self.group];
        match self.connect_and_perform().await {
            Ok(()) => {
                tally.n_done.fetch_add(1, Relaxed);
                Ok(())
            }
            Err((step, unmet)) => {
                tally.n_failed.fetch_add(1, Relaxed);
                self.shared.barrier.lose(self.group);
                let reason = self.reason(step, &unmet);
                self.tell(step, unmet);
                Err(IterationError::new(reason))
            }
        }
    }

    async fn connect_and_perform(&self) -> Result<(), (Option<&'a Step>, Unmet)> {
        let traffic = Rc::new(Traffic::default());
        let outcome = self.live(&traffic).await;
        let (metrics, data) = (&self.context.metrics, self.shared.data);
        let (sent, received) = traffic.take();
        metrics.count(data.sent, sent);
        metrics.count(data.received, received);
        outcome
    }

    /// The whole life of the connection, whose bytes are added to `traffic`.
    async fn live(&self, traffic: &Rc<Traffic>) -> Result<(), (Option<&'a Step>, Unmet)> {
        let (metrics, websocket) = (&self.context.metrics, self.shared.websocket);
        let start = Instant::now();
        metrics.count(websocket.sessions, 1);
        let options = &self.shared.options[self.group];
        // With `?` and not `match`: a user that waits then has no room for the result of connecting.
        let (mut client, connected) = Client::connect(self.speaker(), options, traffic)
            .await
            .map_err(|unmet| (None, unmet))?;
        self.record_connect(&connected);
        let outcome = self.perform_all(&mut client).await;
        client.close().await;
        let counters = client.counters();
        metrics.count(websocket.msgs_sent, counters.n_messages_out);
        metrics.count(websocket.msgs_received, counters.n_messages_in);
        metrics.record(websocket.session_duration, start.elapsed());
        outcome.map_err(|(step, unmet)| (Some(step), unmet))
    }

    async fn perform_all(&self, client: &mut Client<'_>) -> Result<(), (&'a Step, Unmet)> {
        let group = self.group();
        for turn in &group.course {
            let step = &group.steps[turn.step as usize];
            if !self.is_chosen(turn) {
                continue;
            }
            let taken = match step.action {
                Action::WaitAll => self.wait_all(client).await,
                _ => client.perform(&step.action).await,
            };
            let duration = taken.map_err(|unmet| (step, unmet))?;
            tracing::debug!(
                target: "scenario",
                "client={}_{} #{} ({duration:?})",
                group.name,
                self.number(),
                step.name
            );
            self.record(turn.step as usize + 1, duration);
        }
        Ok(())
    }

    /// Whether this client is among those that run a turn.
    fn is_chosen(&self, turn: &Turn) -> bool {
        turn.sample.is_none_or(|sample| {
            let n_before = self.shared.samples[self.group][sample.counter as usize].fetch_add(1, Relaxed);
            let split = self.shared.split.as_ref();
            let limit = split.map_or(sample.limit.into(), |split| {
                split.stripe().scale(sample.limit.into())
            });
            u64::from(n_before) < limit
        })
    }

    async fn wait_all(&self, client: &mut Client<'_>) -> Result<Duration, Unmet> {
        let start = Instant::now();
        let passed = client.listen_while(self.shared.barrier.wait(self.group)).await;
        passed.map_err(|missing| Unmet {
            expected: "all clients".to_owned(),
            got: missing.to_string(),
        })?;
        Ok(start.elapsed())
    }

    fn record_connect(&self, connected: &Connected) {
        let connecting = self.shared.websocket.connecting;
        self.context.metrics.record(connecting, connected.websocket);
        self.record(0, connected.total);
    }

    fn record(&self, step: usize, duration: Duration) {
        let timings = &self.shared.timings;
        timings.record(&self.context.metrics, self.group, step, duration);
    }

    /// The failure as a cause: which step, and what came instead of the expected.
    fn reason(&self, step: Option<&Step>, unmet: &Unmet) -> String {
        let group = &self.group().name;
        match step {
            None => format!("#connect of group {group}: {}", unmet.got),
            Some(step) => format!(
                "#{} of group {group} ({}:{}): expected {}, got {}",
                step.name, self.shared.scenario.file, step.place, unmet.expected, unmet.got
            ),
        }
    }

    fn tell(&self, step: Option<&Step>, unmet: Unmet) {
        let file = self.shared.scenario.file.as_str();
        let failed = Failed {
            group: &self.group().name,
            client: self.number(),
            step: step.map_or("connect", |step| step.name),
            place: step.map(|step| (file, step.place, step.path.as_str())),
        };
        self.shared.failures.add(failed, unmet);
    }

    /// From 1 within the group, which has at most a million clients.
    fn number(&self) -> u32 {
        self.context.scenario_iteration_in_test as u32 + 1
    }

    fn speaker(&self) -> Speaker<'a> {
        Speaker {
            voice: &self.shared.voice,
            group: self.group(),
            number: self.number(),
        }
    }

    fn group(&self) -> &'a Group {
        &self.shared.scenario.groups[self.group]
    }
}
