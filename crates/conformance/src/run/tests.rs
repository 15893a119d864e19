//! Cases run together or alone, in virtual time, and end.

use std::{
    cell::{Cell, RefCell},
    future::pending,
};

use tokio::time::sleep;

use super::*;
use crate::Clause;

/// Cases that take as many seconds as their title says.
#[derive(Default)]
struct Sleepers {
    seconds: Vec<u64>,
    /// The number of cases that may run concurrently; later ones run alone.
    n_independent: usize,
    n_running: Cell<usize>,
    /// The number of running cases when a case began, itself included.
    company: RefCell<Vec<(String, usize)>>,
    /// The case that finds out that the target is of the wrong kind.
    finds_out: Option<&'static str>,
    is_found_out: Cell<bool>,
}

impl Suite for Sleepers {
    fn cases(&self) -> Vec<Case> {
        let case = |(n, seconds): (usize, &u64)| Case {
            id: CaseId::new(n.to_string()),
            title: format!("{seconds} s").into(),
            clause: Clause::must("none"),
        };
        self.seconds.iter().enumerate().map(case).collect()
    }

    fn is_independent(&self, case: &CaseId) -> bool {
        case.as_str().parse::<usize>().unwrap() < self.n_independent
    }

    fn deadline(&self, case: &CaseId, usual: Duration) -> Duration {
        if case.as_str() == "3" { usual * 10 } else { usual }
    }

    fn hopeless(&self) -> Option<String> {
        self.is_found_out.get().then(|| "this is a teapot".to_owned())
    }

    async fn run(&self, case: &CaseId, wire: &mut WireLog) -> Judgement {
        self.n_running.set(self.n_running.get() + 1);
        self.company
            .borrow_mut()
            .push((case.to_string(), self.n_running.get()));
        let seconds = self.seconds[case.as_str().parse::<usize>().unwrap()];
        wire.sent(format_args!("{seconds} s"));
        sleep(Duration::from_secs(seconds)).await;
        self.n_running.set(self.n_running.get() - 1);
        self.is_found_out.set(self.finds_out == Some(case.as_str()));
        Judgement::pass("slept").with_closing(Verdict::NonStrict)
    }
}

#[tokio::test(start_paused = true)]
async fn independent_cases_run_together_and_the_others_alone() {
    let suite = Sleepers {
        seconds: vec![3, 1, 1, 1, 1, 1],
        n_independent: 4,
        ..Sleepers::default()
    };
    let began = Instant::now();
    let mut heard = Vec::new();
    let Ran { outcomes, ended } = run(
        &suite,
        suite.cases(),
        2,
        Duration::from_secs(5),
        pending(),
        |outcome| {
            heard.push(outcome.case.id.to_string());
        },
    )
    .await;
    assert_eq!(ended, None);
    assert_eq!(
        began.elapsed().as_secs(),
        3 + 1 + 1,
        "two at a time, then two alone"
    );
    let ids: Vec<_> = outcomes.iter().map(|outcome| outcome.case.id.as_str()).collect();
    assert_eq!(ids, ["0", "1", "2", "3", "4", "5"]);
    assert_eq!(heard.len(), 6);
    assert_eq!(heard[0], "1");
    let company = suite.company.borrow();
    assert!(company[..4].iter().all(|(_, n)| *n <= 2), "{company:?}");
    assert_eq!(company[4..], [("4".to_owned(), 1), ("5".to_owned(), 1)]);
    assert_eq!(outcomes[0].closing, Some(Verdict::NonStrict));
}

#[tokio::test(start_paused = true)]
async fn a_case_without_an_end_fails_and_keeps_its_log() {
    let suite = Sleepers {
        seconds: vec![1, 1_000, 1, 20],
        ..Sleepers::default()
    };
    let ran = run(
        &suite,
        suite.cases(),
        0,
        Duration::from_secs(5),
        pending(),
        |_| (),
    )
    .await;
    let outcomes = ran.outcomes;
    let verdicts: Vec<_> = outcomes
        .iter()
        .map(|outcome| (outcome.verdict, outcome.seconds))
        .collect();
    let pass = Verdict::Pass;
    assert_eq!(
        verdicts,
        [(pass, 1.0), (Verdict::Fail, 5.0), (pass, 1.0), (pass, 20.0)]
    );
    assert_eq!(
        outcomes[1].explanation,
        "expected the case to end within 5 s; it did not"
    );
    let log: Vec<_> = outcomes[1].wire.first().iter().map(|entry| &entry.what).collect();
    assert_eq!(log, ["1000 s", "the time is up"]);
}

/// The verdict and the explanation of each outcome.
fn told(outcomes: &[Outcome]) -> Vec<(Verdict, &str)> {
    let both = outcomes.iter();
    both.map(|outcome| (outcome.verdict, outcome.explanation.as_str()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_keeps_what_it_has() {
    let suite = Sleepers {
        seconds: vec![1, 1, 4, 1],
        ..Sleepers::default()
    };
    let stop = sleep(Duration::from_secs(3));
    let ran = run(&suite, suite.cases(), 1, Duration::from_secs(5), stop, |_| ()).await;
    assert_eq!(ran.ended, Some(Ended::Stopped));
    let skipped = (Verdict::Skipped, "the run was ended before this case");
    let slept = (Verdict::Pass, "slept");
    assert_eq!(told(&ran.outcomes), [slept, slept, skipped, skipped]);
}

#[tokio::test(start_paused = true)]
async fn a_target_of_the_wrong_kind_ends_the_run_after_the_case_that_finds_out() {
    let suite = Sleepers {
        seconds: vec![1, 1, 1],
        finds_out: Some("0"),
        ..Sleepers::default()
    };
    let ran = run(
        &suite,
        suite.cases(),
        1,
        Duration::from_secs(5),
        pending(),
        |_| (),
    )
    .await;
    assert_eq!(ran.ended, Some(Ended::Hopeless("this is a teapot".to_owned())));
    let skipped = (Verdict::Skipped, "this is a teapot");
    assert_eq!(told(&ran.outcomes), [(Verdict::Pass, "slept"), skipped, skipped]);
}

#[test]
fn a_fault_that_many_cases_meet_is_one_failure() {
    let case = |id: &'static str| Case {
        id: CaseId::new(id),
        title: "".into(),
        clause: Clause::must("RFC 7692 §7"),
    };
    let met = |id, verdict, cause: Option<&str>| {
        Some(Outcome {
            verdict,
            cause: cause.map(str::to_owned),
            ..Outcome::skipped(case(id), "met")
        })
    };
    let slots = vec![
        met("13.1.1", Verdict::Pass, Some("no window")),
        met("13.3.1", Verdict::Fail, Some("no window")),
        met("13.3.2", Verdict::Fail, Some("no window")),
        met("13.4.1", Verdict::Fail, Some("no takeover")),
        met("13.4.2", Verdict::Fail, None),
        met("13.5.1", Verdict::Fail, Some("no window")),
    ];
    let cases: Vec<_> = slots
        .iter()
        .flatten()
        .map(|outcome| outcome.case.clone())
        .collect();
    let skipped = (
        Verdict::Skipped,
        "could not be run, because of the fault that 13.3.1 reports",
    );
    let fail = (Verdict::Fail, "met");
    assert_eq!(
        told(&whole(slots, &cases, "")),
        [(Verdict::Pass, "met"), fail, skipped, fail, fail, skipped]
    );
}
