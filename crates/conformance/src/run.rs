//! Runs the cases of a suite: independent cases concurrently, and each with a deadline.

use std::{collections::HashMap, future::Future, time::Duration};

use futures_util::stream::{self, StreamExt as _};
use tokio::time::{Instant, timeout};

use crate::{Case, CaseId, Judgement, Outcome, Verdict, WireLog};

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

    /// Why no case can show anything about this target, if a case that failed has found that out: the target is not what
    /// the suite is for. It is asked after each case; the run then ends.
    fn hopeless(&self) -> Option<String> {
        None
    }

    /// Runs one case of [`cases`](Self::cases). It is dropped at its deadline; the entries in `wire` remain.
    fn run(&self, case: &CaseId, wire: &mut WireLog) -> impl Future<Output = Judgement>;
}

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    /// The outcomes in the order of the cases. Cases that the run did not come to are skipped.
    pub outcomes: Vec<Outcome>,
    /// Why the run ended before its last case; `None` for a whole run.
    pub ended: Option<Ended>,
}

/// Why a run ended before its last case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The caller has stopped it.
    Stopped,
    /// The target is not what the suite is for; the text says why.
    Hopeless(String),
}

impl Ended {
    /// The reason in the outcomes of the cases that did not run.
    fn reason(&self) -> &str {
        match self {
            Self::Stopped => "the run was ended before this case",
            Self::Hopeless(why) => why,
        }
    }
}

/// Runs `cases` of a suite, until `stop` says that it is enough.
///
/// Up to `parallel` (at least 1) independent cases run at a time, on the caller's task. `on_progress` hears of every
/// outcome as soon as it is there. A fault that keeps many cases from being run is one failure; the other cases are
/// skipped.
pub async fn run<S: Suite>(
    suite: &S,
    cases: Vec<Case>,
    parallel: usize,
    usual_deadline: Duration,
    stop: impl Future<Output = ()>,
    mut on_progress: impl FnMut(&Outcome),
) -> Ran {
    let mut slots: Vec<_> = cases.iter().map(|_| None).collect();
    let numbered = cases.iter().cloned().enumerate();
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
    let mut finished = std::pin::pin!(together.chain(one_by_one));
    let mut stop = std::pin::pin!(stop);
    let ended = loop {
        let next = tokio::select! {
            biased;
            () = &mut stop => break Some(Ended::Stopped),
            next = finished.next() => next,
        };
        let Some((at, outcome)) = next else {
            break None;
        };
        on_progress(&outcome);
        slots[at] = Some(outcome);
        if let Some(why) = suite.hopeless() {
            break Some(Ended::Hopeless(why));
        }
    };
    // A fault of the last case does not end anything early.
    let ended =
        ended.filter(|ended| matches!(ended, Ended::Hopeless(_)) || slots.iter().any(Option::is_none));
    let reason = ended.as_ref().map_or("", Ended::reason);
    Ran {
        outcomes: whole(slots, &cases, reason),
        ended,
    }
}

/// The outcomes of all cases: those that did not run are skipped for this reason, and so are repetitions of one fault.
pub(crate) fn whole(slots: Vec<Option<Outcome>>, cases: &[Case], reason: &str) -> Vec<Outcome> {
    let mut outcomes: Vec<_> = slots
        .into_iter()
        .zip(cases)
        .map(|(outcome, case)| outcome.unwrap_or_else(|| Outcome::skipped(case.clone(), reason)))
        .collect();
    let mut first_with = HashMap::new();
    for outcome in &mut outcomes {
        let Some(cause) = outcome.cause.take().filter(|_| outcome.worst() == Verdict::Fail) else {
            continue;
        };
        let id = outcome.case.id.clone();
        let first = first_with.entry(cause).or_insert_with(|| id.clone());
        if *first != id {
            let reason = format!("could not be run, because of the fault that {first} reports");
            *outcome = Outcome {
                seconds: outcome.seconds,
                ..Outcome::skipped(outcome.case.clone(), reason)
            };
        }
    }
    outcomes
}

/// Runs one case. When it has no judgement at its deadline, it has failed. The verdict is no worse than the level of the
/// clause allows.
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
    let Judgement {
        verdict,
        closing,
        explanation,
        against,
        score,
        cause,
    } = judgement.within(case.clause.level);
    Outcome {
        case,
        verdict,
        closing,
        explanation,
        against,
        score,
        cause,
        seconds: began.elapsed().as_secs_f64(),
        wire,
    }
}

#[cfg(test)]
mod tests;
