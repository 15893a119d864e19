//! The thread that shows a bench in progress. The bench passes on its state every second, and the closed loop does
//! not wait for pictures.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use plimsoll_shootout::{Onlooker, SoFar};

use crate::session::Watchers;

/// Seconds that wait for the thread. Reason: the next one has all of it again.
const N_WAITING: usize = 1;

/// The thread, and the way to it.
pub(super) struct Studio {
    entrance: Entrance,
    thread: JoinHandle<()>,
}

/// The place where the bench hands over its state.
struct Entrance {
    watchers: Arc<Watchers>,
    states: SyncSender<SoFar>,
}

impl Studio {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system gives none.
    pub(super) fn open(watchers: Arc<Watchers>) -> io::Result<Self> {
        let (states, waiting) = sync_channel(N_WAITING);
        let entrance = Entrance {
            watchers: Arc::clone(&watchers),
            states,
        };
        let thread = thread::Builder::new().name("pictures".to_owned());
        Ok(Self {
            thread: thread.spawn(move || work(&watchers, &waiting))?,
            entrance,
        })
    }

    /// The viewer of the bench.
    pub(super) fn onlooker(&self) -> &dyn Onlooker {
        &self.entrance
    }

    /// Ends the thread.
    pub(super) fn close(self) {
        drop(self.entrance);
        // A panic there has been told, and the result needs no pictures.
        let _ended = self.thread.join();
    }
}

fn work(watchers: &Watchers, states: &Receiver<SoFar>) {
    for so_far in states {
        so_far.observe(|progress| watchers.observe(progress, |origin| so_far.summarize(origin)));
    }
}

impl Onlooker for Entrance {
    fn is_looking(&self) -> bool {
        self.watchers.is_looking()
    }

    fn show(&self, so_far: SoFar) {
        // While the thread is busy, people miss a second.
        let _missed = self.states.try_send(so_far);
    }
}
