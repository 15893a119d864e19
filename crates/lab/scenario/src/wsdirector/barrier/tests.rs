//! Clients that meet, in one process and in several.

use std::sync::Arc;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn barrier() -> Arc<Barrier> {
    let groups = [("publisher".to_owned(), 1), ("listener".to_owned(), 2)];
    Arc::new(Barrier::new(groups, 5 * SECOND))
}

/// When a client of `group` that arrives after `delay` passes, and how.
async fn passes(barrier: Arc<Barrier>, group: usize, delay: Duration) -> (Duration, String) {
    let start = Instant::now();
    tokio::time::sleep(delay).await;
    let outcome = barrier.wait(group).await;
    let told = outcome.map_or_else(|missing| missing.to_string(), |()| "passed".to_owned());
    (start.elapsed(), told)
}

#[tokio::test(start_paused = true)]
async fn nobody_passes_before_the_last_one_comes() {
    let barrier = barrier();
    for _ in 0..3 {
        // The last one arrives later than the timeout after the first, but others arrived in between.
        let [first, second, last] = [(1, 0), (0, 4), (1, 8)]
            .map(|(group, delay)| passes(Arc::clone(&barrier), group, delay * SECOND));
        let outcomes: [_; 3] = tokio::join!(first, second, last).into();
        assert_eq!(outcomes, [0; 3].map(|_| (8 * SECOND, "passed".to_owned())));
    }
}

#[tokio::test(start_paused = true)]
async fn a_standstill_says_who_is_missing() {
    let barrier = barrier();
    let (first, second) = tokio::join!(
        passes(Arc::clone(&barrier), 1, Duration::ZERO),
        passes(Arc::clone(&barrier), 1, 3 * SECOND)
    );
    let told = "2 of 3 clients arrived, and no other client for 5s; missing: 1 of 1 of group publisher";
    assert_eq!(first, (8 * SECOND, told.to_owned()));
    assert_eq!(second, (8 * SECOND, told.to_owned()));
    // A late client fails at once, with the same words.
    let late = passes(barrier, 0, Duration::ZERO).await;
    assert_eq!(late, (Duration::ZERO, told.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_client_that_failed() {
    let barrier = barrier();
    let lose = async {
        tokio::time::sleep(SECOND).await;
        barrier.lose(0);
    };
    let (outcome, ()) = tokio::join!(passes(Arc::clone(&barrier), 1, Duration::ZERO), lose);
    let told = "a client of group publisher failed before this step";
    assert_eq!(outcome, (SECOND, told.to_owned()));
}

/// Carries notes between barriers until nothing is new, as the coordinator of a fleet does.
async fn relay(barriers: [Arc<Barrier>; 3]) {
    let mut latest: [Option<String>; 3] = [None, None, None];
    loop {
        let [a, b, c] = &barriers;
        let (at, note) = tokio::select! {
            note = a.next_note() => (0, note),
            note = b.next_note() => (1, note),
            note = c.next_note() => (2, note),
        };
        if latest[at].as_ref() == Some(&note) {
            continue;
        }
        latest[at] = Some(note);
        tokio::time::sleep(Duration::from_millis(50)).await;
        for (at, barrier) in barriers.iter().enumerate() {
            let others = (0..3).filter(|other| *other != at);
            barrier.hear(
                &others
                    .filter_map(|other| latest[other].clone())
                    .collect::<Vec<_>>(),
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn clients_of_several_instances_meet() {
    // The third instance has no clients.
    let barriers = [barrier(), barrier(), barrier()];
    let [one, other, _] = barriers.clone();
    let relaying = tokio::spawn(relay(barriers));
    for _ in 0..3 {
        let outcomes: [_; 3] = tokio::join!(
            passes(Arc::clone(&one), 1, Duration::ZERO),
            passes(Arc::clone(&one), 0, 4 * SECOND),
            passes(Arc::clone(&other), 1, 8 * SECOND)
        )
        .into();
        for (elapsed, told) in outcomes {
            assert_eq!(told, "passed");
            assert!((8 * SECOND..9 * SECOND).contains(&elapsed), "{elapsed:?}");
        }
    }
    let (first, second) = tokio::join!(
        passes(Arc::clone(&one), 1, Duration::ZERO),
        passes(Arc::clone(&other), 1, 3 * SECOND)
    );
    let missing = "2 of 3 clients arrived, and no other client for 5s; missing: 1 of 1 of group publisher";
    assert_eq!((first.1.as_str(), second.1.as_str()), (missing, missing));
    relaying.abort();
}

#[tokio::test(start_paused = true)]
async fn a_client_that_failed_elsewhere_is_not_waited_for() {
    let barriers = [barrier(), barrier(), barrier()];
    let [one, other, _] = barriers.clone();
    let relaying = tokio::spawn(relay(barriers));
    let lose = async {
        tokio::time::sleep(SECOND).await;
        other.lose(0);
    };
    let (outcome, ()) = tokio::join!(passes(one, 1, Duration::ZERO), lose);
    assert_eq!(outcome.1, "a client of group publisher failed before this step");
    assert!(outcome.0 < 2 * SECOND);
    relaying.abort();
}

#[test]
fn threads_meet() {
    let n_threads = 4;
    let groups = [("all".to_owned(), n_threads * 50)];
    let barrier = Arc::new(Barrier::new(groups, 60 * SECOND));
    let threads = (0..n_threads).map(|_| {
        let barrier = Arc::clone(&barrier);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build();
            runtime.unwrap().block_on(async {
                let clients = (0..50).map(|_| async {
                    for _ in 0..20 {
                        barrier.wait(0).await.unwrap();
                    }
                });
                futures_util::future::join_all(clients).await;
            });
        })
    });
    let threads: Vec<_> = threads.collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(barrier.state().n_passed, 20);
}
