//! The order in which waiting calls get their turn.

use std::collections::VecDeque;

/// Connect calls that may overtake a waiting command in a row. Without a bound, clients that reconnect again and again
/// could keep all commands from the application.
const CONNECTS_PER_COMMAND: usize = 8;

/// The rank of a call in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rank {
    /// The next attempt of a call that had a turn, and was refused or found no connection.
    Again,
    /// A connect call. Its client waits for the welcome, and gives up without it.
    Connect,
    /// Any other first attempt.
    Command,
    /// A command that failed before, and that the server repeats on its own.
    Repeat,
}

impl Rank {
    const COUNT: usize = 4;
}

/// Waiting calls: first come, first served within a rank.
#[derive(Debug)]
pub(super) struct Line<T> {
    by_rank: [VecDeque<T>; Rank::COUNT],
    n_connects_in_a_row: usize,
}

impl<T> Line<T> {
    pub(super) fn new() -> Self {
        Self {
            by_rank: Default::default(),
            n_connects_in_a_row: 0,
        }
    }

    pub(super) fn push(&mut self, rank: Rank, call: T) {
        self.by_rank[rank as usize].push_back(call);
    }

    /// Removes the call that is next.
    pub(super) fn pop(&mut self) -> Option<T> {
        let rank = self.next_rank()?;
        match rank {
            Rank::Connect => self.n_connects_in_a_row += 1,
            Rank::Command => self.n_connects_in_a_row = 0,
            Rank::Again | Rank::Repeat => {}
        }
        self.by_rank[rank as usize].pop_front()
    }

    pub(super) fn len(&self) -> usize {
        self.by_rank.iter().map(VecDeque::len).sum()
    }

    /// Drops the calls for which `keeps` returns false.
    pub(super) fn retain(&mut self, keeps: impl Fn(&T) -> bool) {
        for calls in &mut self.by_rank {
            calls.retain(&keeps);
            calls.shrink_to(2 * calls.len());
        }
    }

    fn next_rank(&self) -> Option<Rank> {
        let waits = |rank: Rank| !self.by_rank[rank as usize].is_empty();
        let command_is_due = self.n_connects_in_a_row >= CONNECTS_PER_COMMAND;
        let order = if command_is_due {
            [Rank::Again, Rank::Command, Rank::Connect, Rank::Repeat]
        } else {
            [Rank::Again, Rank::Connect, Rank::Command, Rank::Repeat]
        };
        order.into_iter().find(|rank| waits(*rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(calls: &str, expected: &str) {
        let mut line = Line::new();
        for call in calls.chars() {
            let rank = match call.to_ascii_lowercase() {
                'x' => Rank::Again,
                'c' => Rank::Connect,
                'm' => Rank::Command,
                'r' => Rank::Repeat,
                other => panic!("{other} is no call"),
            };
            line.push(rank, call);
        }
        assert_eq!(line.len(), calls.len());
        let order: String = std::iter::from_fn(|| line.pop()).collect();
        assert_eq!(order, expected);
    }

    #[test]
    fn ranks_go_in_order_and_calls_of_a_rank_as_they_came() {
        check("rRmMcCxX", "xXcCmMrR");
        check("mcm", "cmm");
        check("rr", "rr");
    }

    #[test]
    fn every_ninth_turn_is_a_command_however_many_clients_connect() {
        check("mmmccccccccccccccccccc", "ccccccccmccccccccmcccm");
        check("ccccccccccccccccccr", "ccccccccccccccccccr");
    }

    #[test]
    fn another_attempt_does_not_change_whose_turn_it_is() {
        check("mccccccccxc", "xccccccccmc");
    }
}
