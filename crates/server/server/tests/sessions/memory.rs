//! The memory that clients can make the server hold, and which clients are ended when it exceeds the limit (issue 14).

use plimsoll_server::Config;
use plimsoll_telemetry::{Registry, Value};

use super::{
    application::Gate,
    client::Client,
    server::{Server, config},
    text,
};

fn value(registry: &Registry, name: &str) -> f64 {
    let snapshot = registry.snapshot();
    match &snapshot.metric(name).expect("it is registered").series[0].value {
        Value::Counter(count) => *count as f64,
        Value::Gauge(value) => *value,
        Value::Histogram(_) => panic!("{name} is a histogram"),
    }
}

/// One client echoes without end and reads nothing. The other has megabytes of unsent messages, too, but fewer.
#[tokio::test]
async fn the_client_that_occupies_most_goes_first_and_the_others_get_everything() {
    let config = Config {
        max_message_bytes: 8 << 20,
        max_pending_bytes: 1 << 30,
        max_pending_total: 64 << 20,
        n_shards: 1,
        ..config()
    };
    let registry = config.registry.clone();
    let server = Server::start(config, Gate::opened().application());
    let message = "x".repeat(4 << 20);
    let mut modest = Client::connect(&server, "/echo").await;
    for _ in 0..4 {
        modest.send(&message).await;
    }
    let mut greedy = Client::connect(&server, "/echo").await;
    greedy.send_text_until_reset(&message).await;
    for _ in 0..4 {
        assert!(modest.receive().await == text(&message), "a whole echo");
    }
    assert_eq!(value(&registry, "disconnected_for_memory_total") as u64, 1);
    assert_eq!(value(&registry, "disconnected_slow_clients_total") as u64, 1);
    server.stop().await;
}

/// Only a part of the bytes read becomes commands at once. The rest follows in order.
#[tokio::test]
async fn a_read_full_of_commands_is_carried_out_in_order_and_whole() {
    let gate = Gate::opened();
    let server = Server::start(config(), gate.application());
    let mut client = Client::connect(&server, "/cable").await;
    let n_commands = 5000;
    client
        .send_all((0..n_commands).map(|_| r#"{"command":"ping"}"#.to_owned()))
        .await;
    for _ in 0..n_commands {
        assert_eq!(client.receive().await, text(r#"{"type":"pong"}"#));
    }
    server.stop().await;
}

/// An incomplete message counts, and is forgotten with its client.
#[tokio::test]
async fn half_a_message_occupies_memory_until_its_client_is_gone() {
    let config = config();
    let registry = config.registry.clone();
    let server = Server::start(config, Gate::opened().application());
    let mut client = Client::connect(&server, "/echo").await;
    client.send_half_a_message(32_000).await;
    let used = || value(&registry, "pending_memory_bytes") as u64;
    // The metric is updated every 100 ms.
    while used() < 30_000 {
        tokio::task::yield_now().await;
    }
    assert!(used() < 150_000, "{} bytes", used());
    drop(client);
    while used() > 0 {
        tokio::task::yield_now().await;
    }
    server.stop().await;
}
