//! What the users of a run tell those of other agents while it lasts.
//!
//! An agent tells its latest note, and the coordinator hands out the latest ones of all. Notes between two are left out, so
//! many changes cost as much as few.

use std::{future::pending, sync::Arc, time::Duration};

use plimsoll_load::vu::Exchange;
use tokio::time::{Instant, sleep, sleep_until};

use crate::{Duty, message::Told};

/// The least time between two notes of an agent, and between two rounds of the coordinator. Reason: a tenth of what people
/// notice, and with a thousand agents still fewer messages than their signs of life.
pub(crate) const NOTE_EVERY: Duration = Duration::from_millis(50);

/// Tells the notes of this agent's users, and lets them hear those of others, for as long as the run lasts.
pub(crate) async fn talk(duty: &Duty, exchange: Option<Arc<dyn Exchange>>) {
    let Some(exchange) = exchange else {
        return pending().await;
    };
    let tell = async {
        loop {
            let note = exchange.next_note().await;
            if !duty.tell(Told::Note(note)).await {
                // The run ends here, and says so itself.
                return pending::<()>().await;
            }
            sleep(NOTE_EVERY).await;
        }
    };
    let hear = async {
        let mut known: Option<Arc<[String]>> = None;
        loop {
            let is_new =
                |notes: &Arc<[String]>| known.as_ref().is_none_or(|known| !Arc::ptr_eq(known, notes));
            let heard = duty.until(|orders| orders.notes.clone().filter(is_new)).await;
            let Some(notes) = heard else {
                return pending::<()>().await;
            };
            exchange.hear(&notes);
            known = Some(notes);
        }
    };
    tokio::select! {
        () = tell => {}
        () = hear => {}
    }
}

/// The latest notes of all agents.
#[derive(Debug)]
pub(crate) struct Notes {
    latest: Vec<Option<String>>,
    /// When those that are new are handed out.
    due_at: Option<Instant>,
}

impl Notes {
    /// No notes of `n` agents.
    pub(crate) fn none(n: usize) -> Self {
        Self {
            latest: vec![None; n],
            due_at: None,
        }
    }

    /// Takes the note of an agent.
    pub(crate) fn take(&mut self, member: usize, note: String) {
        if self.latest[member].as_ref() != Some(&note) {
            self.latest[member] = Some(note);
            self.due_at.get_or_insert_with(|| Instant::now() + NOTE_EVERY);
        }
    }

    /// Returns when there are notes to hand out.
    pub(crate) async fn due(&self) {
        match self.due_at {
            Some(due_at) => sleep_until(due_at).await,
            None => pending().await,
        }
    }

    /// The notes for each agent: those of all others.
    pub(crate) fn hand_out(&mut self) -> Vec<Vec<String>> {
        self.due_at = None;
        let others = |member: usize| {
            let others = self.latest.iter().enumerate().filter(|(at, _)| *at != member);
            others.filter_map(|(_, note)| note.clone()).collect()
        };
        (0..self.latest.len()).map(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_agent_gets_the_latest_notes_of_all_others() {
        let mut notes = Notes::none(3);
        for (member, note) in [(0, "a"), (2, "b"), (0, "c")] {
            notes.take(member, note.to_owned());
        }
        notes.due().await;
        let b_c = || vec!["c".to_owned(), "b".to_owned()];
        assert_eq!(
            notes.hand_out(),
            [vec!["b".to_owned()], b_c(), vec!["c".to_owned()]]
        );
        notes.take(2, "b".to_owned());
        let due = tokio::time::timeout(NOTE_EVERY * 10, notes.due());
        assert!(due.await.is_err(), "nothing is new");
    }
}
