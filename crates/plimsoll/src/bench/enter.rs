//! The Enter key, which begins the next step of an interactive bench.

use std::{io, thread};

use tokio::sync::oneshot;

/// Tells when a line has come on standard input; never, when there is none. A thread of its own reads it: the runtime
/// would wait for a blocking task when the bench is interrupted meanwhile.
pub(super) fn enter() -> oneshot::Receiver<()> {
    let (done, is_done) = oneshot::channel();
    let read = move || {
        let mut line = String::new();
        if io::stdin().read_line(&mut line).is_ok_and(|n| n > 0) {
            // Nobody listens any more when the bench was interrupted meanwhile.
            let _interrupted = done.send(());
        }
    };
    // Without a thread the answer never comes, and Ctrl-C ends the bench.
    drop(thread::Builder::new().name("enter".to_owned()).spawn(read));
    is_done
}
