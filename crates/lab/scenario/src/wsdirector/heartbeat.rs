//! Phoenix's heartbeat: a server drops a socket that was silent for a minute.

use std::{
    future::Future as _,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use serde_json::Value;
use tokio::time::{Instant, Sleep, sleep};

/// The interval, as in Phoenix's own client. Its server waits 60 seconds.
const INTERVAL: Duration = Duration::from_secs(30);

/// Decides when a client has to send the next heartbeat, and recognises the replies to its own ones.
#[derive(Debug)]
pub(super) struct Heartbeat {
    timer: Pin<Box<Sleep>>,
    /// The reference of the last heartbeat.
    reference: Option<String>,
}

impl Heartbeat {
    /// A heartbeat whose first beat is an interval from now.
    pub(super) fn new() -> Self {
        Self {
            timer: Box::pin(sleep(INTERVAL)),
            reference: None,
        }
    }

    /// Ready when a heartbeat is due.
    pub(super) fn poll_due(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.timer.as_mut().poll(cx)
    }

    /// The next heartbeat as text; `reference` must be unused.
    pub(super) fn beat(&mut self, reference: String) -> String {
        self.timer.as_mut().reset(Instant::now() + INTERVAL);
        let text = format!("[null,\"{reference}\",\"phoenix\",\"heartbeat\",{{}}]");
        self.reference = Some(reference);
        text
    }

    /// Whether a message is the reply to the last heartbeat, which no step expects.
    pub(super) fn is_reply(&self, text: &str) -> bool {
        let Some(reference) = &self.reference else {
            return false;
        };
        // Few messages contain the word; only those are parsed twice.
        text.contains("\"phoenix\"")
            && serde_json::from_str::<Value>(text).is_ok_and(|message| {
                message[1] == reference.as_str() && message[2] == "phoenix" && message[3] == "phx_reply"
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn beats_come_every_interval_and_their_replies_are_known() {
        let start = Instant::now();
        let mut heartbeat = Heartbeat::new();
        let reply =
            |reference: &str| format!(r#"[null,"{reference}","phoenix","phx_reply",{{"status":"ok"}}]"#);
        assert!(!heartbeat.is_reply(&reply("3")));
        for reference in ["3", "4"] {
            std::future::poll_fn(|cx| heartbeat.poll_due(cx)).await;
            let text = heartbeat.beat(reference.to_owned());
            assert_eq!(
                text,
                format!(r#"[null,"{reference}","phoenix","heartbeat",{{}}]"#)
            );
        }
        assert_eq!(start.elapsed(), 2 * INTERVAL);
        assert!(heartbeat.is_reply(&reply("4")));
        assert!(!heartbeat.is_reply(&reply("5")));
        assert!(!heartbeat.is_reply(r#"[null,"4","room","phx_reply",{"topic":"phoenix"}]"#));
    }
}
