//! One call from its place in the queue to its result: concurrency, deadline, retries.

use std::{error::Error, future::Future, iter::successors, time::Duration};

use tokio::{sync::Semaphore, time::Instant};
use tonic::{Code, Status};

/// The application has no free worker: one will be free in a moment (spec §3.3).
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(10);
/// The application is not there: it needs longer to come back (spec §3.3).
const UNAVAILABLE_PAUSE: Duration = Duration::from_millis(100);
/// The application has closed the connection, as gRPC servers do from time to time; the next one is made at once.
const RENEWAL_PAUSE: Duration = Duration::from_millis(10);

/// How long to wait after the failure number `n_failures` (from 0) before the next attempt; `None` when another
/// attempt is of no use, or could do twice what the application has done once.
fn pause(status: &Status, n_failures: u32) -> Option<Duration> {
    let first = match status.code() {
        Code::ResourceExhausted => EXHAUSTED_PAUSE,
        Code::Unavailable => UNAVAILABLE_PAUSE,
        _ if is_untouched(status) => RENEWAL_PAUSE,
        _ => return None,
    };
    Some(first.saturating_mul(2_u32.saturating_pow(n_failures)))
}

/// Whether the request met the end of its connection and the application has not begun to work on it: either it
/// never left (then the library cancels it), or the application has said so (RFC 9113 §6.8, §8.7). An application's
/// own statuses have no source.
fn is_untouched(status: &Status) -> bool {
    let Some(source) = status.source() else {
        return false;
    };
    let causes = successors(Some(source), |cause| (*cause).source());
    status.code() == Code::Cancelled
        || causes
            .filter_map(|cause| cause.downcast_ref::<h2::Error>())
            .any(|error| {
                error.is_remote()
                    && (error.is_go_away() || error.reason() == Some(h2::Reason::REFUSED_STREAM))
            })
}

/// Waits for its turn, then attempts until there is a result or `timeout` is over; `attempt` gets the time that
/// is left. The wait for the first turn does not count, so that a herd of clients is served late rather than
/// refused. A pause holds no permit: it is not the application's work.
pub(crate) async fn call<R, F>(
    permits: &Semaphore,
    timeout: Duration,
    mut attempt: impl FnMut(Duration) -> F,
) -> Result<R, Status>
where
    F: Future<Output = Result<R, Status>>,
{
    let mut permit = Some(acquire(permits).await);
    let deadline = Instant::now() + timeout;
    let mut last_failure = None;
    let attempts = async {
        for n_failures in 0.. {
            if permit.is_none() {
                permit = Some(acquire(permits).await);
            }
            let failure = match attempt(deadline.saturating_duration_since(Instant::now())).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            permit = None;
            let Some(pause) = pause(&failure, n_failures) else {
                return Err(failure);
            };
            last_failure = Some(failure);
            tokio::time::sleep(pause).await;
        }
        unreachable!("the deadline ends the attempts long before 2^32 of them")
    };
    tokio::time::timeout_at(deadline, attempts)
        .await
        .unwrap_or_else(|_| Err(late(timeout, last_failure.as_ref())))
}

async fn acquire(permits: &Semaphore) -> tokio::sync::SemaphorePermit<'_> {
    permits.acquire().await.expect("the semaphore is never closed")
}

fn late(timeout: Duration, last_failure: Option<&Status>) -> Status {
    let timeout_ms = timeout.as_millis();
    Status::deadline_exceeded(match last_failure {
        Some(failure) => format!(
            "no success within {timeout_ms} ms; the last attempt: {}",
            failure.message()
        ),
        None => format!("no answer within {timeout_ms} ms"),
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(3000);

    /// Fails with `status` every time and returns when the attempts were made, in milliseconds from the first.
    async fn attempts(status: Status) -> (Vec<u128>, Status) {
        let start = Instant::now();
        let times = RefCell::new(Vec::new());
        let result: Result<(), _> = call(&Semaphore::new(1), TIMEOUT, |_| {
            times.borrow_mut().push(start.elapsed().as_millis());
            std::future::ready(Err(status.clone()))
        })
        .await;
        (times.into_inner(), result.expect_err("every attempt failed"))
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_until_the_deadline() {
        let (times, error) = attempts(Status::resource_exhausted("busy")).await;
        assert_eq!(times, [0, 10, 30, 70, 150, 310, 630, 1270, 2550]);
        assert_eq!(error.code(), Code::DeadlineExceeded);
        assert_eq!(
            error.message(),
            "no success within 3000 ms; the last attempt: busy"
        );

        let (times, _) = attempts(Status::unavailable("down")).await;
        assert_eq!(times, [0, 100, 300, 700, 1500]);
    }

    #[tokio::test(start_paused = true)]
    async fn other_failures_are_final() {
        for code in [
            Code::Cancelled,
            Code::Unknown,
            Code::Internal,
            Code::DeadlineExceeded,
            Code::Unimplemented,
            Code::Aborted,
        ] {
            let (times, error) = attempts(Status::new(code, "")).await;
            assert_eq!((times, error.code()), (vec![0], code));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_does_not_come_is_given_up() {
        let start = Instant::now();
        let error = call(&Semaphore::new(1), TIMEOUT, |time_left| {
            assert_eq!(time_left, TIMEOUT);
            std::future::pending::<Result<(), _>>()
        })
        .await
        .expect_err("nothing answers");
        assert_eq!(start.elapsed(), TIMEOUT);
        assert_eq!(error.message(), "no answer within 3000 ms");
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_for_a_turn_does_not_count_and_a_pause_holds_no_permit() {
        let permits = Semaphore::new(1);
        let start = Instant::now();
        let slow = |time_left| async move {
            assert_eq!(time_left, TIMEOUT, "time counts from the first turn");
            tokio::time::sleep(Duration::from_secs(2)).await;
            Ok::<_, Status>(start.elapsed().as_secs())
        };
        let failing = call(&permits, TIMEOUT, |_| {
            std::future::ready(Err::<(), _>(Status::unavailable("down")))
        });
        let (_, first, second) = tokio::join!(
            failing,
            call(&permits, TIMEOUT, slow),
            call(&permits, TIMEOUT, slow)
        );
        assert_eq!((first.ok(), second.ok()), (Some(2), Some(4)));
    }
}
