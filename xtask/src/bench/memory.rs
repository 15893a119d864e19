//! Resident memory of another process, as the kernel counts it.

use std::{fs, io};

use super::Error;

/// `VmRSS` now, in bytes.
///
/// # Errors
/// When there is no such process, or it has ended already.
pub(super) fn rss_bytes(pid: u32) -> Result<u64, Error> {
    let path = format!("/proc/{pid}/status");
    let error = |source: io::Error| Error::Proc {
        path: path.clone(),
        source,
    };
    let status = fs::read_to_string(&path).map_err(error)?;
    resident(&status).ok_or_else(|| error(io::ErrorKind::InvalidData.into()))
}

/// `VmRSS` of a process status, in bytes. A process that has exited but not been waited for has no such line.
fn resident(status: &str) -> Option<u64> {
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?
        .trim()
        .strip_suffix(" kB")?;
    Some(kilobytes.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory() {
        assert_eq!(resident("VmHWM:\t 30 kB\nVmRSS:\t   20 kB\n"), Some(20 * 1024));
        assert_eq!(resident("VmHWM:\t 30 kB\n"), None);
    }
}
