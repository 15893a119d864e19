//! A shard's answers to the questions of operators ([`crate::admin`]). They come from walks over the shard's tables, in
//! portions, so that clients do not notice them.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, sync::Arc};

use plimsoll_hub::{Hub, SessionId};
use tokio::task::{spawn_local, yield_now};

use crate::{
    admin::{Inquiry, MAX_SESSIONS, Matches, Names, Session, Subscription},
    encoding,
    ending::Ending,
    identities::{Entry, Identities},
    shard::Shard,
};

/// Entries visited before other tasks of the shard get their turn.
const PORTION: usize = 256;

/// Characters of a name or identifier in an answer.
const MAX_CHARS: usize = 300;

/// Streams of a session in an answer.
const MAX_SUBSCRIPTIONS: usize = 20;

/// The channel's name in the identifier of a subscription (docs/protocols/cable.md).
#[derive(serde::Deserialize)]
struct Identifier<'a> {
    #[serde(borrow)]
    channel: std::borrow::Cow<'a, str>,
}

impl Shard {
    /// Answers a question beside the shard's other work.
    pub(crate) fn look_into(self: &Rc<Self>, inquiry: Arc<Inquiry>) {
        let shard = Rc::clone(self);
        spawn_local(async move {
            // An operator who has gone needs no answer.
            match &*inquiry {
                Inquiry::Sessions { text, answers } => {
                    let _gone = answers.try_send(shard.find_sessions(text).await);
                }
                Inquiry::Names { text, answers } => {
                    let _gone = answers.try_send(find_names(&shard.hub, text).await);
                }
                Inquiry::Disconnect {
                    sid,
                    reconnect,
                    answers,
                } => {
                    if let Some(id) = shard.find_session(sid).await {
                        shard.end(
                            id,
                            Ending::Remote {
                                reconnect: *reconnect,
                            },
                        );
                        shard.flush(id);
                        let _gone = answers.try_send(());
                    }
                }
            }
        });
    }

    async fn find_sessions(&self, text: &str) -> Matches<Session> {
        let identifiers = all_identifiers(&self.identities).await;
        let mut found = Matches::default();
        for portion in self.ids().chunks(PORTION) {
            for id in portion {
                let of_session = identifiers.get(id).map_or("", |identifiers| &**identifiers);
                if !self.matches(*id, of_session, text) {
                    continue;
                }
                found.total += 1;
                if found.listed.len() < MAX_SESSIONS {
                    found.listed.extend(self.describe(*id, of_session));
                }
            }
            yield_now().await;
        }
        found
    }

    fn ids(&self) -> Vec<SessionId> {
        self.hub.borrow().ids().collect()
    }

    /// Whether a session that still exists has the text in one of its names.
    fn matches(&self, id: SessionId, identifiers: &str, text: &str) -> bool {
        let hub = self.hub.borrow();
        let Some((connection, _)) = hub.parts(id) else {
            return false;
        };
        let mut streams = hub.subscriptions(id).map(|(_, stream)| stream);
        connection.sid.contains(text) || identifiers.contains(text) || streams.any(|name| name.contains(text))
    }

    fn describe(&self, id: SessionId, identifiers: &str) -> Option<Session> {
        let hub = self.hub.borrow();
        let (connection, outbox) = hub.parts(id)?;
        let transport = encoding::transport(hub.format(id)?);
        let subscriptions = hub.subscriptions(id).take(MAX_SUBSCRIPTIONS);
        Some(Session {
            sid: connection.sid.to_string(),
            transport,
            shard: self.number,
            identifiers: beginning(identifiers),
            subscriptions: subscriptions
                .map(|(identifier, stream)| Subscription {
                    identifier: identifier.map(beginning),
                    stream: beginning(stream),
                })
                .collect(),
            n_subscriptions: hub.subscriptions(id).count(),
            pending_bytes: outbox.pending_bytes(),
        })
    }

    async fn find_session(&self, sid: &str) -> Option<SessionId> {
        for portion in self.ids().chunks(PORTION) {
            let found = {
                let hub = self.hub.borrow();
                let has_it = |id: &&SessionId| hub.parts(**id).is_some_and(|(it, _)| *it.sid == *sid);
                portion.iter().find(has_it).copied()
            };
            if found.is_some() {
                return found;
            }
            yield_now().await;
        }
        None
    }
}

/// The identifiers of all sessions that have any.
async fn all_identifiers(identities: &RefCell<Identities>) -> BTreeMap<SessionId, Rc<str>> {
    let mut all = BTreeMap::new();
    let mut last = None;
    loop {
        let portion = identities.borrow().after(last.as_ref(), PORTION);
        all.extend(portion.iter().filter_map(Entry::session));
        match portion.into_iter().last() {
            Some(entry) => last = Some(entry),
            None => return all,
        }
        yield_now().await;
    }
}

/// Streams with their listeners, and channels with the streams of their subscriptions.
async fn find_names<C, T>(hub: &RefCell<Hub<C, T>>, text: &str) -> Names {
    let mut names = Names::default();
    let mut next = Some(0);
    while let Some(start) = next {
        next = hub.borrow().visit_streams(start, PORTION, |name, listeners| {
            if name.contains(text) {
                names.streams.add(&beginning(name), listeners);
            }
        });
        yield_now().await;
    }
    next = Some(0);
    while let Some(start) = next {
        next = hub.borrow().visit_identifiers(start, PORTION, |identifier, n| {
            let channel = serde_json::from_str(identifier).map(|Identifier { channel }| channel);
            if let Ok(channel) = channel.as_deref()
                && channel.contains(text)
            {
                names.channels.add(&beginning(channel), n);
            }
        });
        yield_now().await;
    }
    Names {
        streams: names.streams.of_shard(),
        channels: names.channels.of_shard(),
    }
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_hub::{Budget, Format};

    use super::*;

    async fn check(
        subscriptions: &[(&str, &str)],
        text: &str,
        streams: &[(&str, usize)],
        channels: &[(&str, usize)],
    ) {
        let mut hub: Hub<()> = Hub::new(0, Budget::new(0));
        for (identifier, stream) in subscriptions {
            let id = hub.insert((), Format(0));
            hub.subscribe(id, Some(identifier), stream);
        }
        let names = find_names(&RefCell::new(hub), text).await;
        let expected = |names: &[(&str, usize)]| -> Vec<(String, usize)> {
            names.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect()
        };
        for (listeners, wanted) in [(names.streams, streams), (names.channels, channels)] {
            let greatest = listeners.into_greatest().into_iter();
            let greatest: Vec<_> = greatest.map(|one| (one.name.into(), one.listeners)).collect();
            assert_eq!(greatest, expected(wanted), "{text:?}");
        }
    }

    #[tokio::test]
    async fn streams_and_channels_are_found_by_a_part_of_their_name() {
        let chat = |id: u32| format!(r#"{{"channel":"ChatChannel","id":{id}}}"#);
        let (one, two) = (chat(1), chat(2));
        let subscriptions = [
            (one.as_str(), "chat_1"),
            (one.as_str(), "chat_1"),
            (two.as_str(), "chat_2"),
            (r#"{"channel":"Presence\u0043hannel"}"#, "all"),
            ("no JSON", "all"),
        ];
        let all = [("all", 2), ("chat_1", 2), ("chat_2", 1)];
        check(
            &subscriptions,
            "",
            &all,
            &[("ChatChannel", 3), ("PresenceChannel", 1)],
        )
        .await;
        check(&subscriptions, "chat_", &all[1..], &[]).await;
        check(&subscriptions, "Chat", &[], &[("ChatChannel", 3)]).await;
        check(&[], "", &[], &[]).await;
    }

    #[tokio::test]
    async fn a_walk_goes_on_until_the_last_session_with_identifiers() {
        let mut hub: Hub<()> = Hub::new(0, Budget::new(0));
        for n_sessions in [0, 1, PORTION - 1, PORTION, PORTION + 1, 3 * PORTION] {
            let sessions: Vec<_> = (0..n_sessions)
                .map(|n| (format!("user {}", n / 2), hub.insert((), Format(0))))
                .collect();
            let expected: BTreeMap<_, Rc<str>> = sessions
                .iter()
                .map(|(text, id)| (*id, text.as_str().into()))
                .collect();
            let identities = RefCell::new(Identities::of(sessions));
            assert_eq!(all_identifiers(&identities).await, expected);
        }
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(beginning("ü"), "ü");
        assert_eq!(beginning(&"ü".repeat(MAX_CHARS)), "ü".repeat(MAX_CHARS));
        assert_eq!(
            beginning(&"ü".repeat(MAX_CHARS + 1)),
            format!("{}…", "ü".repeat(MAX_CHARS))
        );
    }
}
