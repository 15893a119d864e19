//! Records in Redis (docs/reference/redis-broker.md, Sessions). Scripts hand them out, and refuse what a former owner sends.

use std::time::Duration;

use redis::cmd;
use tokio::sync::watch;

use super::{Broker, RECORD, REVOKE, SERVERS, Shared, TAKE, replies::number};
use crate::{
    pipeline::{Request, RequestError},
    pulse::ALIVE_FOR,
    records::{Attempt, CHANGE_TIMEOUT, Change, LIFETIME_IN_TTLS, Outcome, Record, RecordStore, Records},
    resp::Reply,
};

/// The owner of a record that was taken. No server has this name.
const TAKEN: &[u8] = b"-";

impl RecordStore for Broker {
    type Error = RequestError;

    fn records(&self) -> Option<&Records> {
        self.shared.records.as_ref()
    }

    async fn send_change(&self, key: &str, change: &Change, ttl: Duration) -> Result<Outcome, RequestError> {
        let none = Record::default();
        let (name, ttl, record) = match change {
            // A record of a server that dies right before it renews the lifetime still has the other half.
            Change::Hold(record) => ("hold", LIFETIME_IN_TTLS * ttl, record),
            Change::Touch => ("touch", LIFETIME_IN_TTLS * ttl, &none),
            Change::Leave(record) => ("leave", ttl, record),
            Change::Remove => ("remove", ttl, &none),
        };
        let script = Request::Script {
            script: &RECORD,
            keys: vec![self.shared.keys.owned(key)],
            arguments: vec![
                name.into(),
                self.shared.name.clone().into(),
                ms(ttl),
                record.guard.as_bytes().to_vec(),
                record.content.clone(),
            ],
        };
        let outcome = |reply| match reply {
            Reply::Integer(1) => Some(Outcome::Made),
            Reply::Integer(0) => Some(Outcome::Absent),
            Reply::Integer(-1) => Some(Outcome::NotOurs),
            _ => None,
        };
        let pipeline = &self.shared.pipeline;
        pipeline.parsed(script, CHANGE_TIMEOUT, outcome).await
    }

    async fn attempt(
        &self,
        key: &str,
        guard: Option<&str>,
        gone: Option<&str>,
    ) -> Result<Attempt, RequestError> {
        let Some(records) = &self.shared.records else {
            return Ok(Attempt::Unknown);
        };
        let script = Request::Script {
            script: &TAKE,
            keys: vec![self.shared.keys.owned(key)],
            arguments: vec![
                if guard.is_some() {
                    b"1".to_vec()
                } else {
                    b"0".to_vec()
                },
                guard.unwrap_or_default().into(),
                gone.map_or(TAKEN, str::as_bytes).to_vec(),
                ms(records.ttl),
            ],
        };
        self.request(script, attempt).await
    }

    async fn is_revoked(&self, guard: &str, since: u64) -> Result<bool, RequestError> {
        let get = cmd("GET").arg(self.shared.keys.revoked(guard)).to_owned();
        let is_later = |reply| match reply {
            Reply::Text(text) => Some(number(&text)? >= since),
            _ => Some(false),
        };
        self.request(Request::Command(get), is_later).await
    }

    async fn is_there(&self, server: &str) -> Result<bool, RequestError> {
        self.servers(server, None).await.map(|(_, is_there)| is_there)
    }

    async fn tell(&self, server: &str, message: Vec<u8>) -> Result<(), RequestError> {
        let mut publish = cmd("PUBLISH");
        publish.arg(self.shared.keys.probe(server)).arg(message);
        self.request(Request::Command(publish), Some).await.map(drop)
    }

    async fn is_taken(&self, key: &str) -> Result<bool, RequestError> {
        let get = cmd("HGET")
            .arg(self.shared.keys.owned(key))
            .arg("owner")
            .to_owned();
        let answer = self.request(Request::Command(get), Some).await?;
        Ok(answer == Reply::Text(TAKEN.to_vec()))
    }

    async fn revoke(&self, guard: &str) -> Result<(), RequestError> {
        let Some(records) = &self.shared.records else {
            return Ok(());
        };
        // As long as any record can live that has begun by now.
        let ttl = LIFETIME_IN_TTLS * records.ttl;
        let script = Request::Script {
            script: &REVOKE,
            keys: vec![self.shared.keys.revoked(guard)],
            arguments: vec![ms(ttl)],
        };
        self.request(script, Some).await.map(drop)
    }
}

impl Broker {
    /// Says that this server is there, until `stop` becomes true.
    pub(super) async fn beat(&self, stop: watch::Receiver<bool>) {
        if self.shared.records.is_none() && self.shared.members.is_none() {
            return;
        }
        let beat = async || {
            let answer = self.servers(&self.shared.name, Some(ALIVE_FOR)).await;
            answer.ok().map(|(n_servers, _)| n_servers)
        };
        self.shared.pulse.run(beat, stop).await;
    }

    /// The number of servers, and whether this one is there. With a lifetime it is there from now on, for so long.
    async fn servers(&self, name: &str, lifetime: Option<Duration>) -> Result<(usize, bool), RequestError> {
        let script = Request::Script {
            script: &SERVERS,
            keys: vec![self.shared.keys.servers()],
            arguments: vec![name.into(), ms(lifetime.unwrap_or_default())],
        };
        let servers = |reply: Reply| match <[Reply; 2]>::try_from(reply.into_elements()) {
            Ok([Reply::Integer(n_servers), Reply::Integer(is_there)]) => {
                Some((usize::try_from(n_servers).unwrap_or(0), is_there == 1))
            }
            _ => None,
        };
        self.request(script, servers).await
    }

    async fn request<T>(
        &self,
        request: Request,
        parse: impl FnOnce(Reply) -> Option<T>,
    ) -> Result<T, RequestError> {
        let Shared {
            pipeline,
            publish_timeout,
            ..
        } = &*self.shared;
        pipeline.parsed(request, *publish_timeout, parse).await
    }
}

/// The answer of `take.lua`.
fn attempt(reply: Reply) -> Option<Attempt> {
    let texts = reply.into_elements().into_iter().map(|part| match part {
        Reply::Text(text) => Some(text),
        _ => None,
    });
    let texts: Vec<_> = texts.collect::<Option<_>>()?;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok();
    match <[Vec<u8>; 3]>::try_from(texts) {
        Ok([guard, since, content]) => Some(Attempt::Taken {
            record: Record {
                guard: text(guard)?.into(),
                content,
            },
            since: number(&since)?,
        }),
        Err(texts) => match <[Vec<u8>; 1]>::try_from(texts) {
            Ok([owner]) => Some(Attempt::Owned(text(owner)?)),
            Err(texts) => texts.is_empty().then_some(Attempt::Unknown),
        },
    }
}

fn ms(duration: Duration) -> Vec<u8> {
    duration.as_millis().to_string().into()
}
