//! Jobs that run at the same time: always a few, and more of them while the machine has room.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

/// The time between two questions whether the machine has room.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The number of jobs that run at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// So many run whatever the load of the machine is.
    pub(super) least: usize,
    /// So many run at most, while the machine has room for a further one.
    pub(super) most: usize,
}

impl Size {
    /// One job after the other.
    pub(super) const ONE: Self = Self { least: 1, most: 1 };
}

/// Starts all jobs in their order. `has_room` decides about each job beyond the least number. The results are in the
/// order in which the jobs ended.
pub(super) fn run<J: Sync, R: Send>(
    jobs: &[J],
    size: Size,
    mut has_room: impl FnMut() -> bool,
    work: impl Fn(&J) -> io::Result<R> + Sync,
) -> io::Result<Vec<R>> {
    let (ended, endings) = mpsc::channel();
    let mut results = Vec::with_capacity(jobs.len());
    thread::scope(|scope| {
        for (n_started, job) in jobs.iter().enumerate() {
            loop {
                let n_running = n_started - results.len();
                if n_running < size.least || (n_running < size.most && has_room()) {
                    break;
                }
                match endings.recv_timeout(LOOK_AGAIN) {
                    Ok(result) => results.push(result),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                }
            }
            let (work, ended) = (&work, ended.clone());
            scope.spawn(move || ended.send(caught(|| work(job))));
        }
        drop(ended);
        results.extend(endings);
    });
    results.into_iter().collect()
}

/// The result of a job. A job that panics is an error, because the pool would wait for its result for ever.
fn caught<R>(work: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(io::Error::other("a job panicked")))
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    };

    use super::*;

    const TWO_TO_FOUR: Size = Size { least: 2, most: 4 };

    fn never() -> bool {
        false
    }

    #[test]
    fn the_least_number_of_jobs_runs_without_room() {
        let both = Barrier::new(2);
        let work = |job: &u32| {
            both.wait();
            Ok(*job)
        };
        let mut results = run(&[1, 2, 3, 4], TWO_TO_FOUR, never, work).unwrap();
        results.sort_unstable();
        assert_eq!(results, [1, 2, 3, 4]);
    }

    #[test]
    fn the_greatest_number_of_jobs_runs_with_room() {
        let all = Barrier::new(4);
        let work = |job: &u32| {
            all.wait();
            Ok(*job)
        };
        let mut results = run(&[1, 2, 3, 4], TWO_TO_FOUR, || true, work).unwrap();
        results.sort_unstable();
        assert_eq!(results, [1, 2, 3, 4]);
    }

    #[test]
    fn no_more_jobs_run_than_allowed() {
        let check = |room: bool, most: usize| {
            let (n_running, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |_: &u32| {
                peak.fetch_max(n_running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::yield_now();
                n_running.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            };
            run(&[0; 100], TWO_TO_FOUR, || room, work).unwrap();
            assert!(peak.into_inner() <= most, "with room: {room}");
        };
        check(false, 2);
        check(true, 4);
    }

    #[test]
    fn one_at_a_time_keeps_the_order_of_the_jobs() {
        let results = run(&[3, 1, 2], Size::ONE, never, |job: &u32| Ok(job * 2)).unwrap();
        assert_eq!(results, [6, 2, 4]);
    }

    #[test]
    fn a_job_that_could_not_be_done_is_an_error() {
        let work = |job: &u32| match job {
            2 => Err(io::Error::other("two")),
            _ => Ok(()),
        };
        let error = run(&[1, 2, 3], Size::ONE, never, work).unwrap_err();
        assert_eq!(error.to_string(), "two");
    }

    #[test]
    fn a_job_that_panics_is_an_error_and_the_others_run() {
        let n_done = AtomicUsize::new(0);
        let work = |job: &u32| {
            assert_ne!(*job, 1, "this panic is part of the test");
            n_done.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        let error = run(&[1, 2, 3], Size::ONE, never, work).unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), n_done.into_inner()),
            ("a job panicked", 2)
        );
    }
}
