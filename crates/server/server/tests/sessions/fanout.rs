//! Publications for many clients, through `io_uring` and with system calls.

use plimsoll_cable::command;
use plimsoll_server::Config;

use super::{
    CONFIRM, IDENTIFIER,
    application::{Gate, Streaming},
    broadcast,
    client::Client,
    confirm,
    server::{Server, config},
    text,
};

/// More clients than one call of `io_uring` serves.
const N_CLIENTS: usize = 70;

/// A payload that is longer than what a socket takes at once.
const LARGE: usize = 6 << 20;

#[tokio::test]
async fn every_client_gets_every_publication_whole_and_in_order() {
    for uses_io_uring in [true, false] {
        let config = Config {
            uses_io_uring,
            max_pending_bytes: 1 << 30,
            n_shards: 1,
            ..config()
        };
        let server = Server::start(config, Gate::opened().application());
        let mut clients = Vec::new();
        for _ in 0..N_CLIENTS {
            let mut client = Client::connect(&server, "/cable").await;
            client.send(&command::encode_subscribe(IDENTIFIER)).await;
            assert_eq!(client.receive().await, text(CONFIRM));
            clients.push(client);
        }
        let large = "x".repeat(LARGE);
        let payloads = ["1", "2", &large, "4", "5"].map(|payload| format!("\"{payload}\""));
        for payload in &payloads {
            let message = serde_json::json!({ "stream": "test", "data": payload }).to_string();
            server.publisher().accept(message.as_bytes()).await.unwrap();
        }
        for client in &mut clients {
            for payload in &payloads {
                // Not assert_eq, which would print megabytes.
                assert!(
                    client.receive().await == broadcast(payload),
                    "{} bytes",
                    payload.len()
                );
            }
        }
        server.stop().await;
    }
}

/// A client that is due for publications of several streams at once is written to once.
#[tokio::test]
async fn clients_of_two_streams_get_each_publication_once() {
    for uses_io_uring in [true, false] {
        let config = Config {
            uses_io_uring,
            n_shards: 1,
            ..config()
        };
        let server = Server::start(config, Streaming);
        let mut clients = Vec::new();
        for _ in 0..6 {
            let mut client = Client::connect(&server, "/cable").await;
            client.send(&command::encode_subscribe("a b")).await;
            assert_eq!(client.receive().await, confirm("a b"));
            clients.push(client);
        }
        let streams = ["a", "b", "a", "b", "a"];
        for round in 0..100 {
            let batch: Vec<_> = (0..streams.len())
                .map(|n| serde_json::json!({ "stream": streams[n], "data": format!("\"{round} {n}\"") }))
                .collect();
            let batch = serde_json::Value::from(batch).to_string();
            server.publisher().accept(batch.as_bytes()).await.unwrap();
        }
        for client in &mut clients {
            for round in 0..100 {
                for n in 0..streams.len() {
                    let expected = format!(r#"{{"identifier":"a b","message":"{round} {n}"}}"#);
                    assert_eq!(client.receive().await, text(&expected));
                }
            }
        }
        server.stop().await;
    }
}
