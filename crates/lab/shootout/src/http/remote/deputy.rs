//! An agent's side: makes its part of the requests, and tells each second what came of them.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use plimsoll_load::generator::Monitor;
use serde_json::value::{RawValue, to_raw_value};
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::{Instant as TokioInstant, MissedTickBehavior, interval_at},
};

use super::{
    Job,
    job::{lanes, own_groups, part},
    letter::{Account, Counted, Ending, Letter, ns},
};
use crate::{
    http::{
        measures::{Measures, SampledRequest},
        options::HttpOptions,
        schedule::{Part, Schedule},
        squad::{Beside, Squad},
        tally::Tally,
        worker::Recent,
    },
    meter,
    remote::{Clock, Post},
};

const SECOND: Duration = Duration::from_secs(1);

/// The most seconds that wait to be told. When the coordinator takes nothing for longer, what follows belongs to the last of
/// them. Reason: a second has five histograms.
const MAX_SECONDS: usize = 60;

/// The part of an agent.
#[derive(Debug)]
pub(crate) struct Deputy {
    options: HttpOptions,
    part: Part,
    squad: Squad,
    monitor: Monitor,
    accounts: Vec<Account>,
    /// Requests that were not told yet, by the time to which they belong.
    counted: BTreeMap<Duration, Tally>,
    n_started: u64,
    has_told_first: bool,
    has_common_length: bool,
    counted_from: Option<Instant>,
    /// Ends when the evidence from before the counted requests is gone.
    forgotten: Option<JoinHandle<()>>,
}

impl Deputy {
    /// Makes all checks that need no connection, and starts the workers of the agent number `instance` of `n_instances`.
    ///
    /// # Errors
    /// The request cannot be made, or the agent has no room for its connections, in words.
    pub(crate) async fn prepare(
        job: &Job,
        body: &[u8],
        instance: usize,
        n_instances: usize,
    ) -> Result<Self, String> {
        let options = job.options(body)?;
        let lanes = lanes(options.concurrency, options.n_streams, n_instances);
        let groups = own_groups(options.concurrency, options.n_streams, instance, n_instances);
        let monitor = Monitor::new();
        let method = options.request.method.as_str();
        let request = SampledRequest::new(
            Measures::new(),
            Vec::new(),
            (method, options.version, &options.shown_url()),
        );
        let beside = Beside {
            request,
            transcript: None,
        };
        let squad = Squad::prepare(&options, &groups, beside, monitor.clone(), true).await;
        let squad = squad.map_err(|error| error.to_string())?;
        meter::leave_out(&monitor, &[squad.address()], &[]);
        Ok(Self {
            part: part(&lanes, instance),
            options,
            squad,
            monitor,
            accounts: Vec::new(),
            counted: BTreeMap::new(),
            n_started: 0,
            has_told_first: false,
            has_common_length: false,
            counted_from: None,
            forgotten: None,
        })
    }

    /// Works until all requests have ended and the coordinator knows. Returns early when the coordinator is gone.
    ///
    /// # Errors
    /// An order that makes no sense, or a worker that is gone, in words.
    pub(crate) async fn serve(mut self, mut post: Post) -> Result<(), String> {
        let Some(counted_from) = self.begin(&mut post).await? else {
            return Ok(());
        };
        let news = self.squad.news();
        let mut warming_up = interval_at(TokioInstant::now() + SECOND, SECOND);
        warming_up.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut counting = std::pin::pin!(tokio::time::sleep_until(counted_from.into()));
        let (mut is_counting, mut is_working) = (false, true);
        // Without the length that all bodies must have, the last ones cannot be judged.
        while is_working || self.awaits_length() {
            tokio::select! {
                batch = post.orders.recv() => match batch {
                    Some(batch) => self.obey(&batch)?,
                    None => return Ok(()),
                },
                recent = self.squad.next(), if is_working => match recent {
                    Some(Recent { at, tally }) => self.note(at, tally),
                    None => is_working = false,
                },
                () = news.notified() => {}
                () = &mut counting, if !is_counting => {
                    is_counting = true;
                    let monitor = self.monitor.clone();
                    self.forgotten = Some(spawn_blocking(move || drop((monitor.take(), monitor.glance()))));
                }
                _ = warming_up.tick(), if !is_counting => {
                    self.accounts.push(Account::WarmingUp(self.squad.reading().n_warm_up));
                }
                permit = post.told.reserve(), if self.has_accounts() => match permit {
                    Ok(permit) => permit.send(self.told()),
                    Err(_) => return Ok(()),
                },
            }
            self.look();
        }
        self.finish().await?;
        // Otherwise the coordinator is gone.
        let _gone = post.told.send(self.told()).await;
        Ok(())
    }

    /// Waits for the order to begin. Returns the start of the requests that count; `None` when the coordinator is gone.
    async fn begin(&mut self, post: &mut Post) -> Result<Option<Instant>, String> {
        let Some(batch) = post.orders.recv().await else {
            return Ok(None);
        };
        let letters = read(&batch)?;
        let [Letter::Begin(at)] = letters.as_slice() else {
            return Err(format!("the first order must be to begin, and it is {letters:?}"));
        };
        let started = start(&*post.clock, *at)?;
        let schedule = Schedule::new(self.options.extent, self.part.clone(), started);
        let counted_from = schedule.counted_from;
        self.squad.begin(schedule).map_err(|error| error.to_string())?;
        self.counted_from = Some(counted_from);
        Ok(Some(counted_from))
    }

    fn obey(&mut self, batch: &RawValue) -> Result<(), String> {
        for letter in read(batch)? {
            match letter {
                Letter::Begin(_) => return Err("the run cannot begin twice".to_owned()),
                Letter::Length(length) => {
                    self.has_common_length = true;
                    self.squad.set_common_length(length);
                }
                Letter::Stop(is_urgent) => self.squad.stop(is_urgent),
            }
        }
        Ok(())
    }

    /// Whether the coordinator still has to say how long bodies must be.
    fn awaits_length(&self) -> bool {
        self.has_told_first && !self.has_common_length
    }

    /// Notes the first response, and the trouble that ends this part.
    fn look(&mut self) {
        if !self.has_told_first
            && let Some(document) = self.squad.document()
        {
            self.has_told_first = true;
            self.accounts.push(Account::First(document.clone()));
        }
        if let Some(reason) = self.squad.take_trouble(&self.options) {
            self.accounts.push(Account::Trouble(reason));
        }
    }

    fn note(&mut self, at: Duration, tally: Tally) {
        self.n_started += tally.n_started;
        let is_full = self.counted.len() >= MAX_SECONDS && !self.counted.contains_key(&at);
        let last = self.counted.keys().next_back().copied();
        let at = last.filter(|_| is_full).unwrap_or(at);
        self.counted.entry(at).or_default().merge(tally);
    }

    fn has_accounts(&self) -> bool {
        !self.accounts.is_empty() || !self.counted.is_empty()
    }

    /// Everything that waits to be told.
    fn told(&mut self) -> Box<RawValue> {
        let mut accounts = Vec::new();
        if !self.counted.is_empty() {
            accounts.push(Account::Glanced(self.monitor.glance()));
        }
        let counted_from = self.counted_from;
        let since = |at: Instant| counted_from.map(|from| ns(at.saturating_duration_since(from)));
        for (at, tally) in std::mem::take(&mut self.counted) {
            accounts.push(Account::Counted(Box::new(Counted {
                at: ns(at),
                last_ended: tally.last_ended.and_then(since),
                tally,
            })));
        }
        // The end, which is one of them, comes last.
        accounts.append(&mut self.accounts);
        to_raw_value(&accounts).expect("reports have only what JSON has")
    }

    /// Takes the last reports of the workers.
    async fn finish(&mut self) -> Result<(), String> {
        let rest = self.squad.disband().map_err(|error| error.to_string())?;
        for (at, tally) in rest.tallies {
            self.note(at, tally);
        }
        let monitor = self.monitor.clone();
        let forgotten = self.forgotten.take();
        // The sockets of the machine are read for it, which takes seconds where there are many.
        let evidence = async {
            if let Some(forgotten) = forgotten {
                forgotten.await?;
            }
            spawn_blocking(move || monitor.take()).await
        };
        let evidence = evidence
            .await
            .map_err(|error| format!("the evidence cannot be taken: {error}"))?;
        self.accounts.push(Account::Ended(Box::new(Ending {
            n_started: self.n_started,
            n_abandoned: rest.n_abandoned,
            n_unsent: rest.n_unsent,
            evidence,
        })));
        Ok(())
    }
}

fn read(batch: &RawValue) -> Result<Vec<Letter>, String> {
    serde_json::from_str(batch.get()).map_err(|error| format!("an order cannot be read: {error}"))
}

/// The start of the run, which must be ahead: with a late start, requests would be late that were in time elsewhere.
fn start(clock: &dyn Clock, at: u64) -> Result<Instant, String> {
    let started = clock.instant(at);
    if started < Instant::now() {
        return Err("the order to begin came too late".to_owned());
    }
    Ok(started)
}
