//! The durations of steps: one distribution for each step of each group.

use std::{
    cell::RefCell,
    sync::{Arc, Weak},
    time::Duration,
};

use plimsoll_load::metrics::{Recorder, RegisterError, Registry, Selector, TrendId};

use super::scenario::Group;

/// The name of the metric. Its parts have the tags `client`, which is the group, and `step`.
pub(super) const METRIC: &str = "step_duration";

/// The most steps of a scenario with a distribution of their own. Reason: each takes up to 184 KiB for every worker and
/// a person reads fewer. Further ones are in the metric as a whole.
const MOST_PARTS: usize = 200;

/// The metric, and which tags a step has.
#[derive(Debug)]
pub(super) struct Timings {
    metric: TrendId,
    /// By group and step; the first step is connecting.
    labels: Vec<Vec<String>>,
    groups: Vec<String>,
}

thread_local! {
    /// Recorders with the tags of each step, for this thread's run. Selecting sub-metrics by tags costs microseconds,
    /// and thousands of clients run the same steps.
    static RECORDERS: RefCell<Known> = RefCell::default();
}

#[derive(Default)]
struct Known {
    of: Weak<Timings>,
    /// By group: the source of the recorders, and one for each step.
    groups: Vec<Option<(Recorder, Vec<Recorder>)>>,
}

impl Timings {
    /// Registers the metric with a part for each step.
    pub(super) fn register<'a>(
        registry: &mut Registry,
        groups: impl Iterator<Item = &'a Group>,
    ) -> Result<Self, RegisterError> {
        let metric = registry.trend(METRIC)?;
        let id = registry.find(METRIC).ok_or(RegisterError::InvalidName {
            name: METRIC.to_owned(),
        })?;
        let (mut labels, mut names, mut n_parts) = (Vec::new(), Vec::new(), 0);
        for group in groups {
            let of_group = labels_of(group);
            for label in &of_group {
                n_parts += 1;
                if n_parts <= MOST_PARTS {
                    let tags =
                        tags(&group.key, label).map(|(name, value)| (name.to_owned(), value.to_owned()));
                    registry.sub_metric(id, &Selector::new(tags.into()));
                }
            }
            labels.push(of_group);
            names.push(group.key.clone());
        }
        Ok(Self {
            metric,
            labels,
            groups: names,
        })
    }

    /// Records how long a step of a group took; step 0 is connecting.
    pub(super) fn record(self: &Arc<Self>, base: &Recorder, group: usize, step: usize, duration: Duration) {
        RECORDERS.with_borrow_mut(|known| {
            if !std::ptr::eq(known.of.as_ptr(), Arc::as_ptr(self)) {
                *known = Known {
                    of: Arc::downgrade(self),
                    groups: vec![None; self.groups.len()],
                };
            }
            let of_group = &mut known.groups[group];
            let recorders = match of_group {
                Some((made_of, recorders)) if made_of.is_same(base) => recorders,
                _ => &mut of_group.insert((base.clone(), self.recorders(base, group))).1,
            };
            recorders[step].record(self.metric, duration);
        });
    }

    fn recorders(&self, base: &Recorder, group: usize) -> Vec<Recorder> {
        let labels = self.labels[group].iter();
        labels
            .map(|label| base.with_tags(tags(&self.groups[group], label)))
            .collect()
    }
}

fn tags<'a>(group: &'a str, label: &'a str) -> [(&'a str, &'a str); 2] {
    [("client", group), ("step", label)]
}

/// What the steps of a group are called, with connecting before them: `connect`, `1 subscribe`, `2 wait_all`.
pub(super) fn labels_of(group: &Group) -> Vec<String> {
    let steps = group.steps.iter().enumerate();
    let steps = steps.map(|(position, step)| format!("{} {}", position + 1, step.name));
    std::iter::once("connect".to_owned()).chain(steps).collect()
}

/// The name of the part that a step of a group has.
pub(super) fn part_name(group: &str, label: &str) -> String {
    let tags = tags(group, label).map(|(name, value)| (name.to_owned(), value.to_owned()));
    format!("{METRIC}{}", Selector::new(tags.into()))
}
