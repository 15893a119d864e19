//! A node that is slow with its messages, and a Redis that records its commands.

use std::sync::{Arc, Mutex};

use plimsoll_telemetry::Registry;
use tokio::io::{AsyncWriteExt, DuplexStream};

use super::*;
use crate::{resp::ReplyReader, tls::TlsSettings};

/// A sink that takes this long for every payload.
struct Slow {
    each: Duration,
    /// The id of a payload that it cannot take.
    cannot_take: Option<String>,
    accepted: Arc<Mutex<Vec<String>>>,
}

impl Sink for Slow {
    async fn accept(&self, payload: &[u8], id: Option<&str>) -> Taken {
        tokio::time::sleep(self.each).await;
        let payload = String::from_utf8_lossy(payload).into_owned();
        self.accepted
            .lock()
            .expect("no test panics with it")
            .push(payload);
        if self.cannot_take.as_deref() == id {
            return Taken::Later;
        }
        Taken::Done
    }
}

fn consumer(each: Duration) -> (Consumer<Slow>, Arc<Mutex<Vec<String>>>) {
    let accepted = Arc::default();
    let target = "redis://localhost".parse().expect("a URL");
    let stream = Stream {
        server: Server::new(target, &TlsSettings::default(), 1024).expect("no files are named"),
        key: "key".to_owned(),
        group: Group {
            name: "group".to_owned(),
            consumer: "me".to_owned(),
        },
        block: Duration::from_secs(2),
        hold: Duration::ZERO,
    };
    let sink = Slow {
        each,
        cannot_take: Some("0-0".to_owned()),
        accepted: Arc::clone(&accepted),
    };
    let consumer = Consumer {
        held_until: Instant::now() + stream.hold,
        member: Member::new(stream),
        sink,
    };
    (consumer, accepted)
}

fn entries(ids: &[&str]) -> Vec<Entry> {
    let entry = |id: &&str| Entry {
        id: id.as_bytes().to_vec(),
        payload: Payload::Whole(format!("payload {id}").into_bytes()),
    };
    ids.iter().map(entry).collect()
}

/// Answers commands until the other end closes. Returns them with the second at which each came.
async fn redis(stream: DuplexStream) -> Vec<(u64, String)> {
    let started = Instant::now();
    let (reader, mut writer) = tokio::io::split(stream);
    let mut reader = ReplyReader::new(reader, 1024);
    let mut commands = Vec::new();
    // A command looks like a reply that is an array.
    while let Ok(command) = reader.read().await {
        let words: Vec<_> = command
            .into_elements()
            .into_iter()
            .map(|word| match word {
                Reply::Text(word) => String::from_utf8(word).expect("text"),
                other => panic!("{other:?} is not a word of a command"),
            })
            .collect();
        let answer = match words[0].as_str() {
            "MULTI" => "+OK\r\n",
            "XACK" | "XDEL" => "+QUEUED\r\n",
            "EXEC" => "*2\r\n:1\r\n:1\r\n",
            "XCLAIM" => "*0\r\n",
            "PING" => "+PONG\r\n",
            other => panic!("{other} was not expected"),
        };
        commands.push((started.elapsed().as_secs(), words.join(" ")));
        if writer.write_all(answer.as_bytes()).await.is_err() {
            break;
        }
    }
    commands
}

#[tokio::test(start_paused = true)]
async fn messages_in_work_are_claimed_again_and_those_done_acknowledged_before_others_take_them_over() {
    let (mut consumer, accepted) = consumer(Duration::from_millis(4500));
    let (ours, theirs) = tokio::io::duplex(1024);
    let redis = tokio::spawn(redis(theirs));
    let mut connection = Connection::over(ours);
    let processed = consumer.process(&mut connection, &entries(&["1-0", "2-0"])).await;
    processed.expect("the connection holds");
    drop(connection);
    assert_eq!(*accepted.lock().unwrap(), ["payload 1-0", "payload 2-0"]);

    let both = "XCLAIM key group me 0 1-0 2-0 JUSTID";
    let second = "XCLAIM key group me 0 2-0 JUSTID";
    let expected = [
        (1, both),
        (2, both),
        (3, both),
        (4, both),
        (5, "MULTI"),
        (5, "XACK key group 1-0"),
        (5, "XDEL key 1-0"),
        (5, "EXEC"),
        (5, second),
        (6, second),
        (7, second),
        (8, second),
        (9, "MULTI"),
        (9, "XACK key group 2-0"),
        (9, "XDEL key 2-0"),
        (9, "EXEC"),
    ];
    let commands = redis.await.expect("all commands are known");
    let commands: Vec<_> = commands
        .iter()
        .map(|(at, command)| (*at, command.as_str()))
        .collect();
    assert_eq!(commands, expected);
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_neither_cuts_a_message_in_half_nor_lets_it_come_twice() {
    let (mut consumer, accepted) = consumer(Duration::from_millis(2500));
    let (ours, theirs) = tokio::io::duplex(1024);
    drop(theirs);
    let mut connection = Connection::over(ours);
    let processed = consumer.process(&mut connection, &entries(&["1-0", "2-0"])).await;
    assert!(processed.is_err());
    assert_eq!(*accepted.lock().unwrap(), ["payload 1-0"]);
    assert_eq!(consumer.member.unacknowledged, [b"1-0".to_vec()]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_cannot_be_published_is_not_acknowledged_and_no_later_one_is_taken() {
    let (mut consumer, accepted) = consumer(Duration::ZERO);
    consumer.sink.cannot_take = Some("2-0".to_owned());
    let (ours, theirs) = tokio::io::duplex(1024);
    let redis = tokio::spawn(redis(theirs));
    let mut connection = Connection::over(ours);
    let ids = ["1-0", "2-0", "3-0"];
    let processed = consumer.process(&mut connection, &entries(&ids)).await;
    assert!(
        matches!(processed, Err(ConnectionError::Postponed)),
        "{processed:?}"
    );
    drop(connection);
    assert_eq!(*accepted.lock().unwrap(), ["payload 1-0", "payload 2-0"]);
    let commands = redis.await.expect("all commands are known");
    let commands: Vec<_> = commands.iter().map(|(_, command)| command.as_str()).collect();
    assert_eq!(commands, ["MULTI", "XACK key group 1-0", "XDEL key 1-0", "EXEC"]);
}

/// A consumer that takes no messages for 30 s, and its connection.
fn holding() -> (Consumer<Slow>, Connection, Link, Registry) {
    let (mut consumer, _) = consumer(Duration::ZERO);
    consumer.held_until = Instant::now() + Duration::from_secs(30);
    let (ours, theirs) = tokio::io::duplex(1024);
    tokio::spawn(redis(theirs));
    let registry = Registry::default();
    let link = Link::new("a test", registry.dependency("redis"));
    (consumer, Connection::over(ours), link, registry)
}

#[tokio::test(start_paused = true)]
async fn messages_wait_from_the_start_on_and_not_after_every_reconnection() {
    let started = Instant::now();
    let (consumer, mut connection, mut link, registry) = holding();
    let (_sender, mut stop) = watch::channel(false);
    // The first connection took ten seconds.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let mut is_over = consumer.hold(&mut connection, &mut link, &mut stop).await;
    assert_eq!((is_over.ok(), started.elapsed().as_secs()), (Some(true), 30));
    assert!(registry.dependencies()[0].is_up(), "clients may come");
    is_over = consumer.hold(&mut connection, &mut link, &mut stop).await;
    assert_eq!(
        (is_over.ok(), started.elapsed().as_secs()),
        (Some(true), 30),
        "once"
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_wait_before_the_first_message() {
    let started = Instant::now();
    let (consumer, mut connection, mut link, _registry) = holding();
    let (sender, mut stop) = watch::channel(false);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(3)).await;
        sender.send_replace(true);
    });
    let is_over = consumer.hold(&mut connection, &mut link, &mut stop).await;
    assert_eq!((is_over.ok(), started.elapsed().as_secs()), (Some(false), 3));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_lost_meanwhile_is_found_out() {
    let (consumer, _, mut link, _registry) = holding();
    let (_sender, mut stop) = watch::channel(false);
    let (ours, theirs) = tokio::io::duplex(1024);
    drop(theirs);
    let held = consumer
        .hold(&mut Connection::over(ours), &mut link, &mut stop)
        .await;
    assert!(held.is_err());
}
