//! Which members each server has on which stream, in Redis (docs/reference/redis-broker.md, Presence).

use std::{collections::HashSet, sync::Arc};

use plimsoll_broker::presence::{Announcement, Change};
use redis::cmd;

use super::{Broker, Listener, MEMBER, Source, keys, replies::number};
use crate::{
    connection::PATIENCE,
    members::{Changes, LIFETIME, MemberStore, Members, Mirrored, Wish, tell_of},
    pipeline::{Request, RequestError},
    resp::Reply,
};

impl MemberStore for Broker {
    type Error = RequestError;

    fn changes(&self) -> Option<&Changes> {
        self.shared.members.as_ref()
    }

    fn name(&self) -> &str {
        &self.shared.name
    }

    fn base_of(&self, source: Source<'_>) -> String {
        self.shared.keys.base(source)
    }

    fn source_of<'a>(&self, base: &'a str) -> Option<Source<'a>> {
        self.shared.keys.source(base)
    }

    async fn change_member(
        &self,
        base: &str,
        server: &str,
        id: &str,
        wish: &Wish,
    ) -> Result<Vec<(Arc<str>, Change)>, RequestError> {
        match wish {
            Some(info) => {
                let text = info.as_deref().unwrap_or_default();
                self.change_members(base, ["enter", server], &[id, text], info.as_ref())
                    .await
            }
            None => self.change_members(base, ["exit", server], &[id], None).await,
        }
    }

    async fn read_members(&self, base: &str) -> Result<Members, RequestError> {
        let get = cmd("HGETALL").arg(keys::members(base)).to_owned();
        let members = |reply| members(reply, &self.shared.name);
        let pipeline = &self.shared.pipeline;
        pipeline.parsed(Request::Command(get), PATIENCE, members).await
    }
}

impl Mirrored for Broker {
    fn begin(&self, _base: &str) {}

    async fn read_followed(&self, base: &str) -> Result<Members, RequestError> {
        self.read_members(base).await
    }

    fn set_known(&self, base: &str) {
        self.shared.table.set_members_known(base);
    }

    async fn outline(&self, base: &str) -> Result<(u64, Vec<String>), RequestError> {
        let request = |command| self.shared.pipeline.request(Request::Command(command), PATIENCE);
        let lifetime = LIFETIME.as_millis().to_string();
        let expire = |key: Vec<u8>| request(cmd("PEXPIRE").arg(key).arg(&lifetime).to_owned());
        let n_changes = |reply| match reply {
            Reply::Text(text) => number(&text),
            _ => Some(0),
        };
        let get = cmd("HGET").arg(keys::members(base)).arg("n").to_owned();
        let pipeline = &self.shared.pipeline;
        let (number, servers, _, _) = tokio::try_join!(
            pipeline.parsed(Request::Command(get), PATIENCE, n_changes),
            request(cmd("HKEYS").arg(keys::member_counts(base)).to_owned()),
            expire(keys::members(base)),
            expire(keys::member_counts(base)),
        )?;
        Ok((number, names(servers).collect()))
    }

    fn is_current(&self, base: &str, number: u64, listener: &impl Listener) -> bool {
        self.source_of(base)
            .is_none_or(|source| listener.is_at(source, number))
    }

    /// The servers that are there.
    async fn alive(&self) -> Result<HashSet<String>, RequestError> {
        let servers = cmd("ZRANGE")
            .arg(self.shared.keys.servers())
            .arg(0)
            .arg(-1)
            .to_owned();
        let reply = self
            .shared
            .pipeline
            .request(Request::Command(servers), PATIENCE)
            .await?;
        Ok(names(reply).collect())
    }

    async fn bury(&self, base: &str, server: &str, listener: &impl Listener) -> Result<(), RequestError> {
        let made = self.change_members(base, ["gone", server], &[], None).await?;
        tell_of(self, base, made, listener).await;
        Ok(())
    }

    fn forget(&self, _base: &str) {}
}

impl Broker {
    async fn change_members(
        &self,
        base: &str,
        [change_name, server]: [&str; 2],
        rest: &[&str],
        info: Option<&Arc<str>>,
    ) -> Result<Vec<(Arc<str>, Change)>, RequestError> {
        let head = [
            change_name.as_bytes().to_vec(),
            server.into(),
            keys::channel(base),
        ];
        let lifetime = LIFETIME.as_millis().to_string().into_bytes();
        let script = Request::Script {
            script: &MEMBER,
            keys: vec![keys::members(base), keys::member_counts(base)],
            arguments: head
                .into_iter()
                .chain([lifetime])
                .chain(rest.iter().map(|text| text.as_bytes().to_vec()))
                .collect(),
        };
        let reply = self.shared.pipeline.request(script, PATIENCE).await?;
        let made = names(reply).filter_map(|made| {
            let (kind, id) = made.split_at_checked(1)?;
            let change = change(kind.as_bytes()[0], || info.cloned())?;
            Some((id.into(), change))
        });
        Ok(made.collect())
    }
}

/// The texts of a list.
fn names(reply: Reply) -> impl Iterator<Item = String> {
    let elements = reply.into_elements().into_iter();
    elements.filter_map(|name| match name {
        Reply::Text(name) => String::from_utf8(name).ok(),
        _ => None,
    })
}

/// All fields of a stream's members, as this server sees them.
fn members(reply: Reply, server: &str) -> Option<Members> {
    let mut found = Members::default();
    let mut fields = reply.into_elements().into_iter();
    while let (Some(field), Some(value)) = (fields.next(), fields.next()) {
        let (Reply::Text(field), Reply::Text(value)) = (field, value) else {
            return None;
        };
        let field = std::str::from_utf8(&field).ok()?;
        if field == "n" {
            found.listing.number = number(&value)?;
        } else if let Some(id) = field.strip_prefix("i:") {
            let info = std::str::from_utf8(&value).ok()?;
            let info = (!info.is_empty()).then(|| info.into());
            found.listing.members.push((id.into(), info));
        } else if let Some(ours) = field.strip_prefix("s:")
            && let Some(id) = ours.strip_prefix(server).and_then(|rest| rest.strip_prefix(':'))
        {
            found.ours.push(id.into());
        }
    }
    Some(found)
}

/// `number kind length-of-id id info`, behind `= `.
pub(super) fn announcement(text: &[u8]) -> Option<Announcement> {
    let mut parts = text.splitn(4, |byte| *byte == b' ');
    let mut next = || parts.next();
    let (count, kind) = (number(next()?)?, next()?);
    let length = usize::try_from(number(next()?)?).ok()?;
    let rest = std::str::from_utf8(next()?).ok()?;
    let (id, info) = rest.split_at_checked(length)?;
    let &[kind] = kind else {
        return None;
    };
    Some(Announcement {
        number: count,
        id: id.into(),
        change: change(kind, || (!info.is_empty()).then(|| info.into()))?,
    })
}

/// A change by its letter.
fn change(kind: u8, info: impl FnOnce() -> Option<Arc<str>>) -> Option<Change> {
    match kind {
        b'j' => Some(Change::Joined(info())),
        b'u' => Some(Change::Updated(info())),
        b'l' => Some(Change::Left),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_broker::presence::Listing;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(u64, &str, Change)>) {
        let expected = expected.map(|(number, id, change)| Announcement {
            number,
            id: id.into(),
            change,
        });
        assert_eq!(announcement(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn announcements() {
        check("7 j 3 kay", Some((7, "kay", Change::Joined(None))));
        check(
            "8 u 3 kay{\"a\": 1}",
            Some((8, "kay", Change::Updated(Some("{\"a\": 1}".into())))),
        );
        check("9 j 4 k é1", Some((9, "k é", Change::Joined(Some("1".into())))));
        check("9 l 3 kay", Some((9, "kay", Change::Left)));
        for other in [
            "",
            "7",
            "7 j 9 kay",
            "7 x 3 kay",
            "x j 3 kay",
            "7 j 1 é",
            "7 jj 1 a",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn fields_of_members() {
        let text = |text: &str| Reply::Text(text.into());
        let fields = [
            "n",
            "7",
            "i:kay",
            "{}",
            "i:a:b",
            "",
            "v:kay",
            "2",
            "s:me:kay",
            "",
            "s:other:kay",
            "",
            "s:other:a:b",
            "",
        ];
        let found = members(Reply::Array(fields.map(text).into()), "me").expect("they are the script's");
        let expected = Members {
            listing: Listing {
                number: 7,
                members: vec![("kay".into(), Some("{}".into())), ("a:b".into(), None)],
            },
            ours: vec!["kay".into()],
        };
        assert_eq!(found, expected);
        assert_eq!(members(Reply::Array(Vec::new()), "me"), Some(Members::default()));
        assert_eq!(members(Reply::Array(["n", "x"].map(text).into()), "me"), None);
    }
}
