//! The open files of a process, and the sockets among them: `/proc/PID/fd`.

use std::{collections::HashSet, fs, io, path::Path};

/// Open file descriptors. Zero for a process that has ended, `None` for one that this user may not inspect.
///
/// Since Linux 6.2 the size of the directory is the number of descriptors; before that it is zero, and the entries are
/// counted.
pub(super) fn count(pid: u32) -> Option<u64> {
    let path = format!("/proc/{pid}/fd");
    match fs::read_dir(&path) {
        Ok(entries) => match fs::metadata(&path).map(|metadata| metadata.len()) {
            Ok(0) | Err(_) => Some(entries.count() as u64),
            Ok(n) => Some(n),
        },
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
        Err(_) => Some(0),
    }
}

/// The sockets among them: one system call per descriptor, so slow for many.
pub(super) fn count_sockets(pid: u32) -> Option<u64> {
    match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(entries) => Some(sockets(entries).count() as u64),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
        Err(_) => Some(0),
    }
}

/// Whether the process holds a socket with one of these inodes. False also for processes that end meanwhile and for
/// those that this user may not inspect.
pub(super) fn holds_any(pid: u32, inodes: &[u64]) -> bool {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    sockets(entries).any(|inode| inodes.contains(&inode))
}

/// The inodes of the sockets of this process, at most `most` of them.
pub(super) fn own_sockets(most: usize) -> HashSet<u64> {
    let entries = fs::read_dir("/proc/self/fd");
    entries.into_iter().flat_map(sockets).take(most).collect()
}

fn sockets(entries: fs::ReadDir) -> impl Iterator<Item = u64> {
    entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter_map(|link| parse_socket_inode(&link))
}

/// A descriptor of a socket links to `socket:[INODE]`.
fn parse_socket_inode(link: &Path) -> Option<u64> {
    link.to_str()?
        .strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_links_of_sockets() {
        for (link, expected) in [
            ("socket:[578]", Some(578)),
            ("pipe:[578]", None),
            ("/dev/null", None),
        ] {
            assert_eq!(parse_socket_inode(Path::new(link)), expected, "{link}");
        }
    }
}
