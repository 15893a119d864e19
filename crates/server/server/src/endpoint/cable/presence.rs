//! A session's part in presence (docs/protocols/extended.md, Presence).

use std::{rc::Rc, sync::Arc};

use plimsoll_broker::presence::{Absence, MAX_ID_BYTES, Refusal};
use plimsoll_cable::{command::Member, presence, reply};
use plimsoll_hub::SessionId;

use super::{CableSession, attendances::Attendances};
use crate::{
    application::{PRESENCE_STREAM, PresenceChange},
    log_form::LogForm,
    roll::Roll,
    shard::Shard,
};

/// Why a request about presence is not served.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("this server keeps no presence; see --broker")]
    NoPresence,
    #[error("there is no such subscription")]
    NotSubscribed,
    #[error("the channel has no presence")]
    NoStream,
    #[error("this session is present under another id")]
    OtherId,
    #[error("there are too many members to list; ask with return_records false")]
    TooMany,
    #[error(transparent)]
    Member(#[from] Refusal),
}

impl CableSession {
    /// A client wants to be present. If that is refused, it is told.
    pub(super) async fn join(&mut self, shard: &Rc<Shard>, id: SessionId, identifier: &str, member: &Member) {
        if let Err(refused) = self.attend(shard, identifier, member).await {
            if let Some(roll) = &shard.shared.roll {
                roll.count_refusal();
            }
            tracing::debug!(sid = &*self.sid, identifier = %LogForm(identifier), "A client may not be present: {refused}.");
            answer(shard, id, identifier, &presence::error(&refused.to_string()));
        }
    }

    /// Ends the attendance of a subscription, if it has one.
    pub(super) async fn leave(&mut self, shard: &Rc<Shard>, identifier: &str) {
        let Some(attendances) = self.attendances_mut() else {
            return;
        };
        if let Some(attendance) = attendances.remove(identifier) {
            let roll = Arc::clone(&attendances.roll);
            roll.leave(&shard.publisher, attendance).await;
            self.changed();
        }
    }

    /// Answers a client that asks who is present.
    pub(super) fn tell_presence(&self, shard: &Shard, id: SessionId, identifier: &str, wants_records: bool) {
        let content = self
            .presence_info(shard, identifier, wants_records)
            .unwrap_or_else(|refused| {
                tracing::debug!(sid = &*self.sid, identifier = %LogForm(identifier), "A client is not told who is present: {refused}.");
                presence::error(&refused.to_string())
            });
        answer(shard, id, identifier, &content);
    }

    /// Applies the application's decision about a client's presence.
    pub(super) async fn apply_presence(
        &mut self,
        shard: &Rc<Shard>,
        identifier: &str,
        change: PresenceChange,
    ) {
        let (id, info) = match change {
            PresenceChange::Leave => return self.leave(shard, identifier).await,
            PresenceChange::Join { id, info } => (id, info),
        };
        let refused = match Member::with_info_text(&id, &info) {
            Ok(member) => match self.attend(shard, identifier, &member).await {
                Ok(()) => return,
                // The client is told when it asks.
                Err(Refused::NoPresence) => return,
                Err(refused) => refused.to_string(),
            },
            Err(error) => format!("its info is not JSON: {error}"),
        };
        if let Some(roll) = &shard.shared.roll {
            roll.count_refusal();
        }
        let id: String = id.chars().take(MAX_ID_BYTES / 4).collect();
        tracing::warn!(
            sid = &*self.sid,
            identifier = %LogForm(identifier),
            id = %LogForm(&id),
            "The application's request that a client is present is ignored: {refused}."
        );
    }

    /// The client of a resumed session is back. It never left, or is present again.
    pub(crate) async fn come_back(&mut self, shard: &Rc<Shard>, absences: Vec<(Box<str>, Absence)>) {
        let Some(roll) = &shard.shared.roll else {
            return;
        };
        for (identifier, absence) in absences {
            let attendance = match roll.come_back(&absence) {
                Some(attendance) => Some(attendance),
                None => {
                    let member = Member {
                        id: (&*absence.id).into(),
                        info: absence.info.as_deref().map(Into::into),
                    };
                    roll.join(&shard.publisher, &absence.stream, &member).await.ok()
                }
            };
            if let Some(attendance) = attendance {
                self.present(roll).add(&identifier, attendance);
            }
        }
    }

    async fn attend(&mut self, shard: &Rc<Shard>, identifier: &str, member: &Member) -> Result<(), Refused> {
        let roll = shard.shared.roll.as_ref().ok_or(Refused::NoPresence)?;
        let stream = self.presence_stream(identifier)?.to_owned();
        let attendances = self.present(roll);
        if let Some(attendance) = attendances.of(identifier) {
            if attendance.stream() == stream && attendance.id() == &*member.id {
                roll.rejoin(&shard.publisher, attendance, member.info.as_deref())
                    .await?;
                return Ok(());
            }
            if attendance.stream() != stream {
                // The application has moved the subscription to another stream.
                if let Some(before) = attendances.remove(identifier) {
                    roll.leave(&shard.publisher, before).await;
                }
            }
        }
        if attendances.has_other_id(&stream, &member.id) {
            return Err(Refused::OtherId);
        }
        let attendance = roll.join(&shard.publisher, &stream, member).await?;
        attendances.add(identifier, attendance);
        self.changed();
        Ok(())
    }

    fn presence_info(&self, shard: &Shard, identifier: &str, wants_records: bool) -> Result<String, Refused> {
        let roll = shard.shared.roll.as_ref().ok_or(Refused::NoPresence)?;
        let stream = self.presence_stream(identifier)?;
        // A larger answer would take the place of the messages that the client has not read yet.
        let max_bytes = shard.config.max_pending_bytes / 2;
        roll.info(stream, wants_records, max_bytes)
            .ok_or(Refused::TooMany)
    }

    /// The stream on which clients of a subscription are present.
    fn presence_stream(&self, identifier: &str) -> Result<&str, Refused> {
        if !self.is_subscribed(identifier) {
            return Err(Refused::NotSubscribed);
        }
        self.state(identifier, PRESENCE_STREAM).ok_or(Refused::NoStream)
    }

    fn present(&mut self, roll: &Arc<Roll>) -> &mut Attendances {
        let attendances = &mut self.memory_mut().attendances;
        attendances.get_or_insert_with(|| Box::new(Attendances::new(Arc::clone(roll))))
    }

    fn attendances_mut(&mut self) -> Option<&mut Attendances> {
        self.memory.as_mut()?.attendances.as_deref_mut()
    }
}

fn answer(shard: &Shard, id: SessionId, identifier: &str, content: &str) {
    shard.send_text(id, &reply::encode_presence(identifier, content));
}
