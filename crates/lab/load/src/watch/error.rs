//! Why a target cannot be watched.

use std::{io, path::PathBuf};

/// Why a target cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// No process has this id.
    #[error("no process has the id {pid}; `ps` lists the processes of this machine")]
    NoProcess {
        /// The given id.
        pid: u32,
    },
    /// No process is known to listen on this port.
    #[error("{}", no_listener(*port, *listening))]
    NoListener {
        /// The given port.
        port: u16,
        /// Whether the port is in the listening state, although its owner was not found.
        listening: bool,
    },
    /// Not a control group that can be watched.
    #[error(transparent)]
    Cgroup(#[from] CgroupError),
    /// The page of metrics is unavailable, or invalid.
    #[error("no metrics from {url}: {reason}")]
    Page {
        /// The URL.
        url: String,
        /// Why not.
        reason: String,
    },
    /// What the watch began with has ended.
    #[error("the target has ended: {reason}")]
    Ended {
        /// How that is known.
        reason: String,
    },
    /// The system does not provide the data, or a thread.
    #[error("cannot read /proc, which `--watch` needs (Linux only): {0}")]
    Proc(#[from] io::Error),
}

/// Why a group cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    /// The machine has only cgroup v1.
    #[error(
        "this machine has no cgroup v2 (no file system of type cgroup2 is mounted), which `cgroup:` needs"
    )]
    NoVersion2,
    /// The group does not exist.
    #[error("there is no control group {path}; /proc/PID/cgroup shows the group of a process")]
    Missing {
        /// The expected folder.
        path: PathBuf,
    },
    /// The folder is not a control group.
    #[error("{path} is not a control group of cgroup v2: it has no file {file}")]
    NotAGroup {
        /// The folder.
        path: PathBuf,
        /// What every group has.
        file: &'static str,
    },
    /// The group has no memory accounting.
    #[error(
        "{path} has no memory.current: the memory controller is not enabled for it; name a group below a \
         cgroup.subtree_control that has `memory`, and not the root group"
    )]
    NoMemory {
        /// The folder.
        path: PathBuf,
    },
    /// A file in it cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
}

fn no_listener(port: u16, listening: bool) -> String {
    if listening {
        format!(
            "port {port} is open, but its process belongs to another user or container; \
             run as that user or as root, or name the process by its id"
        )
    } else {
        format!(
            "no process listens on port {port} of this machine; start the target first, or check the port"
        )
    }
}
