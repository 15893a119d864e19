//! A bench on a fleet: the coordinator runs it as ever, and agents have its clients.

use std::{
    rc::Rc,
    time::{Duration, Instant},
};

use plimsoll_fleet::{
    Clocks, ConductError, Crew, Director, Event, FleetError, OnLoss, Task, Timepiece, Told,
};
use plimsoll_load::{
    generator::{self, Schedule},
    preflight::{Records, UserKind},
    run::ClockOffset,
    watch::Sampling,
};
use plimsoll_report::summary::Agent;
use plimsoll_shootout::{
    Bench,
    agent::{Deputy, Shared},
    remote::{self, Agents, Clock, Member, Post, Said, Share},
};
use serde_json::value::{RawValue, to_raw_value};
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    exit::{Failure, TestFailure},
    fleet::{BenchPackage, Package, Undone, Wanted},
    session::{Crowd, check_memory},
};

/// Reports of agents that wait for the bench. Reason: it takes them at once.
const N_REPORTS: usize = 64;

/// Checks that a bench can do without what a fleet may lose.
///
/// # Errors
/// It cannot.
pub(super) fn check(wanted: &Wanted, bench: &Bench) -> Result<(), Failure> {
    match wanted.on_loss() {
        OnLoss::Continue if !bench.can_do_without_an_agent() => Err(Failure::Usage(
            "--on-agent-loss continue is for scripts and `bench http`: the clients of a bench are listeners, and without some of them no \
             count of deliveries would be exact; remove it"
                .to_owned(),
        )),
        OnLoss::Continue | OnLoss::Abort => Ok(()),
    }
}

/// What a fleet has to do for a bench.
#[derive(Clone, Debug)]
pub(crate) struct Errand {
    wanted: Wanted,
    /// Whether a flag says how many threads each agent has.
    has_own_workers: bool,
}

/// The agents of a bench that are ready.
pub(crate) struct Field {
    crew: Crew,
    /// Letters for each agent.
    orders: Vec<mpsc::Receiver<Box<RawValue>>>,
    say: mpsc::Sender<(usize, Said)>,
}

impl Errand {
    pub(crate) fn new(wanted: Wanted, has_own_workers: bool) -> Self {
        Self {
            wanted,
            has_own_workers,
        }
    }

    /// The same for another run of this command.
    pub(crate) fn again(self) -> Self {
        Self {
            wanted: self.wanted.again(),
            ..self
        }
    }

    /// Finds the agents, and lets them prepare the clients of the bench. Targets of those that watch go to `sampling`.
    ///
    /// # Errors
    /// There are too few, one of them has no room, or `shutdown` comes first.
    pub(crate) async fn muster(
        &self,
        bench: &mut impl Shared,
        sampling: Option<&Sampling>,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(Field, Agents), Undone> {
        tokio::pin!(shutdown);
        let crew = self.wanted.muster(sampling, &mut shutdown).await;
        let mut crew = crew.map_err(Undone::NotBegun)?;
        let prepared = tokio::select! {
            prepared = self.prepare(&mut crew, bench) => prepared,
            () = shutdown => {
                let message = "the run was ended before its agents were ready";
                Err(Undone::NotBegun(TestFailure::Interrupted.because(message)))
            }
        };
        let n_workers = match prepared {
            Ok(n_workers) => n_workers,
            Err(undone) => {
                crew.release().await;
                return Err(undone);
            }
        };
        let (say, told) = mpsc::channel(N_REPORTS);
        let (letters, orders) = crew.members().iter().map(|_| mpsc::channel(1)).unzip();
        let agents = Agents {
            members: crew.members().iter().map(member).collect(),
            n_workers,
            orders: letters,
            told,
            clocks: Rc::new(ClocksOfCrew(crew.clocks())),
            goes_on: self.wanted.on_loss() == OnLoss::Continue,
        };
        Ok((Field { crew, orders, say }, agents))
    }

    /// Hands out the clients. Returns the number of threads of each agent.
    async fn prepare(&self, crew: &mut Crew, bench: &mut impl Shared) -> Result<usize, Undone> {
        let failed = |error: FleetError| Undone::Conduct(ConductError::Fleet(error));
        let n_agents = crew.members().len();
        // Clients take turns at all threads, so all agents have as many.
        let cores = crew.members().iter().map(|member| member.profile.cores).min();
        let own = bench.n_workers().filter(|_| self.has_own_workers);
        let n_workers = own.or(cores).unwrap_or(1).max(1);
        let records = bench.records_of_agent(n_agents);
        let job = bench
            .job(n_workers)
            .ok_or_else(|| Failure::Usage("this workload has no clients for a fleet".to_owned()))
            .map_err(Undone::NotBegun)?;
        let package = Package::Bench(Box::new(BenchPackage {
            job,
            record_bytes: records.bytes,
            n_messages: records.n_messages,
        }));
        let package = package
            .write(bench.contents_of_job())
            .map_err(|problem| Undone::NotBegun(TestFailure::FleetFailed.because(problem)))?;
        crew.assign(&package, self.wanted.key()).await.map_err(failed)?;
        let mut n_ready = 0;
        while n_ready < n_agents {
            let (member, problem) = match crew.next().await {
                Event::Lost(member, silence) => (member, silence.to_string()),
                Event::Told(member, told) => match *told {
                    Told::Ready { .. } => {
                        n_ready += 1;
                        continue;
                    }
                    Told::Failed { reason, .. } | Told::Leaving { reason } => (member, reason),
                    _ => continue,
                },
            };
            let agent = crew.members()[member].profile.name.clone();
            return Err(failed(FleetError::Agent {
                agent,
                reason: problem,
            }));
        }
        crew.compare_clocks().await.map_err(failed)?;
        Ok(n_workers)
    }
}

impl Field {
    /// Carries orders and reports while `work` is under way, and lets the agents go.
    pub(crate) async fn carry_during<T>(self, work: impl Future<Output = T>) -> T {
        let Self {
            mut crew,
            orders,
            say,
        } = self;
        let mut directing = JoinSet::new();
        for (agent, letters) in orders.into_iter().enumerate() {
            directing.spawn_local(direct(crew.director(agent), letters, agent, say.clone()));
        }
        let done = tokio::select! {
            done = work => done,
            () = hear(&mut crew, say) => std::future::pending().await,
        };
        crew.release().await;
        done
    }
}

/// Hands one agent its letters.
async fn direct(
    director: Director,
    letters: mpsc::Receiver<Box<RawValue>>,
    agent: usize,
    say: mpsc::Sender<(usize, Said)>,
) {
    if let Err(error) = director.give_all(letters).await {
        let _over = say.send((agent, Said::Lost(error.to_string()))).await;
    }
}

/// Passes on what the agents tell, without end.
async fn hear(crew: &mut Crew, say: mpsc::Sender<(usize, Said)>) {
    loop {
        let (agent, said) = match crew.next().await {
            Event::Lost(agent, silence) => (agent, Said::Lost(silence.to_string())),
            Event::Told(agent, told) => match *told {
                Told::Part(part) => (agent, Said::Part(part)),
                Told::Ended(_) => (agent, Said::Ended),
                Told::Failed { reason, .. } | Told::Leaving { reason } => {
                    crew.strike(agent);
                    (agent, Said::Lost(reason))
                }
                _ => continue,
            },
        };
        // Without a bench, nothing is missing.
        let _over = say.send((agent, said)).await;
    }
}

/// What the bench has to know of an agent.
fn member(member: &plimsoll_fleet::Member) -> Member {
    let profile = &member.profile;
    Member {
        name: profile.name.clone(),
        version: profile.version.clone(),
        n_cores: profile.cores,
    }
}

/// What the summary says of the agents. `latency` is the latency against which their lateness is judged.
pub(super) fn agents(shares: &[Share], latency: Option<Duration>) -> Vec<Agent> {
    let agents = shares.iter().map(|Share { agent, evidence }| {
        let health = generator::judge(evidence, Schedule::default(), latency);
        Agent::judged(agent, Some(evidence), health)
    });
    agents.collect()
}

/// Carries an agent's part of the clients of a bench.
pub(crate) async fn take_part(package: &BenchPackage, contents: &[u8], task: &mut Task) {
    let duty = task.duty.clone();
    let deputy = match prepare(package, contents, task).await {
        Ok(deputy) => deputy,
        Err(reason) => return duty.refuse(reason, false).await,
    };
    let (n_own, _) = package.job.n_own_clients(task.instance, task.n_instances);
    duty.tell(Told::Ready {
        vus: u32::try_from(n_own).unwrap_or(u32::MAX),
    })
    .await;
    let (told, mut parts) = mpsc::channel(1);
    let (_, no_orders) = mpsc::channel(1);
    let post = Post {
        orders: std::mem::replace(&mut task.work, no_orders),
        told,
        clock: Rc::new(OwnClock(duty.timepiece())),
    };
    let carry = async {
        while let Some(part) = parts.recv().await {
            if !duty.deliver(Told::Part(part)).await {
                return;
            }
        }
    };
    let work = async { tokio::join!(deputy.serve(post), carry).0 };
    let served = tokio::select! {
        served = work => served,
        () = duty.stopped() => return,
    };
    match (served, to_raw_value(&())) {
        (Ok(()), Ok(nothing)) => drop(duty.tell(Told::Ended(nothing)).await),
        (Ok(()), Err(error)) => duty.refuse(error, false).await,
        (Err(reason), _) => duty.refuse(reason, false).await,
    }
}

async fn prepare(package: &BenchPackage, contents: &[u8], task: &Task) -> Result<Deputy, String> {
    let (n_first, n_most) = package.job.n_own_clients(task.instance, task.n_instances);
    let crowd = Crowd {
        kind: UserKind::Native,
        n_planned: n_first as u64,
        n_most: n_most as u64,
        records: Records {
            n_messages: package.n_messages,
            bytes: package.record_bytes,
        },
    };
    check_memory(crowd).map_err(|failure| failure.message())?;
    Deputy::prepare(&package.job, contents, task.instance, task.n_instances).await
}

/// The clock of an agent.
#[derive(Debug)]
struct OwnClock(Timepiece);

impl Clock for OwnClock {
    fn at(&self, instant: Instant) -> u64 {
        self.0.at(instant.into())
    }

    fn instant(&self, ns: u64) -> Instant {
        self.0.instant(ns).into_std()
    }
}

/// The clocks of a crew.
#[derive(Debug)]
struct ClocksOfCrew(Clocks);

impl Clock for ClocksOfCrew {
    fn at(&self, instant: Instant) -> u64 {
        self.0.timepiece().at(instant.into())
    }

    fn instant(&self, ns: u64) -> Instant {
        self.0.timepiece().instant(ns).into_std()
    }
}

impl remote::Clocks for ClocksOfCrew {
    fn offset(&self, agent: usize) -> Option<ClockOffset> {
        self.0.reading(agent)
    }
}
