//! Tests of the messages about presence and their order, in virtual time.

use plimsoll_broker::presence::{Announcement, Listing};
use plimsoll_telemetry::Registry;
use tokio::sync::mpsc;

use super::*;
use crate::{
    mailbox::{Body, Letter, Payload},
    presence_store::{Membership, Present},
    publisher::Kept,
    session_store::Answering,
};

const TTL: Duration = Duration::from_secs(10);

struct Rig {
    roll: Arc<Roll>,
    publisher: Publisher,
    mailboxes: Vec<mpsc::Receiver<Letter>>,
}

/// A store that notes what it is told.
#[derive(Debug, Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn note(&self, text: String) {
        self.0.lock().expect("no test panics under it").push(text);
    }

    #[track_caller]
    fn expect(&self, expected: &[&str]) {
        let found = std::mem::take(&mut *self.0.lock().expect("no test panics under it"));
        assert_eq!(found, expected);
    }
}

impl PresenceStore for Notes {
    fn enter(&self, stream: &str, id: &str, info: Option<&str>) {
        self.note(format!("{stream}: {id} enters {info:?}"));
    }

    fn exit(&self, stream: &str, id: &str) {
        self.note(format!("{stream}: {id} exits"));
    }

    fn members<'a>(&'a self, _stream: &'a str) -> Answering<'a, Vec<Present>> {
        Box::pin(async { Err(EngineError::Away("nobody is there".to_owned())) })
    }
}

impl Rig {
    fn new() -> Self {
        Self::with_store(None)
    }

    fn with_store(store: Option<Arc<dyn PresenceStore>>) -> Self {
        let registry = Registry::default();
        let settings = Settings {
            ttl: TTL,
            announces_updates: true,
            max_bytes: usize::MAX,
        };
        let roll = Roll::new(settings, store, None, &registry);
        let kept = Kept {
            members: Some(Arc::clone(&roll) as Arc<dyn Membership>),
            ..Kept::default()
        };
        let (publisher, mailboxes) = Publisher::new(2, 1 << 20, kept, None, &registry);
        Self {
            roll,
            publisher,
            mailboxes,
        }
    }

    async fn join(&self, id: &str, info: &str) -> Attendance {
        let member = Member {
            id: id.into(),
            info: Some(info.into()),
        };
        let joined = self.roll.join(&self.publisher, "s", &member).await;
        joined.expect("it is not refused")
    }

    /// The messages since the last call, which are the same in all mailboxes.
    #[track_caller]
    fn messages(&mut self) -> Vec<String> {
        let mut by_shard = self.mailboxes.iter_mut().map(|mailbox| {
            let letters = std::iter::from_fn(|| mailbox.try_recv().ok());
            letters.map(|letter| text(&letter)).collect::<Vec<_>>()
        });
        let (first, second) = (by_shard.next().unwrap(), by_shard.next().unwrap());
        assert_eq!(first, second);
        first
    }
}

fn text(letter: &Letter) -> String {
    let Letter::Publish(outgoing) = letter else {
        panic!("{letter:?}");
    };
    let Body::Passing(Payload::Typed { kind, text }) = &outgoing.body else {
        panic!("events of presence are not kept: {:?}", outgoing.body);
    };
    format!("{} {kind} {text}", outgoing.stream)
}

#[tokio::test(start_paused = true)]
async fn all_shards_are_told_what_changes_and_nothing_else() {
    let mut rig = Rig::new();
    let first = rig.join("kay", "1").await;
    let second = rig.join("kay", "1").await;
    rig.roll.rejoin(&rig.publisher, &second, Some("2")).await.unwrap();
    assert_eq!(
        rig.messages(),
        [
            r#"s presence {"type":"join","info":1,"id":"kay"}"#,
            r#"s presence {"type":"update","info":2,"id":"kay"}"#
        ]
    );
    rig.roll.leave(&rig.publisher, first).await;
    let absence = rig.roll.step_away(second);
    tokio::time::advance(TTL / 2).await;
    rig.roll.expire(&rig.publisher).await;
    let back = rig.roll.come_back(&absence).expect("it is in time");
    let absence = rig.roll.step_away(back);
    tokio::time::advance(TTL).await;
    assert_eq!(rig.messages(), [""; 0]);
    rig.roll.expire(&rig.publisher).await;
    assert_eq!(rig.roll.come_back(&absence), None);
    assert_eq!(rig.messages(), [r#"s presence {"type":"leave","id":"kay"}"#]);
}

#[tokio::test]
async fn an_answer_lists_the_members_unless_that_is_too_long_or_not_wanted() {
    let rig = Rig::new();
    let kay = rig.join("kay", r#"{"name":"Kay"}"#).await;
    let list = r#"{"type":"info","total":1,"records":[{"info":{"name":"Kay"},"id":"kay"}]}"#;
    assert_eq!(rig.roll.info("s", true, 1000).as_deref(), Some(list));
    assert_eq!(rig.roll.info("s", true, 20), None);
    let number = r#"{"type":"info","total":1}"#;
    assert_eq!(rig.roll.info("s", false, 20).as_deref(), Some(number));
    let none = r#"{"type":"info","total":0}"#;
    assert_eq!(rig.roll.info("t", true, 0).as_deref(), Some(none));
    rig.roll.leave(&rig.publisher, kay).await;
}

/// A caller that gives up while a mailbox is full has changed nothing.
#[tokio::test]
async fn a_change_and_its_message_happen_together_or_not_at_all() {
    let mut rig = Rig::new();
    let mut attendances = Vec::new();
    for n in 0.. {
        let id = n.to_string();
        let joining = rig.join(&id, "1");
        tokio::select! {
            biased;
            attendance = joining => attendances.push(attendance),
            () = std::future::ready(()) => break,
        }
    }
    let n_members = rig.roll.lock().n_members();
    assert_eq!(n_members, attendances.len());
    assert_eq!(rig.messages().len(), n_members);
}

#[tokio::test]
async fn a_backend_reads_members_page_by_page() {
    let rig = Rig::new();
    let mut attendances = Vec::new();
    for id in ["c", "a", "b"] {
        attendances.push(rig.join(id, "12").await);
    }
    let check = async |after: Option<&str>, n, max_bytes, expected: &str, has_more| {
        let page = rig.roll.page("s", after, n, max_bytes).await.expect("it is here");
        let ids: String = page.members.iter().map(|(id, _)| &**id).collect();
        assert_eq!(
            (page.total, &*ids, page.has_more),
            (3, expected, has_more),
            "{after:?} {n} {max_bytes}"
        );
        assert!(page.members.iter().all(|(_, info)| info.as_deref() == Some("12")));
    };
    check(None, 9, 1000, "abc", false).await;
    check(None, 3, 1000, "abc", false).await;
    check(None, 2, 1000, "ab", true).await;
    check(Some("b"), 2, 1000, "c", false).await;
    check(Some("ab"), 2, 1000, "bc", false).await;
    check(Some("c"), 2, 1000, "", false).await;
    // A record has 27 bytes, and the last one may exceed the limit.
    check(None, 9, 27, "a", true).await;
    check(None, 9, 28, "ab", true).await;
    for attendance in attendances {
        rig.roll.leave(&rig.publisher, attendance).await;
    }
    assert_eq!(
        rig.roll.page("s", None, 9, 1000).await.expect("it is here").total,
        0
    );
}

#[tokio::test(start_paused = true)]
async fn with_a_store_clients_are_told_what_it_announces() {
    let store = Arc::new(Notes::default());
    let mut rig = Rig::with_store(Some(Arc::clone(&store) as Arc<dyn PresenceStore>));
    let (roll, publisher) = (Arc::clone(&rig.roll), rig.publisher.clone());
    let info = || roll.info("s", true, 1000).expect("it is short");
    let first = rig.join("kay", "1").await;
    let second = rig.join("kay", "2").await;
    store.expect(&[r#"s: kay enters Some("1")"#, r#"s: kay enters Some("2")"#]);
    assert!(rig.messages().is_empty(), "the store has announced nothing");
    let kay = r#"{"type":"info","total":1,"records":[{"info":2,"id":"kay"}]}"#;
    assert_eq!(info(), kay, "its own members are known");

    let change = |number, id: &str, change| Announcement {
        number,
        id: id.into(),
        change,
    };
    let listing = |number, ids: &[&str]| Listing {
        number,
        members: ids.iter().map(|id| ((*id).into(), Some("2".into()))).collect(),
    };
    let ours: [Arc<str>; 1] = ["kay".into()];
    publisher.await_members("s");
    assert_eq!(info(), kay);
    assert!(!publisher.take_members("s", listing(7, &["kay"]), &ours).await);
    store.expect(&[]);
    let joined = [r#"s presence {"type":"join","info":2,"id":"kay"}"#];
    assert_eq!(rig.messages(), joined, "a client has asked before");
    assert!(
        !publisher
            .hear_member("s", change(8, "ann", Change::Joined(None)))
            .await
    );
    assert_eq!(rig.messages(), [r#"s presence {"type":"join","id":"ann"}"#]);
    assert!(info().contains(r#""total":2"#));
    assert!(publisher.is_at("s", 8) && !publisher.is_at("s", 9));
    assert!(
        publisher.hear_member("s", change(10, "bob", Change::Left)).await,
        "9 is missing"
    );

    // The store has lost this server's member, and has one that this server does not have.
    let ours: [Arc<str>; 1] = ["ghost".into()];
    assert!(!publisher.take_members("s", listing(10, &["ghost"]), &ours).await);
    store.expect(&["s: ghost exits", r#"s: kay enters Some("2")"#]);
    let told = [
        r#"s presence {"type":"leave","id":"ann"}"#,
        r#"s presence {"type":"leave","id":"kay"}"#,
        r#"s presence {"type":"join","info":2,"id":"ghost"}"#,
    ];
    assert_eq!(rig.messages(), told);

    roll.leave(&publisher, first).await;
    store.expect(&[]);
    let absence = roll.step_away(second);
    tokio::time::advance(TTL).await;
    roll.expire(&publisher).await;
    store.expect(&["s: kay exits"]);
    assert_eq!(roll.come_back(&absence), None);
    assert!(
        roll.page("s", None, 9, 1000).await.is_err(),
        "the store does not answer"
    );
}
