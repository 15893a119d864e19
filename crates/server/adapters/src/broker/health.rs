//! Whether a connection carries what is announced.

use std::time::Duration;

use tokio::time::Instant;

/// Silence after which the connection is tested, and the time in which the test must succeed. A connection to a server
/// that was replaced can stay open without ever carrying a message.
pub(crate) const SILENCE: Duration = Duration::from_secs(5);

/// What is known of the connection's health.
pub(crate) struct Health {
    heard_at: Instant,
    probed_at: Option<Instant>,
}

/// What is to be done about the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing.
    Healthy,
    /// A probe is due: a message that the connection must carry.
    Probe,
    /// The connection did not carry the probe.
    Deaf,
}

impl Health {
    pub(crate) fn new() -> Self {
        Self {
            heard_at: Instant::now(),
            probed_at: None,
        }
    }

    /// The connection has carried something.
    pub(crate) fn heard(&mut self) {
        *self = Self::new();
    }

    pub(crate) fn check(&mut self) -> Verdict {
        match self.probed_at {
            Some(at) if at.elapsed() >= SILENCE => Verdict::Deaf,
            None if self.heard_at.elapsed() >= SILENCE => {
                self.probed_at = Some(Instant::now());
                Verdict::Probe
            }
            _ => Verdict::Healthy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_is_probed_and_then_given_up() {
        let mut health = Health::new();
        for (wait_secs, expected) in [
            (4, Verdict::Healthy),
            (1, Verdict::Probe),
            (4, Verdict::Healthy),
            (1, Verdict::Deaf),
        ] {
            tokio::time::advance(Duration::from_secs(wait_secs)).await;
            assert_eq!(health.check(), expected);
        }
        health.heard();
        assert_eq!(health.check(), Verdict::Healthy);
    }
}
