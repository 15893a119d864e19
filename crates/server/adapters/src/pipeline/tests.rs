//! Requests to nodes that answer as the tests say.

use std::sync::atomic::{AtomicUsize, Ordering};

use plimsoll_telemetry::Registry;
use redis::cmd;

use super::*;
use crate::{
    scripted::{Scripted, bulk, cluster, cluster_info, cluster_slots},
    tls::TlsSettings,
};

const PATIENCE: Duration = Duration::from_secs(60);

/// What all nodes of a cluster say of it: all slots belong to the node with this port.
fn of_cluster(command: &str, owner: u16) -> Option<String> {
    match command {
        "CLUSTER INFO" => Some(cluster_info("ok", 1)),
        "CLUSTER SLOTS" => Some(cluster_slots(&[(0, 16383, owner)])),
        _ => None,
    }
}

/// A pipeline at work. It ends with the sender.
fn start(server: Server, replication: Option<Replication>) -> (Pipeline, watch::Sender<bool>) {
    let (pipeline, tasks) = Pipeline::new(Arc::new(server), &[], replication);
    let (stop, stopped) = watch::channel(false);
    let status = Registry::default().dependency("redis_broker");
    tokio::spawn(tasks.run(status, stopped));
    (pipeline, stop)
}

fn get(key: &str) -> Request {
    Request::Command(cmd("GET").arg(key).to_owned())
}

fn text(text: &str) -> Result<Reply, RequestError> {
    Ok(Reply::Text(text.into()))
}

#[tokio::test]
async fn a_request_follows_its_slot() {
    let (mut a, mut b) = (Scripted::bind().await, Scripted::bind().await);
    let (at_a, at_b) = (a.port, b.port);
    // The node that answers knows its own host.
    a.answer(move |command| match of_cluster(command, at_a) {
        Some(said) => said,
        None => format!("-MOVED 12182 :{at_b}\r\n"),
    });
    b.answer(move |command| match of_cluster(command, at_a) {
        Some(said) => said,
        None => bulk("from b"),
    });
    let (pipeline, _stop) = start(cluster(&[at_a, at_b]), None);
    assert_eq!(pipeline.request(get("foo"), PATIENCE).await, text("from b"));
    assert_eq!((a.commands("GET").len(), b.commands("GET").len()), (1, 1));
}

#[tokio::test]
async fn a_request_is_asked_of_the_node_that_gets_the_slot() {
    let (mut a, mut b) = (Scripted::bind().await, Scripted::bind().await);
    let (at_a, at_b) = (a.port, b.port);
    a.answer(move |command| match of_cluster(command, at_a) {
        Some(said) => said,
        None => format!("-ASK 12182 127.0.0.1:{at_b}\r\n"),
    });
    b.answer(|command| match command {
        "ASKING" => "+OK\r\n".to_owned(),
        _ => bulk("from b"),
    });
    let (pipeline, _stop) = start(cluster(&[at_a]), None);
    for n in 1..=2 {
        assert_eq!(pipeline.request(get("foo"), PATIENCE).await, text("from b"));
        // The slot is not there yet.
        assert_eq!(a.commands("GET").len(), n);
    }
    let commands = b.commands("");
    assert_eq!(commands, ["ASKING", "GET foo", "ASKING", "GET foo"]);
}

#[tokio::test]
async fn a_request_that_no_node_can_carry_out_is_made_again_while_there_is_patience() {
    let mut node = Scripted::bind().await;
    let at = node.port;
    let n_refusals = AtomicUsize::new(0);
    node.answer(move |command| match of_cluster(command, at) {
        Some(said) => said,
        None if command.ends_with("never") => "-CLUSTERDOWN Hash slot not served\r\n".to_owned(),
        None if n_refusals.fetch_add(1, Ordering::Relaxed) < 3 => "-TRYAGAIN Multiple keys\r\n".to_owned(),
        None => bulk("done"),
    });
    let (pipeline, _stop) = start(cluster(&[at]), None);
    assert_eq!(pipeline.request(get("foo"), PATIENCE).await, text("done"));
    assert_eq!(node.commands("GET foo").len(), 4);
    let refused = pipeline.request(get("never"), Duration::from_millis(500)).await;
    assert_eq!(
        refused,
        Err(RequestError::Refused(
            "CLUSTERDOWN Hash slot not served".to_owned()
        ))
    );
}

#[tokio::test]
async fn a_request_that_may_have_been_carried_out_is_not_made_again() {
    let mut node = Scripted::bind().await;
    let at = node.port;
    node.answer(move |command| of_cluster(command, at).unwrap_or_default());
    let (pipeline, _stop) = start(cluster(&[at]), None);
    assert_eq!(
        pipeline.request(get("foo"), PATIENCE).await,
        Err(RequestError::Lost)
    );
    assert_eq!(node.commands("GET").len(), 1);
}

#[tokio::test]
async fn a_request_that_was_refused_for_good_is_not_made_again() {
    const FULL: &str = "OOM command not allowed when used memory > 'maxmemory'.";
    let mut node = Scripted::bind().await;
    let at = node.port;
    node.answer(move |command| match of_cluster(command, at) {
        Some(said) => said,
        None => format!("-{FULL}\r\n"),
    });
    let (pipeline, _stop) = start(cluster(&[at]), None);
    let error = pipeline
        .request(get("foo"), PATIENCE)
        .await
        .expect_err("it is full");
    assert_eq!(error, RequestError::Refused(FULL.to_owned()));
    assert!(
        error
            .to_string()
            .ends_with("keep less (--history_limit, --history_ttl)")
    );
    assert_eq!(node.commands("GET").len(), 1);
}

#[tokio::test]
async fn a_request_that_waits_for_a_dead_node_goes_to_its_successor() {
    let (mut dead, mut seed) = (Scripted::bind().await, Scripted::bind().await);
    dead.close();
    let (at_dead, at_seed) = (dead.port, seed.port);
    let n_answers = AtomicUsize::new(0);
    seed.answer(move |command| {
        // The cluster needs a while to notice.
        let has_noticed = n_answers.fetch_add(1, Ordering::Relaxed) >= 4;
        of_cluster(command, if has_noticed { at_seed } else { at_dead }).unwrap_or_else(|| bulk("done"))
    });
    let (pipeline, _stop) = start(cluster(&[at_seed]), None);
    assert_eq!(pipeline.request(get("foo"), PATIENCE).await, text("done"));
}

fn one_server(port: u16) -> Server {
    let target = format!("redis://127.0.0.1:{port}").parse().expect("a URL");
    Server::new(target, &TlsSettings::default(), 1 << 20).expect("no files are named")
}

/// A server with as many replicas that confirm.
async fn replicated(n_confirming: usize) -> Scripted {
    let mut node = Scripted::bind().await;
    node.answer(move |command| match command.split(' ').next() {
        Some("HELLO") => "-ERR unknown command\r\n".to_owned(),
        Some("WAIT") => format!(":{n_confirming}\r\n"),
        _ => bulk("done"),
    });
    node
}

#[tokio::test]
async fn a_request_is_confirmed_when_the_replicas_have_it() {
    let replication = Replication {
        n_replicas: 2,
        patience: Duration::from_millis(700),
    };
    let node = replicated(2).await;
    let (pipeline, _stop) = start(one_server(node.port), Some(replication));
    assert_eq!(
        pipeline.replicated(get("foo"), PATIENCE, Some).await,
        text("done")
    );
    assert_eq!(pipeline.request(get("bar"), PATIENCE).await, text("done"));
    assert_eq!(node.commands("WAIT"), ["WAIT 2 700"]);

    let node = replicated(1).await;
    let (pipeline, _stop) = start(one_server(node.port), Some(replication));
    let error = pipeline
        .replicated(get("foo"), PATIENCE, Some)
        .await
        .expect_err("one is missing");
    assert_eq!(
        error.to_string(),
        "1 replicas of Redis have confirmed the message in time, and --redis_wait asks for 2"
    );
    assert_eq!(pipeline.request(get("bar"), PATIENCE).await, text("done"));
}

#[tokio::test]
async fn one_wait_is_for_all_requests_that_are_sent_together() {
    let replication = Replication {
        n_replicas: 1,
        patience: Duration::from_millis(700),
    };
    let node = replicated(1).await;
    let (pipeline, tasks) = Pipeline::new(Arc::new(one_server(node.port)), &[], Some(replication));
    let requests = (0..100).map(|_| {
        let pipeline = pipeline.clone();
        tokio::spawn(async move { pipeline.replicated(get("foo"), PATIENCE, Some).await })
    });
    let requests: Vec<_> = requests.collect();
    // All of them wait before there is a connection.
    tokio::task::yield_now().await;
    let (_stop, stopped) = watch::channel(false);
    tokio::spawn(tasks.run(Registry::default().dependency("redis_broker"), stopped));
    for request in requests {
        assert_eq!(request.await.expect("no panic"), text("done"));
    }
    assert_eq!(
        (node.commands("GET").len(), node.commands("WAIT").len()),
        (100, 1)
    );
}

/// The reason why a pipeline to this server is down.
async fn check_down(greeting: &'static str, expected: &str) {
    let mut node = Scripted::bind().await;
    node.answer(move |_| greeting.to_owned());
    let registry = Registry::default();
    let (_pipeline, tasks) = Pipeline::new(Arc::new(one_server(node.port)), &[], None);
    let (_stop, stopped) = watch::channel(false);
    tokio::spawn(tasks.run(registry.dependency("redis_broker"), stopped));
    let reason = async {
        loop {
            match registry.dependencies()[0].down_because.clone() {
                Some(reason) if reason != "not connected yet" => return reason,
                _ => tokio::task::yield_now().await,
            }
        }
    };
    let reason = timeout(PATIENCE, reason).await.expect("in time");
    assert!(reason.contains(expected), "{reason}");
}

#[tokio::test]
async fn a_server_that_cannot_be_used_is_named() {
    check_down(
        "*4\r\n+mode\r\n+cluster\r\n+role\r\n+master\r\n",
        "is a node of a Redis Cluster; expected its nodes with commas",
    )
    .await;
    check_down(
        "*4\r\n+mode\r\n+standalone\r\n+role\r\n+replica\r\n",
        "is a replica",
    )
    .await;
    check_down("-NOAUTH HELLO must be called\r\n", "expected a password").await;
    check_down("", "a server with TLS at this port needs rediss://").await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_of_another_program_or_too_long() {
    let mut node = Scripted::bind().await;
    node.answer(|command| match command.split(' ').next() {
        Some("HELLO") => "-ERR unknown command\r\n".to_owned(),
        _ if command.ends_with("long") => format!("*1\r\n{}", bulk(&"x".repeat((1 << 20) + 1))),
        _ => format!("*1\r\n{}", bulk("x")),
    });
    let (pipeline, _stop) = start(one_server(node.port), None);
    for (key, is_foreign) in [("short", true), ("long", false)] {
        let read = pipeline.parsed(get(key), PATIENCE, |_| None::<()>).await;
        let error = read.expect_err("it is never what is expected");
        let found = matches!(error, RequestError::Foreign(_));
        assert_eq!(found, is_foreign, "{key}: {error}");
        let read = pipeline.parsed(get(key), PATIENCE, |_| Some(1)).await;
        assert_eq!(read, Ok(1), "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_logged_once_and_not_for_each_request() {
    let complaints = Complaints::of("Redis");
    for (reason, is_news) in [
        ("OOM", true),
        ("OOM", false),
        ("NOPERM", true),
        ("OOM", false),
        ("NOPERM", false),
    ] {
        assert_eq!(complaints.is_news(reason.as_bytes()), is_news, "{reason}");
    }
    tokio::time::advance(COMPLAINT_INTERVAL).await;
    assert!(complaints.is_news(b"NOPERM"));
}

#[tokio::test(start_paused = true)]
async fn refusals_for_many_reasons_are_bounded() {
    let complaints = Complaints::of("Redis");
    let log = |from: usize| {
        let reasons = from..from + 2 * MAX_COMPLAINTS;
        reasons
            .filter(|number| complaints.is_news(number.to_string().as_bytes()))
            .count()
    };
    assert_eq!(log(0), MAX_COMPLAINTS);
    tokio::time::advance(COMPLAINT_INTERVAL).await;
    assert_eq!(log(1000), MAX_COMPLAINTS);
}
