//! What the worker of an agent cannot judge yet: deliveries of broadcasts whose sends it does not know, and clients that are
//! gone. Pure.
//!
//! The sender's agent tells of each send, which takes some milliseconds. A delivery may be quicker; and whether a broadcast
//! was due to a client that is gone depends on sends that are not known yet. Both wait here, and are entered in the order in
//! which they came.

use std::{collections::VecDeque, time::Instant};

use crate::ledger::{Completion, Ledger};

/// The most deliveries that wait, 24 bytes each. Reason: at a million deliveries per second, a coordinator may be silent for
/// some seconds. Above it the oldest count as messages that this run did not send.
const MAX_ARRIVALS: usize = 4 << 20;

/// What waits.
#[derive(Debug, Default)]
pub(super) struct Held {
    arrivals: VecDeque<Arrival>,
    /// Clients that are gone.
    drops: VecDeque<(Instant, usize)>,
}

#[derive(Debug, Clone, Copy)]
struct Arrival {
    slot: usize,
    id: u64,
    at: Instant,
}

impl Held {
    /// A delivery has come: it is entered, or it waits.
    pub(super) fn arrive(
        &mut self,
        slot: usize,
        id: u64,
        at: Instant,
        ledger: &mut Ledger,
    ) -> Option<Completion> {
        if self.arrivals.is_empty() && ledger.holds(id) {
            return ledger.deliver(slot, id, at);
        }
        self.arrivals.push_back(Arrival { slot, id, at });
        if self.arrivals.len() <= MAX_ARRIVALS {
            return None;
        }
        let oldest = self.arrivals.pop_front()?;
        ledger.deliver(oldest.slot, oldest.id, oldest.at)
    }

    /// A client is gone.
    pub(super) fn drop_client(&mut self, slot: usize, at: Instant) {
        self.drops.push_back((at, slot));
    }

    /// Enters what can be judged: deliveries of known broadcasts, and all that happened before `until`.
    pub(super) fn settle(&mut self, until: Option<Instant>, ledger: &mut Ledger) -> Vec<Completion> {
        let is_past = |at: Instant| until.is_some_and(|until| at <= until);
        let mut completions = Vec::new();
        while let Some(it) = self
            .arrivals
            .pop_front_if(|it| is_past(it.at) || ledger.holds(it.id))
        {
            completions.extend(ledger.deliver(it.slot, it.id, it.at));
        }
        while let Some((at, slot)) = self.drops.pop_front_if(|(at, _)| is_past(*at)) {
            completions.extend(ledger.drop_listener(slot, at));
        }
        completions
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc, time::Duration};

    use proptest::prelude::*;

    use super::*;
    use crate::ledger::{BitSet, Nodes, SendTable};

    const N_LISTENERS: usize = 5;

    /// What happens, in the order of its true times.
    #[derive(Debug, Clone, Copy)]
    enum Happening {
        Send(u64),
        Arrive(usize, u64),
        Drop(usize),
        /// The agent hears of all sends so far.
        Tell,
        /// It hears that these are all.
        Know,
    }
    use Happening::{Arrive, Drop, Know, Send, Tell};

    struct Bench {
        table: Arc<SendTable>,
        ledger: Ledger,
    }

    impl Bench {
        fn new(epoch: Instant) -> Self {
            let table = Arc::new(SendTable::new(epoch, 1, 6));
            let mut members = BitSet::with_slots(N_LISTENERS);
            (0..N_LISTENERS).for_each(|slot| assert!(members.insert(slot)));
            let mut ledger = Ledger::new(Nodes::new(2, 0));
            ledger.open_step(Arc::clone(&table), members);
            Self { table, ledger }
        }

        /// `[expected, delivered, duplicated, out of order, latencies]`
        fn counts(&mut self) -> [u64; 5] {
            let tally = self.ledger.tally(0).expect("there is a step");
            let latency = &tally.harvest.latency;
            [
                tally.n_expected,
                tally.n_delivered,
                tally.n_duplicated,
                tally.n_out_of_order,
                latency.count() * 1_000_000 + u64::try_from(latency.max().as_micros()).expect("it is short"),
            ]
        }
    }

    fn happenings() -> impl Strategy<Value = Vec<Happening>> {
        let happening = prop_oneof![
            4 => (1_u64..=6).prop_map(Send),
            12 => (0..N_LISTENERS, 1_u64..=6).prop_map(|(slot, id)| Arrive(slot, id)),
            1 => (0..N_LISTENERS).prop_map(Drop),
            2 => Just(Tell),
            1 => Just(Know),
        ];
        prop::collection::vec(happening, 0..120)
    }

    proptest! {
        #[test]
        fn what_is_heard_late_is_counted_as_if_it_had_been_known(happenings in happenings()) {
            let epoch = Instant::now();
            let (mut known, mut late) = (Bench::new(epoch), Bench::new(epoch));
            let mut held = Held::default();
            let (mut sent, mut gone, mut untold) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
            let mut completions = [Vec::new(), Vec::new()];
            let tell = |untold: &mut Vec<(u64, Instant)>, table: &SendTable| {
                for (id, at) in untold.drain(..) {
                    table.mark_sent(id, id / 2, at);
                }
            };
            for (n, happening) in (1..).zip(happenings) {
                let at = epoch + Duration::from_micros(n * 10);
                match happening {
                    Send(id) => if sent.insert(id) {
                        known.table.mark_sent(id, id / 2, at);
                        untold.push((id, at));
                    },
                    Arrive(slot, id) => if sent.contains(&id) && !gone.contains(&slot) {
                        completions[0].extend(known.ledger.deliver(slot, id, at));
                        completions[1].extend(held.arrive(slot, id, at, &mut late.ledger));
                    },
                    Drop(slot) => if gone.insert(slot) {
                        completions[0].extend(known.ledger.drop_listener(slot, at));
                        held.drop_client(slot, at);
                    },
                    Tell => {
                        tell(&mut untold, &late.table);
                        completions[1].extend(held.settle(None, &mut late.ledger));
                    }
                    Know => {
                        tell(&mut untold, &late.table);
                        completions[1].extend(held.settle(Some(at), &mut late.ledger));
                    }
                }
            }
            tell(&mut untold, &late.table);
            completions[1].extend(held.settle(Some(epoch + Duration::from_secs(1)), &mut late.ledger));
            prop_assert_eq!(late.counts(), known.counts());
            prop_assert_eq!(late.ledger.n_foreign(), 0);
            let by_id = completions.map(|mut all| {
                all.sort_by_key(|it| it.id);
                all
            });
            prop_assert_eq!(&by_id[0], &by_id[1]);
        }
    }

    #[test]
    fn what_nobody_sent_is_foreign() {
        let epoch = Instant::now();
        let mut bench = Bench::new(epoch);
        let mut held = Held::default();
        let at = |ms| epoch + Duration::from_millis(ms);
        assert_eq!(held.arrive(0, 3, at(1), &mut bench.ledger), None);
        assert!(held.settle(Some(at(0)), &mut bench.ledger).is_empty());
        assert_eq!(bench.ledger.n_foreign(), 0, "its send may still be told");
        assert!(held.settle(Some(at(2)), &mut bench.ledger).is_empty());
        assert_eq!(bench.ledger.n_foreign(), 1);
    }
}
