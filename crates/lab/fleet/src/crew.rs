//! The agents of one run, as their coordinator sees them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures_util::StreamExt;
use plimsoll_load::{
    metrics::{Registry, SampleSender},
    run::ClockOffset,
};
use serde_json::value::RawValue;
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, Interval, MissedTickBehavior, interval, timeout_at},
};

use crate::{
    FleetError, FleetKey,
    agent::BEAT_EVERY,
    clock::{Clock, Timepiece},
    comparison::exchange,
    link::Link,
    message::{Answer, Assignment, Order, Profile, Request, Told, Work},
    parcel::{Label, Parcel},
    post::{Arrival, Inbox, Place, confirm},
    recruit::ANSWER_WITHIN,
    samples::Intake,
    silence::{LOST_AFTER, Silence},
};

/// Messages that may wait for the coordinator. When the queue is full, agents' messages are not confirmed.
const MAX_WAITING: usize = 1_024;

/// Exchanges before the start, by which the clocks are compared.
const FIRST_EXCHANGES: usize = 20;

/// How long an agent may take to fetch the result of setup.
const SHARE_WITHIN: Duration = Duration::from_secs(60);

/// The time between two further comparisons, and their exchanges.
const COMPARE_EVERY: Duration = Duration::from_secs(5);
const FURTHER_EXCHANGES: usize = 3;

/// How long orders of a workload are offered. Reason: NATS may be started anew, and an agent that is gone is lost earlier.
const GIVE_FOR: Duration = Duration::from_secs(60);

/// One agent of the run.
#[derive(Clone, Debug)]
pub struct Member {
    /// Who it is.
    pub profile: Profile,
    /// The word that the signature of its package is for.
    pub(crate) nonce: String,
}

impl Member {
    pub(crate) fn new(profile: Profile, nonce: String) -> Self {
        Self { profile, nonce }
    }
}

/// What happens among the agents.
#[derive(Debug)]
pub enum Event {
    /// An agent tells something.
    Told(usize, Box<Told>),
    /// An agent is lost, as nothing has been heard of it.
    Lost(usize, Silence),
}

/// The agents of one run. Without a release they end by the lack of its beats.
pub struct Crew {
    link: Link,
    run: String,
    members: Arc<[Member]>,
    timepiece: Timepiece,
    shared: Arc<Shared>,
    told: mpsc::Receiver<(usize, Box<Told>)>,
    looks: Interval,
    is_living: Vec<bool>,
    _tasks: JoinSet<()>,
}

/// What the tasks of a crew and its owner share. Each lock is held for a few instructions.
#[derive(Debug)]
struct Shared {
    heard_at: Mutex<Vec<Instant>>,
    clocks: Mutex<Vec<Clock>>,
    parcels: Mutex<HashMap<String, Parcel>>,
    /// Where single samples go. Empty: there are none.
    intake: OnceLock<Intake>,
}

/// What is known of the clocks of the agents of a run.
#[derive(Clone, Debug)]
pub struct Clocks {
    timepiece: Timepiece,
    shared: Arc<Shared>,
}

impl Clocks {
    /// The coordinator's clock.
    pub fn timepiece(&self) -> Timepiece {
        self.timepiece
    }

    /// What is known of the clock of an agent now.
    pub fn reading(&self, member: usize) -> Option<ClockOffset> {
        lock(&self.shared.clocks)[member].read(self.timepiece.now())
    }
}

/// Hands the orders of a workload to one agent, each once and in their order.
#[derive(Debug)]
pub struct Director {
    link: Link,
    run: String,
    member: Member,
    n_given: u64,
}

impl Director {
    /// Hands over all orders of this queue, each when the agent has the one before, until their sender is gone.
    ///
    /// # Errors
    /// As [`Self::give`]; the other orders are left.
    pub async fn give_all(mut self, mut orders: mpsc::Receiver<Box<RawValue>>) -> Result<(), FleetError> {
        while let Some(next) = orders.recv().await {
            self.give(next).await?;
        }
        Ok(())
    }

    /// Hands orders over, and returns when the agent has them. In JSON they are no longer than [`Self::MAX_BYTES`].
    ///
    /// # Errors
    /// The agent does not take them. It counts as lost then.
    async fn give(&mut self, orders: Box<RawValue>) -> Result<(), FleetError> {
        let order = Order::Work(Work {
            number: self.n_given,
            orders,
        });
        order_within(&self.link, &self.run, &self.member, order, GIVE_FOR).await?;
        self.n_given += 1;
        Ok(())
    }

    /// The longest orders in JSON, in bytes. Reason: every NATS of a fleet accepts twice as long messages.
    pub const MAX_BYTES: usize = 8 << 10;
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while one is held.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crew {
    pub(crate) async fn new(link: Link, run: String, members: Vec<Member>) -> Result<Self, FleetError> {
        let n = members.len();
        let shared = Arc::new(Shared {
            heard_at: Mutex::new(vec![Instant::now(); n]),
            clocks: Mutex::new(vec![Clock::default(); n]),
            parcels: Mutex::default(),
            intake: OnceLock::new(),
        });
        let (sender, told) = mpsc::channel(MAX_WAITING);
        let listener = Listener {
            link: link.clone(),
            members: members.iter().map(|member| member.profile.id.clone()).collect(),
            shared: Arc::clone(&shared),
        };
        let posts = link.subscribe(link.of_run(&run, "post.*.*.*.*")).await?;
        let pieces = link.subscribe(link.of_run(&run, "piece.*.*")).await?;
        let alive = link.subscribe(link.of_run(&run, "alive.*")).await?;
        let timepiece = Timepiece::new();
        let members: Arc<[Member]> = members.into();
        let mut tasks = JoinSet::new();
        tasks.spawn(listener.clone().take_posts(posts, sender));
        tasks.spawn(listener.clone().hand_out(pieces));
        tasks.spawn(listener.take_signs(alive));
        tasks.spawn(beat(link.clone(), run.clone()));
        tasks.spawn(compare_again(
            link.clone(),
            run.clone(),
            Arc::clone(&members),
            timepiece,
            Arc::clone(&shared),
        ));
        let mut looks = interval(Duration::from_millis(500));
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            link,
            run,
            members,
            timepiece,
            shared,
            told,
            looks,
            is_living: vec![true; n],
            _tasks: tasks,
        })
    }

    /// All agents, lost ones included.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The coordinator's clock.
    pub fn timepiece(&self) -> Timepiece {
        self.timepiece
    }

    /// What is known of the clock of an agent now.
    pub fn reading(&self, member: usize) -> Option<ClockOffset> {
        self.clocks().reading(member)
    }

    /// The clocks of all agents, for others than the owner of this crew.
    pub fn clocks(&self) -> Clocks {
        Clocks {
            timepiece: self.timepiece,
            shared: Arc::clone(&self.shared),
        }
    }

    /// The way of a workload's orders to one agent.
    pub fn director(&self, member: usize) -> Director {
        Director {
            link: self.link.clone(),
            run: self.run.clone(),
            member: self.members[member].clone(),
            n_given: 0,
        }
    }

    /// Asks agents for single samples, and hands them to outputs. To be called once, before their parts are assigned.
    pub(crate) fn take_samples(&self, registry: &Arc<Registry>, outputs: Vec<SampleSender>) {
        let n_members = self.members.len();
        self.shared
            .intake
            .get_or_init(|| Intake::new(n_members, Arc::clone(registry), outputs, self.timepiece));
    }

    /// Where single samples go. `None`: no output takes them.
    pub(crate) fn intake(&self) -> Option<&Intake> {
        self.shared.intake.get()
    }

    /// Gives all agents the package to make their parts of the run from.
    ///
    /// # Errors
    /// An agent refuses, or does not answer.
    pub async fn assign(&self, package: &[u8], key: Option<&FleetKey>) -> Result<(), FleetError> {
        let assigned = self.assign_each("package", package, key, ANSWER_WITHIN).await;
        assigned.into_iter().collect()
    }

    /// Gives all agents a package under this name, and returns what became of it, agent by agent. Each has to confirm it
    /// within this time.
    pub(crate) async fn assign_each(
        &self,
        name: &str,
        package: &[u8],
        key: Option<&FleetKey>,
        patience: Duration,
    ) -> Vec<Result<(), FleetError>> {
        let label = self.offer(name, package);
        let assigned = self.members.iter().enumerate().map(|(instance, member)| {
            let assignment = Assignment {
                package: label.clone(),
                signature: key.map(|key| key.sign(&member.nonce, &label.digest)),
                instance,
                n_instances: self.members.len(),
                gives_samples: self.intake().is_some(),
            };
            order_within(&self.link, &self.run, member, Order::Assign(assignment), patience)
        });
        futures_util::future::join_all(assigned).await
    }

    /// The longest of the agents' shortest round trips.
    pub(crate) fn round_trip(&self) -> Duration {
        let clocks = lock(&self.shared.clocks);
        let longest = clocks.iter().filter_map(Clock::round_trip).max();
        Duration::from_nanos(longest.unwrap_or_default())
    }

    /// The numbers of the agents that are not lost.
    pub fn living(&self) -> Vec<usize> {
        (0..self.members.len()).filter(|&at| self.is_living[at]).collect()
    }

    /// An agent takes no part any more.
    pub fn strike(&mut self, member: usize) {
        self.is_living[member] = false;
    }

    /// The next event. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Event {
        loop {
            tokio::select! {
                told = self.told.recv() => match told {
                    Some((member, told)) => return Event::Told(member, told),
                    // The tasks end with this crew.
                    None => std::future::pending().await,
                },
                _ = self.looks.tick() => if let Some((lost, silence)) = self.silent_member() {
                    self.is_living[lost] = false;
                    return Event::Lost(lost, silence);
                }
            }
        }
    }

    /// An agent of which nothing was heard for too long.
    fn silent_member(&self) -> Option<(usize, Silence)> {
        let (now, up_since) = (Instant::now(), self.link.up_since());
        let heard_at = lock(&self.shared.heard_at);
        self.living()
            .into_iter()
            .find_map(|at| Some((at, Silence::judge(now, heard_at[at], up_since)?)))
    }

    /// Offers a content, which agents fetch piece by piece.
    pub(crate) fn offer(&self, name: &str, content: &[u8]) -> Label {
        let parcel = Parcel::new(name, content, self.link.piece_bytes());
        let label = parcel.label.clone();
        lock(&self.shared.parcels).insert(name.to_owned(), parcel);
        label
    }

    /// Asks one agent, and takes only its consent.
    ///
    /// # Errors
    /// It refuses, or does not answer. The error has its name.
    pub(crate) async fn order(&self, member: usize, order: Order) -> Result<(), FleetError> {
        order_member(&self.link, &self.run, &self.members[member], order).await
    }

    /// Asks all living agents at the same time, each what is made for it.
    ///
    /// # Errors
    /// The first error of an agent.
    pub(crate) async fn order_all(&self, order: impl Fn(usize) -> Order) -> Result<(), FleetError> {
        let asked = self
            .living()
            .into_iter()
            .map(|member| self.order(member, order(member)));
        let answers = futures_util::future::join_all(asked).await;
        answers.into_iter().collect()
    }

    /// Compares the clocks before the start.
    ///
    /// # Errors
    /// An agent does not answer.
    pub async fn compare_clocks(&self) -> Result<(), FleetError> {
        let compared = self.living().into_iter().map(|member| async move {
            for _ in 0..FIRST_EXCHANGES {
                let exchange = exchange(&self.link, &self.run, &self.members[member], self.timepiece).await?;
                lock(&self.shared.clocks)[member].learn(exchange);
            }
            Ok(())
        });
        let compared = futures_util::future::join_all(compared).await;
        compared.into_iter().collect()
    }

    /// Gives all agents what the function before the run returned.
    ///
    /// # Errors
    /// An agent cannot fetch it.
    pub(crate) async fn share(&self, data: &str) -> Result<(), FleetError> {
        let label = self.offer("setup", data.as_bytes());
        let shared = self.living().into_iter().map(|member| {
            let order = Order::Share(label.clone());
            order_within(&self.link, &self.run, &self.members[member], order, SHARE_WITHIN)
        });
        let shared = futures_util::future::join_all(shared).await;
        shared.into_iter().collect()
    }

    /// Orders all agents to begin at `t0` on this clock, in nanoseconds. All have to confirm until `deadline`: then there is
    /// time to call those back that have.
    ///
    /// # Errors
    /// An agent refuses or has not confirmed. It is not the only one that must not begin.
    pub(crate) async fn begin(&self, t0: u64, deadline: Instant) -> Result<(), FleetError> {
        let asked = self.living().into_iter().map(|member| async move {
            let at_ns = self.reading(member).map_or(t0, |reading| reading.theirs(t0));
            let confirmed = timeout_at(deadline, self.order(member, Order::Begin { at_ns })).await;
            let late = || {
                FleetError::of(
                    &self.members[member].profile.name,
                    "it did not confirm the start in time",
                )
            };
            confirmed.unwrap_or_else(|_| Err(late()))
        });
        let answers = futures_util::future::join_all(asked).await;
        answers.into_iter().collect()
    }

    /// Lets all agents go, also those that take no part any more, if they hear it within this time.
    pub(crate) async fn dismiss(&self, patience: Duration) {
        let asked = self
            .members
            .iter()
            .map(|member| order_within(&self.link, &self.run, member, Order::Release, patience));
        drop(futures_util::future::join_all(asked).await);
        self.link.flush().await;
    }

    /// Lets all agents go. One that does not hear it ends without the coordinator's beats.
    pub async fn release(&self) {
        drop(self.order_all(|_| Order::Release).await);
        self.link.flush().await;
    }
}

async fn order_member(link: &Link, run: &str, member: &Member, order: Order) -> Result<(), FleetError> {
    order_within(link, run, member, order, ANSWER_WITHIN).await
}

async fn order_within(
    link: &Link,
    run: &str,
    member: &Member,
    order: Order,
    patience: Duration,
) -> Result<(), FleetError> {
    let name = &member.profile.name;
    let request = Request {
        run: run.to_owned(),
        order,
    };
    let answer = link
        .ask_in_json(link.agent(&member.profile.id), &request, patience)
        .await;
    match answer.map_err(|error| FleetError::of(name, error))? {
        Answer::Done => Ok(()),
        Answer::Refused { reason } => Err(FleetError::of(name, reason)),
        Answer::Reserved { .. } | Answer::Time { .. } => {
            Err(FleetError::of(name, "it gave an unexpected answer"))
        }
    }
}

/// Compares the clocks of all agents again and again. A missing answer is the loss of an agent, which others notice.
async fn compare_again(
    link: Link,
    run: String,
    members: Arc<[Member]>,
    timepiece: Timepiece,
    shared: Arc<Shared>,
) {
    let mut times = interval(COMPARE_EVERY);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        times.tick().await;
        let compared = members.iter().enumerate().map(|(at, member)| {
            let (link, run, shared) = (&link, &run, &shared);
            async move {
                let is_silent = lock(&shared.heard_at)[at].elapsed() >= LOST_AFTER / 2;
                for _ in 0..if is_silent { 0 } else { FURTHER_EXCHANGES } {
                    if let Ok(exchange) = exchange(link, run, member, timepiece).await {
                        lock(&shared.clocks)[at].learn(exchange);
                    }
                }
            }
        });
        futures_util::future::join_all(compared).await;
    }
}

/// Tells the agents that the coordinator is there.
async fn beat(link: Link, run: String) {
    let mut beats = interval(BEAT_EVERY);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beats.tick().await;
        link.publish(link.of_run(&run, "beat"), Bytes::new()).await;
    }
}

/// What stands for a message that cannot be used.
fn failed(reason: String) -> Box<Told> {
    let is_of_script = false;
    Box::new(Told::Failed { reason, is_of_script })
}

/// Takes what agents send.
#[derive(Clone)]
struct Listener {
    link: Link,
    /// Their ids, by number.
    members: Vec<String>,
    shared: Arc<Shared>,
}

impl Listener {
    fn member(&self, id: &str) -> Option<usize> {
        self.members.iter().position(|known| known == id)
    }

    fn heard(&self, member: usize) {
        lock(&self.shared.heard_at)[member] = Instant::now();
    }

    async fn take_posts(self, mut posts: async_nats::Subscriber, told: mpsc::Sender<(usize, Box<Told>)>) {
        let mut inboxes: Vec<Inbox> = self.members.iter().map(|_| Inbox::default()).collect();
        while let Some(post) = posts.next().await {
            let subject = post.subject.to_string();
            let Some(place) = Place::of(&subject) else {
                continue;
            };
            let Some(member) = self.member(place.agent) else {
                continue;
            };
            self.heard(member);
            let content = match inboxes[member].take(place, post.payload.clone()) {
                Arrival::Stray => continue,
                Arrival::Confirmed => None,
                Arrival::Complete(content) => self.hand_over(member, content),
                Arrival::Unreadable => Some(failed("what it told cannot be read".to_owned())),
            };
            if let Some(content) = content
                && told.send((member, content)).await.is_err()
            {
                return;
            }
            confirm(&self.link, &post).await;
        }
    }

    /// Hands samples to the outputs before they are confirmed, so that none wait here. Returns everything else.
    fn hand_over(&self, member: usize, told: Box<Told>) -> Option<Box<Told>> {
        let Told::Samples(samples) = &*told else {
            return Some(told);
        };
        let clock = |now| lock(&self.shared.clocks)[member].read(now);
        let taken = match self.shared.intake.get() {
            Some(intake) => intake.take(member, samples, clock),
            None => Err("it told samples that were not asked for".to_owned()),
        };
        taken.err().map(failed)
    }

    async fn take_signs(self, mut alive: async_nats::Subscriber) {
        while let Some(sign) = alive.next().await {
            let id = sign.subject.rsplit('.').next().unwrap_or_default();
            if let Some(member) = self.member(id) {
                self.heard(member);
            }
        }
    }

    async fn hand_out(self, mut asked: async_nats::Subscriber) {
        while let Some(question) = asked.next().await {
            let subject = question.subject.to_string();
            let mut parts = subject.rsplit('.');
            let at = parts.next().and_then(|at| at.parse::<usize>().ok());
            let piece = at.zip(parts.next()).and_then(|(at, name)| {
                let parcels = lock(&self.shared.parcels);
                parcels.get(name)?.piece(at).map(Bytes::copy_from_slice)
            });
            if let Some((piece, reply)) = piece.zip(question.reply) {
                self.link.publish(reply.to_string(), piece).await;
            }
        }
    }
}
