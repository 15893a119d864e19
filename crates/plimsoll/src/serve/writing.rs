//! How messages for many clients are written: the flag `--io`.

use std::io;

use clap::ValueEnum;

use crate::exit::Failure;

/// A way to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Io {
    /// Through io_uring if the kernel permits it.
    Auto,
    /// Through io_uring: many messages with one system call.
    Uring,
    /// With a system call for each client.
    Syscalls,
}

impl Io {
    /// Whether the server uses `io_uring`.
    ///
    /// # Errors
    /// It must, and the kernel does not permit it.
    pub(super) fn uses_io_uring(self) -> Result<bool, Failure> {
        self.decide(plimsoll_server::try_io_uring)
    }

    fn decide(self, attempt: impl FnOnce() -> io::Result<()>) -> Result<bool, Failure> {
        if self == Self::Syscalls {
            return Ok(false);
        }
        match (attempt(), self) {
            (Ok(()), _) => Ok(true),
            (Err(error), Self::Uring) => Err(Failure::Runtime(
                format!(
                    "--io uring: the kernel does not permit io_uring ({error}); expected the sysctl \
                     kernel.io_uring_disabled = 0 and a container runtime that permits io_uring_setup, or --io auto"
                )
                .into(),
            )),
            (Err(error), _) => {
                tracing::info!(
                    "Messages are written with a system call for each client: the kernel does not permit io_uring ({error})."
                );
                Ok(false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(io: Io, is_permitted: bool, expected: Result<bool, &str>) {
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        let attempt = || if is_permitted { Ok(()) } else { Err(refused()) };
        let decided = io.decide(attempt).map_err(|failure| format!("{failure:?}"));
        match (decided, expected) {
            (Ok(decided), Ok(expected)) => assert_eq!(decided, expected, "{io:?}"),
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{error}"),
            (decided, expected) => panic!("{io:?}: {decided:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn io_uring_is_used_where_the_kernel_permits_it() {
        check(Io::Auto, true, Ok(true));
        check(Io::Auto, false, Ok(false));
        check(Io::Uring, true, Ok(true));
        check(
            Io::Uring,
            false,
            Err("expected the sysctl kernel.io_uring_disabled = 0"),
        );
        check(Io::Syscalls, true, Ok(false));
        check(Io::Syscalls, false, Ok(false));
    }
}
