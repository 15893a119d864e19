//! What a bench did, second by second: the totals and the timeline of its summary come from here, and so agree.
//!
//! Who counts on another thread hands in at full seconds what came since the last time, so that nothing is done per
//! message but what its text needs anyway.

use std::time::{Duration, SystemTime};

use plimsoll_load::{
    generator::{Glance, Monitor},
    metrics::MetricSet,
    run::{Presence, Stretch},
};
use plimsoll_report::{
    Legs,
    summary::GeneratorSeries,
    timeline::{Recorded, Recorder, Timeline},
};

const SECOND: Duration = Duration::from_secs(1);

/// A bench in progress.
#[derive(Debug)]
pub(crate) struct Journal {
    monitor: Monitor,
    /// What each agent told of its generator since the last full second; `None` if this process makes the load.
    agents: Option<Vec<Glance>>,
    began: SystemTime,
    recorder: Recorder,
    /// The metrics of all complete seconds.
    total: MetricSet,
    n_failed: u64,
    n_complete: u64,
    /// The interval before `recent`, with late additions.
    last: Stretch,
    /// Since the last full second.
    recent: Stretch,
    n_users: u32,
    presence: Presence,
}

/// A bench up to its last full second.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    began: SystemTime,
    end: Duration,
    recorder: Recorder,
    total: MetricSet,
    n_failed: u64,
    n_complete: u64,
    last: Stretch,
    n_users: u32,
}

/// A bench that is over, over time and in all.
#[derive(Debug, Clone)]
pub(crate) struct Chronicle {
    pub(crate) began: SystemTime,
    pub(crate) metrics: MetricSet,
    pub(crate) timeline: Timeline,
    pub(crate) generator: GeneratorSeries,
    /// The samples by load.
    pub(crate) legs: Legs,
    /// The number of iterations that ran to their end, with or without a failure.
    pub(crate) n_complete: u64,
    /// The number of failed iterations and users.
    pub(crate) n_failed: u64,
}

impl Journal {
    /// The journal of a bench that begins now and measures `metrics`, which are empty.
    pub(crate) fn new(metrics: MetricSet, monitor: Monitor) -> Self {
        // Earlier samples belong to no second.
        monitor.glance();
        Self {
            monitor,
            agents: None,
            began: SystemTime::now(),
            recorder: Recorder::new(),
            last: Stretch::empty(&metrics),
            recent: Stretch::empty(&metrics),
            total: metrics,
            n_failed: 0,
            n_complete: 0,
            n_users: 0,
            presence: Presence::default(),
        }
    }

    /// So many agents make the load.
    pub(crate) fn set_agents(&mut self, n_agents: usize) {
        self.agents = Some(vec![Glance::default(); n_agents]);
    }

    /// An agent tells of its generator. It does so when a second is over, so its figures are in the next one.
    pub(crate) fn glanced(&mut self, agent: usize, glance: Glance) {
        if let Some(known) = self.agents.as_mut().and_then(|agents| agents.get_mut(agent)) {
            *known = known.and(glance);
        }
    }

    /// The generator since the last time.
    fn glance(&mut self) -> Glance {
        let Some(agents) = &mut self.agents else {
            return self.monitor.glance();
        };
        let told = agents.iter_mut().map(std::mem::take);
        told.reduce(Glance::beside).unwrap_or_default()
    }

    /// The stretch of this second. `now` is the time since the start.
    pub(crate) fn at(&mut self, now: Duration) -> &mut MetricSet {
        self.reach(now);
        &mut self.recent.metrics
    }

    /// So many users there are now.
    pub(crate) fn users(&mut self, now: Duration, n_users: usize) {
        self.reach(now);
        self.n_users = u32::try_from(n_users).unwrap_or(u32::MAX);
        self.presence.set(now, self.n_users);
    }

    /// So many iterations have ended well.
    pub(crate) fn complete(&mut self, now: Duration, n: u64) {
        self.reach(now);
        self.recent.iterations.n_complete += n;
    }

    /// Records that users or iterations have failed for this reason `at` this time, which may be in an earlier
    /// second. `example` has more detail than `cause`.
    pub(crate) fn fail(&mut self, at: Duration, cause: &str, example: &str, n: u64) {
        if n > 0 {
            self.hand_in(at, |stretch| {
                stretch.n_failed += n;
                stretch.metrics.faults_of(cause, example, n, at);
            });
        }
    }

    /// Adds to the second of `at`, which may be complete already.
    pub(crate) fn hand_in(&mut self, at: Duration, fill: impl FnOnce(&mut Stretch)) {
        self.reach(at);
        if at >= self.recent.start {
            fill(&mut self.recent);
            return;
        }
        let start = Duration::from_secs(at.as_secs());
        let mut late = Stretch {
            start,
            end: start + SECOND,
            ..Stretch::empty(&self.total)
        };
        fill(&mut late);
        self.add(&late);
        if (self.last.start..self.last.end).contains(&late.start) {
            self.last.metrics.merge(&late.metrics);
        }
    }

    /// Closes the seconds that are over.
    pub(crate) fn reach(&mut self, now: Duration) {
        let second = Duration::from_secs(now.as_secs());
        if second > self.recent.start {
            self.close(second);
        }
    }

    /// The state up to the last full second; `None` in the first second.
    pub(crate) fn so_far(&self) -> Option<Draft> {
        let end = self.recent.start;
        (!end.is_zero()).then(|| Draft {
            began: self.began,
            end,
            recorder: self.recorder.clone(),
            total: self.total.clone(),
            n_failed: self.n_failed,
            n_complete: self.n_complete,
            last: self.last.clone(),
            n_users: self.n_users,
        })
    }

    /// The bench ended `at` this time.
    pub(crate) fn finish(&mut self, at: Duration) -> Chronicle {
        self.reach(at);
        let mut rest = std::mem::replace(&mut self.recent, Stretch::empty(&self.total));
        rest.end = at;
        rest.users = self.presence.take(at);
        rest.generator = self.glance();
        self.sum_up(&rest);
        let Recorded {
            timeline,
            generator,
            legs,
        } = std::mem::take(&mut self.recorder).finish(&rest);
        Chronicle {
            began: self.began,
            metrics: self.total.take(),
            timeline,
            generator,
            legs,
            n_complete: self.n_complete,
            n_failed: self.n_failed,
        }
    }

    fn close(&mut self, end: Duration) {
        let next = Stretch {
            start: end,
            ..Stretch::empty(&self.total)
        };
        let mut recent = std::mem::replace(&mut self.recent, next);
        recent.end = end;
        recent.users = self.presence.take(end);
        recent.generator = self.glance();
        self.add(&recent);
        self.last = recent;
    }

    fn add(&mut self, stretch: &Stretch) {
        self.recorder.add(stretch);
        self.sum_up(stretch);
    }

    fn sum_up(&mut self, stretch: &Stretch) {
        self.total.merge(&stretch.metrics);
        self.n_complete += stretch.iterations.n_complete;
        self.n_failed += stretch.n_failed;
    }
}

impl Draft {
    /// Since the begin.
    pub(crate) fn end(&self) -> Duration {
        self.end
    }

    /// All metrics until now.
    pub(crate) fn total(&self) -> &MetricSet {
        &self.total
    }

    /// The last second.
    pub(crate) fn last(&self) -> &Stretch {
        &self.last
    }

    /// The number of users.
    pub(crate) fn n_users(&self) -> u32 {
        self.n_users
    }

    /// The number of iterations that ran to their end.
    pub(crate) fn n_complete(&self) -> u64 {
        self.n_complete
    }

    /// The number of failed iterations and users.
    pub(crate) fn n_failed(&self) -> u64 {
        self.n_failed
    }

    /// Ends the journal at the current second.
    pub(crate) fn finish(self) -> Chronicle {
        // Within the last second, so that it adds no other.
        let rest = Stretch {
            start: self.end.saturating_sub(SECOND),
            end: self.end,
            ..Stretch::empty(&self.total)
        };
        let Recorded {
            timeline,
            generator,
            legs,
        } = self.recorder.finish(&rest);
        Chronicle {
            began: self.began,
            metrics: self.total,
            timeline,
            generator,
            legs,
            n_complete: self.n_complete,
            n_failed: self.n_failed,
        }
    }
}

#[cfg(test)]
impl Chronicle {
    /// The journal of a bench without events.
    pub(crate) fn example() -> Self {
        let metrics = MetricSet::new(std::sync::Arc::default());
        Journal::new(metrics, Monitor::new()).finish(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_load::metrics::Registry;
    use plimsoll_report::timeline::Series;

    use super::*;

    #[test]
    fn what_comes_late_is_in_its_second_and_in_all_sums() {
        let mut registry = Registry::new();
        let rtt = registry.trend("rtt").unwrap();
        let mut journal = Journal::new(MetricSet::new(Arc::new(registry)), Monitor::new());
        let at = Duration::from_millis;
        journal.users(at(100), 3);
        journal.at(at(900)).record(rtt, at(5));
        journal.users(at(2_500), 2);
        journal.hand_in(at(1_200), |second| second.metrics.record(rtt, at(7)));
        journal.complete(at(2_600), 2);
        journal.fail(at(1_999), "refused", "refused", 4);
        journal.fail(at(2_700), "refused", "refused", 0);
        let chronicle = journal.finish(at(3_200));
        let timeline = &chronicle.timeline;
        assert_eq!(timeline.vus, [3, 3, 3, 2]);
        assert_eq!(timeline.iterations, [0, 0, 2, 0]);
        assert_eq!(timeline.failed, [0, 4, 0, 0]);
        let Series::Trend { counts, max, .. } = &timeline.metrics["rtt"] else {
            panic!("{timeline:?}");
        };
        assert_eq!(counts, &[1, 1, 0, 0]);
        assert_eq!(max[1], Some(7_000));
        assert_eq!((chronicle.n_complete, chronicle.n_failed), (2, 4));
        let (cause, known) = chronicle.metrics.faults().iter().next().unwrap();
        assert_eq!((cause, known.span.n, known.span.first), ("refused", 4, at(1_999)));
    }

    #[test]
    fn what_is_shown_ends_with_the_last_full_second() {
        let mut registry = Registry::new();
        let rtt = registry.trend("rtt").unwrap();
        let mut journal = Journal::new(MetricSet::new(Arc::new(registry)), Monitor::new());
        let at = Duration::from_millis;
        journal.users(at(100), 3);
        journal.at(at(900)).record(rtt, at(5));
        assert!(journal.so_far().is_none());
        journal.complete(at(1_200), 1);
        journal.hand_in(at(800), |second| second.metrics.record(rtt, at(7)));
        let draft = journal.so_far().unwrap();
        assert_eq!(
            (draft.end(), draft.n_users(), draft.n_complete()),
            (at(1_000), 3, 0)
        );
        assert_eq!((draft.last().start, draft.last().end), (at(0), at(1_000)));
        let late_included = |metrics: &MetricSet| metrics.iter().next().map(|(_, value)| value.n_samples());
        assert_eq!(late_included(&draft.last().metrics), Some(2));
        let shown = draft.finish();
        assert_eq!((shown.timeline.n_intervals, shown.n_complete), (1, 0));
        let Series::Trend { counts, .. } = &shown.timeline.metrics["rtt"] else {
            panic!("{shown:?}");
        };
        assert_eq!(counts, &[2]);
        // A look took nothing away.
        let all = journal.finish(at(1_900));
        assert_eq!(all.n_complete, 1);
        assert_eq!(all.timeline.iterations, [0, 1]);
    }
}
