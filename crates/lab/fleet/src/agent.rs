//! An agent: waits for runs, and carries out one part at a time.

use std::{future::Future, rc::Rc, time::Duration};

use async_nats::Subscriber;
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::value::RawValue;
use tokio::{
    sync::{
        mpsc::{self, error::TrySendError},
        watch,
    },
    task::JoinHandle,
    time::{Instant, MissedTickBehavior, interval, timeout},
};

use crate::{
    FleetError,
    clock::Timepiece,
    duty::{Duty, Orders},
    key::FleetKey,
    link::{Link, in_json},
    message::{Answer, Assignment, Order, PROTOCOL, Profile, Request, Told, Work},
    parcel::Label,
    post::{Outbox, queue},
};

/// The time between two signs of life.
pub(crate) const BEAT_EVERY: Duration = Duration::from_secs(1);

/// The silence of a coordinator after which an agent ends its part. Reason: no agent may load a target for longer than half a
/// minute without one, and interrupting iterations takes a moment.
const COORDINATOR_LOST: Duration = Duration::from_secs(25);

/// How long the pieces of a content are asked for.
const FETCH_FOR: Duration = Duration::from_secs(30);

/// The most orders of a workload that wait for it. Reason: a workload takes them at once.
const MAX_WORK: usize = 64;

/// How long an agent that leaves waits for its last words to be taken.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// A part of a run that an agent has to carry out.
#[derive(Debug)]
pub struct Task {
    /// The run.
    pub run: String,
    /// What the coordinator packed.
    pub package: Vec<u8>,
    /// The number of this agent in the run, from 0.
    pub instance: usize,
    /// How many agents take part.
    pub n_instances: usize,
    /// What to tell, and what to do.
    pub duty: Duty,
    /// The orders of a workload that directs its agents all the time, in their order.
    pub work: mpsc::Receiver<Box<RawValue>>,
}

/// Carries out parts of runs.
pub trait Workshop {
    /// Carries out a part, and tells of it. Ends when the duty's orders say so.
    fn work(&self, task: Task) -> impl Future<Output = ()>;
}

/// One agent of a fleet.
pub struct Agent {
    /// Its connection.
    pub link: Link,
    /// Who it is.
    pub profile: Profile,
    /// The key that packages must be signed with. `None`: all packages are taken.
    pub key: Option<FleetKey>,
    /// Whether it ends after one run.
    pub once: bool,
}

/// A run that an agent works on.
struct Job {
    run: String,
    nonce: String,
    orders: watch::Sender<Orders>,
    beats: Subscriber,
    heard_at: Instant,
    work: Option<JoinHandle<()>>,
    duty: Option<Duty>,
    /// The way of a workload's orders, and the number of the next ones. `None` until the agent has its part.
    directions: Option<mpsc::Sender<Box<RawValue>>>,
    n_directions: u64,
}

/// The state of an agent that serves.
struct Service<'a, W> {
    agent: &'a Agent,
    workshop: Rc<W>,
    timepiece: Timepiece,
    job: Option<Job>,
    is_done: bool,
}

impl Agent {
    /// Works until `stop` completes; with [`Self::once`] until one run is over. To be polled on a local runtime.
    ///
    /// # Errors
    /// The subjects cannot be heard.
    pub async fn serve<W: Workshop + 'static>(
        &self,
        workshop: W,
        stop: impl Future<Output = ()>,
    ) -> Result<(), FleetError> {
        let mut hellos = self.link.subscribe(self.link.hello()).await?;
        let mut requests = self.link.subscribe(self.link.agent(&self.profile.id)).await?;
        let mut service = Service {
            agent: self,
            workshop: Rc::new(workshop),
            timepiece: Timepiece::new(),
            job: None,
            is_done: false,
        };
        let mut beats = interval(BEAT_EVERY);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tokio::pin!(stop);
        while !service.is_done {
            tokio::select! {
                Some(hello) = hellos.next() => if let Some(reply) = hello.reply {
                    self.link.publish(reply.to_string(), in_json(&service.profile())).await;
                },
                Some(request) = requests.next() => {
                    let answer = match serde_json::from_slice::<Request>(&request.payload) {
                        Ok(request) => service.answer(request).await,
                        Err(error) => Some(refused(format!("the request cannot be read: {error}"))),
                    };
                    if let Some((answer, reply)) = answer.zip(request.reply) {
                        self.link.publish(reply.to_string(), in_json(&answer)).await;
                    }
                }
                () = heard(&mut service.job) => {}
                _ = beats.tick() => service.beat().await,
                () = &mut stop => {
                    service.leave().await;
                    break;
                }
            }
        }
        self.link.flush().await;
        Ok(())
    }
}

/// Takes the coordinator's beats.
async fn heard(job: &mut Option<Job>) {
    if let Some(job) = job
        && job.beats.next().await.is_some()
    {
        job.heard_at = Instant::now();
        return;
    }
    std::future::pending::<()>().await;
}

impl<W: Workshop + 'static> Service<'_, W> {
    fn profile(&self) -> Profile {
        Profile {
            busy_with: self.job.as_ref().map(|job| job.run.clone()),
            ..self.agent.profile.clone()
        }
    }

    /// Does what is asked. `None`: not now, so the coordinator has to ask again.
    async fn answer(&mut self, request: Request) -> Option<Answer> {
        let Request { run, order } = request;
        if let Order::Work(work) = order {
            return self.direct(&run, work);
        }
        Some(self.obey(run, order).await)
    }

    async fn obey(&mut self, run: String, order: Order) -> Answer {
        if let Order::Reserve { version, protocol } = order {
            return self.reserve(run, &version, protocol).await;
        }
        if matches!(order, Order::Tell) {
            return Answer::Time {
                ns: self.timepiece.now(),
            };
        }
        let Some(job) = self.job.as_mut().filter(|job| job.run == run) else {
            // It was released before.
            return match order {
                Order::Release | Order::Stop => Answer::Done,
                _ => refused("it does not work for this run".to_owned()),
            };
        };
        job.heard_at = Instant::now();
        match order {
            Order::Reserve { .. } | Order::Tell | Order::Work(_) => {}
            Order::Assign(assignment) => return self.assign(assignment),
            Order::Setup => job.order(|orders| orders.sets_up = true),
            Order::Share(label) => return self.share(&label).await,
            Order::Begin { at_ns } => return self.begin(at_ns),
            Order::Control(steering) => job.order(|orders| orders.steering = Some(steering)),
            Order::Hear(notes) => job.order(|orders| orders.notes = Some(notes.into())),
            Order::Stop => job.order(|orders| orders.is_stopped = true),
            Order::Finish { tears_down } => job.order(|orders| orders.finish = Some(tears_down)),
            Order::Release => self.release(),
        }
        Answer::Done
    }

    async fn reserve(&mut self, run: String, version: &str, protocol: u32) -> Answer {
        let own = &self.agent.profile;
        if own.version != version || protocol != PROTOCOL {
            return refused(format!(
                "it has version {}, and the coordinator has {version}; install the same on both",
                own.version
            ));
        }
        match &self.job {
            Some(job) if job.run == run => {
                return Answer::Reserved {
                    nonce: job.nonce.clone(),
                };
            }
            Some(job) => return refused(format!("it works for run {}", job.run)),
            None => {}
        }
        let beats = self.agent.link.of_run(&run, "beat");
        let beats = match self.agent.link.subscribe(beats).await {
            Ok(beats) => beats,
            Err(error) => return refused(error.to_string()),
        };
        let nonce = self.agent.link.inbox();
        tracing::info!("Reserved for run {run}.");
        self.job = Some(Job {
            run,
            nonce: nonce.clone(),
            orders: watch::Sender::new(Orders::default()),
            beats,
            heard_at: Instant::now(),
            work: None,
            duty: None,
            directions: None,
            n_directions: 0,
        });
        Answer::Reserved { nonce }
    }

    /// Hands the orders of a workload on, each once and in their order.
    fn direct(&mut self, run: &str, work: Work) -> Option<Answer> {
        let job = self.job.as_mut().filter(|job| job.run == run);
        let Some((job, directions)) = job.and_then(|job| job.directions.clone().map(|it| (job, it))) else {
            return Some(refused("it does not work for this run".to_owned()));
        };
        job.heard_at = Instant::now();
        if work.number < job.n_directions {
            return Some(Answer::Done);
        }
        if work.number > job.n_directions {
            return Some(refused(format!(
                "orders are missing before number {}",
                work.number
            )));
        }
        match directions.try_send(work.orders) {
            Ok(()) => {
                job.n_directions += 1;
                Some(Answer::Done)
            }
            Err(TrySendError::Full(_)) => None,
            Err(TrySendError::Closed(_)) => Some(refused("its part of the run is over".to_owned())),
        }
    }

    fn assign(&mut self, assignment: Assignment) -> Answer {
        let Some(job) = &mut self.job else {
            return refused("it is not reserved".to_owned());
        };
        if job.work.is_some() {
            return Answer::Done;
        }
        if let Some(key) = &self.agent.key {
            let signature = assignment.signature.as_deref().unwrap_or_default();
            if !key.verifies(signature, &job.nonce, &assignment.package.digest) {
                return refused(
                    "the package is not signed with the key of this agent; give both the same --fleet-key"
                        .to_owned(),
                );
            }
        }
        let (told, waiting) = queue();
        let duty = Duty {
            told,
            orders: job.orders.subscribe(),
            timepiece: self.timepiece,
            gives_samples: assignment.gives_samples,
        };
        let outbox = Outbox {
            link: self.agent.link.clone(),
            run: job.run.clone(),
            agent: self.agent.profile.id.clone(),
            waiting,
        };
        let (link, run) = (self.agent.link.clone(), job.run.clone());
        let workshop = Rc::clone(&self.workshop);
        let (directions, work) = mpsc::channel(MAX_WORK);
        job.directions = Some(directions);
        job.duty = Some(duty.clone());
        job.work = Some(tokio::task::spawn_local(async move {
            let working = async {
                match fetch(&link, &run, &assignment.package).await {
                    Ok(package) => {
                        let task = Task {
                            run,
                            package,
                            instance: assignment.instance,
                            n_instances: assignment.n_instances,
                            duty,
                            work,
                        };
                        workshop.work(task).await;
                    }
                    Err(error) => {
                        let reason = format!("the package cannot be used: {error}");
                        duty.refuse(reason, false).await;
                    }
                }
            };
            let ((), sent) = tokio::join!(working, outbox.send_all());
            if let Err(error) = sent {
                tracing::error!("The coordinator does not take what this agent tells: {error}.");
            }
        }));
        Answer::Done
    }

    /// Fetches what the function before the run returned.
    async fn share(&mut self, label: &Label) -> Answer {
        let Some(job) = &mut self.job else {
            return refused("it is not reserved".to_owned());
        };
        match fetch(&self.agent.link, &job.run, label).await {
            Ok(data) => {
                let data = String::from_utf8_lossy(&data).into();
                job.order(|orders| orders.data = Some(data));
                Answer::Done
            }
            Err(error) => refused(format!("the result of setup cannot be used: {error}")),
        }
    }

    fn begin(&self, at_ns: u64) -> Answer {
        let at = self.timepiece.instant(at_ns);
        match &self.job {
            // The confirmation was lost.
            Some(job) if job.orders.borrow().start == Some(at) => Answer::Done,
            Some(job) if at > Instant::now() => {
                job.order(|orders| orders.start = Some(at));
                Answer::Done
            }
            Some(_) => refused("the order to begin came too late".to_owned()),
            None => refused("it is not reserved".to_owned()),
        }
    }

    /// Tells that the agent is there, and notices that the coordinator is not.
    async fn beat(&mut self) {
        let Some(job) = &mut self.job else { return };
        let rest = format!("alive.{}", self.agent.profile.id);
        let subject = self.agent.link.of_run(&job.run, &rest);
        self.agent.link.publish(subject, Bytes::new()).await;
        let silence = job.heard_at.elapsed();
        if silence < COORDINATOR_LOST {
            return;
        }
        tracing::warn!(
            "Run {} ends here: its coordinator has been silent for {} s.",
            job.run,
            silence.as_secs()
        );
        job.order(|orders| (orders.is_stopped, orders.is_released) = (true, true));
        self.release();
    }

    /// Forgets the run.
    fn release(&mut self) {
        let Some(job) = self.job.take() else { return };
        job.order(|orders| (orders.is_stopped, orders.is_released) = (true, true));
        if let Some(work) = job.work {
            // The coordinator takes no more of it.
            work.abort();
        }
        tracing::info!("Run {} is over.", job.run);
        self.is_done = self.agent.once;
    }

    /// Leaves a run before its end.
    async fn leave(&mut self) {
        let Some(job) = &mut self.job else { return };
        if let Some(duty) = job.duty.take() {
            let reason = "it was stopped by a signal".to_owned();
            let told = async {
                duty.tell(Told::Leaving { reason }).await;
                drop(duty);
                // Until the coordinator has released it, or has nothing to say.
                job.orders.send_modify(|orders| orders.is_stopped = true);
                if let Some(work) = &mut job.work {
                    drop(work.await);
                }
            };
            let _too_late = timeout(LAST_WORDS, told).await;
        }
        self.release();
    }
}

impl Job {
    fn order(&self, change: impl FnOnce(&mut Orders)) {
        self.orders.send_modify(change);
    }
}

fn refused(reason: String) -> Answer {
    Answer::Refused { reason }
}

/// Fetches a content from the coordinator.
async fn fetch(link: &Link, run: &str, label: &Label) -> Result<Vec<u8>, String> {
    let mut packed = Vec::new();
    for at in 0..label.n_pieces {
        let subject = link.of_run(run, &format!("piece.{}.{at}", label.name));
        let piece = link.ask(subject, Bytes::new(), FETCH_FOR).await;
        packed.extend_from_slice(&piece.map_err(|error| error.to_string())?);
    }
    label.open(&packed).map_err(str::to_owned)
}
