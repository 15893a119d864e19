//! The CPU time of the watched server per client that connects, and per client of a herd that comes back.
//!
//! Only a herd has a figure per return: clients that come back one after the other share their time with the messages to
//! all others.

use std::time::Duration;

use plimsoll_load::watch::{self, Sample, Watch, WatchError};
use serde::Serialize;

use crate::meter::seconds;

/// CPU time of the target for equal operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// The number of operations.
    pub(crate) n: u64,
    /// The target's CPU time for all of them.
    pub(crate) cpu: Duration,
}

/// The costs of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Costs {
    /// Connects with their subscriptions, before the first broadcast. `None` if nothing is watched.
    pub(crate) connect: Option<Cost>,
    /// Returns of whole herds, from the end of the time away until the last client is whole. `None` if there was none, or
    /// nothing is watched.
    pub(crate) herd: Option<Cost>,
}

/// Samples the first watched target that has processes.
#[derive(Debug)]
pub(crate) struct CostWatch {
    watch: Option<Watch>,
    costs: Costs,
    before: Option<Sample>,
    /// The herd that comes back now.
    returning: Option<Herd>,
    /// Herds whose return has begun.
    n_herds: u32,
}

/// A herd on its way back.
#[derive(Debug, Clone, Copy)]
struct Herd {
    /// The number of whole returns of all herds when it will be complete.
    n_whole: usize,
    n_clients: usize,
}

impl Cost {
    /// Microseconds per operation.
    pub(crate) fn us_each(self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.n.max(1) as f64
    }

    fn add(&mut self, n: usize, cpu: Duration) {
        self.n += n as u64;
        self.cpu += cpu;
    }
}

impl Serialize for Cost {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Object {
            n: u64,
            cpu_seconds: f64,
            cpu_us_each: f64,
        }
        let object = Object {
            n: self.n,
            cpu_seconds: seconds(self.cpu),
            cpu_us_each: (self.us_each() * 100.0).round() / 100.0,
        };
        object.serialize(serializer)
    }
}

impl Costs {
    /// The costs in a sentence; `None` without any.
    pub(crate) fn words(&self) -> Option<String> {
        let connect = self.connect?;
        let mut words = format!(
            "the target used {:.1} µs of CPU time for each of {} connects with their subscriptions",
            connect.us_each(),
            connect.n
        );
        if let Some(herd) = self.herd {
            let ratio = herd.us_each() / connect.us_each().max(f64::MIN_POSITIVE);
            words += &format!(
                ", and {:.1} µs for each of {} returns of a herd ({ratio:.2} ×), with the broadcasts and pings until the \
                 last client was whole",
                herd.us_each(),
                herd.n
            );
        }
        Some(words)
    }
}

impl CostWatch {
    /// Takes the first sample.
    ///
    /// # Errors
    /// A target is not there.
    pub(crate) fn begin(targets: &[watch::Target]) -> Result<Self, WatchError> {
        let mut watches = targets
            .iter()
            .filter_map(|target| Watch::attach(&target.place).transpose());
        let mut this = Self {
            watch: watches.next().transpose()?,
            costs: Costs::default(),
            before: None,
            returning: None,
            n_herds: 0,
        };
        this.spent();
        Ok(this)
    }

    /// All clients have connected, this number of them with success.
    pub(crate) fn connected(&mut self, n_clients: usize) {
        if let Some(cpu) = self.spent().filter(|_| n_clients > 0) {
            self.costs.connect.get_or_insert_default().add(n_clients, cpu);
        }
    }

    /// The number of herds whose return has begun.
    pub(crate) fn n_herds(&self) -> u32 {
        self.n_herds
    }

    /// Whether a herd is on its way back.
    pub(crate) fn is_returning(&self) -> bool {
        self.returning.is_some()
    }

    /// The next herd is about to come back. `n_whole` returns have become whole until now. An earlier herd that is not
    /// whole yet gets no figure.
    pub(crate) fn herd_comes(&mut self, n_clients: usize, n_whole: usize) {
        self.spent();
        self.n_herds += 1;
        self.returning = Some(Herd {
            n_whole: n_whole + n_clients,
            n_clients,
        });
    }

    /// `n_whole` returns have become whole until now. Ends the account of a herd when all its clients are.
    pub(crate) fn whole(&mut self, n_whole: usize) {
        let Some(herd) = self.returning.filter(|herd| n_whole >= herd.n_whole) else {
            return;
        };
        self.returning = None;
        if let Some(cpu) = self.spent() {
            self.costs.herd.get_or_insert_default().add(herd.n_clients, cpu);
        }
    }

    /// The costs so far.
    pub(crate) fn costs(&self) -> Costs {
        self.costs
    }

    /// The CPU time since the last sample. `None` without a target, at the first sample, and when the target is gone,
    /// which the run tells at another place.
    fn spent(&mut self) -> Option<Duration> {
        let now = self.watch.as_mut()?.sample().ok();
        let before = self.before.take();
        self.before = now;
        Some(now?.since(&before?).cpu)
    }
}

#[cfg(test)]
mod tests {
    use std::process;

    use plimsoll_load::watch::{Place, Target};

    use super::*;

    fn watch(targets: &[Target]) -> CostWatch {
        CostWatch::begin(targets).unwrap()
    }

    #[test]
    fn a_herd_has_a_figure_when_all_its_clients_are_whole() {
        let own = Target {
            name: None,
            place: Place::Process(process::id()),
        };
        let mut watch = watch(&[own]);
        watch.connected(4);
        watch.herd_comes(4, 0);
        watch.whole(3);
        assert!(watch.is_returning() && watch.costs().herd.is_none());
        watch.herd_comes(4, 3);
        watch.whole(7);
        watch.whole(8);
        let Costs { connect, herd } = watch.costs();
        assert_eq!((connect.map(|it| it.n), herd.map(|it| it.n)), (Some(4), Some(4)));
        assert_eq!((watch.n_herds(), watch.is_returning()), (2, false));
    }

    #[test]
    fn without_a_target_there_are_no_costs() {
        let mut watch = watch(&[]);
        watch.connected(4);
        watch.herd_comes(4, 0);
        watch.whole(4);
        assert_eq!(watch.costs(), Costs::default());
        assert_eq!(watch.costs().words(), None);
    }

    #[test]
    fn costs_in_words() {
        let cost = |n, ms| {
            Some(Cost {
                n,
                cpu: Duration::from_millis(ms),
            })
        };
        let connect = cost(1000, 60);
        assert_eq!(
            Costs { connect, herd: None }.words().unwrap(),
            "the target used 60.0 µs of CPU time for each of 1000 connects with their subscriptions"
        );
        let costs = Costs {
            connect,
            herd: cost(2000, 90),
        };
        assert_eq!(
            costs.words().unwrap(),
            "the target used 60.0 µs of CPU time for each of 1000 connects with their subscriptions, and 45.0 µs for each of \
             2000 returns of a herd (0.75 ×), with the broadcasts and pings until the last client was whole"
        );
        assert_eq!(
            serde_json::to_string(&costs).unwrap(),
            r#"{"connect":{"n":1000,"cpu_seconds":0.06,"cpu_us_each":60.0},"herd":{"n":2000,"cpu_seconds":0.09,"cpu_us_each":45.0}}"#
        );
    }
}
