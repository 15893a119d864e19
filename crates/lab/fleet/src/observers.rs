//! The observers of a run, as their coordinator sees them.
//!
//! They have a thread, a connection and a crew of their own, so nothing that becomes of them touches the load: a run waits
//! for them for some seconds at its beginning and at its end, and says what is missing.

use std::{
    sync::{Arc, mpsc::SyncSender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use plimsoll_load::watch::{Ledger, MAX_REMOTE_ORDERS, MAX_TARGETS, Remote, RemoteOrder, Sampling};
use serde_json::value::{RawValue, to_raw_value};
use tokio::{
    runtime,
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::{sleep_until, timeout},
};

use crate::{
    Crew, Director, Event, FleetAddress, FleetError, FleetKey, Link, Member,
    message::{Profile, Told},
    observer::{Finding, OBSERVE, Observed, Watching},
    recruit::{reserve_within, tell_apart},
};

/// How long observers may take for each step: to be reserved, to find their targets, to tell the rest at the end.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// How long all observers together may take until they are ready. Reason: four steps of [`ANSWER_WITHIN`], and a connection.
const READY_WITHIN: Duration = Duration::from_secs(25);

/// How long observers may take to be let go. One that does not hear it ends without the coordinator's beats.
const DISMISS_WITHIN: Duration = Duration::from_secs(1);

/// Orders to one observer that may wait. When there are more, the observer is late, and is given up.
const MAX_LETTERS: usize = 8;

/// The agents that answered the call of a run, and watch.
#[derive(Clone, Debug)]
pub struct Observers {
    pub(crate) run: String,
    pub(crate) version: String,
    /// Those that can take part, or why not.
    pub(crate) profiles: Vec<(Profile, Option<String>)>,
}

/// What the thread is for.
struct Summons {
    observers: Observers,
    address: FleetAddress,
    key: Option<FleetKey>,
    /// How many more targets a report has room for.
    n_free: usize,
}

impl Observers {
    /// Engages them, and gives their targets to `sampling`. What goes wrong is a notice there.
    pub async fn engage(self, address: &FleetAddress, key: Option<&FleetKey>, sampling: &Sampling) {
        if self.profiles.is_empty() {
            return;
        }
        let summons = Summons {
            observers: self,
            address: address.clone(),
            key: key.cloned(),
            n_free: sampling.n_free(),
        };
        let (orders, receiver) = mpsc::channel(MAX_REMOTE_ORDERS);
        let (ready, is_ready) = oneshot::channel();
        let remote = match start(summons, receiver, ready) {
            Ok(thread) => match timeout(READY_WITHIN, is_ready).await {
                Ok(Ok(ledger)) => Remote::new(ledger, Some((orders, thread))),
                // The thread ends, because there is no sender of orders.
                Ok(Err(_)) | Err(_) => Remote::new(silent("they were not ready in time"), None),
            },
            Err(problem) => Remote::new(silent(&problem), None),
        };
        sampling.adopt(remote);
    }
}

/// A ledger of no targets.
fn silent(problem: &str) -> Arc<Ledger> {
    let ledger = Ledger::default();
    notice(
        &ledger,
        format!("the targets of agents that watch are missing: {problem}"),
    );
    Arc::new(ledger)
}

fn notice(ledger: &Ledger, text: String) {
    tracing::warn!("{text}.");
    ledger.notice(text);
}

fn start(
    summons: Summons,
    orders: mpsc::Receiver<RemoteOrder>,
    ready: oneshot::Sender<Arc<Ledger>>,
) -> Result<JoinHandle<()>, String> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let serve = move || {
        runtime.block_on(async {
            match Lookout::post(summons).await {
                Ok(mut lookout) => {
                    let _gone = ready.send(Arc::clone(&lookout.ledger));
                    lookout.serve(orders).await;
                }
                Err(problem) => drop(ready.send(silent(&problem.to_string()))),
            }
        });
    };
    let thread = thread::Builder::new().name("observers".to_owned()).spawn(serve);
    thread.map_err(|error| error.to_string())
}

/// All observers of a run.
struct Lookout {
    crew: Crew,
    ledger: Arc<Ledger>,
    /// For each observer and each of its targets the number in the ledger.
    places: Vec<Vec<Option<usize>>>,
    letters: Vec<mpsc::Sender<Box<RawValue>>>,
    /// Observers that do not take their letters.
    failed: mpsc::Receiver<(usize, FleetError)>,
    /// Who waits until an observer is prepared.
    preparing: Vec<Option<SyncSender<()>>>,
    has_ended: Vec<bool>,
    _directing: JoinSet<()>,
}

/// What an observer answered when it was engaged.
enum Engaged {
    /// It has looked for its targets.
    Found(Vec<Finding>),
    /// It takes no part.
    Lost(String),
}

/// The targets of all observers, as they are entered.
#[derive(Debug, Default)]
struct Roster {
    /// How many targets there is room for.
    n_free: usize,
    /// Their names, and what they are.
    targets: Vec<(String, String)>,
    notices: Vec<String>,
}

impl Roster {
    /// Enters the targets of an observer. Returns for each its number.
    fn enter(&mut self, profile: &Profile, engaged: Engaged) -> Vec<Option<usize>> {
        let found = match engaged {
            Engaged::Found(found) => found,
            Engaged::Lost(reason) => {
                let lost = |label: &String| Finding {
                    what: label.clone(),
                    problem: Some(reason.clone()),
                };
                profile.watches.iter().map(lost).collect()
            }
        };
        let places = profile.watches.iter().zip(found).map(|(label, finding)| {
            let name = format!("{label} on {}", profile.name);
            let is_full = self.targets.len() >= self.n_free;
            let full = || is_full.then(|| format!("a report has room for {MAX_TARGETS} targets"));
            if let Some(problem) = finding.problem.or_else(full) {
                self.notices.push(format!("{name} is not watched: {problem}"));
                return None;
            }
            self.targets.push((name, finding.what));
            Some(self.targets.len() - 1)
        });
        places.collect()
    }
}

impl Lookout {
    /// Reserves the observers, and lets them find their targets.
    async fn post(summons: Summons) -> Result<Self, FleetError> {
        let Summons {
            observers,
            address,
            key,
            n_free,
        } = summons;
        let link = Link::connect(&address).await?;
        let mut problems = Vec::new();
        let mut members = Vec::new();
        for (profile, reason) in &observers.profiles {
            if let Some(reason) = reason {
                problems.push((profile.clone(), reason.clone()));
            }
        }
        let fit = observers.profiles.iter().filter(|(_, reason)| reason.is_none());
        let reserved = fit.map(|(profile, _)| async {
            let Observers { run, version, .. } = &observers;
            let nonce = reserve_within(&link, run, version, profile, ANSWER_WITHIN).await;
            (profile.clone(), nonce)
        });
        for (profile, nonce) in futures_util::future::join_all(reserved).await {
            match nonce {
                Ok(nonce) => members.push(Member::new(profile, nonce)),
                Err(error) => problems.push((profile, reason_of(error))),
            }
        }
        tell_apart(&mut members);
        let mut crew = Crew::new(link, observers.run, members).await?;
        let engaged = engage(&mut crew, key.as_ref()).await;
        let mut roster = Roster {
            n_free,
            ..Roster::default()
        };
        for (profile, reason) in problems {
            roster.enter(&profile, Engaged::Lost(reason));
        }
        let mut places = Vec::new();
        for (at, engaged) in engaged.into_iter().enumerate() {
            if matches!(engaged, Engaged::Lost(_)) {
                crew.strike(at);
            }
            places.push(roster.enter(&crew.members()[at].profile, engaged));
        }
        let ledger = Ledger::new(roster.targets);
        roster.notices.into_iter().for_each(|text| notice(&ledger, text));
        let n = crew.members().len();
        let (fail, failed) = mpsc::channel(n.max(1));
        let mut directing = JoinSet::new();
        let letters = (0..n).map(|member| {
            let (sender, letters) = mpsc::channel(MAX_LETTERS);
            directing.spawn(direct(crew.director(member), letters, member, fail.clone()));
            sender
        });
        let letters = letters.collect();
        Ok(Self {
            crew,
            ledger: Arc::new(ledger),
            places,
            letters,
            failed,
            preparing: vec![None; n],
            has_ended: vec![false; n],
            _directing: directing,
        })
    }

    /// Carries out orders, and takes in what observers tell, until the end of the run.
    async fn serve(&mut self, mut orders: mpsc::Receiver<RemoteOrder>) {
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(RemoteOrder::Prepare(done)) => {
                        for member in self.crew.living() {
                            self.preparing[member] = Some(done.clone());
                            self.order(member, Watching::Prepare);
                        }
                    }
                    Some(RemoteOrder::Start(at)) => self.start(at),
                    Some(RemoteOrder::Finish(done)) => {
                        self.finish().await;
                        self.crew.dismiss(DISMISS_WITHIN).await;
                        return drop(done);
                    }
                    None => return self.crew.dismiss(DISMISS_WITHIN).await,
                },
                event = self.crew.next() => self.take(event),
                Some((member, error)) = self.failed.recv() => self.lose(member, &reason_of(error)),
            }
        }
    }

    fn start(&mut self, at: Instant) {
        let at_ns = self.crew.timepiece().at(at.into());
        for member in self.crew.living() {
            match self.crew.reading(member) {
                Some(reading) => self.order(
                    member,
                    Watching::Start {
                        at_ns: reading.theirs(at_ns),
                    },
                ),
                None => self.lose(member, "its clock is not known"),
            }
        }
    }

    /// Lets all observers look a last time, and takes in what they tell.
    async fn finish(&mut self) {
        let deadline = tokio::time::Instant::now() + ANSWER_WITHIN;
        for member in self.crew.living() {
            self.order(member, Watching::Finish);
        }
        while self.crew.living().iter().any(|&member| !self.has_ended[member]) {
            tokio::select! {
                event = self.crew.next() => self.take(event),
                Some((member, error)) = self.failed.recv() => self.lose(member, &reason_of(error)),
                () = sleep_until(deadline) => {
                    let reason = format!("it did not answer within {} s", ANSWER_WITHIN.as_secs());
                    for late in self.crew.living() {
                        if !self.has_ended[late] {
                            self.lose(late, &reason);
                        }
                    }
                }
            }
        }
    }

    fn order(&mut self, member: usize, order: Watching) {
        let letter = to_raw_value(&order).ok();
        let is_sent = letter.is_some_and(|letter| self.letters[member].try_send(letter).is_ok());
        if !is_sent {
            self.lose(member, "it takes no orders");
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Lost(member, silence) => self.lose(member, &silence.to_string()),
            Event::Told(member, told) => match *told {
                Told::Part(part) => match serde_json::from_str(part.get()) {
                    Ok(Observed::Prepared) => self.preparing[member] = None,
                    Ok(Observed::Seen(sightings)) => {
                        for sighting in sightings {
                            let place = self.places[member].get(sighting.target).copied().flatten();
                            if let Some(place) = place {
                                self.ledger.take(place, sighting);
                            }
                        }
                    }
                    Ok(Observed::Found(_)) => {}
                    Err(error) => self.lose(member, &format!("what it told cannot be read: {error}")),
                },
                Told::Ended(_) => self.has_ended[member] = true,
                Told::Failed { reason, .. } | Told::Leaving { reason } => self.lose(member, &reason),
                _ => {}
            },
        }
    }

    /// An observer is gone: the figures of its targets end here.
    fn lose(&mut self, member: usize, reason: &str) {
        self.crew.strike(member);
        self.preparing[member] = None;
        if std::mem::replace(&mut self.has_ended[member], true) {
            return;
        }
        let agent = &self.crew.members()[member].profile.name;
        for &place in self.places[member].iter().flatten() {
            self.ledger.close(place);
            let name = self.ledger.name(place).unwrap_or_default();
            let text = match self.ledger.n_seconds(place) {
                0 => format!("there are no figures of {name}: agent {agent}: {reason}"),
                second => format!("the figures of {name} end at second {second}: agent {agent}: {reason}"),
            };
            notice(&self.ledger, text);
        }
    }
}

/// Gives all observers their package, compares clocks, and waits until each has looked for its targets.
async fn engage(crew: &mut Crew, key: Option<&FleetKey>) -> Vec<Engaged> {
    let n = crew.members().len();
    let late = || Engaged::Lost(format!("it did not answer within {} s", ANSWER_WITHIN.as_secs()));
    let mut engaged: Vec<Option<Engaged>> = (0..n).map(|_| None).collect();
    let assigned = crew.assign_each("observe", OBSERVE, key, ANSWER_WITHIN).await;
    for (at, assigned) in assigned.into_iter().enumerate() {
        if let Err(error) = assigned {
            crew.strike(at);
            engaged[at] = Some(Engaged::Lost(reason_of(error)));
        }
    }
    // An observer whose clock stays unknown is given up at the start.
    let _compared = timeout(ANSWER_WITHIN, crew.compare_clocks()).await;
    let deadline = tokio::time::Instant::now() + ANSWER_WITHIN;
    while engaged.iter().any(Option::is_none) {
        tokio::select! {
            event = crew.next() => {
                let (member, answer) = match event {
                    Event::Lost(member, _) => (member, late()),
                    Event::Told(member, told) => match *told {
                        Told::Part(part) => match serde_json::from_str(part.get()) {
                            Ok(Observed::Found(found)) => (member, Engaged::Found(found)),
                            Ok(_) => continue,
                            Err(error) => {
                                let reason = format!("what it told cannot be read: {error}");
                                (member, Engaged::Lost(reason))
                            }
                        },
                        Told::Failed { reason, .. } | Told::Leaving { reason } => {
                            (member, Engaged::Lost(reason))
                        }
                        _ => continue,
                    },
                };
                engaged[member].get_or_insert(answer);
            }
            () = sleep_until(deadline) => break,
        }
    }
    engaged.into_iter().map(|it| it.unwrap_or_else(late)).collect()
}

/// Hands one observer its letters.
async fn direct(
    director: Director,
    letters: mpsc::Receiver<Box<RawValue>>,
    member: usize,
    fail: mpsc::Sender<(usize, FleetError)>,
) {
    if let Err(error) = director.give_all(letters).await {
        let _over = fail.send((member, error)).await;
    }
}

/// The reason of an agent without its name, which stands beside it anyway.
fn reason_of(error: FleetError) -> String {
    match error {
        FleetError::Agent { reason, .. } => reason,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::PROTOCOL;

    #[test]
    fn targets_get_numbers_and_what_is_missing_a_notice() {
        let observer = |name: &str, watches: &[&str]| Profile {
            id: name.to_owned(),
            name: name.to_owned(),
            version: "1".to_owned(),
            protocol: PROTOCOL,
            cores: 1,
            memory_bytes: None,
            open_files: None,
            busy_with: None,
            watches: watches.iter().map(|&it| it.to_owned()).collect(),
            is_private: true,
        };
        let finding = |what: &str, problem: Option<&str>| Finding {
            what: what.to_owned(),
            problem: problem.map(str::to_owned),
        };
        let mut roster = Roster {
            n_free: 2,
            ..Roster::default()
        };
        for (profile, engaged, expected) in [
            (
                observer("a", &[":80", "web"]),
                Engaged::Found(vec![
                    finding("port 80", Some("nothing there")),
                    finding("port 81", None),
                ]),
                vec![None, Some(0)],
            ),
            (
                observer("b", &["7"]),
                Engaged::Lost("it is late".to_owned()),
                vec![None],
            ),
            // An observer that finds more than it watches.
            (
                observer("c", &[":82"]),
                Engaged::Found(vec![finding("port 82", None), finding("port 83", None)]),
                vec![Some(1)],
            ),
            (
                observer("d", &[":84"]),
                Engaged::Found(vec![finding("port 84", None)]),
                vec![None],
            ),
        ] {
            assert_eq!(roster.enter(&profile, engaged), expected, "{}", profile.name);
        }
        let targets: Vec<_> = roster
            .targets
            .iter()
            .map(|(name, what)| format!("{name}, {what}"))
            .collect();
        assert_eq!(targets, ["web on a, port 81", ":82 on c, port 82"]);
        assert_eq!(
            roster.notices,
            [
                ":80 on a is not watched: nothing there",
                "7 on b is not watched: it is late",
                ":84 on d is not watched: a report has room for 8 targets",
            ]
        );
    }
}
