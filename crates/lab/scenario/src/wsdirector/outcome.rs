//! What became of the clients of a run, in wsdirector's words.

use std::{fmt, sync::Arc};

use serde::Serialize;

use super::{failure::Failure, scenario::Group, timings};

/// What became of all clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// By group, in the order of the file.
    pub groups: Vec<GroupOutcome>,
    /// Why clients failed, each way once.
    pub failures: Vec<Failure>,
    /// Clients that failed in further ways.
    pub n_further_failures: u64,
}

/// The results of the clients of one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupOutcome {
    /// The group.
    pub name: String,
    /// Its clients.
    pub clients: u32,
    /// Failed clients.
    pub failures: u32,
    /// Clients that had not finished when the run was ended from outside.
    pub unfinished: u32,
    /// Its steps with the names of their duration metrics.
    pub steps: Vec<TimedStep>,
}

/// A step, and the name of its metric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimedStep {
    /// Its number and its name, `2 receive`; or `connect`.
    pub step: String,
    /// The name of the metric, a part of `step_duration`.
    pub metric: String,
}

impl GroupOutcome {
    pub(super) fn new(group: &Arc<Group>, n_done: u32, n_failed: u32) -> Self {
        let steps = timings::labels_of(group).into_iter().map(|step| TimedStep {
            metric: timings::part_name(&group.key, &step),
            step,
        });
        Self {
            name: group.name.clone(),
            clients: group.n_clients,
            failures: n_failed,
            unfinished: group.n_clients - n_done - n_failed,
            steps: steps.collect(),
        }
    }
}

impl fmt::Display for GroupOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} clients, {} failures", self.clients, self.failures)?;
        match self.unfinished {
            0 => Ok(()),
            n => write!(f, ", {n} unfinished"),
        }
    }
}

impl Outcome {
    /// Clients that failed.
    pub fn n_failed(&self) -> u32 {
        self.groups.iter().map(|group| group.failures).sum()
    }

    /// The result exactly as wsdirector writes it: a line for each group, and a failure for each failed client.
    pub fn in_wsdirectors_words(&self) -> String {
        let mut text = String::new();
        for group in &self.groups {
            if self.groups.len() > 1 {
                text.push_str(&format!("Group {}: ", group.name));
            }
            text.push_str(&format!(
                "{} clients, {} failures\n",
                group.clients, group.failures
            ));
        }
        let of_clients = self
            .failures
            .iter()
            .flat_map(|failure| std::iter::repeat_n(failure, failure.n_clients as usize));
        for (position, failure) in of_clients.enumerate() {
            text.push_str(&format!(
                "\n{}) Action failed: #{}\n   -- expected: {}\n   ++ got: {} (String)\n",
                position + 1,
                failure.step,
                failure.expected,
                failure.got
            ));
        }
        text
    }

    /// All clients.
    pub fn n_clients(&self) -> u32 {
        self.groups.iter().map(|group| group.clients).sum()
    }
}

/// wsdirector's result: a line for each group, and the failures with numbers.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.groups.as_slice() {
            [group] => writeln!(f, "{group}")?,
            groups => {
                for group in groups {
                    writeln!(f, "Group {}: {group}", group.name)?;
                }
            }
        }
        for (position, failure) in self.failures.iter().enumerate() {
            write!(f, "\n{}) {failure}\n", position + 1)?;
        }
        match self.n_further_failures {
            0 => Ok(()),
            n => writeln!(f, "\nand {n} more clients failed in other ways"),
        }
    }
}
