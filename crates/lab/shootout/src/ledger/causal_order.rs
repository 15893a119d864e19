//! Out-of-order arrivals, judged by causality alone.
//!
//! With several broadcasts in flight the server may fan them out in any order, so ids alone prove nothing. But
//! each broadcast has a *floor*: all ids up to it had been acknowledged before it was sent. A listener that has
//! seen a broadcast with floor F and only then gets an id ≤ F got that one too late: the server had declared it
//! done before the other one even existed.

/// The largest floor that each listener has seen.
#[derive(Debug, Default)]
pub(crate) struct CausalOrder {
    newest_floors: Vec<u64>,
}

impl CausalOrder {
    /// Notes the first arrival of broadcast `id`, sent with `floor`, at `listener`; false when it came too late.
    pub(crate) fn arrives_in_order(&mut self, listener: usize, id: u64, floor: u64) -> bool {
        if listener >= self.newest_floors.len() {
            self.newest_floors.resize(listener + 1, 0);
        }
        let newest = &mut self.newest_floors[listener];
        let in_order = id > *newest;
        *newest = (*newest).max(floor);
        in_order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_causality_counts() {
        // (id, floor) in order of arrival; how many came too late.
        let check = |arrivals: &[(u64, u64)], n_late: usize| {
            let mut order = CausalOrder::default();
            let late = arrivals
                .iter()
                .filter(|(id, floor)| !order.arrives_in_order(3, *id, *floor));
            assert_eq!(late.count(), n_late, "{arrivals:?}");
        };
        check(&[(1, 0), (2, 1), (3, 2)], 0);
        // 2 and 1 were in flight together: any order is fine.
        check(&[(2, 0), (1, 0)], 0);
        // 3 was sent after 1 and 2 had been acknowledged.
        check(&[(1, 0), (3, 2), (2, 0)], 1);
        check(&[(5, 4), (1, 0), (2, 0), (6, 4), (3, 0)], 3);
    }

    #[test]
    fn listeners_do_not_share_floors() {
        let mut order = CausalOrder::default();
        assert!(order.arrives_in_order(0, 9, 8));
        assert!(order.arrives_in_order(1, 1, 0));
        assert!(!order.arrives_in_order(0, 1, 0));
    }
}
