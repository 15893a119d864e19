//! Seconds that each file took the last time. A pool ends soonest when its slowest files begin first.

use std::{cmp::Reverse, collections::BTreeMap, fs, io, path::Path};

use super::Ended;

/// Seconds by name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Times(BTreeMap<String, f64>);

impl Times {
    /// The record of earlier runs. It is empty if the file is missing or broken.
    pub(super) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        Self(serde_json::from_str(&text).unwrap_or_default())
    }

    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, serde_json::to_string_pretty(&self.0)?)
    }

    /// Replaces the times of files that ran again.
    pub(super) fn note(&mut self, ended: &[Ended]) {
        self.0
            .extend(ended.iter().map(|it| (it.name.clone(), it.seconds)));
    }

    /// Sorts the slowest file first. Files without a record come before all others, in the order of their names.
    pub(super) fn slowest_first(&self, mut names: Vec<String>) -> Vec<String> {
        // Milliseconds, because floating-point numbers have no order.
        names.sort_by_cached_key(|name| {
            let known = self
                .0
                .get(name)
                .map(|seconds| std::time::Duration::try_from_secs_f64(*seconds));
            Reverse(known.map_or(std::time::Duration::MAX, Result::unwrap_or_default))
        });
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_and_unknown_files_come_first() {
        let mut times = Times::default();
        let ended = |name: &str, seconds| Ended {
            name: name.to_owned(),
            seconds,
            cpu_seconds: 0.1,
            has_passed: true,
            failures: String::new(),
        };
        times.note(&[ended("sse", 2.0), ended("wire", 30.5)]);
        times.note(&[ended("sse", 7.5)]);
        let names = ["new", "sse", "wire"].map(str::to_owned).to_vec();
        assert_eq!(times.slowest_first(names), ["new", "wire", "sse"]);
    }

    #[test]
    fn a_record_that_cannot_be_read_is_an_empty_one() {
        assert_eq!(Times::read(Path::new("/nowhere/seconds.json")), Times::default());
    }
}
