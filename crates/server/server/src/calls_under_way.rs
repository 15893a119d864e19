//! Calls to the application that have not returned. A shard waits for them before it ends, because the streams that
//! they grant belong in the Disconnect call of their session.

use std::cell::Cell;

use tokio::sync::Notify;

/// The calls of one shard.
#[derive(Debug, Default)]
pub(crate) struct CallsUnderWay {
    n: Cell<usize>,
    /// Notified when the last call returns.
    none_left: Notify,
}

/// One call, for as long as it is in progress.
#[derive(Debug)]
pub(crate) struct CallUnderWay<'a>(&'a CallsUnderWay);

impl CallsUnderWay {
    pub(crate) fn enter(&self) -> CallUnderWay<'_> {
        self.n.set(self.n.get() + 1);
        CallUnderWay(self)
    }

    /// Completes when no call is in progress.
    pub(crate) async fn ended(&self) {
        while self.n.get() > 0 {
            self.none_left.notified().await;
        }
    }
}

impl Drop for CallUnderWay<'_> {
    fn drop(&mut self) {
        self.0.n.set(self.0.n.get() - 1);
        if self.0.n.get() == 0 {
            self.0.none_left.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Waker},
    };

    use super::*;

    #[test]
    fn the_end_comes_with_the_last_call() {
        let calls = CallsUnderWay::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut is_over = |wait: Pin<&mut dyn Future<Output = ()>>| wait.poll(&mut context).is_ready();
        assert!(is_over(Box::pin(calls.ended()).as_mut()), "nothing was called");

        let (first, second) = (calls.enter(), calls.enter());
        let mut wait = Box::pin(calls.ended());
        assert!(!is_over(wait.as_mut()));
        drop(second);
        assert!(!is_over(wait.as_mut()));
        let third = calls.enter();
        drop((first, third));
        assert!(is_over(wait.as_mut()));
    }
}
