//! The resource use of the `--watch` targets between two moments of a step.

use std::num::NonZero;

use plimsoll_line::step::TargetUse;
use plimsoll_load::watch::{Place, Sample, Target, Watch, WatchError};

use crate::exit::Failure;

/// The targets of a search.
#[derive(Debug, Default)]
pub(super) struct Watched {
    targets: Vec<Attached>,
    machine: Machine,
}

/// The resources of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Machine {
    n_cores: u32,
    memory_bytes: Option<u64>,
}

#[derive(Debug)]
struct Attached {
    name: String,
    place: Place,
    /// `None` after it ended; a target that was started anew is found again.
    watch: Option<Watch>,
    begin: Option<Sample>,
    end: Option<Sample>,
}

impl Watched {
    /// Finds all targets.
    ///
    /// # Errors
    /// When one is not there, or cannot be had at any moment.
    pub(super) fn attach(targets: &[Target]) -> Result<Self, Failure> {
        Ok(Self {
            targets: targets.iter().map(Attached::new).collect::<Result<_, _>>()?,
            machine: Machine::read(),
        })
    }

    /// The number of targets.
    pub(super) fn n_targets(&self) -> usize {
        self.targets.len()
    }

    /// Where the targets are.
    pub(super) fn places(&self) -> Vec<Place> {
        self.targets.iter().map(|target| target.place.clone()).collect()
    }

    /// Begins the measurement.
    pub(super) fn begin(&mut self) {
        for target in &mut self.targets {
            target.begin = target.sample();
            target.end = None;
        }
    }

    /// Ends the measurement.
    pub(super) fn end(&mut self) {
        for target in &mut self.targets {
            target.end = target.sample();
        }
    }

    /// The resource use of each target between the two moments. Targets that were missing in between are left out.
    pub(super) fn used(&self) -> Vec<TargetUse> {
        let used = self.targets.iter().filter_map(|target| {
            let (begin, end) = (target.begin?, target.end?);
            let cpu_cores = end.since(&begin).cores();
            Some(self.machine.target(target.name.clone(), cpu_cores, end.rss_bytes))
        });
        used.collect()
    }
}

impl Machine {
    /// Asks the system.
    pub(super) fn read() -> Self {
        let n_cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            n_cores: u32::try_from(n_cores).unwrap_or(u32::MAX),
            memory_bytes: memory_bytes(),
        }
    }

    /// The resource use of a target on this machine.
    pub(super) fn target(self, name: String, cpu_cores: f64, rss_bytes: u64) -> TargetUse {
        TargetUse {
            cores: self.n_cores,
            memory_bytes: self.memory_bytes,
            name,
            cpu_cores,
            rss_bytes,
        }
    }
}

impl Attached {
    fn new(target: &Target) -> Result<Self, Failure> {
        let place = &target.place;
        let found = Watch::attach(place).map_err(|error: WatchError| of_flag(place, &error))?;
        let watch = found.ok_or_else(|| {
            let problem = "a metrics page is not supported here, because it is not read exactly when steps begin and \
                end; expected the server's process or port, for example :8080";
            Failure::Usage(format!("--watch {place}: {problem}"))
        })?;
        Ok(Self {
            name: target.name.clone().unwrap_or_else(|| place.to_string()),
            watch: Some(watch),
            place: place.clone(),
            begin: None,
            end: None,
        })
    }

    fn sample(&mut self) -> Option<Sample> {
        if self.watch.is_none() {
            self.watch = Watch::attach(&self.place).ok().flatten();
        }
        let sample = self.watch.as_mut()?.sample().ok();
        if sample.is_none() {
            self.watch = None;
        }
        sample
    }
}

fn of_flag(place: &Place, error: &WatchError) -> Failure {
    Failure::Runtime(format!("--watch {place}: {error}").into())
}

/// The memory of this machine, from `/proc/meminfo`.
fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
