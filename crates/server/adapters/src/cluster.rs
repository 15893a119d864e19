//! The nodes of a Redis Cluster, and which of them has which slots. Asks them at an interval, and when something seems to
//! be wrong (<https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/>).

use std::{
    fmt,
    future::pending,
    mem::discriminant,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use redis::cmd;
use tokio::{
    sync::{Notify, watch},
    time::{sleep, timeout},
};

use crate::{
    connection::{Connection, ConnectionError, PATIENCE},
    resp::Reply,
    server::Server,
    target::Address,
};

mod redirection;
mod slot_map;
mod slots;

pub(crate) use redirection::Redirection;
pub(crate) use slot_map::SlotMap;
pub(crate) use slots::{N_SLOTS, slot};

/// The time between two questions while nothing is wrong.
const INTERVAL: Duration = Duration::from_secs(15);

/// The time between two questions while something is wrong.
const TROUBLED_INTERVAL: Duration = Duration::from_secs(1);

/// The least time between two questions.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// How long a node may take to say which node has which slots. Another one is asked after that.
const ANSWER: Duration = Duration::from_secs(2);

/// The failures of nodes that one message names.
const MAX_FAILURES: usize = 3;

/// The nodes of one cluster, and what they said last.
#[derive(Debug)]
pub(crate) struct Topology {
    /// The nodes that the settings name.
    seeds: Vec<Server>,
    view: watch::Sender<View>,
    /// Wakes the task that asks.
    requested: Arc<Notify>,
    is_asking: AtomicBool,
}

/// What is known of a cluster.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) map: Arc<SlotMap>,
    /// The age of the knowledge: each change of the cluster has a greater number.
    epoch: u64,
    pub(crate) trouble: Option<Trouble>,
}

/// Why some or all slots are not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// No node answers as the node of a cluster. The text has the reasons.
    Unknown(String),
    /// So many slots have no primary.
    Uncovered(usize),
    /// This node says that the cluster is down.
    Down(String),
}

/// The answer of a node.
#[derive(Debug)]
struct Answer {
    address: String,
    /// Whether the node counts the cluster as up. A node that is cut off from the others does not.
    is_up: bool,
    epoch: u64,
    map: SlotMap,
}

/// The node of a connection. Says when it is no longer the right one.
#[derive(Debug)]
pub(crate) struct Membership {
    address: Address,
    /// The slot whose primary the node must be. `None`: it may be any primary.
    slot: Option<u16>,
    topology: Arc<Topology>,
    view: watch::Receiver<View>,
}

impl Topology {
    /// The cluster of these nodes.
    pub(crate) fn new(seeds: Vec<Server>) -> Self {
        Self {
            seeds,
            view: watch::Sender::default(),
            requested: Arc::default(),
            is_asking: AtomicBool::new(false),
        }
    }

    /// What is known, now and later. The first call begins to ask.
    pub(crate) fn view(self: &Arc<Self>) -> watch::Receiver<View> {
        if !self.is_asking.swap(true, Ordering::Relaxed) {
            let requested = Arc::clone(&self.requested);
            tokio::spawn(Self::keep_asking(Arc::downgrade(self), requested));
        }
        self.view.subscribe()
    }

    /// The nodes that a connection may be made to, in random order: the primary of the slot, or all primaries.
    pub(crate) async fn members(
        self: &Arc<Self>,
        slot: Option<u16>,
    ) -> Result<Vec<Membership>, ConnectionError> {
        let mut view = self.view();
        let knows = |view: &View| match slot {
            Some(slot) => view.map.owner(slot).is_some(),
            None => !view.map.is_empty(),
        };
        let settled = timeout(
            PATIENCE,
            view.wait_for(|view| knows(view) || view.trouble.is_some()),
        )
        .await;
        let Ok(Ok(found)) = settled.map(|settled| settled.map(|view| view.clone())) else {
            return Err(ConnectionError::Silent(PATIENCE));
        };
        let mut addresses = match slot {
            Some(slot) => found.map.owner(slot).into_iter().cloned().collect(),
            None => found.map.primaries().to_vec(),
        };
        if addresses.is_empty() {
            self.ask_soon();
            return Err(ConnectionError::NoNode(match found.trouble {
                Some(trouble) => trouble.to_string(),
                None => "the slot of the key has no primary".to_owned(),
            }));
        }
        fastrand::shuffle(&mut addresses);
        let members = addresses.into_iter().map(|address| Membership {
            address,
            slot,
            topology: Arc::clone(self),
            view: view.clone(),
        });
        Ok(members.collect())
    }

    /// Something has failed: another node may have the slots now.
    pub(crate) fn ask_soon(&self) {
        self.requested.notify_one();
    }

    /// A node says that a slot belongs to this one.
    pub(crate) fn moved(&self, slot: u16, to: &Address) {
        self.view.send_if_modified(|view| {
            if view.map.owner(slot) == Some(to) {
                return false;
            }
            view.map = Arc::new(view.map.with(slot, to));
            true
        });
        self.ask_soon();
    }

    async fn keep_asking(topology: Weak<Self>, requested: Arc<Notify>) {
        loop {
            let Some(topology) = topology.upgrade() else {
                return;
            };
            let answer = topology.ask().await;
            topology.take(answer);
            let is_troubled = topology.view.borrow().trouble.is_some();
            drop(topology);
            sleep(MIN_INTERVAL).await;
            let interval = if is_troubled { TROUBLED_INTERVAL } else { INTERVAL };
            // An interval without a request is no failure.
            let _requested = timeout(interval, requested.notified()).await;
        }
    }

    /// Asks one node after the other, until one is up and knows no less than the others did.
    async fn ask(&self) -> Result<Answer, Trouble> {
        let known = self.view.borrow().clone();
        let mut best: Option<Answer> = None;
        let mut failures = Vec::new();
        for node in self.nodes(&known.map) {
            let address = node.target.address();
            let answer = timeout(ANSWER, ask(&node)).await;
            match answer.unwrap_or(Err(ConnectionError::Silent(ANSWER))) {
                Ok(answer) if answer.is_up && answer.epoch >= known.epoch => return Ok(answer),
                Ok(answer) => {
                    let rank = |answer: &Answer| (answer.is_up, answer.epoch);
                    if best.as_ref().is_none_or(|best| rank(best) < rank(&answer)) {
                        best = Some(answer);
                    }
                }
                Err(error) if failures.len() < MAX_FAILURES => failures.push(format!("{address}: {error}")),
                Err(_) => {}
            }
        }
        best.ok_or_else(|| Trouble::Unknown(failures.join("; ")))
    }

    /// All nodes that are known, in random order, and the seeds last: they may be gone long ago.
    fn nodes(&self, map: &SlotMap) -> Vec<Server> {
        let mut known: Vec<_> = map.primaries().iter().map(|at| self.seeds[0].at(at)).collect();
        fastrand::shuffle(&mut known);
        let mut seeds = self.seeds.clone();
        fastrand::shuffle(&mut seeds);
        known.extend(seeds);
        known
    }

    fn take(&self, answer: Result<Answer, Trouble>) {
        self.view.send_if_modified(|view| {
            let before = view.clone();
            match answer {
                Ok(answer) => {
                    view.epoch = answer.epoch;
                    view.trouble = trouble(&answer);
                    if *view.map != answer.map {
                        view.map = Arc::new(answer.map);
                    }
                }
                Err(trouble) => view.trouble = Some(trouble),
            }
            log_change(&before, view);
            !Arc::ptr_eq(&before.map, &view.map) || before.trouble != view.trouble
        });
    }
}

/// Asks one node.
async fn ask(node: &Server) -> Result<Answer, ConnectionError> {
    let mut connection = Connection::open_at(node).await?;
    let info = connection.request(cmd("CLUSTER").arg("INFO"), ANSWER).await;
    let info = match info {
        Err(ConnectionError::Refused(error)) if error.contains("cluster support disabled") => {
            return Err(ConnectionError::NoClusterMode);
        }
        info => info?,
    };
    let slots = connection.request(cmd("CLUSTER").arg("SLOTS"), ANSWER).await?;
    let info = match &info {
        Reply::Text(info) => String::from_utf8_lossy(info),
        _ => "".into(),
    };
    Ok(Answer {
        address: node.target.address(),
        is_up: value(&info, "cluster_state") == Some("ok"),
        epoch: value(&info, "cluster_current_epoch")
            .and_then(|epoch| epoch.parse().ok())
            .unwrap_or(0),
        map: SlotMap::read(slots, &node.target.host),
    })
}

/// A value of `CLUSTER INFO`, whose lines are `name:value`.
fn value<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

fn trouble(answer: &Answer) -> Option<Trouble> {
    match answer.map.n_without_owner() {
        0 if answer.is_up => None,
        0 => Some(Trouble::Down(answer.address.clone())),
        n => Some(Trouble::Uncovered(n)),
    }
}

/// One line for each change that an operator wants to know.
fn log_change(before: &View, now: &View) {
    let kind = |view: &View| view.trouble.as_ref().map(discriminant);
    match &now.trouble {
        Some(trouble) if kind(before) != kind(now) => {
            tracing::warn!(
                "Redis Cluster: {trouble}. Messages for it wait, and are refused when they have waited too long."
            );
        }
        Some(trouble) => tracing::debug!("Redis Cluster: {trouble}, still."),
        None if before.trouble.is_some() => tracing::info!("Redis Cluster: all slots are served again."),
        None => {}
    }
    if before.map.primaries() != now.map.primaries() {
        let primaries: Vec<_> = now.map.primaries().iter().map(ToString::to_string).collect();
        tracing::info!("Redis Cluster: the primaries are {}.", primaries.join(", "));
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(failures) => write!(f, "no node says which one has which slots: {failures}"),
            Self::Uncovered(n) => write!(
                f,
                "{n} of the {N_SLOTS} slots have no primary; redis-cli --cluster check says which"
            ),
            Self::Down(node) => write!(
                f,
                "the node {node} says that the cluster is down (cluster_state:fail)"
            ),
        }
    }
}

impl Membership {
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// The meaning of an error of the node. Others learn what it says of the cluster.
    pub(crate) fn refused(&self, error: String) -> ConnectionError {
        match Redirection::of(&error) {
            Some(Redirection::Moved { slot, to }) => {
                self.topology.moved(slot, &to.or_at(&self.address));
                return ConnectionError::Left(self.address.to_string());
            }
            Some(Redirection::Ask { .. } | Redirection::Later) => self.topology.ask_soon(),
            None => {}
        }
        ConnectionError::Refused(error)
    }

    /// Completes when the node is no longer the right one.
    pub(crate) async fn moved(&mut self) -> ConnectionError {
        let (address, slot) = (&self.address, self.slot);
        let is_wrong = |view: &View| match slot {
            Some(slot) => view.map.owner(slot) != Some(address),
            None => !view.map.primaries().contains(address),
        };
        let has_moved = self.view.wait_for(is_wrong).await.is_ok();
        if !has_moved {
            // Without a topology nothing moves any more.
            pending::<()>().await;
        }
        ConnectionError::Left(address.to_string())
    }
}

#[cfg(test)]
mod tests;
