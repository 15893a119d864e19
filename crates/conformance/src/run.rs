//! Running the cases of a suite: several at a time where they are independent, and none for ever.

use std::{future::Future, time::Duration};

use futures_util::stream::{self, StreamExt as _};
use tokio::time::{Instant, timeout};

use crate::{Case, CaseId, Judgement, Outcome, WireLog};

/// Cases, and how to run them against a target that the suite knows.
pub trait Suite {
    /// All cases, in the order in which they are shown. Ids are unique.
    fn cases(&self) -> Vec<Case>;

    /// What families of cases are called, such as `("1", "Framing")`; a family without an entry is shown by its name.
    fn families(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Called once before the first case: what the suite itself needs is started, and the target has to answer. By default,
    /// there is nothing to prepare.
    ///
    /// The error is in words for people: what could not be done, where, and what to do about it.
    fn prepare(&self) -> impl Future<Output = Result<(), String>> {
        async { Ok(()) }
    }

    /// Where the target really is, once [`prepare`](Self::prepare) is over, if that is not what was asked for: a free port
    /// has a number by then.
    fn target(&self) -> Option<String> {
        None
    }

    /// Called once after the last case, and also when [`prepare`](Self::prepare) has failed or the run was ended early:
    /// what the suite has started ends in good order, within seconds. By default, there is nothing to end.
    fn finish(&self) -> impl Future<Output = ()> {
        async {}
    }

    /// Whether a case may run while other independent ones do. The others run alone, after those.
    fn is_independent(&self, case: &CaseId) -> bool;

    /// How long a case may take, where `usual` is not right for it.
    fn deadline(&self, _case: &CaseId, usual: Duration) -> Duration {
        usual
    }

    /// Runs one case of [`cases`](Self::cases). It is dropped when its deadline has passed; what is in `wire` remains.
    fn run(&self, case: &CaseId, wire: &mut WireLog) -> impl Future<Output = Judgement>;
}

/// Runs `cases` of a suite and gives their outcomes in the same order.
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
        wire.note("the time is over");
        Judgement::fail(format!(
            "expected the case to be over within {} s; it was not",
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
