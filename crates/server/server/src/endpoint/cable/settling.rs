//! A session's work for its pending and its held subscriptions when they are due.

use std::{future::pending, rc::Rc};

use plimsoll_hub::SessionId;

use super::{
    CableSession,
    pending::{Caller, Due, Pending},
    wishes::Wishes,
};
use crate::{
    application::{Environment, Status},
    log_form::LogForm,
    shard::Shard,
};

impl CableSession {
    /// Waits until something is due for a pending or held subscription, or forever if there is none. Dropping the future
    /// loses nothing.
    pub(crate) async fn next_due(&mut self) -> Due {
        let Some(memory) = self.memory.as_deref_mut() else {
            return pending().await;
        };
        let waiting = memory.pending.as_deref_mut();
        let next = async {
            match waiting {
                Some(waiting) => waiting.next().await,
                None => pending().await,
            }
        };
        let Some(held) = &memory.held else {
            return next.await;
        };
        tokio::select! {
            due = next => due,
            () = held.is_over() => Due::GoOn,
        }
    }

    /// Handles a subscription that is due.
    pub(crate) async fn settle(&mut self, shard: &Rc<Shard>, id: SessionId, due: Due) {
        self.handle(shard, id, due).await;
        self.tell_store(shard, id);
    }

    async fn handle(&mut self, shard: &Rc<Shard>, id: SessionId, due: Due) {
        match due {
            Due::GoOn => self.go_on_with_all(shard, id).await,
            Due::Call(identifier) => self.call_again(shard, &identifier),
            Due::GiveUp(identifier) => self.give_up(shard, &identifier),
            Due::Reply(identifier, reply) if reply.status == Status::Failed => {
                shard.shared.pending_subscriptions.failed(&reply.failure);
                let is_repeated = self
                    .pending_mut()
                    .is_some_and(|pending| pending.failed(&identifier));
                if !is_repeated {
                    self.give_up(shard, &identifier);
                }
            }
            Due::Reply(identifier, reply) => {
                let wishes = self.forget_pending(&identifier).flatten();
                self.decide(shard, id, &identifier, wishes, reply).await;
            }
        }
    }

    fn call_again(&mut self, shard: &Rc<Shard>, identifier: &Rc<str>) {
        let memory = self.memory.as_deref();
        let caller = Caller {
            sid: Rc::clone(&self.sid),
            identifiers: self.identifiers().into(),
            environment: memory.map_or(Environment::EMPTY, |memory| memory.environment.clone()),
        };
        if let Some(pending) = self.pending_mut() {
            pending.call(shard, identifier, caller);
        }
    }

    /// Gives up a pending subscription. The client gets no answer: it has its own timeout and its own retries.
    fn give_up(&mut self, shard: &Shard, identifier: &str) {
        tracing::debug!(sid = &*self.sid, identifier = %LogForm(identifier), "A pending subscription is given up.");
        shard.shared.pending_subscriptions.abandoned();
        self.forget_pending(identifier);
    }

    /// Removes a pending subscription. Returns the client's wishes, or `None` if the subscription was not
    /// pending.
    pub(super) fn forget_pending(&mut self, identifier: &str) -> Option<Option<Box<Wishes>>> {
        let pending = &mut self.memory.as_mut()?.pending;
        let wishes = pending.as_mut()?.remove(identifier);
        if pending.as_ref().is_some_and(|pending| pending.is_empty()) {
            *pending = None;
        }
        wishes
    }

    pub(super) fn pending(&self) -> Option<&Pending> {
        self.memory.as_ref()?.pending.as_deref()
    }

    fn pending_mut(&mut self) -> Option<&mut Pending> {
        self.memory.as_mut()?.pending.as_deref_mut()
    }

    /// Whether any subscription is pending or held.
    pub(crate) fn has_pending(&self) -> bool {
        self.pending().is_some() || self.is_holding()
    }

    /// Whether this subscription is pending.
    pub(crate) fn is_pending(&self, identifier: &str) -> bool {
        self.pending().is_some_and(|pending| pending.contains(identifier))
    }
}
