//! The coordinator's side: orders of the run go out as letters, and what agents tell comes in as events.

use std::{
    cell::RefCell,
    collections::VecDeque,
    rc::Rc,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use plimsoll_load::run::AgentProgress;
use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc};

use super::{
    Agents, Clocks, Member, Numbering, Said, Share,
    counterpart::Counterpart,
    letter::{Account, Letter, Sending, ns},
    of_clients,
};
use crate::{
    ledger::{Completion, SendTable, Standing},
    staff::{N_EVENTS, Staff},
    worker::{ClientId, Event, Order, SendOrder, Way},
};

/// The longest batch of letters, in bytes. Reason: it is half of what every transport takes.
const MAX_BATCH: usize = 7 << 10;

/// Orders that wait for the agent's consent to those before, besides those in the channels of its workers.
const MAX_WAITING: usize = 1024;

/// All agents of a run. Clones are of the same.
#[derive(Debug, Clone)]
pub(crate) struct Hub(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    members: Vec<Member>,
    numbering: Numbering,
    n_nodes: usize,
    clocks: Rc<dyn Clocks>,
    started: Instant,
    /// Each is borrowed for a few instructions, and never while something is awaited.
    counterparts: RefCell<Vec<Counterpart>>,
    /// Wake the letters of each agent.
    wakes: Vec<Notify>,
    /// The tables of all steps.
    tables: RefCell<Vec<Arc<SendTable>>>,
}

impl Hub {
    /// The workers of all agents, which have clients of so many servers. `counts_openings`: attempts to get ready are the
    /// work. To be called on a local runtime.
    pub(crate) fn staff(agents: Agents, n_nodes: usize, counts_openings: bool) -> Staff {
        let Agents {
            members,
            n_workers,
            orders: posts,
            told,
            clocks,
            goes_on: _,
        } = agents;
        let numbering = Numbering {
            n_agents: members.len(),
        };
        let counterpart = |_| Counterpart::new(n_workers, counts_openings);
        let hub = Self(Rc::new(Shared {
            numbering,
            n_nodes,
            clocks,
            started: Instant::now(),
            counterparts: RefCell::new((0..members.len()).map(counterpart).collect()),
            wakes: members.iter().map(|_| Notify::new()).collect(),
            tables: RefCell::default(),
            members,
        }));
        let (sender, events) = mpsc::channel(N_EVENTS);
        let mut orders = vec![None; n_workers * posts.len()];
        for (agent, post) in posts.into_iter().enumerate() {
            let mut desks = Vec::new();
            for own in 0..n_workers {
                let (order, desk) = mpsc::channel(MAX_WAITING);
                orders[numbering.worker(agent, own)] = Some(order);
                desks.push(desk);
            }
            let dispatch = Dispatch {
                hub: hub.clone(),
                agent,
                desks,
                waiting: VecDeque::new(),
            };
            tokio::task::spawn_local(dispatch.run(post, sender.clone()));
        }
        tokio::task::spawn_local(hub.clone().hear(told, sender));
        Staff::agents(orders.into_iter().flatten().collect(), events, hub)
    }

    /// The number of agents.
    pub(crate) fn n_agents(&self) -> usize {
        self.0.members.len()
    }

    /// The name of an agent.
    pub(crate) fn name(&self, agent: usize) -> &str {
        &self.0.members[agent].name
    }

    /// Asks all agents for the evidence about their generators. Returns the number of answers to come.
    pub(crate) fn ask_lap(&self) -> usize {
        self.note_all(|| Letter::Lap)
    }

    /// Asks all agents for room for `n_clients` clients together. Returns the number of answers to come.
    pub(crate) fn ask_room(&self, n_clients: usize) -> usize {
        let n_agents = self.n_agents();
        let notes = (0..n_agents)
            .filter(|&agent| self.note(agent, Letter::Room(of_clients(n_clients, agent, n_agents))));
        notes.count()
    }

    /// All broadcasts that were sent before this instant have been told.
    pub(crate) fn make_known(&self, at: Instant) {
        for agent in 0..self.n_agents() {
            self.note(agent, Letter::Known(self.theirs(agent, at)));
        }
    }

    /// What each agent has done.
    pub(crate) fn shares(&self) -> Vec<Share> {
        let counterparts = self.0.counterparts.borrow();
        let shares = self.agents().into_iter().zip(counterparts.iter());
        let shares = shares.map(|(agent, it)| Share {
            agent,
            evidence: it.evidence.clone(),
        });
        shares.collect()
    }

    /// How each agent stands.
    pub(crate) fn agents(&self) -> Vec<AgentProgress> {
        let counterparts = self.0.counterparts.borrow();
        let agents = counterparts.iter().zip(&self.0.members).enumerate();
        let agents = agents.map(|(agent, (it, member))| AgentProgress {
            share: 1.0 / self.n_agents() as f64,
            active_vus: count(it.n_clients),
            max_vus: count(it.n_most),
            n_iterations_complete: it.n_complete,
            lost_at: it.lost_at,
            ..member.progress(it.generator, &*self.0.clocks, agent)
        });
        agents.collect()
    }

    fn note_all(&self, letter: impl Fn() -> Letter) -> usize {
        (0..self.n_agents())
            .filter(|&agent| self.note(agent, letter()))
            .count()
    }

    /// Sends a letter ahead of all orders that wait. False: the agent is gone.
    fn note(&self, agent: usize, letter: Letter) -> bool {
        let counterpart = &mut self.0.counterparts.borrow_mut()[agent];
        if counterpart.is_over {
            return false;
        }
        counterpart.expect(&letter);
        counterpart.notes.push_back(letter);
        self.0.wakes[agent].notify_one();
        true
    }

    /// An instant of this machine on the clock of an agent.
    fn theirs(&self, agent: usize, at: Instant) -> u64 {
        let offset = self.0.clocks.offset(agent).unwrap_or_default();
        offset.theirs(self.0.clocks.at(at))
    }

    /// A time of an agent's clock as an instant of this machine.
    fn own(&self, agent: usize, ns: u64) -> Instant {
        let offset = self.0.clocks.offset(agent).unwrap_or_default();
        self.0.clocks.instant(offset.own(ns))
    }

    /// The letter with an order to a worker of an agent.
    fn letter(&self, agent: usize, own: usize, order: Order) -> Option<Letter> {
        Some(match order {
            Order::Open(Way { node, route }) => Letter::Open(own, node, route),
            Order::OpenStep(table) => {
                let ids = table.ids();
                let mut tables = self.0.tables.borrow_mut();
                if tables.last().is_none_or(|last| !Arc::ptr_eq(last, &table)) {
                    tables.push(table);
                }
                Letter::OpenStep(own, ids.start, (ids.end - ids.start) as usize)
            }
            Order::Send(SendOrder {
                slot,
                command,
                id,
                floor,
                due,
            }) => Letter::Send(Sending {
                worker: own,
                slot,
                command,
                id,
                floor,
                due: due.map(|due| self.theirs(agent, due)),
            }),
            Order::Report { step_idx } => Letter::Report(own, step_idx),
            Order::Collect { at } => Letter::Collect(own, ns(at)),
            Order::Survey { step_idx, end_id } => Letter::Survey(own, step_idx, end_id),
            Order::CloseStep {
                step_idx,
                at,
                at_least,
            } => Letter::CloseStep(own, step_idx, self.theirs(agent, at), ns(at_least)),
            // Agents give it to their own workers.
            Order::Settle { .. } => return None,
        })
    }

    /// The event that an agent tells. `None`: it concerns the hub only.
    fn event(&self, agent: usize, account: Account) -> Result<Option<Event>, &'static str> {
        self.0.counterparts.borrow_mut()[agent].check(&account, self.0.n_nodes)?;
        let client = |own, slot| ClientId {
            worker: self.0.numbering.worker(agent, own),
            slot,
        };
        Ok(Some(match account {
            Account::Opened(own, slot, phases) => Event::Opened {
                client: client(own, slot),
                opening: phases.into(),
            },
            Account::Unready(failing) => Event::OpenFailed(failing),
            Account::Dropped(own, slot, failing) => Event::Dropped {
                client: client(own, slot),
                failing,
            },
            Account::Answered(id, latency) => Event::Answered {
                id,
                latency: Duration::from_nanos(latency),
            },
            Account::Unanswerable(id) => Event::Unanswerable { id },
            Account::Sent(id, floor, at) => {
                self.spread(agent, (id, floor, at));
                return Ok(None);
            }
            Account::Completed(id, n_lost, after) => Event::Completed(Completion {
                id,
                n_lost,
                last_at: after.and_then(|after| Some(self.sent_at(id)? + Duration::from_nanos(after))),
            }),
            Account::StepOpened => Event::StepOpened,
            Account::Surveyed(n_expected, n_settled, last_at) => Event::Surveyed(Standing {
                n_expected,
                n_settled,
                last_at: last_at.map(|at| self.own(agent, at)),
            }),
            Account::SpeaksCable => Event::SpeaksCable,
            Account::Reported(report) => Event::Reported(report),
            Account::Collected(step_idx, at, harvest) => Event::Collected {
                step_idx,
                // A second that is far away would be as many seconds of the timeline.
                at: Duration::from_nanos(at).min(self.0.started.elapsed()),
                harvest,
            },
            Account::Glanced(glance) => Event::Glanced(agent, glance),
            Account::Lapped(evidence) => Event::Lapped(agent, evidence),
            Account::Room(obstacle) => Event::Room(agent, obstacle),
        }))
    }

    fn sent_at(&self, id: u64) -> Option<Instant> {
        let tables = self.0.tables.borrow();
        let sent = tables.iter().rev().find_map(|table| table.sent(id));
        Some(sent?.at)
    }

    /// An agent has sent a broadcast: all others must know.
    fn spread(&self, sender: usize, (id, floor, at): (u64, u64, u64)) {
        let at = self.own(sender, at);
        let tables = self.0.tables.borrow();
        let Some(table) = tables.iter().rev().find(|table| table.ids().contains(&id)) else {
            return;
        };
        table.mark_sent(id, floor, at);
        let uncertainty = |agent| self.0.clocks.offset(agent).map_or(0, |it| it.uncertainty_ns);
        for agent in (0..self.n_agents()).filter(|agent| *agent != sender) {
            if self.note(agent, Letter::Sent(id, floor, self.theirs(agent, at))) {
                let ns = uncertainty(sender).saturating_add(uncertainty(agent));
                table.note_uncertainty(Duration::from_nanos(ns));
            }
        }
    }

    /// Takes what the agents tell until nothing more comes from any of them.
    async fn hear(self, mut told: mpsc::Receiver<(usize, Said)>, events: mpsc::Sender<Event>) {
        while !self.is_over() {
            let Some((agent, said)) = told.recv().await else {
                return;
            };
            if agent >= self.n_agents() {
                continue;
            }
            let told = match said {
                Said::Part(text) => self.take(agent, &text),
                Said::Ended => {
                    self.0.counterparts.borrow_mut()[agent].is_over = true;
                    continue;
                }
                Said::Lost(reason) => self.lose(agent, &reason),
            };
            for event in told {
                // Without a run, only the ends of the agents matter.
                let _over = events.send(event).await;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.0.counterparts.borrow().iter().all(|it| it.is_over)
    }

    fn take(&self, agent: usize, text: &RawValue) -> Vec<Event> {
        if self.0.counterparts.borrow()[agent].is_over {
            return Vec::new();
        }
        let accounts = match serde_json::from_str::<Vec<Account>>(text.get()) {
            Ok(accounts) => accounts,
            Err(error) => return self.lose(agent, &format!("what it told cannot be read: {error}")),
        };
        let mut events = Vec::with_capacity(accounts.len());
        for account in accounts {
            match self.event(agent, account) {
                Ok(event) => events.extend(event),
                Err(problem) => {
                    events.extend(self.lose(agent, &format!("it told of {problem}")));
                    break;
                }
            }
        }
        events
    }

    /// An agent is gone, and with it all that it owes.
    fn lose(&self, agent: usize, reason: &str) -> Vec<Event> {
        let at = self.0.started.elapsed();
        let counterpart = &mut self.0.counterparts.borrow_mut()[agent];
        if std::mem::replace(&mut counterpart.is_over, true) {
            return Vec::new();
        }
        counterpart.lost_at = Some(at);
        counterpart.notes.clear();
        self.0.wakes[agent].notify_one();
        let share = 100.0 / self.n_agents() as f64;
        let reason = format!(
            "agent {} was lost after {} s ({reason}), and with it {share:.0} % of the clients",
            self.name(agent),
            at.as_secs()
        );
        let mut events = vec![Event::AgentLost(agent, reason)];
        events.extend(counterpart.give_up(agent));
        events
    }
}

/// A number of clients.
fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The way of letters to one agent.
struct Dispatch {
    hub: Hub,
    agent: usize,
    /// The orders for each of its workers.
    desks: Vec<mpsc::Receiver<Order>>,
    waiting: VecDeque<Letter>,
}

impl Dispatch {
    /// Sends letters until the run gives no more orders: each time all that wait, when the agent has those before.
    async fn run(mut self, post: mpsc::Sender<Box<RawValue>>, events: mpsc::Sender<Event>) {
        let shared = Rc::clone(&self.hub.0);
        let mut has_orders = true;
        loop {
            let (is_over, has_notes) = {
                let counterpart = &shared.counterparts.borrow()[self.agent];
                (counterpart.is_over, !counterpart.notes.is_empty())
            };
            let has_letters = has_notes || !self.waiting.is_empty();
            if !has_orders && (is_over || !has_letters) {
                return;
            }
            tokio::select! {
                order = next_order(&mut self.desks), if has_orders && self.waiting.len() < MAX_WAITING => match order {
                    Some((own, order)) => {
                        for event in self.accept(own, order) {
                            let _over = events.send(event).await;
                        }
                    }
                    None => {
                        has_orders = false;
                        self.waiting.push_back(Letter::End);
                    }
                },
                () = shared.wakes[self.agent].notified() => {}
                permit = post.reserve(), if has_letters && !is_over => match permit {
                    Ok(permit) => permit.send(self.batch()),
                    // The run is over for everyone.
                    Err(_) => return,
                },
            }
        }
    }

    /// Takes an order. An agent that is gone has the answers of one without clients.
    fn accept(&mut self, own: usize, order: Order) -> Vec<Event> {
        let Some(letter) = self.hub.letter(self.agent, own, order) else {
            return Vec::new();
        };
        let counterpart = &mut self.hub.0.counterparts.borrow_mut()[self.agent];
        counterpart.expect(&letter);
        if counterpart.is_over {
            self.waiting.clear();
            return counterpart.give_up(self.agent);
        }
        self.waiting.push_back(letter);
        Vec::new()
    }

    /// The next letters: notes first, because an order may need what they tell.
    fn batch(&mut self) -> Box<RawValue> {
        let notes = &mut self.hub.0.counterparts.borrow_mut()[self.agent].notes;
        let mut text = "[".to_owned();
        while let Some(letter) = notes.pop_front().or_else(|| self.waiting.pop_front()) {
            let letter = serde_json::to_string(&letter).expect("letters have only what JSON has");
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&letter);
            if text.len() >= MAX_BATCH {
                break;
            }
        }
        text.push(']');
        RawValue::from_string(text).expect("it was written as JSON")
    }
}

/// The next order for any of these workers; `None` when there will be no more.
async fn next_order(desks: &mut [mpsc::Receiver<Order>]) -> Option<(usize, Order)> {
    std::future::poll_fn(|cx| {
        let mut is_over = true;
        for (own, desk) in desks.iter_mut().enumerate() {
            match desk.poll_recv(cx) {
                Poll::Ready(Some(order)) => return Poll::Ready(Some((own, order))),
                Poll::Ready(None) => {}
                Poll::Pending => is_over = false,
            }
        }
        if is_over { Poll::Ready(None) } else { Poll::Pending }
    })
    .await
}
