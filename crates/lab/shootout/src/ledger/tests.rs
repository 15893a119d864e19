//! The ledger against hand-made cases and against a slow model that keeps every arrival.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use proptest::prelude::*;

use super::*;

/// What happens to a ledger, in order. Times are microseconds.
#[derive(Debug, Clone, Copy)]
enum Happening {
    Send { id: u64, floor: u64, at_us: u64 },
    Arrive { listener: usize, id: u64, at_us: u64 },
    Drop { listener: usize },
}
use Happening::{Arrive, Drop, Send};

/// A ledger with one step of the ids 1 to 8 and the listeners 0 to `n_listeners`.
struct Bench {
    epoch: Instant,
    table: Arc<SendTable>,
    ledger: Ledger,
    /// Latencies of the first step that were collected.
    n_samples: u64,
}

impl Bench {
    fn new(n_listeners: usize) -> Self {
        let epoch = Instant::now();
        let mut bench = Self {
            epoch,
            table: Arc::new(SendTable::new(epoch, 1, 8)),
            ledger: Ledger::default(),
            n_samples: 0,
        };
        bench
            .ledger
            .open_step(Arc::clone(&bench.table), members(n_listeners));
        bench
    }

    fn apply(&mut self, happening: Happening) -> Vec<Completion> {
        let instant = |at_us| self.epoch + Duration::from_micros(at_us);
        match happening {
            Send { id, floor, at_us } => {
                self.table.mark_sent(id, floor, instant(at_us));
                Vec::new()
            }
            Arrive { listener, id, at_us } => self
                .ledger
                .deliver(listener, id, instant(at_us))
                .into_iter()
                .collect(),
            // After everything that was sent so far.
            Drop { listener } => self.ledger.drop_listener(listener, instant(1_000_000_000)),
        }
    }

    fn counts(&mut self) -> [u64; 4] {
        let tally = self.ledger.tally(0).unwrap();
        self.n_samples += tally.harvest.latency.count();
        assert_eq!(
            self.n_samples, tally.n_delivered,
            "one latency sample per delivery"
        );
        [
            tally.n_expected,
            n_lost(&tally),
            tally.n_duplicated,
            tally.n_out_of_order,
        ]
    }
}

fn members(n_listeners: usize) -> BitSet {
    let mut members = BitSet::with_slots(n_listeners);
    (0..n_listeners).for_each(|slot| assert!(members.insert(slot)));
    members
}

fn n_lost(tally: &Tally) -> u64 {
    tally.n_expected - tally.n_delivered
}

fn send(id: u64) -> Happening {
    Send {
        id,
        floor: 0,
        at_us: id,
    }
}

fn arrive(listener: usize, id: u64) -> Happening {
    Arrive {
        listener,
        id,
        at_us: 100 * id + listener as u64,
    }
}

#[test]
fn each_fault_is_counted_once() {
    // Two listeners; [expected, lost, duplicated, out of order] and the ids that completed, in order.
    let check = |happenings: &[Happening], counts: [u64; 4], completed: &[u64]| {
        let mut bench = Bench::new(2);
        let ids: Vec<u64> = happenings
            .iter()
            .flat_map(|it| bench.apply(*it))
            .map(|it| it.id)
            .collect();
        assert_eq!(
            (bench.counts(), ids.as_slice()),
            (counts, completed),
            "{happenings:?}"
        );
    };
    check(&[], [0, 0, 0, 0], &[]);
    check(&[send(1), arrive(0, 1), arrive(1, 1)], [2, 0, 0, 0], &[1]);
    check(&[send(1), arrive(0, 1)], [2, 1, 0, 0], &[]);
    check(
        &[send(1), arrive(0, 1), arrive(0, 1), arrive(1, 1)],
        [2, 0, 1, 0],
        &[1],
    );
    // A repetition after the account of the broadcast was closed.
    check(
        &[send(1), arrive(0, 1), arrive(1, 1), arrive(1, 1)],
        [2, 0, 1, 0],
        &[1],
    );
    // 2 was sent when 1 had been acknowledged, and overtook it at listener 1.
    let second = Send {
        id: 2,
        floor: 1,
        at_us: 9,
    };
    check(
        &[
            send(1),
            second,
            arrive(0, 1),
            arrive(0, 2),
            arrive(1, 2),
            arrive(1, 1),
        ],
        [4, 0, 0, 1],
        &[2, 1],
    );
    // The drop loses what was sent before and excuses what is sent after.
    check(
        &[send(1), arrive(0, 1), Drop { listener: 1 }, send(2), arrive(0, 2)],
        [3, 1, 0, 0],
        &[1, 2],
    );
    check(
        &[send(1), arrive(1, 1), Drop { listener: 1 }, arrive(0, 1)],
        [2, 0, 0, 0],
        &[1],
    );
    check(
        &[Drop { listener: 0 }, Drop { listener: 1 }, send(1)],
        [0, 0, 0, 0],
        &[],
    );
}

#[test]
fn completion_tells_the_last_arrival_and_the_losses() {
    let mut bench = Bench::new(3);
    let last = bench.epoch + Duration::from_micros(70);
    for happening in [
        send(1),
        Arrive {
            listener: 1,
            id: 1,
            at_us: 70,
        },
        Arrive {
            listener: 0,
            id: 1,
            at_us: 50,
        },
    ] {
        assert_eq!(bench.apply(happening), []);
    }
    let completion = Completion {
        id: 1,
        n_lost: 1,
        last_at: Some(last),
    };
    assert_eq!(bench.apply(Drop { listener: 2 }), [completion]);
}

#[test]
fn strangers_are_told_apart_from_duplicates() {
    let mut bench = Bench::new(2);
    bench.apply(send(1));
    bench.apply(arrive(5, 1)); // connected after the step began: not due
    bench.apply(arrive(0, 2)); // in range, but never sent
    bench.apply(arrive(0, 99));
    assert_eq!(bench.counts(), [2, 2, 0, 0]);
    assert_eq!(bench.ledger.n_foreign(), 2);
}

#[test]
fn late_arrivals_are_credited_to_their_own_step() {
    let mut bench = Bench::new(2);
    bench.apply(send(1));
    bench.apply(arrive(0, 1));
    let second = Arc::new(SendTable::new(bench.epoch, 9, 2));
    bench.ledger.open_step(Arc::clone(&second), members(3));
    second.mark_sent(9, 0, bench.epoch);
    bench.apply(arrive(2, 9));
    assert_eq!(bench.counts(), [2, 1, 0, 0]);

    assert_eq!(bench.apply(arrive(1, 1)).len(), 1);
    assert_eq!(bench.counts(), [2, 0, 0, 0]);
    let tally = bench.ledger.tally(1).unwrap();
    assert_eq!([tally.n_expected, n_lost(&tally), tally.n_duplicated], [3, 2, 0]);
}

#[test]
fn what_is_missing_when_a_step_is_closed_counts_with_the_time_that_was_waited() {
    let mut bench = Bench::new(3);
    let at = |bench: &Bench, us| bench.epoch + Duration::from_micros(us);
    for happening in [
        send(1),
        send(2),
        send(3),
        arrive(0, 1),
        arrive(0, 2),
        arrive(1, 2),
        arrive(2, 2),
    ] {
        bench.apply(happening);
    }
    bench.apply(Drop { listener: 2 });
    let standing = bench.ledger.standing(0, 4);
    assert_eq!((standing.n_expected, standing.n_missing()), (9, 3));
    assert_eq!(standing.last_at, Some(at(&bench, 202)));

    let closing = at(&bench, 5_000);
    let completions = bench.ledger.close_step(0, closing, Duration::from_micros(4_998));
    let lost: Vec<_> = completions.iter().map(|it| (it.id, it.n_lost)).collect();
    assert_eq!(lost, [(1, 2), (3, 3)]);
    assert_eq!(bench.ledger.close_step(0, closing, Duration::ZERO), [], "once");
    let tally = bench.ledger.tally(0).unwrap();
    assert_eq!([tally.n_expected, n_lost(&tally), tally.n_late], [9, 5, 0]);
    let missing = &tally.harvest.missing;
    // 4,999 µs since the first send, 4,998 µs at least since the third.
    let expected = [4_999, 4_998].map(Duration::from_micros);
    assert_eq!(
        (missing.count(), missing.max(), missing.min()),
        (5, expected[0], expected[1])
    );

    // A late arrival is delivered, and its time is not counted a second time.
    assert_eq!(bench.apply(arrive(1, 3)), []);
    assert_eq!(bench.apply(arrive(1, 3)), []);
    let tally = bench.ledger.tally(0).unwrap();
    assert_eq!(
        [
            tally.n_delivered,
            n_lost(&tally),
            tally.n_late,
            tally.n_duplicated
        ],
        [5, 4, 1, 1]
    );
    assert_eq!((tally.harvest.n_delivered, tally.harvest.latency.count()), (1, 0));
}

#[test]
fn the_standing_of_a_step_skips_what_is_not_sent() {
    let mut bench = Bench::new(2);
    for happening in [send(1), send(3), Drop { listener: 1 }, send(2), arrive(0, 3)] {
        bench.apply(happening);
    }
    let mut check = |end_id, n_expected, n_missing| {
        let standing = bench.ledger.standing(0, end_id);
        assert_eq!(
            (standing.n_expected, standing.n_missing()),
            (n_expected, n_missing),
            "{end_id}"
        );
    };
    // The listener that dropped was not due to get the second one; of the others it settles its part.
    check(4, 5, 2);
    check(9, 5, 2);
    check(4, 5, 2);
}

/// Keeps every arrival and judges at the end.
#[derive(Default)]
struct Model {
    sent: BTreeMap<u64, BTreeSet<usize>>,
    gone: BTreeSet<usize>,
    arrivals: BTreeMap<(u64, usize), u64>,
}

impl Model {
    fn apply(&mut self, happening: Happening, n_listeners: usize) {
        match happening {
            Send { id, .. } => {
                let due = (0..n_listeners).filter(|it| !self.gone.contains(it)).collect();
                self.sent.insert(id, due);
            }
            Arrive { listener, id, .. } => *self.arrivals.entry((id, listener)).or_default() += 1,
            Drop { listener } => {
                self.gone.insert(listener);
            }
        }
    }

    fn counts(&self) -> [u64; 3] {
        let due: Vec<_> = self
            .sent
            .iter()
            .flat_map(|(id, due)| due.iter().map(|it| (*id, *it)))
            .collect();
        let n_lost = due
            .iter()
            .filter(|pair| !self.arrivals.contains_key(pair))
            .count();
        [
            due.len() as u64,
            n_lost as u64,
            self.arrivals.values().map(|n| n - 1).sum(),
        ]
    }
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let one = prop_oneof![
        2 => (1_u64..=8).prop_map(send),
        8 => (0_usize..5, 1_u64..=8).prop_map(|(listener, id)| arrive(listener, id)),
        1 => (0_usize..5).prop_map(|listener| Drop { listener }),
    ];
    proptest::collection::vec(one, 0..120)
}

proptest! {
    #[test]
    fn agrees_with_the_model(happenings in happenings()) {
        let (mut bench, mut model) = (Bench::new(5), Model::default());
        let mut completed = BTreeSet::new();
        for happening in happenings {
            let possible = match happening {
                Send { id, .. } => !model.sent.contains_key(&id),
                Arrive { listener, id, .. } => model.sent.contains_key(&id) && !model.gone.contains(&listener),
                Drop { listener } => !model.gone.contains(&listener),
            };
            if possible {
                model.apply(happening, 5);
                for completion in bench.apply(happening) {
                    prop_assert!(completed.insert(completion.id), "{} completed twice", completion.id);
                }
            }
        }
        let [n_expected, n_lost, n_duplicated, _] = bench.counts();
        prop_assert_eq!([n_expected, n_lost, n_duplicated], model.counts());
    }
}

#[test]
fn what_is_lost_is_lost_by_the_server_of_its_listener() {
    let epoch = Instant::now();
    let at = |ms| epoch + Duration::from_millis(ms);
    let mut ledger = Ledger::new(Nodes::new(2, 0));
    let table = Arc::new(SendTable::new(epoch, 1, 3));
    // 0, 2 and 4 are clients of the first server, 1 and 3 of the second one.
    ledger.open_step(Arc::clone(&table), members(5));
    ledger.drop_listener(4, epoch); // Nothing was sent, so nothing is due to it.
    table.mark_sent(1, 0, at(0));
    for listener in [0, 1] {
        ledger.deliver(listener, 1, at(5));
    }
    ledger.drop_listener(3, epoch); // 1 is lost for it, 2 is not due.
    ledger.deliver(2, 1, at(9)); // The last one that can still get 1.
    table.mark_sent(2, 1, at(20));
    ledger.deliver(1, 2, at(22));
    ledger.close_step(0, at(100), Duration::ZERO);
    ledger.deliver(0, 2, at(120)); // Late: there after all.
    let nodes = ledger.tally(0).unwrap().harvest.by_node;
    let counts: Vec<_> = nodes
        .iter()
        .map(|node| (node.n_expected(), node.n_delivered, node.missing.count()))
        .collect();
    assert_eq!(counts, [(4, 3, 2), (3, 2, 1)]);
    assert_eq!(nodes[1].missing.max(), Duration::from_millis(100));
}
