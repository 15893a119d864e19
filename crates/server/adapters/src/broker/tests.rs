//! The broker with a real Redis server.

use std::process::{Command, Stdio};

use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};

use super::{
    notes::{LIMITS, Notes},
    process::{Process, Program},
    *,
};
use crate::{connection::Connection, records::scenarios, resp::Reply, tls::TlsSettings};

mod foreign;
mod members;

const PATIENCE: Duration = Duration::from_secs(60);

/// A Redis server.
struct Redis {
    process: Process,
}

const REDIS: Program = Program {
    ready: "Ready to accept connections",
    command: |port, folder| {
        let mut command = Command::new("redis-server");
        command
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"])
            .arg("--port")
            .arg(port.to_string())
            .arg("--dir")
            .arg(folder)
            .stdout(Stdio::piped());
        command
    },
};

impl Redis {
    fn start() -> Self {
        let process = Process::start(REDIS);
        Self { process }
    }

    fn server(&self) -> Server {
        let target = format!("redis://127.0.0.1:{}", self.process.port)
            .parse()
            .expect("a URL");
        Server::new(target, &TlsSettings::default(), 1 << 20).expect("no files are named")
    }

    /// Lets a foreign client send a command.
    async fn command(&self, words: &[&str]) -> Reply {
        let mut connection = Connection::open(&self.server()).await.expect("it runs");
        let command = cmd(words[0]).arg(&words[1..]).to_owned();
        connection
            .request(&command, PATIENCE)
            .await
            .expect("it takes the command")
    }
}

fn server(port: u16) -> Server {
    let target = format!("redis://127.0.0.1:{port}").parse().expect("a URL");
    Server::new(target, &TlsSettings::default(), 1 << 20).expect("no files are named")
}

/// A way to Redis on which connections become silent without an end, as after some failovers. Returns its port. Whenever
/// the sender changes, the connections so far carry nothing from Redis any more.
async fn silencer(redis_port: u16) -> (u16, watch::Sender<()>) {
    let (silence, silenced) = watch::channel(());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("there is a free port");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let mut silenced = silenced.clone();
            silenced.mark_unchanged();
            tokio::spawn(async move {
                let redis = tokio::net::TcpStream::connect(("127.0.0.1", redis_port)).await;
                let (mut redis_reader, mut redis_writer) = redis.expect("Redis is there").into_split();
                let (mut reader, mut writer) = client.into_split();
                let there = async {
                    // The end of a connection is no failure.
                    let _ended = tokio::io::copy(&mut reader, &mut redis_writer).await;
                };
                let back = async {
                    tokio::select! {
                        _ended = tokio::io::copy(&mut redis_reader, &mut writer) => {}
                        _silenced = silenced.changed() => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = there => {}
                    () = back => {}
                }
            });
        }
    });
    (port, silence)
}

/// A server with a broker.
struct Node {
    broker: Broker,
    news: mpsc::UnboundedReceiver<String>,
    registry: Registry,
    stop: watch::Sender<bool>,
}

impl Node {
    fn start(redis: &Redis) -> Self {
        Self::start_at(redis.server())
    }

    fn start_at(server: Server) -> Self {
        Self::with_members(server, None)
    }

    fn with_members(server: Server, member_ttl: Option<Duration>) -> Self {
        let settings = BrokerSettings {
            server,
            prefix: "test".to_owned(),
            publish_timeout: Duration::from_secs(20),
            key_ttl: Duration::from_secs(300),
            n_replicas: 0,
            record_ttl: Some(Duration::from_secs(300)),
            member_ttl,
        };
        let registry = Registry::default();
        let (broker, tasks) = Broker::new(settings, &registry);
        let (sender, news) = mpsc::unbounded_channel();
        let (stop, stopped) = watch::channel(false);
        let status = || registry.dependency("redis_broker");
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

    async fn hear(&self, stream: &str) -> Hearing {
        let hearing = self.broker.hear(Source::Stream(stream));
        let heard = timeout(PATIENCE, hearing.heard()).await;
        heard.expect("Redis is there");
        hearing
    }

    async fn publish(&self, stream: &str, payload: &str, key: Option<&str>) -> Stored {
        let source = Source::Stream(stream);
        let stored = self.broker.publish(source, payload.as_bytes(), LIMITS, key).await;
        stored.expect("Redis is there")
    }

    #[track_caller]
    fn expect(&mut self, expected: &[&str]) -> impl Future<Output = ()> {
        let expected: Vec<_> = expected.iter().map(ToString::to_string).collect();
        async move {
            let mut found = Vec::new();
            while found.len() < expected.len() {
                match timeout(PATIENCE, self.news.recv()).await {
                    Ok(Some(news)) => found.push(news),
                    _ => break,
                }
            }
            assert_eq!(found, expected);
        }
    }

    fn count(&self, name: &str) -> u64 {
        let snapshot = self.registry.snapshot();
        match &snapshot.metric(name).expect("it is registered").series[0].value {
            plimsoll_telemetry::Value::Counter(count) => *count,
            other => panic!("{other:?} is no counter"),
        }
    }
}

#[tokio::test]
async fn a_message_with_a_key_is_stored_once() {
    let redis = Redis::start();
    let (a, b) = (Node::start(&redis), Node::start(&redis));
    let first = a.publish("s", "1", Some("key")).await;
    assert_eq!((first.offset, first.is_repetition), (1, false));
    let again = b.publish("s", "1", Some("key")).await;
    assert_eq!(again.position(), first.position());
    assert!(again.is_repetition);
    let other_stream = b.publish("t", "1", Some("key")).await;
    assert!(!other_stream.is_repetition);
    let other_key = b.publish("s", "2", Some("other key")).await;
    assert_eq!((other_key.epoch, other_key.offset), (first.epoch, 2));
}

#[tokio::test]
async fn both_servers_hear_what_either_publishes_in_one_order() {
    let redis = Redis::start();
    let (mut a, mut b) = (Node::start(&redis), Node::start(&redis));
    a.publish("s", "1", None).await;
    let _hearings = (a.hear("s").await, b.hear("s").await);
    for node in [&mut a, &mut b] {
        node.expect(&["s: begin 0", "s: old 1 1", "s: heard"]).await;
    }
    a.publish("s", "2", None).await;
    b.publish("s", "3", None).await;
    a.broker
        .pass(Source::Stream("s"), b"4")
        .await
        .expect("Redis is there");
    a.publish("other", "5", None).await;
    a.publish("s", "6", None).await;
    for node in [&mut a, &mut b] {
        node.expect(&["s: new 2 2", "s: new 3 3", "s: passing 4", "s: new 4 6"])
            .await;
    }
}

#[tokio::test]
async fn a_subscription_that_is_cut_misses_nothing() {
    let redis = Redis::start();
    let (publisher, mut listener) = (Node::start(&redis), Node::start(&redis));
    let _hearing = listener.hear("s").await;
    listener.expect(&["s: heard"]).await;
    let n = 300;
    for number in 1..=n {
        if number % 60 == 0 {
            redis.command(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
        }
        publisher.publish("s", &number.to_string(), None).await;
        sleep(Duration::from_millis(2)).await;
    }
    listener.expect(&["s: begin 0"]).await;
    // More than the log has must be told as lost, and everything else is there.
    let mut expected: Vec<u64> = (1..=n).rev().collect();
    while let Some(next) = expected.pop() {
        let found = timeout(PATIENCE, listener.news.recv()).await;
        let found = found.expect("it comes").expect("the node runs");
        if found == "s: lost" {
            let begin = listener.news.recv().await.expect("the node runs");
            let offset: u64 = begin
                .strip_prefix("s: begin ")
                .and_then(|offset| offset.parse().ok())
                .expect("the log begins anew");
            expected.retain(|number| *number > offset);
            continue;
        }
        assert_eq!(found, format!("s: new {next} {next}"));
    }
    assert!(listener.count("broker_repaired_total") > 0);
}

#[tokio::test]
async fn connections_that_are_silent_without_an_end_are_found_and_miss_nothing() {
    let redis = Redis::start();
    let (port, silence) = silencer(redis.process.port).await;
    let (publisher, mut listener) = (Node::start(&redis), Node::start_at(server(port)));
    let _hearing = listener.hear("s").await;
    publisher.publish("s", "1", None).await;
    listener.expect(&["s: heard", "s: begin 0", "s: new 1 1"]).await;
    silence.send_replace(());
    publisher.publish("s", "2", None).await;
    listener.expect(&["s: new 2 2"]).await;
    assert!(listener.count("broker_repaired_total") > 0);
}

#[tokio::test]
async fn a_redis_that_is_killed_and_comes_back_has_everything() {
    let mut redis = Redis::start();
    let (publisher, mut listener) = (Node::start(&redis), Node::start(&redis));
    let _hearing = listener.hear("s").await;
    let first = publisher.publish("s", "1", None).await;
    listener.expect(&["s: heard", "s: begin 0", "s: new 1 1"]).await;
    redis.process.kill();
    let during = {
        let broker = publisher.broker.clone();
        tokio::spawn(async move {
            let key = Some("key");
            loop {
                let source = Source::Stream("s");
                match broker.publish(source, b"2", LIMITS, key).await {
                    Ok(stored) => return stored,
                    Err(_) => sleep(Duration::from_millis(50)).await,
                }
            }
        })
    };
    redis.process.restart();
    let second = timeout(PATIENCE, during)
        .await
        .expect("Redis is back")
        .expect("it does not panic");
    assert_eq!((second.epoch, second.offset), (first.epoch, 2));
    listener.expect(&["s: new 2 2"]).await;
}

#[tokio::test]
async fn a_store_that_has_gone_back_gives_a_new_epoch() {
    let redis = Redis::start();
    let (publisher, mut listener) = (Node::start(&redis), Node::start(&redis));
    let _hearing = listener.hear("s").await;
    for payload in ["1", "2", "3"] {
        publisher.publish("s", payload, None).await;
    }
    listener
        .expect(&["s: heard", "s: begin 0", "s: new 1 1", "s: new 2 2", "s: new 3 3"])
        .await;
    // What a replica has that lacks the last two messages.
    for part in ["log", "head"] {
        let (key, copy) = (format!("test:{{s}}:{part}"), format!("copy:{{s}}:{part}"));
        redis.command(&["COPY", &key, &copy]).await;
    }
    publisher.publish("s", "4", None).await;
    let before = publisher.publish("s", "5", None).await;
    listener.expect(&["s: new 4 4", "s: new 5 5"]).await;
    for part in ["log", "head"] {
        let (key, copy) = (format!("test:{{s}}:{part}"), format!("copy:{{s}}:{part}"));
        redis.command(&["COPY", &copy, &key, "REPLACE"]).await;
    }
    sleep(Duration::from_millis(5)).await;
    let after = listener.publish("s", "6", None).await;
    assert_ne!(before.epoch, after.epoch);
    assert_eq!(after.offset, 4);
    listener
        .expect(&[
            "s: lost",
            "s: begin 0",
            "s: old 1 1",
            "s: old 2 2",
            "s: old 3 3",
            "s: new 4 6",
        ])
        .await;
}

#[tokio::test]
async fn a_redis_that_does_not_answer_is_an_error_in_time() {
    let redis = Redis::start();
    let settings = BrokerSettings {
        server: redis.server(),
        prefix: "test".to_owned(),
        publish_timeout: Duration::from_millis(10),
        key_ttl: Duration::from_secs(300),
        n_replicas: 0,
        record_ttl: None,
        member_ttl: None,
    };
    let (broker, _tasks_that_never_run) = Broker::new(settings, &Registry::default());
    let published = broker.publish(Source::Stream("s"), b"1", LIMITS, None).await;
    assert_eq!(published, Err(RequestError::Late(Duration::from_millis(10))));
}

#[tokio::test]
async fn a_record_that_was_left_is_taken_once() {
    let redis = Redis::start();
    let (a, b) = (Node::start(&redis), Node::start(&redis));
    scenarios::a_record_that_was_left_is_taken_once(&a.broker, &b.broker).await;
}

#[tokio::test]
async fn a_record_that_many_ask_for_is_taken_once() {
    let redis = Redis::start();
    let (a, b) = (Node::start(&redis), Node::start(&redis));
    scenarios::a_record_that_many_ask_for_is_taken_once(&a.broker, &b.broker).await;
}

#[tokio::test]
async fn a_record_lives_as_its_server_says() {
    let redis = Redis::start();
    let (a, b) = (Node::start(&redis), Node::start(&redis));
    scenarios::a_record_lives_as_its_server_says(&a.broker, &b.broker).await;
}

#[tokio::test]
async fn a_server_is_asked_to_leave_a_record_that_it_holds() {
    let redis = Redis::start();
    let (mut a, b) = (Node::start(&redis), Node::start(&redis));
    scenarios::a_server_is_asked_to_leave_a_record_that_it_holds(&a.broker, &mut a.news, &b.broker).await;
}

#[tokio::test]
async fn a_record_of_a_server_that_is_gone_is_taken() {
    let redis = Redis::start();
    let (a, b) = (Node::start(&redis), Node::start(&redis));
    let broker = a.broker.clone();
    scenarios::a_record_of_a_server_that_is_gone_is_taken(broker, || drop(a), &b.broker).await;
}

#[tokio::test]
async fn a_server_that_seemed_gone_learns_that_its_record_was_taken() {
    let redis = Redis::start();
    let (mut a, b) = (Node::start(&redis), Node::start(&redis));
    let gone = (&a.broker, &*a.broker.shared.name);
    scenarios::a_server_that_seemed_gone_learns_that_its_record_was_taken(gone, &mut a.news, &b.broker).await;
}

#[tokio::test]
async fn records_of_a_guard_are_revoked_and_later_ones_are_not() {
    let redis = Redis::start();
    let (a, b) = (Node::start(&redis), Node::start(&redis));
    let later = async {
        // Behind the millisecond of the revocation.
        redis.command(&["CLIENT", "PAUSE", "5", "ALL"]).await;
        redis.command(&["PING"]).await;
    };
    scenarios::records_of_a_guard_are_revoked_and_later_ones_are_not(&a.broker, &b.broker, later).await;
}
