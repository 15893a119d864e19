//! What the targets of `--watch` use between two moments of a step.

use plimsoll_line::step::TargetUse;
use plimsoll_load::watch::{Sample, Target, Watch, WatchError};

/// The targets of a search.
#[derive(Debug, Default)]
pub(super) struct Watched {
    targets: Vec<Attached>,
    n_cores: u32,
    memory_bytes: Option<u64>,
}

#[derive(Debug)]
struct Attached {
    name: String,
    target: Target,
    /// `None` after it ended; a target that was started anew is found again.
    watch: Option<Watch>,
    begin: Option<Sample>,
    end: Option<Sample>,
}

impl Watched {
    /// Finds all targets.
    ///
    /// # Errors
    /// When one is not there.
    pub(super) fn attach(targets: impl IntoIterator<Item = Target>) -> Result<Self, WatchError> {
        let attached = targets.into_iter().map(|target| {
            Ok(Attached {
                name: target.to_string(),
                watch: Some(Watch::attach(target)?),
                target,
                begin: None,
                end: None,
            })
        });
        Ok(Self {
            targets: attached.collect::<Result<_, WatchError>>()?,
            n_cores: std::thread::available_parallelism()
                .map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
            memory_bytes: memory_bytes(),
        })
    }

    /// What is measured begins now.
    pub(super) fn begin(&mut self) {
        for target in &mut self.targets {
            target.begin = target.sample();
            target.end = None;
        }
    }

    /// It ends now.
    pub(super) fn end(&mut self) {
        for target in &mut self.targets {
            target.end = target.sample();
        }
    }

    /// What each target used between the two; those that were not there all the time are left out.
    pub(super) fn used(&self) -> Vec<TargetUse> {
        let used = self.targets.iter().filter_map(|target| {
            let (begin, end) = (target.begin?, target.end?);
            Some(TargetUse {
                name: target.name.clone(),
                cpu_cores: end.since(&begin).cores(),
                rss_bytes: end.rss_bytes,
                cores: self.n_cores,
                memory_bytes: self.memory_bytes,
            })
        });
        used.collect()
    }
}

impl Attached {
    fn sample(&mut self) -> Option<Sample> {
        if self.watch.is_none() {
            self.watch = Watch::attach(self.target).ok();
        }
        let sample = self.watch.as_mut()?.sample().ok();
        if sample.is_none() {
            self.watch = None;
        }
        sample
    }
}

/// The memory of this machine, from `/proc/meminfo`.
fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
