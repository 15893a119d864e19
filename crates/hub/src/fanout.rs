//! Publications whose subscribers are still to be flushed.

use std::collections::VecDeque;

use crate::SessionId;

/// Round robin over publications in flight. Its length is bounded by the caller, which stops taking new
/// publications while too many are under way.
#[derive(Default)]
pub(crate) struct Fanouts {
    waiting: VecDeque<Vec<SessionId>>,
}

impl Fanouts {
    pub(crate) fn start(&mut self, sessions: Vec<SessionId>) {
        if !sessions.is_empty() {
            self.waiting.push_back(sessions);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn next_portion(&mut self, max: usize, portion: &mut Vec<SessionId>) {
        portion.clear();
        let Some(mut sessions) = self.waiting.pop_front() else {
            return;
        };
        let rest = sessions.len().saturating_sub(max);
        portion.extend(sessions.drain(rest..));
        if !sessions.is_empty() {
            self.waiting.push_back(sessions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(serials: std::ops::Range<u32>) -> Vec<SessionId> {
        serials.map(|serial| SessionId::new(0, serial)).collect()
    }

    #[test]
    fn a_small_publication_does_not_wait_for_a_big_one() {
        let mut fanouts = Fanouts::default();
        fanouts.start(sessions(0..1000));
        fanouts.start(sessions(1000..1001));
        fanouts.start(Vec::new());
        let mut portion = Vec::new();
        let mut sizes = Vec::new();
        while fanouts.len() > 0 {
            fanouts.next_portion(256, &mut portion);
            sizes.push(portion.len());
        }
        assert_eq!(sizes, [256, 1, 256, 256, 232]);
    }
}
