//! Keys that another program, or another version of this one, has written.

use super::*;
use crate::{
    members::{MemberStore, Mirrored, Wish},
    records::{Change, Record, RecordStore},
};

const STREAM: Source<'static> = Source::Stream("s");
const HEAD: &str = "test:{s}:head";
const LOG: &str = "test:{s}:log";
const MEMBERS: &str = "test:{s}:members";
const RECORD: &str = "test:record:sid";

const IS_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
const IS_HEAD: &str = "FOREIGN the hash does not have an epoch e, an offset s and a time t";
const IS_TAKEN: &str = "FOREIGN the hash does not have guard, since and content";
const IS_BEHIND: &str = "ERR The ID specified in XADD is equal or smaller than the target stream top item";
const IS_NUMBER: &str = "ERR hash value is not an integer";

/// What is done with a key.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Publish,
    PublishWithKey,
    ReadEnd,
    ReadBehind,
    Hold,
    Take,
    IsTaken,
    IsRevoked,
    Enter,
    ReadMembers,
    Outline,
    Alive,
}

async fn carry_out(deed: Deed, broker: &Broker) -> Result<(), RequestError> {
    let base = broker.shared.keys.base(STREAM);
    let behind = Position {
        epoch: "epoch".into(),
        offset: 1,
        at_ms: Some(5),
    };
    let ttl = Duration::from_secs(300);
    match deed {
        Deed::Publish => broker.publish(STREAM, b"1", LIMITS, None).await.map(drop),
        Deed::PublishWithKey => broker.publish(STREAM, b"1", LIMITS, Some("key")).await.map(drop),
        Deed::ReadEnd => broker.read(&base, None, LIMITS, PATIENCE).await.map(drop),
        Deed::ReadBehind => {
            let after = Some((&behind, 1));
            broker.read(&base, after, LIMITS, PATIENCE).await.map(drop)
        }
        Deed::Hold => {
            let hold = Change::Hold(Record::default());
            broker.send_change("sid", &hold, ttl).await.map(drop)
        }
        Deed::Take => broker.attempt("sid", None, None).await.map(drop),
        Deed::IsTaken => broker.is_taken("sid").await.map(drop),
        Deed::IsRevoked => broker.is_revoked("guard", 0).await.map(drop),
        Deed::Enter => {
            let wish = Wish::Some(None);
            broker.change_member(&base, "me", "kay", &wish).await.map(drop)
        }
        Deed::ReadMembers => broker.read_members(&base).await.map(drop),
        Deed::Outline => broker.outline(&base).await.map(drop),
        Deed::Alive => broker.alive().await.map(drop),
    }
}

/// Deeds with keys that were planted, the error, and the keys that it names.
struct Bed {
    redis: Redis,
    node: Node,
}

impl Bed {
    async fn check(&self, plants: &[&[&str]], deeds: &[Deed], reason: &str, keys: &[&str]) {
        for deed in deeds {
            self.redis.command(&["FLUSHALL"]).await;
            for plant in plants {
                self.redis.command(plant).await;
            }
            let error = carry_out(*deed, &self.node.broker)
                .await
                .expect_err("the keys cannot be used");
            assert!(
                matches!(error, RequestError::Foreign(_)),
                "{deed:?} with {plants:?}: {error}"
            );
            let text = error.to_string();
            let keys: Vec<_> = keys.iter().map(|key| format!("\"{key}\"")).collect();
            for part in [
                format!(" in {}", keys[0]),
                format!("but {reason};"),
                format!("DEL {})", keys.join(" ")),
            ] {
                assert!(text.contains(&part), "{deed:?} with {plants:?}: {part} in {text}");
            }
        }
    }
}

#[tokio::test]
async fn what_cannot_be_used_is_named_with_its_keys_and_stays() {
    let redis = Redis::start();
    let node = Node::with_members(redis.server(), Some(Duration::from_secs(10)));
    let bed = Bed { redis, node };
    let says = |reason: &str| format!("Redis says: {reason}");
    let (log, both) = ([LOG, HEAD], [LOG, HEAD]);
    let with_key = [LOG, HEAD, "test:key:key:{s}"];
    let head: &[&str] = &["HSET", HEAD, "e", "epoch", "s", "3", "t", "5"];
    let reads = [Deed::ReadEnd, Deed::ReadBehind];
    let uses = [Deed::Publish, Deed::ReadEnd, Deed::ReadBehind];

    for plant in [["SET", HEAD, "x"], ["RPUSH", HEAD, "x"]] {
        bed.check(&[&plant], &uses, &says(IS_TYPE), &both).await;
    }
    for plant in [
        &["SET", LOG, "x"][..],
        &["HSET", LOG, "a", "b"],
        &["RPUSH", LOG, "x"],
    ] {
        bed.check(&[head, plant], &uses, &says(IS_TYPE), &log).await;
    }
    for fields in [
        &["s", "3", "t", "5"][..],
        &["e", "epoch", "s", "many", "t", "5"],
        &["e", "epoch", "s", "-3", "t", "5"],
        &["e", "epoch", "s", "1e300", "t", "5"],
        &["e", "epoch", "s", "nan", "t", "5"],
        &["e", "epoch", "s", "3", "t", "soon"],
        &["e", "epoch", "s", "3", "t", "inf"],
    ] {
        let plant = [&["HSET", HEAD], fields].concat();
        bed.check(&[&plant], &uses, &says(IS_HEAD), &both).await;
    }
    let renamed = [head, &["renamed_at", "x"]].concat();
    bed.check(&[&renamed], &reads, &says(IS_HEAD), &both).await;
    let greater: &[&str] = &["XADD", LOG, "9-0", "t", "5", "b", "5", "p", "1"];
    bed.check(&[head, greater], &[Deed::Publish], &says(IS_BEHIND), &log)
        .await;

    let known = ["SET", "test:key:key:{s}", "x"];
    bed.check(&[&known], &[Deed::PublishWithKey], &says(IS_TYPE), &with_key)
        .await;
    let known = ["HSET", "test:key:key:{s}", "e", "epoch"];
    let unreadable = "what they have cannot be read";
    bed.check(&[&known], &[Deed::PublishWithKey], unreadable, &with_key)
        .await;

    let deeds = [Deed::Hold, Deed::Take, Deed::IsTaken];
    bed.check(&[&["SET", RECORD, "x"]], &deeds, &says(IS_TYPE), &[RECORD])
        .await;
    let record: &[&str] = &["HSET", RECORD, "owner", ""];
    for fields in [
        &[][..],
        &["guard", "", "since", "1"],
        &["guard", "", "content", ""],
        &["since", "1", "content", ""],
        &["guard", "", "since", "x", "content", ""],
    ] {
        let plant = [record, fields].concat();
        bed.check(&[&plant], &[Deed::Take], &says(IS_TAKEN), &[RECORD])
            .await;
        let owner = bed.redis.command(&["HGET", RECORD, "owner"]).await;
        assert_eq!(owner, Reply::Text(Vec::new()), "the record stays");
    }
    let revoked = String::from_utf8(bed.node.broker.shared.keys.revoked("guard")).expect("it is text");
    let deeds = [Deed::IsRevoked];
    bed.check(&[&["RPUSH", &revoked, "x"]], &deeds, &says(IS_TYPE), &[&revoked])
        .await;
    bed.check(&[&["SET", &revoked, "x"]], &deeds, unreadable, &[&revoked])
        .await;

    let counts = "test:{s}:servers";
    let plant = ["SET", MEMBERS, "x"];
    bed.check(&[&plant], &[Deed::Enter], &says(IS_TYPE), &[MEMBERS, counts])
        .await;
    let deeds = [Deed::ReadMembers, Deed::Outline];
    bed.check(&[&plant], &deeds, &says(IS_TYPE), &[MEMBERS]).await;
    let plant = ["HSET", MEMBERS, "n", "x"];
    bed.check(&[&plant], &[Deed::Enter], &says(IS_NUMBER), &[MEMBERS, counts])
        .await;
    bed.check(&[&plant], &deeds, unreadable, &[MEMBERS]).await;
    let plant = ["SET", "test:servers", "x"];
    bed.check(&[&plant], &[Deed::Alive], &says(IS_TYPE), &["test:servers"])
        .await;
    let plant = ["SET", counts, "x"];
    bed.check(&[&plant], &[Deed::Outline], &says(IS_TYPE), &[counts])
        .await;
}

#[tokio::test]
async fn an_entry_with_other_fields_is_left_out_and_no_message() {
    let redis = Redis::start();
    let node = Node::start(&redis);
    let base = node.broker.shared.keys.base(STREAM);
    for entry in [
        &["other", "field"][..],
        &["1", "5", "2", "5", "3", "1"],
        &["t", "5", "b", "5", "z", "1"],
        &["b", "5", "t", "5", "p", "1"],
    ] {
        redis.command(&["FLUSHALL"]).await;
        redis
            .command(&["HSET", HEAD, "e", "epoch", "s", "1", "t", "5"])
            .await;
        redis.command(&[&["XADD", LOG, "1-0"], entry].concat()).await;
        assert_eq!(node.publish("s", "2", None).await.offset, 2);
        let read = node.broker.read(&base, None, LIMITS, PATIENCE).await;
        let found: Vec<_> = read.expect("it is a log").messages;
        let found: Vec<_> = found.iter().map(|message| message.offset).collect();
        assert_eq!(found, [2], "{entry:?}");
    }
}
