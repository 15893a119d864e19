//! The broker with a real NATS server.

use std::process::{Command, Stdio};

use plimsoll_nats::jetstream::Wanted;
use tokio::{sync::mpsc, task::JoinSet, time::sleep};

use super::{read::Chained, record::Record, *};
use crate::{
    broker::{
        notes::{LIMITS, Notes},
        process::{Process, Program},
    },
    members::{self, scenarios::Peer},
    records::{Attempt, Record as Session, RecordStore, scenarios},
};

const PATIENCE: Duration = Duration::from_secs(60);

const STREAM: Source<'_> = Source::Stream("s");

/// A NATS server with JetStream.
struct Nats {
    process: Process,
}

const NATS: Program = Program {
    ready: "Server is ready",
    command: |port, folder| {
        let mut command = Command::new("nats-server");
        command
            .args(["--addr", "127.0.0.1", "--jetstream", "--port"])
            .arg(port.to_string())
            .arg("--store_dir")
            .arg(folder)
            .stderr(Stdio::piped());
        command
    },
};

impl Nats {
    fn start() -> Self {
        let process = Process::start(NATS);
        Self { process }
    }

    fn servers(&self) -> NatsServers {
        let urls = format!("nats://127.0.0.1:{}", self.process.port)
            .parse()
            .expect("a URL");
        NatsServers::new(urls, false).expect("no encryption is asked for")
    }

    fn settings(&self) -> JetStreamSettings {
        JetStreamSettings {
            servers: self.servers(),
            stream: "test".to_owned(),
            prefix: "test".to_owned(),
            n_replicas: None,
            limits: LIMITS,
            publish_timeout: Duration::from_secs(20),
            ready_timeout: Duration::from_secs(20),
            key_ttl: Duration::from_secs(300),
            record_ttl: Some(Duration::from_secs(300)),
            member_ttl: None,
            max_payload_bytes: 1 << 16,
        }
    }
}

/// A server with a broker.
struct Node {
    broker: JetStream,
    news: mpsc::UnboundedReceiver<String>,
    registry: Registry,
    stop: watch::Sender<bool>,
}

impl Node {
    fn start(settings: JetStreamSettings) -> Self {
        let registry = Registry::default();
        let (broker, tasks) = JetStream::new(settings, &registry);
        let (sender, news) = mpsc::unbounded_channel();
        let (stop, stopped) = watch::channel(false);
        let status = || registry.dependency("nats_broker");
        let statuses = (status(), status());
        let counted = registry.clone();
        tokio::spawn(async move { tasks.run(Notes(sender), statuses, &counted, stopped).await });
        Self {
            broker,
            news,
            registry,
            stop,
        }
    }

    async fn hear(&self) -> Hearing {
        let hearing = self.broker.hear(STREAM);
        let heard = timeout(PATIENCE, hearing.heard()).await;
        heard.expect("NATS is there");
        hearing
    }

    async fn publish(&self, payload: &str, key: Option<&str>) {
        let stored = self.broker.publish(STREAM, payload.as_bytes(), key).await;
        stored.expect("NATS is there");
    }

    /// Publishes as a careful backend does: again under the same key, until the message is confirmed.
    async fn publish_again(&self, payload: &str) {
        let stored = async {
            while self
                .broker
                .publish(STREAM, payload.as_bytes(), Some(payload))
                .await
                .is_err()
            {
                sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(PATIENCE, stored).await.expect("NATS is back");
    }

    async fn next(&mut self) -> String {
        let news = timeout(PATIENCE, self.news.recv()).await;
        news.expect("it comes").expect("the node runs")
    }

    async fn expect(&mut self, expected: &[&str]) {
        let mut found = Vec::new();
        for _ in expected {
            found.push(self.next().await);
        }
        assert_eq!(found, expected);
    }

    /// The end of the log.
    async fn last(&self) -> Record {
        let last = self.broker.last("test.h.cw").await.expect("NATS is there");
        last.expect("there is a log").record
    }

    /// Waits until a connection is reported down for a reason.
    async fn down_because(&self, reason: &str) {
        let is_named = || {
            let states = self.registry.dependencies();
            let mut reasons = states.iter().filter_map(|state| state.down_because.as_deref());
            reasons.any(|because| because.contains(reason))
        };
        let named = async {
            while !is_named() {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, named).await.expect(reason);
    }
}

#[tokio::test]
async fn both_servers_hear_what_either_publishes_in_one_order() {
    let nats = Nats::start();
    let (mut a, mut b) = (Node::start(nats.settings()), Node::start(nats.settings()));
    a.publish("1", None).await;
    let _hearings = (a.hear().await, b.hear().await);
    for node in [&mut a, &mut b] {
        node.expect(&["s: begin 0", "s: old 1 1", "s: heard"]).await;
    }
    a.publish("2", None).await;
    b.publish("3", None).await;
    a.broker.pass(STREAM, b"4").await.expect("NATS is there");
    let other = a.broker.publish(Source::Stream(""), b"5", None).await;
    other.expect("NATS is there");
    a.publish("6", None).await;
    for node in [&mut a, &mut b] {
        let mut found = Vec::new();
        for _ in 0..4 {
            found.push(node.next().await);
        }
        // Nothing is ordered with a message that is not kept.
        found.retain(|news| news != "s: passing 4");
        assert_eq!(found, ["s: new 2 2", "s: new 3 3", "s: new 4 6"]);
    }
}

#[tokio::test]
async fn a_message_with_a_key_is_stored_once() {
    let nats = Nats::start();
    let (mut a, b) = (Node::start(nats.settings()), Node::start(nats.settings()));
    let _hearing = a.hear().await;
    for (node, payload, key) in [(&a, "1", "k"), (&b, "1", "k"), (&b, "2", "l"), (&a, "1", "k")] {
        node.publish(payload, Some(key)).await;
    }
    let other = b.broker.publish(Source::Stream("t"), b"1", Some("k")).await;
    other.expect("NATS is there");
    a.publish("3", None).await;
    a.expect(&["s: heard", "s: begin 0", "s: new 1 1", "s: new 2 2", "s: new 3 3"])
        .await;
}

#[tokio::test]
async fn servers_that_publish_at_the_same_time_lose_and_repeat_nothing() {
    let nats = Nats::start();
    let mut nodes: Vec<_> = (0..3).map(|_| Node::start(nats.settings())).collect();
    let mut hearings = Vec::new();
    for node in &mut nodes {
        hearings.push(node.hear().await);
        node.expect(&["s: heard"]).await;
    }
    let n_each = 60;
    let mut tasks = JoinSet::new();
    for (number, node) in nodes.iter().enumerate() {
        // Four at a time from each.
        for lane in 0..4 {
            let broker = node.broker.clone();
            tasks.spawn(async move {
                for n in (lane..n_each).step_by(4) {
                    let payload = format!("{number}-{n}");
                    let published = broker.publish(STREAM, payload.as_bytes(), None).await;
                    published.expect("NATS is there");
                }
            });
        }
    }
    tasks.join_all().await;
    let mut logs = Vec::new();
    for node in &mut nodes {
        node.expect(&["s: begin 0"]).await;
        let mut log = Vec::new();
        for offset in 1..=3 * n_each {
            let news = node.next().await;
            let prefix = format!("s: new {offset} ");
            log.push(news.strip_prefix(&prefix).expect(&news).to_owned());
        }
        logs.push(log);
    }
    assert!(logs.windows(2).all(|pair| pair[0] == pair[1]));
    let mut expected: Vec<_> = (0..3)
        .flat_map(|number| (0..n_each).map(move |n| format!("{number}-{n}")))
        .collect();
    let mut found = logs.swap_remove(0);
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_server_that_is_killed_and_comes_back_has_everything() {
    let mut nats = Nats::start();
    let (publisher, mut listener) = (Node::start(nats.settings()), Node::start(nats.settings()));
    let _hearing = listener.hear().await;
    publisher.publish("1", None).await;
    listener.expect(&["s: heard", "s: begin 0", "s: new 1 1"]).await;
    nats.process.kill();
    nats.process.restart();
    publisher.publish_again("2").await;
    listener.expect(&["s: new 2 2"]).await;
}

#[tokio::test]
async fn a_store_that_has_gone_back_gives_a_new_epoch() {
    let mut nats = Nats::start();
    let (publisher, mut listener) = (Node::start(nats.settings()), Node::start(nats.settings()));
    let _hearing = listener.hear().await;
    for payload in ["1", "2", "3"] {
        publisher.publish(payload, None).await;
    }
    listener
        .expect(&["s: heard", "s: begin 0", "s: new 1 1", "s: new 2 2", "s: new 3 3"])
        .await;
    // A backup that lacks the last two messages.
    nats.process.kill();
    let backup = nats.process.folder.with_extension("backup");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(&nats.process.folder)
        .arg(&backup)
        .status();
    assert!(copied.expect("cp is there").success());
    nats.process.restart();
    publisher.publish_again("4").await;
    publisher.publish_again("5").await;
    listener.expect(&["s: new 4 4", "s: new 5 5"]).await;
    let before = listener.last().await;
    nats.process.kill();
    std::fs::remove_dir_all(&nats.process.folder).expect("it is there");
    std::fs::rename(&backup, &nats.process.folder).expect("it is there");
    nats.process.restart();
    publisher.publish_again("6").await;
    listener
        .expect(&["s: lost", "s: begin 0", "s: old 1 1", "s: old 2 2", "s: old 3 3"])
        .await;
    // The faster one gave the new epoch: the server that listens, or the one that publishes.
    listener.expect(&["s: new 4 6"]).await;
    let after = listener.last().await;
    assert_ne!(before.head.epoch, after.head.epoch);
    assert_eq!((after.head.offset, &after.head.earlier), (4, &before.head.epoch));
}

#[tokio::test]
async fn a_silent_log_that_is_heard_keeps_its_epoch() {
    let nats = Nats::start();
    let ttl = Duration::from_millis(200);
    let settings = JetStreamSettings {
        limits: Limits { ttl, ..LIMITS },
        key_ttl: Duration::from_secs(2),
        ..nats.settings()
    };
    let node = Node::start(settings);
    node.publish("1", None).await;
    let first = node.last().await;
    let position = first.head.position();
    // Twice the time for which JetStream keeps a message.
    let until = tokio::time::Instant::now() + Duration::from_secs(4);
    while tokio::time::Instant::now() < until {
        let read = node
            .broker
            .read_log("test:{s}", Some((&position, 1)), LIMITS)
            .await;
        let excerpt = read.expect("NATS is there");
        assert_eq!((&excerpt.epoch, excerpt.top), (&position.epoch, 1));
        sleep(Duration::from_millis(100)).await;
    }
    let last = node.last().await;
    assert!(last.written_ms() > first.written_ms());
    assert_eq!(last.head, first.head);
    let gone = node.broker.of_leader::<Record>(Wanted::Numbered(1)).await;
    assert!(gone.expect("NATS is there").is_none());
    node.publish("2", None).await;
    let next = node.last().await.head;
    assert_eq!((next.epoch, next.offset), (first.head.epoch, 2));
}

#[tokio::test]
async fn a_message_that_was_written_at_the_same_time_as_another_one_is_in_no_log() {
    let nats = Nats::start();
    let mut node = Node::start(nats.settings());
    let _hearing = node.hear().await;
    node.publish("1", None).await;
    let first = node.last().await;
    node.publish("2", None).await;
    // As JetStream with several replicas can take it.
    node.broker.shared.is_replicated.store(true, Relaxed);
    let (name, value) = Record::next(Some(&first.head), 1, None, now_ms(), || "".into()).field();
    let request = Request {
        subject: "test.h.cw".to_owned(),
        header: header(&[(name, &value)]),
        payload: b"other 2".to_vec(),
    };
    node.broker
        .shared
        .requests
        .ask(request)
        .await
        .expect("NATS is there");
    assert_eq!(node.last().await.head.offset, 2);
    node.publish("3", None).await;
    let mut late = Node::start(nats.settings());
    let _late_hearing = late.hear().await;
    node.expect(&["s: heard", "s: begin 0", "s: new 1 1", "s: new 2 2", "s: new 3 3"])
        .await;
    late.expect(&["s: begin 0", "s: old 1 1", "s: old 2 2", "s: old 3 3", "s: heard"])
        .await;
}

#[tokio::test]
async fn a_stream_of_another_program_is_named_and_waited_for() {
    let nats = Nats::start();
    let first = Node::start(nats.settings());
    first.publish("1", None).await;
    let other_prefix = JetStreamSettings {
        prefix: "other".to_owned(),
        ..nats.settings()
    };
    let second = Node::start(other_prefix);
    second
        .down_because("the JetStream stream test keeps other subjects than other.h.*")
        .await;
    let other_stream = JetStreamSettings {
        stream: "other".to_owned(),
        ..nats.settings()
    };
    let third = Node::start(other_stream);
    third.down_because("another stream keeps the same subjects").await;
}

#[tokio::test]
async fn settings_follow_those_of_the_last_server() {
    let nats = Nats::start();
    Node::start(nats.settings()).publish("1", None).await;
    let more = JetStreamSettings {
        limits: Limits {
            limit: 60,
            ttl: Duration::from_secs(600),
        },
        ..nats.settings()
    };
    let node = Node::start(more);
    for n in 2..=61 {
        node.publish(&n.to_string(), None).await;
    }
    let first = node
        .broker
        .of_leader::<Record>(Wanted::Next("test.h.cw", 1))
        .await;
    assert_eq!(first.expect("NATS is there").map(|first| first.number), Some(1));
}

#[tokio::test]
async fn names_and_messages_that_nats_cannot_take_are_never_sent() {
    let nats = Nats::start();
    let node = Node::start(nats.settings());
    let long = "x".repeat(5000);
    for (source, payload) in [
        (Source::Stream(&long), vec![0; 1]),
        (STREAM, vec![0; 2 << 20]),
        (STREAM, vec![0; (1 << 20) - 1000]),
    ] {
        let refused = node.broker.publish(source, &payload, None).await;
        assert!(matches!(refused, Err(JetStreamError::Unfit(_))), "{refused:?}");
    }
    // Nothing can be missed there.
    let hearing = node.broker.hear(Source::Stream(&long));
    timeout(PATIENCE, hearing.heard())
        .await
        .expect("it is told at once");
}

/// Two servers that share sessions, and what they share them in.
fn two_servers() -> (Nats, Node, Node) {
    let nats = Nats::start();
    let (a, b) = (Node::start(nats.settings()), Node::start(nats.settings()));
    (nats, a, b)
}

#[tokio::test]
async fn a_record_that_was_left_is_taken_once() {
    let (_nats, a, b) = two_servers();
    scenarios::a_record_that_was_left_is_taken_once(&a.broker, &b.broker).await;
}

#[tokio::test]
async fn a_record_lives_as_its_server_says() {
    let (_nats, a, b) = two_servers();
    scenarios::a_record_lives_as_its_server_says(&a.broker, &b.broker).await;
}

#[tokio::test]
async fn a_server_is_asked_to_leave_a_record_that_it_holds() {
    let (_nats, mut a, b) = two_servers();
    scenarios::a_server_is_asked_to_leave_a_record_that_it_holds(&a.broker, &mut a.news, &b.broker).await;
}

#[tokio::test]
async fn a_record_of_a_server_that_is_gone_is_taken() {
    let (_nats, a, b) = two_servers();
    let broker = a.broker.clone();
    scenarios::a_record_of_a_server_that_is_gone_is_taken(broker, || drop(a), &b.broker).await;
}

#[tokio::test]
async fn a_server_that_seemed_gone_learns_that_its_record_was_taken() {
    let (_nats, mut a, b) = two_servers();
    let gone = (&a.broker, &*a.broker.shared.name);
    scenarios::a_server_that_seemed_gone_learns_that_its_record_was_taken(gone, &mut a.news, &b.broker).await;
}

#[tokio::test]
async fn records_of_a_guard_are_revoked_and_later_ones_are_not() {
    let (_nats, a, b) = two_servers();
    scenarios::records_of_a_guard_are_revoked_and_later_ones_are_not(&a.broker, &b.broker, async {}).await;
}

/// Sends a request of JetStream's, and returns when it is carried out.
async fn request(node: &Node, subject: &str) {
    let request = Request {
        subject: subject.to_owned(),
        header: Vec::new(),
        payload: Vec::new(),
    };
    node.broker
        .shared
        .requests
        .ask(request)
        .await
        .expect("NATS is there");
}

#[tokio::test]
async fn nothing_is_left_of_a_record_that_is_gone_or_too_long() {
    let nats = Nats::start();
    let node = Node::start(nats.settings());
    let session = |n_bytes| Session {
        guard: "kay".into(),
        content: vec![b'x'; n_bytes],
    };
    let sessions = node.broker.shared.sessions.as_ref().expect("there are sessions");
    for end in ["lost", "removed", "too-long"] {
        node.broker.hold(end, session(1));
        node.broker.confirm_records().await;
        assert!(sessions.ends.get(end).is_some(), "{end}");
        match end {
            "lost" => {
                request(&node, "$JS.API.STREAM.PURGE.test-sessions").await;
                node.broker.remove(end);
            }
            "removed" => node.broker.remove(end),
            _ => node.broker.hold(end, session(2 << 20)),
        }
        node.broker.confirm_records().await;
        assert_eq!(sessions.ends.get(end), None, "{end}");
        assert_eq!(node.broker.take(end, None).await, Ok(None), "{end}");
    }
}

#[tokio::test]
async fn a_record_outlives_a_server_that_is_killed_and_comes_back() {
    let (mut nats, a, b) = two_servers();
    let session = Session {
        guard: "kay".into(),
        content: b"1".to_vec(),
    };
    a.broker.hold("k", session.clone());
    a.broker.confirm_records().await;
    nats.process.kill();
    a.broker.leave("k", session.clone());
    nats.process.restart();
    let taken = async {
        loop {
            match b.broker.take("k", None).await {
                Ok(taken) => return taken,
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    };
    let taken = timeout(PATIENCE, taken).await.expect("NATS is back");
    assert_eq!(taken, Some(session));
}

#[tokio::test]
async fn a_change_that_was_written_at_the_same_time_as_another_one_does_not_count() {
    let nats = Nats::start();
    let node = Node::start(nats.settings());
    let broker = &node.broker;
    let session = Session {
        guard: "kay".into(),
        content: b"1".to_vec(),
    };
    broker.leave("k", session.clone());
    broker.confirm_records().await;
    // What JetStream with several replicas may do: it stores two changes that follow the same message.
    broker.shared.is_replicated.store(true, Relaxed);
    let subject = broker.shared.subjects.record("k");
    for change in ["held someone 1 1 3", "left - 1 1 3"] {
        let request = Request {
            subject: subject.clone(),
            header: header(&[("Plimsoll-Record", change)]),
            payload: b"kay1".to_vec(),
        };
        broker.shared.requests.ask(request).await.expect("NATS is there");
    }
    let owned = Attempt::Owned("someone".to_owned());
    assert_eq!(broker.attempt("k", None, None).await, Ok(owned));
    let taken = Attempt::Taken {
        record: session,
        since: 1,
    };
    assert_eq!(broker.attempt("k", None, Some("someone")).await, Ok(taken));
    assert_eq!(broker.is_taken("k").await, Ok(true));
}

/// A server whose clients are present.
fn with_members(nats: &Nats) -> Node {
    Node::start(JetStreamSettings {
        member_ttl: Some(Duration::from_secs(1)),
        ..nats.settings()
    })
}

impl Node {
    fn peer(&mut self) -> Peer<'_, JetStream> {
        Peer {
            store: &self.broker,
            news: &mut self.news,
        }
    }
}

#[tokio::test]
async fn a_member_is_there_as_long_as_one_server_has_it() {
    let nats = Nats::start();
    let [mut one, mut other, mut hears] = [(), (), ()].map(|()| with_members(&nats));
    let _hearing = hears.hear().await;
    let peers = (one.peer(), other.peer(), hears.peer());
    members::scenarios::a_member_is_there_as_long_as_one_server_has_it(peers.0, peers.1, peers.2).await;
}

#[tokio::test]
async fn the_members_of_a_server_that_is_gone_are_taken_away() {
    let nats = Nats::start();
    let (mut stays, goes) = (with_members(&nats), with_members(&nats));
    let _hearing = stays.hear().await;
    let Node {
        broker, news, stop, ..
    } = goes;
    let kill = || {
        stop.send_replace(true);
    };
    let goes = (broker, news);
    members::scenarios::the_members_of_a_server_that_is_gone_are_taken_away(stays.peer(), goes, kill).await;
}

#[tokio::test]
async fn changes_that_nats_does_not_take_are_sent_again() {
    let mut nats = Nats::start();
    let mut node = with_members(&nats);
    let set_running = |is_running| {
        if is_running {
            nats.process.restart();
        } else {
            nats.process.kill();
        }
    };
    members::scenarios::changes_that_the_store_does_not_take_are_sent_again(node.peer(), set_running).await;
}
