//! Jobs of which a few run at the same time.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc,
    thread,
};

/// Starts all jobs in their order, `at_once` at a time. The results are in the order in which the jobs ended.
pub(super) fn run<J: Sync, R: Send>(
    jobs: &[J],
    at_once: usize,
    work: impl Fn(&J) -> io::Result<R> + Sync,
) -> io::Result<Vec<R>> {
    let (ended, endings) = mpsc::channel();
    let mut results = Vec::with_capacity(jobs.len());
    thread::scope(|scope| {
        for (n_started, job) in jobs.iter().enumerate() {
            if n_started - results.len() == at_once {
                // One of those that run ends; none is lost, because `ended` lives.
                results.extend(endings.recv());
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
    fn no_more_jobs_run_than_allowed() {
        let check = |most: usize| {
            let (n_running, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |_: &u32| {
                peak.fetch_max(n_running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::yield_now();
                n_running.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            };
            run(&[0; 100], most, work).unwrap();
            assert!(peak.into_inner() <= most, "{most}");
        };
        check(2);
        check(4);
    }

    #[test]
    fn one_at_a_time_keeps_the_order_of_the_jobs() {
        let results = run(&[3, 1, 2], 1, |job: &u32| Ok(job * 2)).unwrap();
        assert_eq!(results, [6, 2, 4]);
    }

    #[test]
    fn a_job_that_could_not_be_done_is_an_error() {
        let work = |job: &u32| match job {
            2 => Err(io::Error::other("two")),
            _ => Ok(()),
        };
        let error = run(&[1, 2, 3], 1, work).unwrap_err();
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
        let error = run(&[1, 2, 3], 1, work).unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), n_done.into_inner()),
            ("a job panicked", 2)
        );
    }
}
