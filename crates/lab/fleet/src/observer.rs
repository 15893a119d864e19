//! An agent that makes no load: it watches programs of its machine during the runs of its fleet.

use std::{future::Future, sync::Arc};

use plimsoll_load::watch::{OpenPage, Report, Sampling, SamplingError, Sighting, Target};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tokio::{
    sync::mpsc::{self, error::TrySendError},
    task::spawn_blocking,
};

use crate::{Duty, Task, Workshop, message::Told};

/// The package of observers: there is no code in it. It is signed like any other.
pub(crate) const OBSERVE: &[u8] = b"observe";

/// Looks that may wait to be told. Reason: five minutes of as many targets as a report has room for. When the queue is
/// full, new looks are left out; totals that only grow lose nothing by that.
const MAX_LOOKS: usize = 2_400;

/// The most looks of one message.
const MAX_AT_ONCE: usize = 64;

/// What a coordinator orders of an observer, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Watching {
    /// To read the state before the load.
    Prepare,
    /// To look each second from the time on that its clock shows this, in nanoseconds.
    Start { at_ns: u64 },
    /// To look a last time.
    Finish,
}

/// What an observer tells in its parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Observed {
    /// What it has found, target by target.
    Found(Vec<Finding>),
    /// The state before the load has been read.
    Prepared,
    /// What was seen since the last part.
    Seen(Vec<Sighting>),
}

/// What became of the search for a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Finding {
    /// What it is: `port 8080`.
    pub(crate) what: String,
    /// Why it is not there. `None`: it is watched.
    pub(crate) problem: Option<String>,
}

/// Watches programs of this machine for a fleet. They are found anew for each run.
pub struct Observer {
    targets: Vec<Target>,
    open: OpenPage,
}

impl Observer {
    /// Watches these targets. `open` is for their pages of metrics.
    ///
    /// # Errors
    /// One of them is not there now, or there are too many.
    pub fn new(targets: Vec<Target>, open: OpenPage) -> Result<Self, SamplingError> {
        drop(Sampling::attach(&targets, &open)?);
        Ok(Self { targets, open })
    }

    /// What is watched, in words, in the order of the command line.
    pub fn labels(&self) -> Vec<String> {
        self.targets.iter().map(Target::label).collect()
    }

    async fn attach(&self, looks: mpsc::Sender<Sighting>) -> (Arc<Sampling>, Vec<Finding>) {
        let (targets, open) = (self.targets.clone(), OpenPage::clone(&self.open));
        let attached = blocking(move || {
            let report: Report = Arc::new(move |sighting| match looks.try_send(sighting) {
                // A run that is over needs no more.
                Ok(()) | Err(TrySendError::Closed(_)) => {}
                Err(TrySendError::Full(_)) => {
                    tracing::error!(
                        "The coordinator has taken nothing for minutes, so a part of the figures is lost."
                    );
                }
            });
            let (sampling, found) = Sampling::attach_each(&targets, &open, &report);
            let found = targets.iter().zip(found).map(|(target, found)| Finding {
                what: target.place.to_string(),
                problem: found.err().map(|error| match error {
                    SamplingError::Target { error, .. } => error.to_string(),
                    other => other.to_string(),
                }),
            });
            (Arc::new(sampling), found.collect())
        });
        attached.await
    }
}

impl Workshop for Observer {
    async fn work(&self, mut task: Task) {
        let duty = task.duty.clone();
        if task.package != OBSERVE {
            let labels = self.labels().join(", ");
            let reason = format!("it watches {labels}, and makes no load");
            return duty.refuse(reason, false).await;
        }
        let (told, looks) = mpsc::channel(MAX_LOOKS);
        let observed = async {
            let (sampling, found) = self.attach(told).await;
            for (label, finding) in self.labels().iter().zip(&found) {
                if let Some(problem) = &finding.problem {
                    tracing::warn!("{label} is not watched: {problem}.");
                }
            }
            tell(&duty, &Observed::Found(found)).await;
            tokio::join!(follow(&duty, sampling, &mut task.work), carry(&duty, looks));
        };
        tokio::select! {
            () = observed => if let Ok(nothing) = to_raw_value(&()) {
                duty.tell(Told::Ended(nothing)).await;
            },
            () = duty.stopped() => {}
        }
    }
}

/// Carries out orders until the last one. When it returns, no more looks are taken.
async fn follow(duty: &Duty, sampling: Arc<Sampling>, orders: &mut mpsc::Receiver<Box<RawValue>>) {
    while let Some(order) = orders.recv().await {
        let sampling = Arc::clone(&sampling);
        match serde_json::from_str(order.get()) {
            Ok(Watching::Prepare) => {
                blocking(move || sampling.prepare()).await;
                tell(duty, &Observed::Prepared).await;
            }
            Ok(Watching::Start { at_ns }) => sampling.start(duty.timepiece().instant(at_ns).into_std()),
            Ok(Watching::Finish) => return drop(blocking(move || sampling.finish()).await),
            Err(error) => {
                let reason = format!("an order cannot be read: {error}");
                return duty.refuse(reason, false).await;
            }
        }
    }
}

/// Tells what was seen, until there is nothing that looks. While one part is under way, the next one grows.
async fn carry(duty: &Duty, mut looks: mpsc::Receiver<Sighting>) {
    let mut seen = Vec::new();
    while looks.recv_many(&mut seen, MAX_AT_ONCE).await > 0 {
        if !tell(duty, &Observed::Seen(std::mem::take(&mut seen))).await {
            return;
        }
    }
}

/// Tells the coordinator, and returns when it knows.
async fn tell(duty: &Duty, observed: &Observed) -> bool {
    match to_raw_value(observed) {
        Ok(part) => duty.deliver(Told::Part(part)).await,
        Err(_) => false,
    }
}

/// Does what waits for threads elsewhere, so that signs of life go on.
fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> impl Future<Output = T> {
    let working = spawn_blocking(work);
    async { working.await.expect("sampling does not panic") }
}
