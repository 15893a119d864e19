//! The receiver of payloads.

/// What a [`Sink`] did with a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a payload that was not taken must come again"]
pub enum Taken {
    /// The payload is done, valid or not: an invalid one would not become valid by a second attempt.
    Done,
    /// The payload cannot be published now. It must come again, if its source keeps it.
    Later,
}

/// Receives payloads as they were published.
pub trait Sink: Send + Sync {
    /// Receives one payload. `id` is the payload's id at its source, which stays the same when the payload comes again;
    /// `None` if the source has no ids.
    fn accept(&self, payload: &[u8], id: Option<&str>) -> impl Future<Output = Taken> + Send;
}

/// Hands over a payload of `source`, which cannot repeat it.
pub(crate) async fn hand_over(sink: &impl Sink, payload: &[u8], source: &str) {
    if sink.accept(payload, None).await == Taken::Later {
        tracing::warn!("A broadcast from {source} is lost: it could not be published.");
    }
}
