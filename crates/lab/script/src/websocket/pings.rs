//! Pings of a script and the time until their answers.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Pings that may wait for their answer; beyond that, the oldest is taken for lost. A server need not answer each one
/// (RFC 6455 §5.5.3), and one that answers none must not fill the memory.
const MAX_WAITING: usize = 1000;

/// Pings that were sent, the oldest first. Their payload is their number.
#[derive(Debug, Default)]
pub(super) struct Pings {
    n_sent: u64,
    waiting: VecDeque<(u64, Instant)>,
}

impl Pings {
    /// The payload of a Ping that is sent now.
    pub(super) fn send(&mut self, now: Instant) -> String {
        if self.waiting.len() == MAX_WAITING {
            self.waiting.pop_front();
        }
        let number = self.n_sent;
        self.n_sent += 1;
        self.waiting.push_back((number, now));
        number.to_string()
    }

    /// How long the answer took that has come with a Pong; `None` when the Pong answers nothing.
    pub(super) fn receive(&mut self, payload: &[u8], at: Instant) -> Option<Duration> {
        let number: u64 = str::from_utf8(payload).ok()?.parse().ok()?;
        let position = self.waiting.iter().position(|&(waiting, _)| waiting == number)?;
        let (_, sent) = self.waiting[position];
        // It answers the earlier ones, too: a server may answer the last of several only.
        self.waiting.drain(..=position);
        Some(at.saturating_duration_since(sent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pong_is_matched_with_its_ping() {
        let mut pings = Pings::default();
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let payloads: Vec<_> = (0..4).map(|n| pings.send(at(n * 10))).collect();
        let mut check = |payload: &str, millis, expected: Option<u64>| {
            let took = pings.receive(payload.as_bytes(), at(millis));
            assert_eq!(took, expected.map(Duration::from_millis), "{payload}");
        };
        check("x", 50, None);
        check(&payloads[1], 50, Some(40));
        check(&payloads[0], 60, None);
        check(&payloads[1], 60, None);
        check(&payloads[2], 60, Some(40));
        check("77", 60, None);
        check(&payloads[3], 60, Some(30));
    }

    #[test]
    fn a_server_that_never_answers_takes_no_memory() {
        let mut pings = Pings::default();
        (0..3 * MAX_WAITING).for_each(|_| drop(pings.send(Instant::now())));
        assert_eq!(pings.waiting.len(), MAX_WAITING);
    }
}
