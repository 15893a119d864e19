//! The floor of the messages that an agent's clients send, as the agent knows it.
//!
//! The coordinator hears of answers a little later than the agent of their sender, and orders messages of a schedule before
//! they are due. So the agent raises the floor of each message to what has been answered when it goes out. Pure.

use std::collections::BTreeSet;

/// The id up to which all messages are known to be answered.
#[derive(Debug, Default)]
pub(super) struct Floor {
    floor: u64,
    /// Answered ids above the floor. At most one per message of the run.
    above: BTreeSet<u64>,
}

impl Floor {
    /// A client of this agent has its answer.
    pub(super) fn hear(&mut self, id: u64) {
        if id > self.floor {
            self.above.insert(id);
            self.rise();
        }
    }

    /// The floor of a message that goes out now, for which the coordinator knew `told`.
    pub(super) fn raised(&mut self, told: u64) -> u64 {
        if told > self.floor {
            self.floor = told;
            self.above = self.above.split_off(&told);
            self.above.remove(&told);
            self.rise();
        }
        self.floor
    }

    fn rise(&mut self) {
        while self
            .floor
            .checked_add(1)
            .is_some_and(|next| self.above.remove(&next))
        {
            self.floor += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_follows_own_answers_and_what_is_told() {
        let mut floor = Floor::default();
        floor.hear(2);
        assert_eq!(floor.raised(0), 0);
        floor.hear(1);
        assert_eq!(floor.raised(0), 2);
        // Others' clients sent 3 to 5.
        floor.hear(7);
        floor.hear(6);
        assert_eq!(floor.raised(0), 2);
        assert_eq!(floor.raised(5), 7);
        assert_eq!(floor.raised(3), 7, "what was told late");
        floor.hear(4);
        assert!(floor.above.is_empty());
        assert_eq!(floor.raised(u64::MAX), u64::MAX);
    }
}
