//! When the silence of an agent means that it is lost.

use std::{fmt, time::Duration};

use tokio::time::Instant;

/// The silence after which an agent counts as lost. Reason: a stopped machine or a NATS that is started anew is back earlier.
pub(crate) const LOST_AFTER: Duration = Duration::from_secs(10);

/// The silence after which an agent counts as lost while there is no connection to NATS. Reason: agents end their parts after
/// 25 s without a beat, so a connection that comes later finds nothing to go on with.
const CUT_OFF_AFTER: Duration = Duration::from_secs(35);

/// Why an agent that says nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// There is a connection, and the agent says nothing.
    OfAgent,
    /// There is no connection.
    OfNats,
}

impl Silence {
    /// Judges an agent that was heard last at a time. `up_since` is since when there is a connection to NATS; `None`: there is
    /// none. The result is `None` while the agent is not lost.
    pub(crate) fn judge(now: Instant, heard_at: Instant, up_since: Option<Instant>) -> Option<Self> {
        let (since, patience, silence) = match up_since {
            Some(up_since) => (heard_at.max(up_since), LOST_AFTER, Self::OfAgent),
            None => (heard_at, CUT_OFF_AFTER, Self::OfNats),
        };
        (now.saturating_duration_since(since) >= patience).then_some(silence)
    }
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfAgent => write!(f, "nothing was heard of it for {} s", LOST_AFTER.as_secs()),
            Self::OfNats => write!(
                f,
                "there was no connection to NATS for {} s",
                CUT_OFF_AFTER.as_secs()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_counts_from_the_last_word_or_the_last_connection() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let check = |now, heard_at, up_since: Option<u64>, expected| {
            let found = Silence::judge(at(now), at(heard_at), up_since.map(at));
            assert_eq!(found, expected, "{now} {heard_at} {up_since:?}");
        };
        check(9, 0, Some(0), None);
        check(10, 0, Some(0), Some(Silence::OfAgent));
        check(20, 11, Some(0), None);
        // An agent must find the way back, too.
        check(24, 0, Some(15), None);
        check(25, 0, Some(15), Some(Silence::OfAgent));
        check(34, 0, None, None);
        check(35, 0, None, Some(Silence::OfNats));
        // Messages are in order, but moments are taken by different tasks.
        check(0, 1, Some(2), None);
    }
}
