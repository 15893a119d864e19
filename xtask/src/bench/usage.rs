//! CPU time of programs that run to their end, as the system counts it: all threads, from the start of a process to its
//! end, in user mode and in the kernel.

use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike,
};

use super::Error;

/// CPU microseconds of the processes that `run` starts and waits for. Only one thread of this program may wait for
/// processes meanwhile.
pub(super) fn measured<T>(run: impl FnOnce() -> Result<T, Error>) -> Result<(T, f64), Error> {
    let before = children_us()?;
    let outcome = run()?;
    Ok((outcome, children_us()? - before))
}

fn children_us() -> Result<f64, Error> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|errno| Error::Proc {
        path: "the CPU time of child processes".into(),
        source: errno.into(),
    })?;
    let us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(us as f64)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_time_of_an_ended_process_is_counted() {
        let spin = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let run = || {
            let output = Command::new("sh").args(["-c", spin]).output();
            output.map_err(Error::Limit)
        };
        let (output, cpu_us) = measured(run).unwrap();
        assert!(output.status.success() && cpu_us > 1e3, "{cpu_us}");
    }
}
