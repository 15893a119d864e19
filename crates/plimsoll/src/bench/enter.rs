//! The Enter key, which begins the next step of an interactive bench.

use std::{io, thread};

use tokio::sync::oneshot;

/// Sends a message when a line arrives on standard input; never without input. A separate thread reads the line,
/// because the runtime would wait for a blocking task when the bench is interrupted in the meantime.
pub(super) fn enter() -> oneshot::Receiver<()> {
    let (done, is_done) = oneshot::channel();
    let read = move || {
        let mut line = String::new();
        if io::stdin().read_line(&mut line).is_ok_and(|n| n > 0) {
            // The receiver is gone when the bench was interrupted in the meantime.
            let _interrupted = done.send(());
        }
    };
    // Without a thread the answer never comes, and Ctrl-C ends the bench.
    drop(thread::Builder::new().name("enter".to_owned()).spawn(read));
    is_done
}
