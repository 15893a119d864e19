//! Messages of an engine that keeps and numbers them (docs/reference/redis-broker.md).
//!
//! The archive then is a copy of the ends of the logs that this server hears, from which its clients get what they missed.
//! The calls for one stream come one after the other.

use plimsoll_broker::Place;
use plimsoll_cable::broadcast::{self, Broadcast, Publication};

use super::Publisher;
use crate::mailbox::{Letter, Outgoing};

impl Publisher {
    /// The log of a stream is known from behind this place.
    pub async fn begin_log(&self, stream: &str, place: Place<'_>) {
        if let Some(archive) = &self.archive {
            let places = self.reserve(0).await;
            archive.begin_at(stream, place, |serial| places.fill_with(|| Letter::Seen(serial)));
        }
    }

    /// A message has this place in the log of its stream. `is_new`: the listeners do not have it.
    pub async fn hear_at(&self, stream: &str, place: Place<'_>, payload: &[u8], is_new: bool) {
        let Some((archive, publication)) = self.archive.as_ref().zip(publication(stream, payload)) else {
            return tracing::warn!("A message of the broker is dropped: another program has written it.");
        };
        let outgoing = Outgoing::new(publication, self.completion(None));
        let places = self.reserve(payload.len()).await;
        archive.keep_at(outgoing, place, |outgoing, serial| {
            if is_new {
                places.fill(outgoing);
            } else {
                places.fill_with(|| Letter::Seen(serial));
            }
        });
    }

    /// The listeners of a stream may have missed messages.
    pub async fn hear_loss(&self, stream: &str) {
        if let Some(archive) = &self.archive {
            let places = self.reserve(0).await;
            archive.note(|serial| {
                places.fill_with(|| Letter::Lost {
                    stream: stream.into(),
                    serial,
                });
            });
        }
    }
}

/// The message in a payload. `None`: another program has written it.
fn publication(stream: &str, payload: &[u8]) -> Option<Publication> {
    let Ok(Broadcast::Publications(publications)) = broadcast::parse(payload) else {
        return None;
    };
    let [publication] = <[Publication; 1]>::try_from(publications).ok()?;
    (publication.stream == stream).then_some(publication)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_message_of_the_stream_is_a_message_of_its_log() {
        let message = Publication::from_json("s", r#"{"n": 1e400}"#);
        let payload = broadcast::encode(&message);
        assert_eq!(publication("s", &payload), Some(message));
        assert_eq!(publication("t", &payload), None);
        for payload in [
            "",
            "[]",
            "hello",
            r#"{"command":"disconnect","payload":{"identifier":"i"}}"#,
        ] {
            assert_eq!(publication("s", payload.as_bytes()), None, "{payload}");
        }
    }
}
