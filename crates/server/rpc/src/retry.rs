//! One call from its place in the queue to its result: concurrency, deadline, retries.

use std::{future::Future, time::Duration};

use tokio::time::Instant;

use crate::{
    cause,
    limiter::{Limiter, Load, NoTurn, Rank},
    meter::Meter,
    proto::Method,
    status::{Code, Status},
};

/// The first pause when the application has no free worker. One will be free in a moment (docs/protocols/rpc.md,
/// Retries).
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(10);
/// The longest such pause. Longer ones do not help: the limiter lowers the limit instead, and a worker may idle
/// meanwhile.
const MAX_EXHAUSTED_PAUSE: Duration = Duration::from_millis(160);
/// The first pause when the application is away. It takes longer to come back (docs/protocols/rpc.md, Retries).
const UNAVAILABLE_PAUSE: Duration = Duration::from_millis(100);
/// The pause after the application closed the connection, as gRPC servers do from time to time. The next connection is
/// made at once.
const RENEWAL_PAUSE: Duration = Duration::from_millis(10);

/// How long to wait after failure number `n_failures` (from 0) before the next attempt. `None` if another attempt would
/// not help, or could repeat work that the application has already done.
fn pause(status: &Status, n_failures: u32) -> Option<Duration> {
    let (first, longest) = match status.code() {
        Code::ResourceExhausted => (EXHAUSTED_PAUSE, MAX_EXHAUSTED_PAUSE),
        Code::Unavailable => (UNAVAILABLE_PAUSE, Duration::MAX),
        _ if status.is_untouched() => (RENEWAL_PAUSE, Duration::MAX),
        _ => return None,
    };
    let doubled = first.saturating_mul(2_u32.saturating_pow(n_failures));
    Some(doubled.min(longest))
}

/// The rules of all calls.
pub(crate) struct Rules {
    /// Limits the attempts in progress.
    pub(crate) limiter: Limiter,
    /// Time for a call with all its retries, from its first turn on.
    pub(crate) timeout: Duration,
    /// Time for one attempt. `None`: the rest of the call's time.
    pub(crate) attempt_timeout: Option<Duration>,
    pub(crate) meter: Meter,
}

/// How long a call waits for its first turn.
///
/// That time is not part of the call's own. If it were, an application that cannot keep up would get every call just
/// before its deadline, and all of its work would be wasted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as the call itself may take, because a client waits for it.
    Limited,
    /// Without a limit: the call must not get lost, or its session cancels it.
    Unlimited,
}

impl Rules {
    /// Waits for a turn, then makes attempts until there is a result or the time is up. `attempt` gets the remaining
    /// time. A pause holds no turn, because it is not work of the application.
    pub(crate) async fn call<R, F>(
        &self,
        method: Method,
        patience: Patience,
        mut attempt: impl FnMut(Duration) -> F,
    ) -> Result<R, Status>
    where
        F: Future<Output = Result<R, Status>>,
    {
        let rank = rank(method, patience);
        let patience = match patience {
            Patience::Limited => Some(self.timeout),
            Patience::Unlimited => None,
        };
        let mut first_turn = Some(
            self.limiter
                .turn(rank, patience)
                .await
                .map_err(|NoTurn| self.too_busy())?,
        );
        let deadline = Instant::now() + self.timeout;
        let mut last_failure: Option<Status> = None;
        for n_failures in 0.. {
            let turn = match first_turn.take() {
                Some(turn) => Ok(turn),
                None => {
                    let time_left = deadline - Instant::now();
                    self.limiter.turn(Rank::Again, Some(time_left)).await
                }
            };
            let Ok(turn) = turn else { break };
            self.meter.attempt(n_failures);
            let time_left = deadline - Instant::now();
            let time = self
                .attempt_timeout
                .map_or(time_left, |limit| limit.min(time_left));
            let result = match tokio::time::timeout(time, attempt(time)).await {
                Ok(result) => result,
                Err(_) => Err(unanswered(time, last_failure.as_ref())),
            };
            turn.end(method, load(&result));
            let failure = match result {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            // The caller that repeats a command makes longer pauses itself, and the next attempt, too.
            let is_final = rank == Rank::Repeat && failure.code() != Code::ResourceExhausted;
            let pause = pause(&failure, n_failures).filter(|_| !is_final);
            let Some(pause) = pause else {
                return Err(failure);
            };
            last_failure = Some(failure);
            if deadline.saturating_duration_since(Instant::now()) <= pause {
                tokio::time::sleep_until(deadline).await;
                break;
            }
            tokio::time::sleep(pause).await;
        }
        Err(unanswered(self.timeout, last_failure.as_ref()))
    }

    fn too_busy(&self) -> Status {
        Status::deadline_exceeded(format!(
            "no free slot within {} ms: the application is busy with {} calls, and {} more wait",
            self.timeout.as_millis(),
            self.limiter.limit(),
            self.limiter.n_waiting(),
        ))
    }
}

/// The rank of a call. Only calls for ended sessions and repeated commands wait without a limit.
fn rank(method: Method, patience: Patience) -> Rank {
    match (method, patience) {
        (Method::Connect, _) => Rank::Connect,
        (Method::Command, Patience::Unlimited) => Rank::Repeat,
        (Method::Command | Method::Disconnect, _) => Rank::Command,
    }
}

/// The load that an attempt's result shows.
fn load<R>(result: &Result<R, Status>) -> Load {
    match result.as_ref().map_err(Status::code) {
        Ok(_) => Load::Answered,
        Err(Code::ResourceExhausted) => Load::Refused,
        Err(Code::DeadlineExceeded) => Load::Overdue,
        Err(_) => Load::Unknown,
    }
}

fn unanswered(time: Duration, last_failure: Option<&Status>) -> Status {
    let time_ms = time.as_millis();
    Status::deadline_exceeded(match last_failure {
        Some(failure) => format!(
            "no success within {time_ms} ms; the last attempt: {}",
            cause::text(failure)
        ),
        None => format!("no answer within {time_ms} ms"),
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use plimsoll_telemetry::Registry;

    use super::*;
    use crate::limiter::Concurrency;

    const TIMEOUT: Duration = Duration::from_millis(3000);

    fn rules(concurrency: usize) -> Rules {
        let concurrency = concurrency.try_into().expect("positive");
        Rules {
            limiter: Limiter::new(Concurrency::Fixed(concurrency)),
            timeout: TIMEOUT,
            attempt_timeout: None,
            meter: Meter::new(&Registry::default()),
        }
    }

    async fn call<R, F: Future<Output = Result<R, Status>>>(
        rules: &Rules,
        attempt: impl FnMut(Duration) -> F,
    ) -> Result<R, Status> {
        rules.call(Method::Command, Patience::Limited, attempt).await
    }

    /// Fails with `status` every time. Returns the times of the attempts, in milliseconds from the first.
    async fn attempts(status: Status) -> (Vec<u128>, Status) {
        let start = Instant::now();
        let times = RefCell::new(Vec::new());
        let result: Result<(), _> = call(&rules(1), |_| {
            times.borrow_mut().push(start.elapsed().as_millis());
            std::future::ready(Err(status.clone()))
        })
        .await;
        (times.into_inner(), result.expect_err("every attempt failed"))
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_up_to_their_limit_until_the_deadline() {
        let (times, error) = attempts(Status::new(Code::ResourceExhausted, "busy")).await;
        let expected = [0, 10, 30, 70, 150].into_iter().chain((310..3000).step_by(160));
        assert_eq!(times, expected.collect::<Vec<_>>());
        assert_eq!(error.code(), Code::DeadlineExceeded);
        assert_eq!(
            error.message(),
            "no success within 3000 ms; the last attempt: busy"
        );

        let (times, _) = attempts(Status::unavailable("down")).await;
        assert_eq!(times, [0, 100, 300, 700, 1500]);

        let (times, _) = attempts(Status::unknown("broken").untouched()).await;
        assert_eq!(times, [0, 10, 30, 70, 150, 310, 630, 1270, 2550]);
    }

    #[tokio::test(start_paused = true)]
    async fn other_failures_are_final() {
        for code in [
            Code::Cancelled,
            Code::Unknown,
            Code::Internal,
            Code::DeadlineExceeded,
            Code::Unimplemented,
            Code::Unauthenticated,
            Code::InvalidArgument,
            Code::Aborted,
        ] {
            let (times, error) = attempts(Status::new(code, "")).await;
            assert_eq!((times, error.code()), (vec![0], code));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_does_not_come_is_given_up() {
        for (attempt_timeout, expected) in [(None, TIMEOUT), (Some(TIMEOUT / 10), TIMEOUT / 10)] {
            let rules = Rules {
                attempt_timeout,
                ..rules(1)
            };
            let start = Instant::now();
            let error = call(&rules, |time_left| {
                assert_eq!(time_left, expected);
                std::future::pending::<Result<(), _>>()
            })
            .await
            .expect_err("nothing answers");
            assert_eq!(start.elapsed(), expected);
            assert_eq!(
                error.message(),
                format!("no answer within {} ms", expected.as_millis())
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_for_a_turn_does_not_count_and_a_pause_holds_no_turn() {
        let rules = rules(1);
        let start = Instant::now();
        let slow = |time_left| async move {
            assert_eq!(time_left, TIMEOUT, "time counts from the first turn");
            tokio::time::sleep(Duration::from_secs(2)).await;
            Ok::<_, Status>(start.elapsed().as_secs())
        };
        let failing = call(&rules, |_| {
            std::future::ready(Err::<(), _>(Status::unavailable("down")))
        });
        let (_, first, second) = tokio::join!(failing, call(&rules, slow), call(&rules, slow));
        assert_eq!((first.ok(), second.ok()), (Some(2), Some(4)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_a_client_waits_for_gives_up_without_a_turn_and_another_one_does_not() {
        let rules = rules(1);
        let start = Instant::now();
        let hog = rules
            .limiter
            .turn(Rank::Command, None)
            .await
            .expect("there is one");
        let answer = |_| std::future::ready(Ok(start.elapsed().as_secs()));
        let release = async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            drop(hog);
        };
        let (limited, unlimited, ()) = tokio::join!(
            rules.call(Method::Command, Patience::Limited, answer),
            rules.call(Method::Disconnect, Patience::Unlimited, answer),
            release
        );
        let error = limited.expect_err("nobody gave a turn back in time");
        assert_eq!(error.code(), Code::DeadlineExceeded);
        assert_eq!(
            error.message(),
            "no free slot within 3000 ms: the application is busy with 1 calls, and 1 more wait"
        );
        assert_eq!(unlimited.ok(), Some(60));
    }

    #[tokio::test(start_paused = true)]
    async fn an_application_that_cannot_keep_up_still_answers_those_that_got_a_turn() {
        let rules = rules(2);
        let work = |_| async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            Ok(())
        };
        let calls = (0..40).map(|_| call(&rules, work));
        let mut calls: Vec<_> = calls.map(Box::pin).collect();
        let mut n_answered = 0;
        std::future::poll_fn(|context| {
            calls.retain_mut(|call| match call.as_mut().poll(context) {
                std::task::Poll::Ready(result) => {
                    n_answered += usize::from(result.is_ok());
                    false
                }
                std::task::Poll::Pending => true,
            });
            if calls.is_empty() {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
        // Two at a time for three seconds, and the calls that begin just before the end are answered, too.
        assert!((12..=14).contains(&n_answered), "{n_answered}");
    }
}
