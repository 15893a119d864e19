//! Calls to the application: a transport under the rules of [`retry`](crate::retry), with a journal of failures.

use std::sync::Arc;

use tokio::time::Instant;
use tonic::Status;

use crate::{
    journal::Journal,
    proto::Call,
    retry::{Patience, Rules},
    transport::Transport,
};

/// Everything that a call needs.
pub(crate) struct Calls {
    pub(crate) transport: Transport,
    pub(crate) rules: Rules,
    pub(crate) journal: Journal,
}

impl Calls {
    /// Makes one call for a session, and translates the reply. `None`: it failed, which is in the journal.
    pub(crate) async fn call<C: Call, R>(
        &self,
        sid: &str,
        patience: Patience,
        message: C,
        translate: impl FnOnce(C::Reply) -> Result<R, String>,
    ) -> Option<R> {
        let message = Arc::new(message);
        let attempt = async |time_left| {
            // A request under way fills kilobytes, which would be copied whenever the call itself is moved.
            let result = Box::pin(self.transport.attempt(sid, &message, time_left)).await;
            self.journal
                .attempt_ended(result.as_ref().err(), &self.rules.meter.dependency);
            result
        };
        let start = Instant::now();
        let reply = self.rules.call(C::METHOD, patience, attempt).await;
        let result = reply.and_then(|reply| translate(reply).map_err(application_error));
        let meter = &self.rules.meter;
        meter.call_ended(C::METHOD, start.elapsed(), result.as_ref().err());
        match result {
            Ok(reply) => Some(reply),
            Err(failure) => {
                self.journal.call_failed(C::METHOD, sid, &failure);
                None
            }
        }
    }
}

/// The application has answered that it failed.
fn application_error(text: String) -> Status {
    match text.is_empty() {
        true => Status::internal("the application answered ERROR without an error_msg"),
        false => Status::internal(text),
    }
}
