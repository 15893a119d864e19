//! The coordinator's side: orders go to all agents, and what they tell is put together.

use std::{
    collections::VecDeque,
    rc::Rc,
    time::{Duration, Instant},
};

use plimsoll_load::{generator::Evidence, run::AgentProgress};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::mpsc;

use super::{
    counterpart::Counterpart,
    job::{lanes, own_groups},
    letter::{Account, Counted, Letter},
};
use crate::{
    http::{
        board::Reading,
        document::Document,
        load::{End, News},
        options::HttpOptions,
        squad::{self, Rest},
    },
    remote::{Agents, Clocks, Member, Said, Share},
};

/// The time between the order to begin and the start. Reason: more than an order to an agent takes.
const LEAD: Duration = Duration::from_secs(1);

/// Letters that wait for an agent. Reason: in a run each agent gets four.
const N_LETTERS: usize = 8;

/// The agents of a run.
#[derive(Debug)]
pub(crate) struct Hub {
    members: Vec<Member>,
    clocks: Rc<dyn Clocks>,
    letters: Vec<mpsc::Sender<Letter>>,
    told: mpsc::Receiver<(usize, Said)>,
    counterparts: Vec<Counterpart>,
    n_workers: usize,
    started: Instant,
    counted_from: Instant,
    waiting: VecDeque<News>,
    reading: Reading,
    document: Option<Document>,
    trouble: Option<String>,
}

impl Hub {
    /// The agents, which have prepared their parts. To be called on a local runtime.
    pub(crate) fn new(agents: Agents, options: &HttpOptions) -> Self {
        let Agents {
            members,
            n_workers: _,
            orders,
            told,
            clocks,
            goes_on: _,
        } = agents;
        let n_agents = members.len();
        let lanes = lanes(options.concurrency, options.n_streams, n_agents);
        let workers = (0..n_agents).map(|own| {
            let groups = own_groups(options.concurrency, options.n_streams, own, n_agents);
            squad::n_workers(options, &groups)
        });
        let now = Instant::now();
        Self {
            n_workers: workers.sum(),
            members,
            clocks,
            letters: orders.into_iter().map(dispatch).collect(),
            told,
            counterparts: lanes.into_iter().map(Counterpart::new).collect(),
            started: now,
            counted_from: now,
            waiting: VecDeque::new(),
            reading: Reading::default(),
            document: None,
            trouble: None,
        }
    }

    /// The names of the agents.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| &*member.name)
    }

    /// The threads of all agents.
    pub(crate) fn n_workers(&self) -> usize {
        self.n_workers
    }

    /// Orders all agents to begin, and tells when they will.
    pub(crate) fn begin(&mut self, warm_up: Duration) -> Instant {
        self.started = Instant::now() + LEAD;
        self.counted_from = self.started + warm_up;
        let at = self.clocks.at(self.started);
        for (agent, letters) in self.letters.iter().enumerate() {
            let offset = self.clocks.offset(agent).unwrap_or_default();
            // There is room for the first one.
            let _fits = letters.try_send(Letter::Begin(offset.theirs(at)));
        }
        self.started
    }

    /// Starts no further requests on any agent.
    pub(crate) fn stop(&mut self, is_urgent: bool) {
        self.order_all(Letter::Stop(is_urgent));
    }

    fn order_all(&self, letter: Letter) {
        for letters in &self.letters {
            // When there is no room, the agent has been ordered to stop more than once.
            let _fits = letters.try_send(letter);
        }
    }

    /// What happens next; `None` when nothing more comes from any agent. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<News> {
        loop {
            if let Some(news) = self.waiting.pop_front() {
                return Some(news);
            }
            if self.counterparts.iter().all(|it| it.is_over) {
                return None;
            }
            let (agent, said) = self.told.recv().await?;
            if agent >= self.counterparts.len() || self.counterparts[agent].is_over {
                continue;
            }
            match said {
                Said::Part(text) => self.take(agent, &text),
                Said::Lost(reason) => self.lose(agent, &reason),
                Said::Ended if self.counterparts[agent].evidence.is_none() => {
                    self.lose(agent, "it has not told how its part ended");
                }
                Said::Ended => self.counterparts[agent].is_over = true,
            }
        }
    }

    fn take(&mut self, agent: usize, text: &RawValue) {
        let accounts = match serde_json::from_str::<Vec<Account>>(text.get()) {
            Ok(accounts) => accounts,
            Err(error) => return self.lose(agent, &format!("what it told cannot be read: {error}")),
        };
        for account in accounts {
            if let Err(problem) = self.counterparts[agent].check(&account) {
                return self.lose(agent, &format!("it told of {problem}"));
            }
            self.hear(agent, account);
        }
    }

    fn hear(&mut self, agent: usize, account: Account) {
        match account {
            Account::WarmingUp(_) => {
                self.reading.n_warm_up = self.counterparts.iter().map(|it| it.n_warm_up).sum();
            }
            Account::First(document) => {
                if self.document.is_none() {
                    self.order_all(Letter::Length(document.n_bytes));
                    self.document = Some(document.made_printable());
                }
            }
            Account::Trouble(reason) => {
                if self.trouble.is_none() {
                    self.stop(false);
                    self.trouble = Some(format!("agent {}: {reason}", self.members[agent].name));
                }
            }
            Account::Counted(counted) => self.count(*counted),
            Account::Glanced(glance) => self.waiting.push_back(News::Glanced(agent, glance)),
            Account::Ended(_) => {}
        }
    }

    fn count(&mut self, counted: Counted) {
        let Counted {
            at,
            last_ended,
            mut tally,
        } = counted;
        // A second that is far away would be as many seconds of the timeline.
        let elapsed = self.counted_from.elapsed();
        tally.last_ended = last_ended.map(|at| self.counted_from + Duration::from_nanos(at).min(elapsed));
        self.reading.add(&tally);
        let at = Duration::from_nanos(at).min(elapsed);
        self.waiting.push_back(News::Counted(at, Box::new(tally)));
    }

    /// An agent is gone.
    fn lose(&mut self, agent: usize, reason: &str) {
        let at = self.started.elapsed();
        let counterpart = &mut self.counterparts[agent];
        counterpart.is_over = true;
        counterpart.lost_at = Some(at);
        let share = 100.0 * self.share(agent);
        let reason = format!(
            "agent {} was lost after {} s ({reason}), and with it {share:.0} % of the requests",
            self.members[agent].name,
            at.as_secs()
        );
        let left = self.counterparts.iter().filter(|it| it.lost_at.is_none());
        let n_lanes = left.map(|it| it.n_lanes).sum();
        self.waiting.push_back(News::Lost(reason, n_lanes));
    }

    /// The part of all requests that an agent has, from 0 to 1.
    fn share(&self, agent: usize) -> f64 {
        let n_all: usize = self.counterparts.iter().map(|it| it.n_lanes).sum();
        self.counterparts[agent].n_lanes as f64 / n_all.max(1) as f64
    }

    /// The counts so far; `None` if not every agent has told of another second.
    pub(crate) fn reading(&mut self) -> Option<Reading> {
        let is_counting = self.counted_from <= Instant::now();
        let mut running = self.counterparts.iter().filter(|it| !it.is_over);
        let is_too_early = is_counting && !running.all(|it| it.is_fresh);
        if self.started > Instant::now() || is_too_early {
            return None;
        }
        self.counterparts.iter_mut().for_each(|it| it.is_fresh = false);
        Some(self.reading.clone())
    }

    /// The sums of what all agents told at their ends.
    pub(crate) fn disband(self) -> End {
        let agents = self.counterparts.iter();
        let told = agents.clone().enumerate();
        End {
            rest: Rest {
                tallies: Vec::new(),
                n_abandoned: agents.clone().map(|it| it.n_abandoned).sum(),
                n_unsent: agents.clone().map(|it| it.n_unsent).sum(),
            },
            evidence: told
                .filter_map(|(agent, it)| Some((agent, it.evidence.clone()?)))
                .collect(),
            shares: self.shares(),
            document: self.document,
            trouble: self.trouble,
        }
    }

    fn shares(&self) -> Vec<Share> {
        let shares = self.agents().into_iter().zip(&self.counterparts);
        let shares = shares.map(|(agent, it)| Share {
            agent,
            evidence: it.evidence.clone().unwrap_or_else(Evidence::nothing),
        });
        shares.collect()
    }

    /// How each agent stands.
    pub(crate) fn agents(&self) -> Vec<AgentProgress> {
        let agents = self.counterparts.iter().zip(&self.members).enumerate();
        let agents = agents.map(|(agent, (it, member))| {
            let n_lanes = u32::try_from(it.n_lanes).unwrap_or(u32::MAX);
            AgentProgress {
                share: self.share(agent),
                active_vus: if it.is_over { 0 } else { n_lanes },
                max_vus: n_lanes,
                n_iterations_complete: it.n_started,
                lost_at: it.lost_at,
                ..member.progress(it.generator, &*self.clocks, agent)
            }
        });
        agents.collect()
    }
}

/// The way of letters to one agent, which takes the next ones when it has those before.
fn dispatch(post: mpsc::Sender<Box<RawValue>>) -> mpsc::Sender<Letter> {
    let (sender, mut letters) = mpsc::channel(N_LETTERS);
    tokio::task::spawn_local(async move {
        while let Some(letter) = letters.recv().await {
            let batch = to_raw_value(&[letter]).expect("letters have only what JSON has");
            if post.send(batch).await.is_err() {
                // The run is over, or the agent is gone.
                return;
            }
        }
    });
    sender
}
