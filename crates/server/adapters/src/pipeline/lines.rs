//! The lines to the primaries of a Redis Cluster, and the way of a request to the right one.

use std::{
    collections::{BTreeMap, HashMap},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use plimsoll_telemetry::Dependency;
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
    time::{Instant, interval, sleep, timeout},
};

use super::line::{Line, LineError, LineSettings, Manner, Request, RequestError, Requests};
use crate::{
    cluster::{Redirection, Topology, View, slot},
    resp::Reply,
    server::Server,
    supervisor::{Link, Status, Stop, stopped},
    target::Address,
};

/// The time without an answer after which the nodes are asked again who has the slots.
const DOUBT: Duration = Duration::from_millis(500);

/// The first wait before a request is made again, from the third attempt on. It doubles up to [`MAX_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(20);
const MAX_WAIT: Duration = Duration::from_millis(320);

/// The time after which a line to a node that got no slot is closed.
const PRUNE_INTERVAL: Duration = Duration::from_mins(1);

/// The lines. Those to the primaries are opened when these become known, and one to a node that gets its first slot is
/// opened by the first request that is sent there.
#[derive(Debug)]
pub(super) struct Lines {
    topology: Arc<Topology>,
    server: Arc<Server>,
    settings: LineSettings,
    table: Mutex<Table>,
    opened: Notify,
}

#[derive(Debug, Default)]
struct Table {
    lines: HashMap<Address, Line>,
    /// Lines whose work has not begun.
    new: Vec<(Address, Requests)>,
}

/// A line at work.
struct Running {
    /// Its drop ends the line.
    _end: watch::Sender<bool>,
    /// Whether the node is, or was when last looked at, a primary.
    is_primary: bool,
    began_at: Instant,
}

/// The work of the lines.
pub(crate) struct LineTasks(Arc<Lines>);

impl Lines {
    pub(super) fn new(topology: Arc<Topology>, server: Arc<Server>, settings: LineSettings) -> Self {
        Self {
            topology,
            server,
            settings,
            table: Mutex::default(),
            opened: Notify::new(),
        }
    }

    /// Makes a request to the node that has its key. A request that was not carried out is made again, as long as there
    /// is patience.
    pub(super) async fn request(
        &self,
        request: Arc<Request>,
        manner: Manner,
        patience: Duration,
    ) -> Result<Reply, RequestError> {
        let mut refusal = None;
        let attempts = self.attempt(&request, manner, &mut refusal);
        match timeout(patience, attempts).await {
            Ok(result) => result,
            // Without a refusal it may have been carried out.
            Err(_) => Err(refusal.map_or(RequestError::Late(patience), RequestError::Refused)),
        }
    }

    /// `refusal` is set while the request waits for another attempt.
    async fn attempt(
        &self,
        request: &Arc<Request>,
        manner: Manner,
        refusal: &mut Option<String>,
    ) -> Result<Reply, RequestError> {
        let slot = slot(request.key());
        let mut asked = None;
        let mut n_waits = 0;
        loop {
            let (address, is_asking) = match asked.take() {
                Some(address) => (address, true),
                None => (self.owner(slot, refusal).await, false),
            };
            *refusal = None;
            let line = self.line(&address);
            let answered = line.request(Arc::clone(request), Manner { is_asking, ..manner });
            let error = match self.patiently(answered).await {
                Ok(reply) => return Ok(reply),
                // Another node has the slots of this one now.
                Err(LineError::Unsent) => "the node has no slots any more".to_owned(),
                Err(LineError::Failed(RequestError::Refused(error))) => {
                    match Redirection::of(&error) {
                        Some(Redirection::Moved { slot, to }) => {
                            self.topology.moved(slot, &to.or_at(&address));
                        }
                        Some(Redirection::Ask { to }) => asked = Some(to.or_at(&address)),
                        Some(Redirection::Later) => self.topology.ask_soon(),
                        None => return Err(RequestError::Refused(error)),
                    }
                    error
                }
                Err(LineError::Failed(error)) => return Err(error),
            };
            *refusal = Some(error);
            if let Some(wait) = wait(n_waits) {
                sleep(wait).await;
            }
            n_waits += 1;
        }
    }

    /// Waits for the primary of a slot.
    async fn owner(&self, slot: u16, refusal: &mut Option<String>) -> Address {
        let mut view = self.topology.view();
        let owner = |view: &View| view.map.owner(slot).cloned();
        loop {
            if let Some(owner) = owner(&view.borrow_and_update()) {
                return owner;
            }
            refusal.get_or_insert_with(|| format!("CLUSTERDOWN no node of the cluster serves slot {slot}"));
            self.topology.ask_soon();
            // The topology lives as long as this.
            let _changed = view.changed().await;
        }
    }

    /// Waits for an answer. A node that does not answer may have been replaced.
    async fn patiently(
        &self,
        answered: impl Future<Output = Result<Reply, LineError>>,
    ) -> Result<Reply, LineError> {
        let mut answered = pin!(answered);
        loop {
            match timeout(DOUBT, &mut answered).await {
                Ok(answer) => return answer,
                Err(_) => self.topology.ask_soon(),
            }
        }
    }

    /// Makes a request to all primaries but the one with this address, if there are others.
    pub(super) async fn request_elsewhere(
        &self,
        request: Request,
        patience: Duration,
        here: Option<&Address>,
    ) {
        let request = Arc::new(request);
        let map = Arc::clone(&self.topology.view().borrow().map);
        let is_alone = map.primaries().len() == 1;
        let mut requests = JoinSet::new();
        for address in map.primaries() {
            if is_alone || Some(address) != here {
                let (line, request) = (self.line(address), Arc::clone(&request));
                requests.spawn(async move { line.request(request, Manner::default()).await.map(drop) });
            }
        }
        // What is not answered by then is given up.
        let _answered = timeout(patience, requests.join_all()).await;
    }

    /// The line to a node.
    fn line(&self, address: &Address) -> Line {
        let mut table = self.table();
        if let Some(line) = table.lines.get(address) {
            return line.clone();
        }
        let server = Arc::new(self.server.at(address));
        let (line, requests) = Line::new(server, self.settings);
        table.lines.insert(address.clone(), line.clone());
        table.new.push((address.clone(), requests));
        self.opened.notify_one();
        line
    }

    fn take_new(&self) -> Vec<(Address, Requests)> {
        std::mem::take(&mut self.table().new)
    }

    /// Opens lines to the primaries. Ends those to nodes that are no primaries any more, and those to nodes that were asked
    /// and got no slot in all that time.
    fn follow(&self, now: &View, parts: &Parts, running: &mut HashMap<Address, Running>) {
        parts.set_whole(now);
        let primaries = now.map.primaries();
        for address in primaries {
            self.line(address);
        }
        running.retain(|address, line| {
            let was_primary = line.is_primary;
            line.is_primary = primaries.contains(address);
            line.is_primary || (!was_primary && line.began_at.elapsed() < PRUNE_INTERVAL)
        });
        let Table { lines, new } = &mut *self.table();
        lines.retain(|address, _| {
            running.contains_key(address) || new.iter().any(|(other, _)| other == address)
        });
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic under the lock is a bug in this file; the other requests go on.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wait before the next attempt. The first redirections are followed at once.
fn wait(n_waits: u32) -> Option<Duration> {
    let n_doublings = n_waits.checked_sub(2)?.min(16);
    Some((FIRST_WAIT * (1 << n_doublings)).min(MAX_WAIT))
}

impl LineTasks {
    pub(super) fn new(lines: Arc<Lines>) -> Self {
        Self(lines)
    }

    /// Keeps a line to each primary until `stop` becomes true.
    pub(super) async fn run(self, status: Dependency, mut stop: Stop) {
        let Self(lines) = self;
        let parts = Arc::new(Parts::new(status, Arc::clone(&lines.topology)));
        let mut view = lines.topology.view();
        let mut ticks = interval(PRUNE_INTERVAL);
        let mut running = HashMap::new();
        let mut tasks = JoinSet::new();
        loop {
            tokio::select! {
                _changed = view.changed() => {
                    let now = view.borrow_and_update().clone();
                    lines.follow(&now, &parts, &mut running);
                }
                _ = ticks.tick() => {
                    let now = view.borrow_and_update().clone();
                    lines.follow(&now, &parts, &mut running);
                }
                () = lines.opened.notified() => {}
                Some(_ended) = tasks.join_next() => {}
                () = stopped(&mut stop) => break,
            }
            for (address, requests) in lines.take_new() {
                let link = Link::with_words(
                    format!("Connected to the Redis broker at {address}"),
                    format!("The Redis broker at {address} is away"),
                    parts.part(address.to_string()),
                );
                let (end, ended) = watch::channel(false);
                let line = Running {
                    _end: end,
                    is_primary: view.borrow().map.primaries().contains(&address),
                    began_at: Instant::now(),
                };
                running.insert(address, line);
                tasks.spawn(requests.run(link, ended));
            }
        }
        drop(running);
        while tasks.join_next().await.is_some() {}
    }
}

/// The parts of one dependency: all slots have a primary, and the line to each works.
#[derive(Debug)]
struct Parts {
    whole: Dependency,
    topology: Arc<Topology>,
    /// The parts that are down, and why.
    down: Mutex<BTreeMap<String, String>>,
}

/// The line to one node. It is no part any more when it is dropped.
#[derive(Debug)]
struct Part {
    parts: Arc<Parts>,
    name: String,
}

/// The name of the part that is down while slots have no primary. It comes before all addresses.
const SLOTS: &str = "";

impl Parts {
    fn new(whole: Dependency, topology: Arc<Topology>) -> Self {
        Self {
            whole,
            topology,
            down: Mutex::default(),
        }
    }

    fn part(self: &Arc<Self>, name: String) -> Part {
        self.set(&name, Some("not connected yet".to_owned()));
        Part {
            parts: Arc::clone(self),
            name,
        }
    }

    fn set_whole(&self, view: &View) {
        let reason = match &view.trouble {
            Some(trouble) => Some(trouble.to_string()),
            None => view
                .map
                .is_empty()
                .then(|| "the nodes of the Redis Cluster have not answered yet".to_owned()),
        };
        self.set(SLOTS, reason);
    }

    /// Sets the reason why a part is down; `None`: it is up.
    fn set(&self, name: &str, reason: Option<String>) {
        // A panic under the lock is a bug in this function; the others go on.
        let mut down = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        match reason {
            Some(reason) => down.insert(name.to_owned(), reason),
            None => down.remove(name),
        };
        match down.first_key_value() {
            Some((name, reason)) if name == SLOTS => self.whole.down(reason),
            Some((name, reason)) => self.whole.down(format!("{name}: {reason}")),
            None => self.whole.up(),
        }
    }
}

impl Status for Part {
    fn up(&self) {
        self.parts.set(&self.name, None);
    }

    fn down(&self, reason: String) {
        self.parts.set(&self.name, Some(reason));
        // Another node may be the primary now.
        self.parts.topology.ask_soon();
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.parts.set(&self.name, None);
    }
}
