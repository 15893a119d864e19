//! The form of a session in a store (docs/reference/redis-broker.md, Sessions).

use std::{
    borrow::Cow,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use plimsoll_broker::presence::Absence;
use serde::{Deserialize, Serialize};

use super::Record;
use crate::{
    application::{Entries, Environment, State},
    session_store::StoredSession,
};

/// The version of the form. A server that reads another one lets the client connect anew.
const VERSION: u32 = 1;

/// A session that is open, or what is left of one.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Snapshot<'a> {
    version: u32,
    pub(crate) subscriptions: Vec<(Cow<'a, str>, Vec<Box<str>>)>,
    pub(crate) environment: Cow<'a, Environment>,
    pub(crate) istate: Cow<'a, Entries<State>>,
    pub(crate) hears_of_end: bool,
    /// Unix time.
    expires_at_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    present: Vec<Present<'a>>,
}

/// Where a client is present.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Present<'a> {
    /// The identifier of the subscription.
    pub(crate) identifier: Cow<'a, str>,
    pub(crate) stream: Cow<'a, str>,
    /// The member's id.
    pub(crate) id: Cow<'a, str>,
    pub(crate) info: Option<Cow<'a, str>>,
}

/// Why a stored session is of no use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("it has the form of version {0} of another release, and this one reads version {VERSION}")]
    Version(u32),
    #[error("it cannot be read: {0}")]
    Malformed(#[from] serde_json::Error),
}

impl<'a> Snapshot<'a> {
    pub(crate) fn new(
        subscriptions: Vec<(Cow<'a, str>, Vec<Box<str>>)>,
        environment: &'a Environment,
        istate: &'a Entries<State>,
        hears_of_end: bool,
        expires_at: Option<SystemTime>,
        present: Vec<Present<'a>>,
    ) -> Self {
        let since_1970 = |at: SystemTime| at.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        Self {
            version: VERSION,
            subscriptions,
            environment: Cow::Borrowed(environment),
            istate: Cow::Borrowed(istate),
            hears_of_end,
            expires_at_ms: expires_at.map(|at| u64::try_from(since_1970(at)).unwrap_or(u64::MAX)),
            present,
        }
    }

    pub(crate) fn store(&self, identifiers: &str) -> StoredSession {
        StoredSession {
            identifiers: identifiers.into(),
            record: serde_json::to_vec(self).expect("texts and numbers under names"),
        }
    }
}

impl Record {
    /// The session as the store has it.
    pub(super) fn to_stored(&self) -> StoredSession {
        let subscriptions = self.subscriptions.iter();
        let snapshot = Snapshot::new(
            subscriptions
                .map(|(identifier, streams)| (Cow::Borrowed(&**identifier), streams.clone()))
                .collect(),
            &self.environment,
            &self.istate,
            self.hears_of_end,
            self.expires_at,
            self.absences.iter().map(present).collect(),
        );
        snapshot.store(&self.identifiers)
    }

    /// A session of the store.
    ///
    /// # Errors
    /// Another release has written it.
    pub(crate) fn from_stored(stored: StoredSession) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let StoredSession { identifiers, record } = stored;
        let Version { version } = serde_json::from_slice(&record)?;
        if version != VERSION {
            return Err(ReadError::Version(version));
        }
        let snapshot: Snapshot<'_> = serde_json::from_slice(&record)?;
        let subscriptions = snapshot.subscriptions.into_iter();
        Ok(Self {
            identifiers,
            subscriptions: subscriptions
                .map(|(identifier, streams)| (identifier.into_owned().into(), streams))
                .collect(),
            environment: snapshot.environment.into_owned(),
            istate: snapshot.istate.into_owned(),
            hears_of_end: snapshot.hears_of_end,
            expires_at: snapshot
                .expires_at_ms
                .map(|ms| UNIX_EPOCH + Duration::from_millis(ms)),
            absences: snapshot.present.into_iter().map(absence).collect(),
        })
    }
}

fn present((identifier, absence): &(Box<str>, Absence)) -> Present<'_> {
    Present {
        identifier: Cow::Borrowed(identifier),
        stream: Cow::Borrowed(&absence.stream),
        id: Cow::Borrowed(&absence.id),
        info: absence.info.as_deref().map(Cow::Borrowed),
    }
}

fn absence(present: Present<'_>) -> (Box<str>, Absence) {
    let Present {
        identifier,
        stream,
        id,
        info,
    } = present;
    let absence = Absence::elsewhere((*stream).into(), (*id).into(), info.map(|info| (*info).into()));
    (identifier.into(), absence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_the_same_after_it_was_stored() {
        let state: State = {
            let mut state = State::EMPTY;
            state.merge([("a".to_owned(), "1\"".to_owned())].into());
            state
        };
        let record = || Record {
            identifiers: "kay".into(),
            subscriptions: vec![
                ("b".into(), vec!["stream 1".into(), "ä".into()]),
                ("a".into(), Vec::new()),
            ],
            environment: Environment {
                url: "ws://h/cable?x=1".to_owned(),
                headers: [("cookie", "uid=1")].into_iter().collect(),
                cstate: state.clone(),
            },
            istate: [("b", state.clone())].into_iter().collect(),
            hears_of_end: true,
            expires_at: Some(UNIX_EPOCH + Duration::from_millis(1_700_000_000_123)),
            absences: vec![(
                "a".into(),
                Absence::elsewhere("ä".into(), "kay".into(), Some("{\"n\":1}".into())),
            )],
        };
        let found = Record::from_stored(record().to_stored()).expect("this version");
        assert_eq!(format!("{found:?}"), format!("{:?}", record()));
    }

    #[track_caller]
    fn check_refused(record: &str, part: &str) {
        let stored = StoredSession {
            identifiers: "kay".into(),
            record: record.into(),
        };
        let error = Record::from_stored(stored).expect_err(record).to_string();
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn what_another_release_has_written_is_named() {
        check_refused(r#"{"version":2,"subs":{}}"#, "version 2 of another release");
        check_refused(r#"{"version":1}"#, "cannot be read");
        check_refused("nonsense", "cannot be read");
    }
}
