//! The CPU account of a process tree with changing members.

use std::{collections::HashMap, time::Duration};

use super::process::ProcessId;

/// Remembers the last known CPU time of every process ever seen, so that the sum never runs backwards when a process
/// ends.
///
/// Grows by one small entry per process seen. A target that forks per request would add one for each process that lives
/// long enough to be sampled, so ended processes are folded into one sum.
#[derive(Debug, Default)]
pub(super) struct CpuLedger {
    spent: HashMap<ProcessId, Duration>,
    ended: Duration,
}

impl CpuLedger {
    /// Writes down the CPU time that `process` has used since it began.
    pub(super) fn note(&mut self, process: ProcessId, cpu: Duration) {
        let spent = self.spent.entry(process).or_default();
        *spent = cpu.max(*spent);
    }

    /// Folds all processes for which `is_known` is false into one sum.
    pub(super) fn settle(&mut self, is_known: impl Fn(ProcessId) -> bool) {
        let ended = &mut self.ended;
        self.spent.retain(|&process, &mut cpu| {
            let keep = is_known(process);
            if !keep {
                *ended += cpu;
            }
            keep
        });
    }

    /// The CPU time of all processes ever noted.
    pub(super) fn total(&self) -> Duration {
        self.ended + self.spent.values().sum::<Duration>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn never_runs_backwards() {
        let [one, two] = [1, 2].map(|pid| ProcessId {
            pid,
            started_ticks: 7,
        });
        let mut ledger = CpuLedger::default();
        ledger.note(one, MS(10));
        ledger.note(two, MS(5));
        assert_eq!(ledger.total(), MS(15));
        ledger.settle(|process| process == one);
        assert_eq!((ledger.total(), ledger.spent.len()), (MS(15), 1));
        ledger.note(one, MS(12));
        assert_eq!(ledger.total(), MS(17));
    }

    #[test]
    fn a_reused_process_id_is_another_process() {
        let mut ledger = CpuLedger::default();
        ledger.note(
            ProcessId {
                pid: 1,
                started_ticks: 7,
            },
            MS(10),
        );
        ledger.note(
            ProcessId {
                pid: 1,
                started_ticks: 9,
            },
            MS(1),
        );
        assert_eq!(ledger.total(), MS(11));
    }
}
