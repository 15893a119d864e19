//! When figures are sent, repeated, and sent for the last time; in virtual time.

use std::{cell::RefCell, sync::Arc};

use plimsoll_load::metrics::{SampleSender, sample_queue};
use tokio::task::{JoinHandle, LocalSet};

use super::*;
use crate::{distribution::TrendStyle, samples::batch, series::Figure};

const PERIOD: Duration = Duration::from_secs(5);

/// Answers as scripted, and records when it was called.
struct Scripted {
    start: Instant,
    answers: RefCell<Vec<Result<(), Refusal>>>,
    log: std::rc::Rc<RefCell<Vec<String>>>,
    /// How long an answer takes.
    takes: Duration,
}

impl Database for Scripted {
    type Payload = String;

    fn encode(&self, store: &SeriesStore, positions: &[usize]) -> Vec<String> {
        let figures = positions
            .iter()
            .map(|&position| match &store.all()[position].figure {
                Figure::Counter(sum) => {
                    format!("{}={sum}", store.definition(store.all()[position].metric).name)
                }
                figure => panic!("{figure:?}"),
            });
        figures.collect()
    }

    fn farewell(&self, _: &SeriesStore) -> Vec<String> {
        vec!["farewell".to_owned()]
    }

    async fn send(&self, payload: &String) -> Result<(), Refusal> {
        let ms = self.start.elapsed().as_millis();
        self.log.borrow_mut().push(format!("{ms} {payload}"));
        sleep(self.takes).await;
        let mut answers = self.answers.borrow_mut();
        if answers.is_empty() {
            Ok(())
        } else {
            answers.remove(0)
        }
    }
}

fn refusal(is_temporary: bool, retry_after: Option<u64>) -> Result<(), Refusal> {
    Err(Refusal {
        is_temporary,
        retry_after: retry_after.map(Duration::from_secs),
        reason: "no".to_owned(),
    })
}

/// Pushes the samples of `feed`. Returns the log and the outcome.
async fn pushed(
    answers: Vec<Result<(), Refusal>>,
    takes: Duration,
    feed: impl AsyncFnOnce(&SampleSender),
) -> (Vec<String>, Outcome) {
    let (sender, receiver) = sample_queue();
    let store = SeriesStore::new(TrendStyle::Figures, &[].into());
    let log = std::rc::Rc::default();
    let database = Scripted {
        start: Instant::now(),
        answers: RefCell::new(answers),
        log: std::rc::Rc::clone(&log),
        takes,
    };
    let local = LocalSet::new();
    let outcome = local
        .run_until(async {
            let pushing: JoinHandle<Outcome> =
                tokio::task::spawn_local(push(receiver, store, database, PERIOD));
            feed(&sender).await;
            sender.end().await;
            pushing.await.unwrap()
        })
        .await;
    (log.take(), outcome)
}

fn offer(sender: &SampleSender, metric: &str) {
    sender.offer(&Arc::new(batch(&[(metric, 1.0, &[])])));
}

#[tokio::test(start_paused = true)]
async fn what_has_changed_is_sent_each_period_and_the_rest_at_the_end() {
    let (log, outcome) = pushed(vec![], Duration::ZERO, async |sender| {
        offer(sender, "reqs");
        offer(sender, "data_sent");
        sleep(Duration::from_secs(6)).await;
        offer(sender, "reqs");
        // Nothing has changed at 15 s.
        sleep(Duration::from_secs(10)).await;
        offer(sender, "reqs");
    })
    .await;
    assert_eq!(
        log,
        [
            "5000 reqs=1",
            "5000 data_sent=1",
            "10000 reqs=2",
            "16000 reqs=3",
            "16000 farewell"
        ]
    );
    assert!(outcome.is_complete());
    assert_eq!(outcome.n_written, 4);
}

#[tokio::test(start_paused = true)]
async fn what_may_help_is_tried_again_after_longer_and_longer_pauses() {
    let answers = vec![
        refusal(true, None),
        refusal(true, Some(3)),
        refusal(true, Some(60)),
        Ok(()),
    ];
    let (log, outcome) = pushed(answers, Duration::ZERO, async |sender| {
        offer(sender, "reqs");
        sleep(Duration::from_secs(25)).await;
    })
    .await;
    // Half a second, then the time that the server asks for, but at most ten seconds.
    assert_eq!(
        log,
        [
            "5000 reqs=1",
            "5500 reqs=1",
            "8500 reqs=1",
            "18500 reqs=1",
            "25000 farewell"
        ]
    );
    assert!(outcome.is_complete());
}

#[tokio::test(start_paused = true)]
async fn a_push_that_failed_is_part_of_the_next_one() {
    let (log, outcome) = pushed(vec![refusal(false, None)], Duration::ZERO, async |sender| {
        offer(sender, "reqs");
        offer(sender, "data_sent");
        sleep(Duration::from_secs(7)).await;
        offer(sender, "data_sent");
        sleep(Duration::from_secs(7)).await;
    })
    .await;
    // One portion that is refused for good does not hold up the other.
    assert_eq!(
        log,
        [
            "5000 reqs=1",
            "5000 data_sent=1",
            "10000 reqs=1",
            "10000 data_sent=2",
            "14000 farewell"
        ]
    );
    assert!(outcome.is_complete());
    assert_eq!(outcome.n_written, 3);
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_gets_newer_figures_instead_of_more_requests() {
    let (log, outcome) = pushed(vec![], Duration::from_secs(9), async |sender| {
        sleep(Duration::from_millis(500)).await;
        for _ in 0..20 {
            offer(sender, "reqs");
            sleep(Duration::from_secs(1)).await;
        }
    })
    .await;
    assert_eq!(
        log,
        ["5000 reqs=5", "14000 reqs=14", "23000 reqs=20", "32000 farewell"]
    );
    assert!(outcome.is_complete());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_costs_30_s_and_all_samples() {
    let (log, outcome) = pushed(vec![], Duration::from_secs(1_000), async |sender| {
        offer(sender, "reqs");
        sleep(Duration::from_secs(8)).await;
        offer(sender, "reqs");
    })
    .await;
    assert_eq!(log.first().unwrap(), "5000 reqs=1");
    assert!(log.iter().all(|line| !line.starts_with("39")), "{log:?}");
    expect_test::expect![[r#"Outcome { n_written: 0, n_dropped: 0, n_failed: 2, n_beyond: 0, error: Some("the end of the run was 30s ago") }"#]].assert_eq(&format!("{outcome:?}"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_to_the_end_is_named_with_what_it_cost() {
    let answers = vec![refusal(false, None); 9];
    let (_, outcome) = pushed(answers, Duration::ZERO, async |sender| {
        offer(sender, "reqs");
        sleep(Duration::from_secs(6)).await;
        offer(sender, "reqs");
    })
    .await;
    assert_eq!((outcome.n_written, outcome.n_failed), (0, 2));
    assert_eq!(outcome.error.as_deref(), Some("no"));
}

#[tokio::test(start_paused = true)]
async fn what_comes_while_a_push_is_under_way_is_not_part_of_it() {
    let mut answers = vec![refusal(false, None); 9];
    answers[0] = Ok(());
    let (log, outcome) = pushed(answers, Duration::from_secs(2), async |sender| {
        offer(sender, "reqs");
        sleep(Duration::from_secs(6)).await;
        offer(sender, "reqs");
        sleep(Duration::from_secs(2)).await;
    })
    .await;
    assert_eq!(log[..2], ["5000 reqs=1", "8000 reqs=2"]);
    assert_eq!((outcome.n_written, outcome.n_failed), (1, 1));
}
