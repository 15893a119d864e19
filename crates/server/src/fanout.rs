//! The loop that empties a shard's mailbox into sockets. The hottest code of the server.

use std::rc::Rc;

use tokio::sync::mpsc;

use crate::{
    encoding,
    mailbox::{Letter, Outgoing},
    outgoing::Ending,
    shard::Shard,
};

/// Sessions that are flushed before other tasks of the shard get their turn: at about 3 µs each, under a
/// millisecond.
const PORTION: usize = 256;

/// Publications that may be under way at once. Beyond it the mailbox fills and publishers wait. More lets one
/// `writev` carry more messages (the gain is small past a dozen) but makes each of them wait longer.
const MAX_FANOUTS: usize = 16;

/// Runs until every publisher is gone.
pub(crate) async fn run(shard: Rc<Shard>, mut mailbox: mpsc::Receiver<Letter>) {
    let mut portion = Vec::with_capacity(PORTION);
    loop {
        if shard.hub.borrow().n_fanouts() == 0 {
            let Some(letter) = mailbox.recv().await else {
                return;
            };
            shard.deliver(&letter);
        }
        while shard.hub.borrow().n_fanouts() < MAX_FANOUTS
            && let Ok(letter) = mailbox.try_recv()
        {
            shard.deliver(&letter);
        }
        shard.hub.borrow_mut().next_portion(PORTION, &mut portion);
        for id in &portion {
            shard.flush(*id);
        }
        tokio::task::yield_now().await;
    }
}

impl Shard {
    fn deliver(self: &Rc<Self>, letter: &Letter) {
        match letter {
            Letter::Publish(outgoing) => self.stage(outgoing),
            Letter::Direct(id, payload) => {
                let frame =
                    encoding::publication(payload, None, encoding::PLAIN, &mut self.deflater.borrow_mut());
                self.send(*id, frame);
                self.flush(*id);
            }
        }
    }

    fn stage(self: &Rc<Self>, Outgoing { stream, payload }: &Outgoing) {
        let published = self.hub.borrow_mut().publish(stream, |identifier, format| {
            encoding::publication(payload, identifier, format, &mut self.deflater.borrow_mut())
        });
        for id in published.overflowed {
            self.end(id, Ending::TooSlow);
        }
    }
}
