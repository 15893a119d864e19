//! Subscriptions of one session that the application did not decide about: the call failed, timed out, or got no turn.
//!
//! A stock client gives up a rejected subscription for good, so only the application's own decision rejects. Until
//! there is one the session goes on, and the server asks again on its own, with growing pauses.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::pending,
    rc::Rc,
    time::Duration,
};

use tokio::{
    task::{AbortHandle, JoinSet},
    time::{Instant, timeout_at},
};

use super::wishes::Wishes;
use crate::{
    application::{Action, CommandReply, CommandRequest, Environment, State},
    pending_subscriptions::Counted,
    shard::Shard,
};

/// The pause before the first repetition. It doubles up to [`MAX_PAUSE`]. Each pause is shortened by up to half at
/// random, so that clients whose calls failed together do not retry together.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest pause, and so the time in which the server finds an application that is back. While it is away, 10,000
/// sessions make 2,700 attempts a second.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// How long a subscription may be pending. A client that repeats its command, as Rails' does, starts a new one
/// afterwards.
const MAX_TIME: Duration = Duration::from_secs(300);

/// The most repetitions in that time. The pauses alone allow about 90.
const MAX_REPETITIONS: u32 = 100;

/// The pending subscriptions of a session, at least one.
#[derive(Debug, Default)]
pub(super) struct Pending {
    by_identifier: BTreeMap<Rc<str>, Subscription>,
    /// The time at which each of them is due next.
    times: BTreeSet<(Instant, Rc<str>)>,
    calls: JoinSet<(Rc<str>, CommandReply)>,
}

#[derive(Debug)]
struct Subscription {
    wishes: Option<Box<Wishes>>,
    n_repetitions: u32,
    gives_up_at: Instant,
    /// The subscription's time in `times`.
    next_at: Instant,
    /// The call that is in progress or waits for its turn.
    call: Option<AbortHandle>,
    _counted: Counted,
}

/// The next thing to do for a subscription.
#[derive(Debug)]
pub(crate) enum Due {
    /// Go on with the held ones: the client has not asked for history.
    GoOn,
    /// Ask again.
    Call(Rc<str>),
    /// Apply the application's answer or failure.
    Reply(Rc<str>, CommandReply),
    /// Give up.
    GiveUp(Rc<str>),
}

/// The session data that a call needs. The session goes on meanwhile.
pub(super) struct Caller {
    pub(super) sid: Rc<str>,
    pub(super) identifiers: Box<str>,
    pub(super) environment: Environment,
}

impl Pending {
    pub(super) fn add(&mut self, identifier: &str, wishes: Option<Box<Wishes>>, counted: Counted) {
        let identifier: Rc<str> = identifier.into();
        let now = Instant::now();
        let next_at = now + pause(0, fastrand::f64());
        let subscription = Subscription {
            wishes,
            n_repetitions: 0,
            gives_up_at: now + MAX_TIME,
            next_at,
            call: None,
            _counted: counted,
        };
        self.times.insert((next_at, Rc::clone(&identifier)));
        self.by_identifier.insert(identifier, subscription);
    }

    pub(super) fn contains(&self, identifier: &str) -> bool {
        self.by_identifier.contains_key(identifier)
    }

    /// Removes a pending subscription and aborts its call. Returns the client's wishes, or `None` if the
    /// subscription was not pending.
    pub(super) fn remove(&mut self, identifier: &str) -> Option<Option<Box<Wishes>>> {
        let (identifier, subscription) = self.by_identifier.remove_entry(identifier)?;
        self.times.remove(&(subscription.next_at, identifier));
        if let Some(call) = subscription.call {
            call.abort();
        }
        Some(subscription.wishes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_identifier.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.by_identifier.len()
    }

    pub(super) fn identifier_bytes(&self) -> usize {
        self.by_identifier.keys().map(|identifier| identifier.len()).sum()
    }

    /// Waits for the next thing to do. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Due {
        loop {
            let Some((time, identifier)) = self.times.first().cloned() else {
                return pending().await;
            };
            // Calls of removed subscriptions end here, too. Their results are ignored.
            match timeout_at(time, joined(&mut self.calls)).await {
                Ok(Some((identifier, reply))) if self.contains(&identifier) => {
                    return Due::Reply(identifier, reply);
                }
                Ok(_) => {}
                Err(_) if time < self.by_identifier[&identifier].gives_up_at => return Due::Call(identifier),
                Err(_) => return Due::GiveUp(identifier),
            }
        }
    }

    /// Asks the application again.
    pub(super) fn call(&mut self, shard: &Rc<Shard>, identifier: &Rc<str>, caller: Caller) {
        let call = caller.subscribe(Rc::clone(shard), Rc::clone(identifier));
        let call = self.calls.spawn_local(call);
        self.change(identifier, |subscription| {
            subscription.call = Some(call);
            subscription.next_at = subscription.gives_up_at;
        });
    }

    /// Records another failed call. Returns whether there will be another attempt; if not, the caller removes the
    /// subscription.
    pub(super) fn failed(&mut self, identifier: &Rc<str>) -> bool {
        let mut is_repeated = false;
        self.change(identifier, |subscription| {
            subscription.call = None;
            subscription.n_repetitions += 1;
            is_repeated = subscription.n_repetitions < MAX_REPETITIONS;
            let pause = pause(subscription.n_repetitions, fastrand::f64());
            subscription.next_at = (Instant::now() + pause).min(subscription.gives_up_at);
        });
        is_repeated
    }

    fn change(&mut self, identifier: &Rc<str>, change: impl FnOnce(&mut Subscription)) {
        if let Some(subscription) = self.by_identifier.get_mut(identifier) {
            self.times.remove(&(subscription.next_at, Rc::clone(identifier)));
            change(subscription);
            self.times.insert((subscription.next_at, Rc::clone(identifier)));
        }
    }
}

/// The result of the next call that ends. `None` if it was aborted.
async fn joined<T: 'static>(calls: &mut JoinSet<T>) -> Option<T> {
    match calls.join_next().await {
        Some(ended) => ended.ok(),
        None => pending().await,
    }
}

impl Caller {
    async fn subscribe(self, shard: Rc<Shard>, identifier: Rc<str>) -> (Rc<str>, CommandReply) {
        let request = CommandRequest {
            shard: shard.number,
            sid: &self.sid,
            identifiers: &self.identifiers,
            identifier: &identifier,
            action: Action::Subscribe,
            is_repetition: true,
            environment: &self.environment,
            // A subscription that is not granted yet has no state.
            istate: &State::EMPTY,
        };
        let under_way = shard.calls.enter();
        let reply = shard.application.command(&request).await;
        drop(under_way);
        (identifier, reply)
    }
}

/// The pause before a repetition; `random` is from 0 to 1.
fn pause(n_repetitions: u32, random: f64) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(n_repetitions));
    doubled.min(MAX_PAUSE).mul_f64(1.0 - random / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_are_shortened_by_half_at_most() {
        let pauses = |random| [0, 1, 2, 5, 6, 40].map(|n| pause(n, random).as_millis());
        assert_eq!(pauses(0.0), [100, 200, 400, 3200, 5000, 5000]);
        assert_eq!(pauses(1.0), [50, 100, 200, 1600, 2500, 2500]);
    }
}
