//! Calls to the application: a transport under the rules of [`retry`](crate::retry), with a journal of failures.

use bytes::Bytes;
use tokio::time::Instant;

use crate::{
    cause,
    journal::{Journal, is_overdue},
    request::Reply,
    retry::{Patience, Rules},
    status::Status,
    transport::{Origin, Transport},
};

/// Everything that a call needs.
pub(crate) struct Calls {
    pub(crate) transport: Transport,
    pub(crate) rules: Rules,
    pub(crate) journal: Journal,
}

impl Calls {
    /// Makes one call for a session, with an encoded request, and translates the reply.
    ///
    /// # Errors
    /// The reason for people. It is in the journal already.
    pub(crate) async fn call<R: Reply, T>(
        &self,
        origin: Origin<'_>,
        patience: Patience,
        message: Bytes,
        translate: impl FnOnce(R) -> Result<T, String>,
    ) -> Result<T, Box<str>> {
        let start = Instant::now();
        let attempt = async |time_left| {
            let attempt = self.transport.attempt::<R>(origin, message.clone(), time_left);
            let result = attempt.await;
            self.journal
                .attempt_ended(result.as_ref().err(), &self.rules.meter.dependency);
            result
        };
        let reply = self.rules.call(R::METHOD, patience, attempt).await;
        let result = reply.and_then(|reply| translate(reply).map_err(application_error));
        let meter = &self.rules.meter;
        meter.call_ended(R::METHOD, start.elapsed(), result.as_ref().err());
        match result {
            Ok(reply) => Ok(reply),
            Err(failure) => {
                if is_overdue(&failure) {
                    self.journal.call_unanswered(start, &meter.dependency);
                }
                self.journal.call_failed(R::METHOD, origin.sid, &failure);
                Err(cause::text(&failure).into())
            }
        }
    }
}

/// The application answered with a failure.
fn application_error(text: String) -> Status {
    if text.is_empty() {
        Status::internal("the application answered ERROR without an error_msg")
    } else {
        Status::internal(text)
    }
}
