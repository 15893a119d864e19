//! Runs the cases of a suite: independent cases concurrently, and each with a deadline.

use std::{future::Future, time::Duration};

use futures_util::stream::{self, StreamExt as _};
use tokio::time::{Instant, timeout};

use crate::{Case, CaseId, Judgement, Outcome, WireLog};

/// Cases, and how to run them against a target that the suite knows.
pub trait Suite {
    /// All cases, in the order of their output. Ids are unique.
    fn cases(&self) -> Vec<Case>;

    /// The names of families of cases, such as `("1", "Framing")`; a family without an entry is shown by its id.
    fn families(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Prepares the suite before the first case: starts its own parts, and checks that the target answers. By
    /// default, there is nothing to prepare.
    ///
    /// The error is in words for people: what could not be done, where, and what to do about it.
    fn prepare(&self) -> impl Future<Output = Result<(), String>> {
        async { Ok(()) }
    }

    /// The real URL of the target after [`prepare`](Self::prepare), if it differs from the requested one: a free port
    /// has a number by then.
    fn target(&self) -> Option<String> {
        None
    }

    /// Ends the suite after the last case, also when [`prepare`](Self::prepare) has failed or the run was ended
    /// early. The parts that the suite has started end in an orderly way, within seconds. By default, there is
    /// nothing to end.
    fn finish(&self) -> impl Future<Output = ()> {
        async {}
    }

    /// Whether a case may run while other independent ones do. The others run alone, after those.
    fn is_independent(&self, case: &CaseId) -> bool;

    /// The time limit of a case; `usual` by default.
    fn deadline(&self, _case: &CaseId, usual: Duration) -> Duration {
        usual
    }

    /// Runs one case of [`cases`](Self::cases). It is dropped at its deadline; the entries in `wire` remain.
    fn run(&self, case: &CaseId, wire: &mut WireLog) -> impl Future<Output = Judgement>;
}

/// Runs `cases` of a suite and returns their outcomes in the same order.
///
/// Up to `parallel` (at least 1) independent cases run at a time, on the caller's task. `on_progress` hears of every
/// outcome as soon as it is there. To end early, drop the future.
pub async fn run<S: Suite>(
    suite: &S,
    cases: Vec<Case>,
    parallel: usize,
    usual_deadline: Duration,
    mut on_progress: impl FnMut(&Outcome),
) -> Vec<Outcome> {
    let n_cases = cases.len();
    let numbered = cases.into_iter().enumerate();
    let (independent, alone): (Vec<_>, Vec<_>) =
        numbered.partition(|(_, case)| suite.is_independent(&case.id));
    let judged = |(at, case): (usize, Case)| async move {
        let deadline = suite.deadline(&case.id, usual_deadline);
        (at, judge(suite, case, deadline).await)
    };
    let together = stream::iter(independent)
        .map(judged)
        .buffer_unordered(parallel.max(1));
    let one_by_one = stream::iter(alone).then(judged);
    let mut outcomes = std::pin::pin!(together.chain(one_by_one));
    let mut finished = Vec::with_capacity(n_cases);
    while let Some((at, outcome)) = outcomes.next().await {
        on_progress(&outcome);
        finished.push((at, outcome));
    }
    finished.sort_by_key(|(at, _)| *at);
    finished.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Runs one case. When it has no judgement at its deadline, it has failed.
pub async fn judge<S: Suite>(suite: &S, case: Case, deadline: Duration) -> Outcome {
    let began = Instant::now();
    let mut wire = WireLog::begin();
    let judgement = timeout(deadline, suite.run(&case.id, &mut wire)).await;
    let judgement = judgement.unwrap_or_else(|_elapsed| {
        wire.note("the time is up");
        Judgement::fail(format!(
            "expected the case to end within {} s; it did not",
            deadline.as_secs_f64()
        ))
    });
    Outcome {
        case,
        verdict: judgement.verdict,
        closing: judgement.closing,
        explanation: judgement.explanation,
        seconds: began.elapsed().as_secs_f64(),
        wire,
    }
}

#[cfg(test)]
mod tests;
