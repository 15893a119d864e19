//! The resource use of a control group (cgroup v2, the kernel's `cgroup-v2.rst`): a container, a systemd service, a
//! pod.
//!
//! The kernel counts for the group and all groups below it, including ended processes. Memory that processes share is
//! counted once. The page cache of files belongs to a group, too, but is released on demand. So `rss_bytes` is the
//! mapped memory, as for a process tree; [`MEMORY_CURRENT_BYTES`] is all of it, to which limits apply.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    CgroupError, Sample, WatchError,
    figure::{Figure, Reading},
};

/// All memory that is charged to the group, page cache included.
pub const MEMORY_CURRENT_BYTES: &str = "memory_current_bytes";

/// A group.
#[derive(Debug)]
pub(super) struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    /// The group with this path: as in `/proc/PID/cgroup`, or with the mount point of cgroup v2 before it.
    ///
    /// # Errors
    /// There is no such group, or a required file is missing.
    pub(super) fn attach(path: &Path) -> Result<Self, WatchError> {
        let folder = if path.is_absolute() && path.is_dir() {
            path.to_owned()
        } else {
            let mounts = fs::read_to_string("/proc/mounts")?;
            let mount = mount_point(&mounts).ok_or(CgroupError::NoVersion2)?;
            mount.join(path.strip_prefix("/").unwrap_or(path))
        };
        let group = Self { folder };
        group.check()?;
        Ok(group)
    }

    /// Its last part, for people.
    pub(super) fn name(&self) -> Option<String> {
        Some(self.folder.file_name()?.to_str()?.to_owned())
    }

    fn check(&self) -> Result<(), CgroupError> {
        let path = || self.folder.clone();
        if !self.folder.is_dir() {
            return Err(CgroupError::Missing { path: path() });
        }
        for file in ["cgroup.procs", "cgroup.controllers", "cpu.stat"] {
            if !self.folder.join(file).exists() {
                return Err(CgroupError::NotAGroup { path: path(), file });
            }
        }
        if self.folder.join("memory.current").exists() {
            Ok(())
        } else {
            Err(CgroupError::NoMemory { path: path() })
        }
    }

    /// The state of the group now. Reads five small files.
    ///
    /// # Errors
    /// [`WatchError::Ended`] when the group is gone or has no processes any more.
    pub(super) fn sample(&self) -> Result<Sample, WatchError> {
        if !self.folder.is_dir() {
            return Err(ended("the control group is gone"));
        }
        let events = fs::read_to_string(self.folder.join("cgroup.events")).unwrap_or_default();
        if field(&events, "populated") == Some(0) {
            return Err(ended("the control group has no processes"));
        }
        let (cpu, memory) = (self.text("cpu.stat")?, self.text("memory.stat")?);
        let of_memory = |name| field(&memory, name).unwrap_or(0);
        Ok(Sample {
            taken_at: Instant::now(),
            cpu: Duration::from_micros(field(&cpu, "usage_usec").unwrap_or(0)),
            rss_bytes: of_memory("anon").saturating_add(of_memory("file_mapped")),
            // The controller counts tasks, which are threads.
            n_threads: self.text("pids.current").ok().and_then(|text| number(&text)),
            n_open_files: None,
            n_processes: None,
        })
    }

    /// A sample and the figures that only groups have.
    ///
    /// # Errors
    /// As for [`Self::sample`].
    pub(super) fn read(&self) -> Result<Reading, WatchError> {
        let mut reading = Reading::from(&self.sample()?);
        if let Some(bytes) = number(&self.text("memory.current")?) {
            let figure = (MEMORY_CURRENT_BYTES.into(), Figure::Level(bytes as f64));
            reading.figures.push(figure);
        }
        Ok(reading)
    }

    fn text(&self, file: &str) -> Result<String, WatchError> {
        let path = self.folder.join(file);
        fs::read_to_string(&path).map_err(|source| match source.kind() {
            // It disappeared after it was found.
            io::ErrorKind::NotFound if !self.folder.is_dir() => ended("the control group is gone"),
            _ => CgroupError::Unreadable { path, source }.into(),
        })
    }
}

fn ended(reason: &str) -> WatchError {
    WatchError::Ended {
        reason: reason.to_owned(),
    }
}

/// The mount point of cgroup v2, from the text of `/proc/mounts`: device, mount point, type, …
fn mount_point(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, point, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup2").then(|| point.into())
    })
}

/// The number after `name` in a file of lines with a name and a number.
fn field(text: &str, name: &str) -> Option<u64> {
    let of_line = |line: &str| number(line.strip_prefix(name)?.strip_prefix(' ')?);
    text.lines().find_map(of_line)
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like a group, without some of its files.
    struct Fake(PathBuf);

    impl Fake {
        fn new(name: &str, left_out: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("plimsoll-cgroup-{}-{name}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            let files = [
                ("cgroup.controllers", "cpu memory pids\n"),
                ("cgroup.procs", "1\n"),
                ("cgroup.events", "populated 1\nfrozen 0\n"),
                (
                    "cpu.stat",
                    "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n",
                ),
                ("memory.current", "9000000\n"),
                (
                    "memory.stat",
                    "anon 4000000\nfile 3000000\nfile_mapped 500000\nanon_thp 7\n",
                ),
                ("pids.current", "12\n"),
            ];
            for (file, text) in files.into_iter().filter(|&(file, _)| file != left_out) {
                fs::write(folder.join(file), text).unwrap();
            }
            Self(folder)
        }

        fn write(&self, file: &str, text: &str) {
            fs::write(self.0.join(file), text).unwrap();
        }
    }

    impl Drop for Fake {
        fn drop(&mut self) {
            let _it_may_be_gone = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn reads_cpu_memory_and_tasks() {
        let fake = Fake::new("reads", "");
        let group = Cgroup::attach(&fake.0).unwrap();
        let sample = group.sample().unwrap();
        assert_eq!(sample.cpu, Duration::from_millis(1_500));
        assert_eq!((sample.rss_bytes, sample.n_threads), (4_500_000, Some(12)));
        assert_eq!((sample.n_open_files, sample.n_processes), (None, None));
        let figures = group.read().unwrap().figures;
        let current = (MEMORY_CURRENT_BYTES.into(), Figure::Level(9_000_000.0));
        assert!(figures.contains(&current), "{figures:?}");
    }

    #[test]
    fn says_what_is_missing() {
        for (file, words) in [
            ("memory.current", "the memory controller is not enabled"),
            (
                "cgroup.controllers",
                "not a control group of cgroup v2: it has no file cgroup.controllers",
            ),
            ("cpu.stat", "it has no file cpu.stat"),
        ] {
            let fake = Fake::new(file, file);
            let error = Cgroup::attach(&fake.0).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let error = Cgroup::attach(Path::new("/no/such/group"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("no control group") || error.contains("no cgroup v2"),
            "{error}"
        );
    }

    #[test]
    fn a_group_without_processes_has_ended() {
        let fake = Fake::new("ends", "");
        let group = Cgroup::attach(&fake.0).unwrap();
        fake.write("cgroup.events", "populated 0\nfrozen 0\n");
        assert!(matches!(group.sample(), Err(WatchError::Ended { .. })));
        fs::remove_dir_all(&fake.0).unwrap();
        assert!(matches!(group.read(), Err(WatchError::Ended { .. })));
    }

    #[test]
    fn finds_where_version_2_is_mounted() {
        let hybrid =
            "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        for (mounts, expected) in [
            (hybrid, Some("/sys/fs/cgroup/unified")),
            ("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", Some("/sys/fs/cgroup")),
            ("cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\n", None),
            ("", None),
        ] {
            assert_eq!(mount_point(mounts), expected.map(PathBuf::from), "{mounts}");
        }
    }
}
