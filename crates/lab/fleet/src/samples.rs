//! Single samples of agents on their way to the outputs of their coordinator.
//!
//! An agent gathers them in the queue that outputs of one process have, with its capacity and its rule: what does not fit is
//! dropped and counted. It tells them in messages of at most [`MAX_PACKED`](plimsoll_load::metrics::MAX_PACKED), one at a
//! time, so that parts of the run pass between two. The coordinator hands each to its outputs before it confirms it, so
//! it never keeps more than one message of each agent, and an output gets each sample once.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use plimsoll_load::{
    metrics::{PackedSamples, Registry, SamplePacker, SampleReceiver, SampleSender, sample_queue},
    run::ClockOffset,
};
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use crate::{
    Duty, Timepiece,
    message::{Relayed, Told},
};

/// A moment on the system's clock and on a timepiece, by which times of the one become those of the other.
#[derive(Clone, Copy, Debug)]
struct Moment {
    time: SystemTime,
    ns: u64,
}

impl Moment {
    fn now(timepiece: Timepiece) -> Self {
        Self {
            time: SystemTime::now(),
            ns: timepiece.now(),
        }
    }

    fn ns(self, time: SystemTime) -> u64 {
        let nanoseconds = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        match time.duration_since(self.time) {
            Ok(later) => self.ns.saturating_add(nanoseconds(later)),
            Err(earlier) => self.ns.saturating_sub(nanoseconds(earlier.duration())),
        }
    }

    fn time(self, ns: u64) -> SystemTime {
        let distance = Duration::from_nanos(ns.abs_diff(self.ns));
        let time = if ns >= self.ns {
            self.time.checked_add(distance)
        } else {
            self.time.checked_sub(distance)
        };
        time.unwrap_or(self.time)
    }
}

/// An agent's end of the way.
pub(crate) struct Relay {
    queue: SampleSender,
    running: JoinSet<Option<Relayed>>,
}

impl Relay {
    /// Tells the samples of a run until [`Self::finish`]. To be called on a local runtime.
    pub(crate) fn start(duty: &Duty) -> Self {
        let (queue, receiver) = sample_queue();
        let mut running = JoinSet::new();
        running.spawn_local(relay(duty.clone(), receiver));
        Self { queue, running }
    }

    /// The queue for the samples of the run.
    pub(crate) fn queue(&self) -> SampleSender {
        self.queue.clone()
    }

    /// Tells the rest, and how many there were. To be called when the run is over.
    pub(crate) async fn finish(mut self, duty: &Duty) {
        self.queue.end().await;
        if let Some(Ok(Some(relayed))) = self.running.join_next().await {
            if relayed.n_dropped > 0 {
                tracing::warn!(
                    "{} samples for the outputs were dropped here: the coordinator takes them more slowly than this agent \
                     makes them.",
                    relayed.n_dropped
                );
            }
            duty.tell(Told::Relayed(relayed)).await;
        }
    }
}

/// Tells samples until their queue ends. `None`: the coordinator has given up the run.
async fn relay(duty: Duty, mut receiver: SampleReceiver) -> Option<Relayed> {
    let moment = Moment::now(duty.timepiece());
    let mut packer = SamplePacker::default();
    let mut n_told = 0;
    while let Some(batch) = receiver.recv().await {
        for sample in &batch.samples {
            packer.push(&batch.registry, sample, moment.ns(sample.time));
            if packer.is_full() {
                n_told += tell(&duty, &mut packer).await?;
            }
        }
        if receiver.is_empty() {
            n_told += tell(&duty, &mut packer).await?;
        }
    }
    n_told += tell(&duty, &mut packer).await?;
    Some(Relayed {
        n_told,
        n_dropped: receiver.n_dropped(),
    })
}

/// Tells what is packed, and returns how many samples that were.
async fn tell(duty: &Duty, packer: &mut SamplePacker) -> Option<u64> {
    let n = packer.len() as u64;
    if n == 0 {
        return Some(0);
    }
    let samples = packer.take().and_then(RawValue::from_string).ok()?;
    duty.deliver(Told::Samples(samples)).await.then_some(n)
}

/// The coordinator's end of the way.
#[derive(Debug)]
pub(crate) struct Intake {
    registry: Arc<Registry>,
    outputs: Vec<SampleSender>,
    moment: Moment,
    timepiece: Timepiece,
    /// The samples of each agent that came.
    n_taken: Mutex<Vec<u64>>,
}

impl Intake {
    pub(crate) fn new(
        n_members: usize,
        registry: Arc<Registry>,
        outputs: Vec<SampleSender>,
        timepiece: Timepiece,
    ) -> Self {
        Self {
            registry,
            outputs,
            moment: Moment::now(timepiece),
            timepiece,
            n_taken: Mutex::new(vec![0; n_members]),
        }
    }

    /// Hands samples of an agent to the outputs.
    ///
    /// # Errors
    /// For people: they cannot be read. None were taken.
    pub(crate) fn take(
        &self,
        member: usize,
        samples: &RawValue,
        clock: impl Fn(u64) -> Option<ClockOffset>,
    ) -> Result<(), String> {
        let reading = clock(self.timepiece.now());
        let packed: PackedSamples = serde_json::from_str(samples.get())
            .map_err(|error| format!("its samples cannot be read: {error}"))?;
        let time = |ns| self.moment.time(reading.map_or(ns, |reading| reading.own(ns)));
        let batch = packed
            .unpack(&self.registry, time)
            .map_err(|error| error.to_string())?;
        let n_samples = batch.samples.len() as u64;
        let batch = Arc::new(batch);
        for output in &self.outputs {
            output.offer(&batch);
        }
        self.n_taken.lock().unwrap_or_else(PoisonError::into_inner)[member] += n_samples;
        Ok(())
    }

    /// Counts the samples that an agent recorded and that did not come. Returns their number.
    pub(crate) fn account(&self, member: usize, relayed: &Relayed) -> u64 {
        let n_taken = self.n_taken.lock().unwrap_or_else(PoisonError::into_inner)[member];
        let n_lost = relayed
            .n_told
            .saturating_sub(n_taken)
            .saturating_add(relayed.n_dropped);
        for output in &self.outputs {
            output.lose(n_lost);
        }
        n_lost
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use plimsoll_load::metrics::Contains;

    use super::*;

    fn intake() -> (Intake, SampleReceiver) {
        let mut registry = Registry::new();
        registry.counter("reqs", Contains::Default).unwrap();
        let (sender, receiver) = sample_queue();
        let intake = Intake {
            moment: Moment {
                time: UNIX_EPOCH + Duration::from_secs(100),
                ns: 5_000,
            },
            ..Intake::new(2, Arc::new(registry), vec![sender], Timepiece::new())
        };
        (intake, receiver)
    }

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn times_are_those_of_the_coordinators_clock() {
        let (intake, mut receiver) = intake();
        let reading = ClockOffset {
            ns: 1_000,
            uncertainty_ns: 1,
        };
        let samples = raw(r#"{"metrics":["reqs"],"tags":[{}],"samples":[[0,0,6007,0],[0,0,5993,0]]}"#);
        intake.take(1, &samples, |_| Some(reading)).unwrap();
        let batch = receiver.blocking_recv().unwrap();
        let start = UNIX_EPOCH + Duration::from_secs(100);
        let times: Vec<_> = batch.samples.iter().map(|sample| sample.time).collect();
        assert_eq!(
            times,
            [start + Duration::from_nanos(7), start - Duration::from_nanos(7)]
        );
    }

    #[test]
    fn samples_that_were_told_or_dropped_and_did_not_come_are_counted() {
        let (intake, receiver) = intake();
        let samples = raw(r#"{"metrics":["reqs"],"tags":[{}],"samples":[[0,0,1,0],[0,0,2,0]]}"#);
        intake.take(0, &samples, |_| None).unwrap();
        let relayed = |n_told, n_dropped| Relayed { n_told, n_dropped };
        assert_eq!(intake.account(0, &relayed(2, 0)), 0);
        assert_eq!(intake.account(0, &relayed(3, 4)), 5);
        assert_eq!(intake.account(1, &relayed(1, 0)), 1);
        assert_eq!(receiver.n_dropped(), 6);
        assert!(intake.take(0, &raw("7"), |_| None).is_err());
    }
}
