//! Cases run together or alone, in virtual time, and end.

use std::cell::{Cell, RefCell};

use super::*;
use crate::Verdict;

/// Cases that take as many seconds as their title says.
#[derive(Default)]
struct Sleepers {
    seconds: Vec<u64>,
    /// The number of cases that may run concurrently; later ones run alone.
    n_independent: usize,
    n_running: Cell<usize>,
    /// The number of running cases when a case began, itself included.
    company: RefCell<Vec<(String, usize)>>,
}

impl Suite for Sleepers {
    fn cases(&self) -> Vec<Case> {
        let case = |(n, seconds): (usize, &u64)| Case {
            id: CaseId::new(n.to_string()),
            title: format!("{seconds} s").into(),
            clause: "none".into(),
        };
        self.seconds.iter().enumerate().map(case).collect()
    }

    fn is_independent(&self, case: &CaseId) -> bool {
        case.as_str().parse::<usize>().unwrap() < self.n_independent
    }

    fn deadline(&self, case: &CaseId, usual: Duration) -> Duration {
        if case.as_str() == "3" { usual * 10 } else { usual }
    }

    async fn run(&self, case: &CaseId, wire: &mut WireLog) -> Judgement {
        self.n_running.set(self.n_running.get() + 1);
        self.company
            .borrow_mut()
            .push((case.to_string(), self.n_running.get()));
        let seconds = self.seconds[case.as_str().parse::<usize>().unwrap()];
        wire.sent(format_args!("{seconds} s"));
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        self.n_running.set(self.n_running.get() - 1);
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
    let outcomes = run(&suite, suite.cases(), 2, Duration::from_secs(5), |outcome| {
        heard.push(outcome.case.id.to_string());
    })
    .await;
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
    let outcomes = run(&suite, suite.cases(), 0, Duration::from_secs(5), |_| ()).await;
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
