//! The broker with a real NATS server.

use std::process::{Command, Stdio};

use plimsoll_nats::jetstream::Wanted;
use tokio::{sync::mpsc, task::JoinSet, time::sleep};

use super::{read::Chained, record::Record, *};
use crate::broker::{
    notes::{LIMITS, Notes},
    process::{Process, Program},
};

mod members;
mod records;

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

    /// Sends a message as another program would do it, and returns when NATS has answered.
    async fn ask(&self, subject: &str, fields: &[(&str, &str)], payload: &str) {
        let request = Request {
            subject: subject.to_owned(),
            header: if fields.is_empty() {
                Vec::new()
            } else {
                header(fields)
            },
            payload: payload.into(),
        };
        let answer = self.broker.shared.requests.ask(request).await;
        answer.expect("NATS is there");
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
    node.ask("test.h.cw", &[(name, &value)], "other 2").await;
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
