//! A number of threads that take jobs from one queue.

use std::{
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Starts all jobs in their order, `at_once` at a time. The results are in the order in which the jobs ended.
pub(super) fn run<J: Sync, R: Send>(
    jobs: &[J],
    at_once: usize,
    work: impl Fn(&J) -> io::Result<R> + Sync,
) -> io::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(jobs.len()));
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(job);
                    results
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(result);
                }
            });
        }
    });
    results
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn as_many_jobs_as_allowed_run_at_the_same_time() {
        let both = Barrier::new(2);
        let work = |job: &u32| {
            both.wait();
            Ok(*job)
        };
        let mut results = run(&[1, 2, 3, 4], 2, work).unwrap();
        results.sort_unstable();
        assert_eq!(results, [1, 2, 3, 4]);
    }

    #[test]
    fn one_thread_keeps_the_order_of_the_jobs() {
        assert_eq!(run(&[3, 1, 2], 1, |job: &u32| Ok(job * 2)).unwrap(), [6, 2, 4]);
    }

    #[test]
    fn a_job_that_could_not_be_done_is_an_error() {
        let work = |job: &u32| {
            if *job == 2 {
                Err(io::Error::other("two"))
            } else {
                Ok(())
            }
        };
        assert_eq!(run(&[1, 2, 3], 1, work).unwrap_err().to_string(), "two");
    }
}
