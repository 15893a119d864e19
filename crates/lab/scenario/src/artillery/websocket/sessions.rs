//! All WebSockets of one user: the first one, and further ones that a scenario opens under names (not in Artillery).
//!
//! While a step uses one of them, the others are read, so that each message is counted and timed when it arrives, and a
//! close by the server is noticed.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::sleep;

use super::Session;
use crate::artillery::failure::Failure;

/// A place for each connection of the scenario; the first one is [`FIRST`].
#[derive(Debug, Default)]
pub(crate) struct Sessions<'a> {
    places: Vec<Option<Session<'a>>>,
}

/// The connection that each user of the engine has from the start.
pub(crate) const FIRST: usize = 0;

impl<'a> Sessions<'a> {
    /// Puts a connection into its place, and returns the previous one.
    pub(crate) fn put(&mut self, place: usize, session: Session<'a>) -> Option<Session<'a>> {
        if place >= self.places.len() {
            // Exactly, because a vector that grows by itself has room for four, and most users have one.
            self.places.reserve_exact(place + 1 - self.places.len());
            self.places.resize_with(place + 1, || None);
        }
        self.places[place].replace(session)
    }

    /// Runs a step on one connection.
    ///
    /// # Errors
    /// The error of the step, or the end of any connection.
    pub(crate) async fn perform(
        &mut self,
        place: usize,
        step: impl AsyncFnOnce(&mut Session<'a>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let place = place.min(self.places.len());
        let (before, from) = self.places.split_at_mut(place);
        let Some((Some(session), after)) = from.split_first_mut() else {
            return Err(Failure::new("not connected"));
        };
        // Without others it is empty, and takes no memory.
        let mut others: Vec<_> = before.iter_mut().chain(after).flatten().collect();
        let mut step = pin!(step(session));
        poll_fn(|cx| match read_all(&mut others, cx) {
            Ok(()) => step.as_mut().poll(cx),
            Err(failure) => Poll::Ready(Err(failure)),
        })
        .await
    }

    /// Waits for this long.
    ///
    /// # Errors
    /// The end of any connection.
    pub(crate) async fn idle(&mut self, time: Duration) -> Result<(), Failure> {
        match self.places.iter().position(Option::is_some) {
            Some(place) => {
                self.perform(place, async |session| session.idle(time).await)
                    .await
            }
            None => {
                sleep(time).await;
                Ok(())
            }
        }
    }

    /// Reads all connections while `work` runs.
    ///
    /// # Errors
    /// The end of any connection.
    pub(crate) async fn during<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Failure> {
        let mut all: Vec<_> = self.places.iter_mut().flatten().collect();
        let mut work = pin!(work);
        poll_fn(|cx| match read_all(&mut all, cx) {
            Ok(()) => work.as_mut().poll(cx).map(Ok),
            Err(failure) => Poll::Ready(Err(failure)),
        })
        .await
    }

    /// Closes all connections, one after another.
    pub(crate) async fn close(&mut self) {
        while let Some(place) = self.places.pop() {
            let Some(session) = place else { continue };
            let mut others: Vec<_> = self.places.iter_mut().flatten().collect();
            let mut closing = pin!(session.close());
            poll_fn(|cx| {
                // What ends now would have been closed next.
                let _over = read_all(&mut others, cx);
                closing.as_mut().poll(cx)
            })
            .await;
        }
    }
}

/// Reads the messages that have arrived.
fn read_all(sessions: &mut [&mut Session<'_>], cx: &mut Context<'_>) -> Result<(), Failure> {
    sessions.iter_mut().try_for_each(|session| Ok(session.read(cx)?))
}
