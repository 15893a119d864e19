//! Sessions over real sockets, with applications that the binary does not have: they delay or refuse a client.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by its panic")]

mod application;
mod client;
mod draining;
mod fanout;
mod memory;
mod recovery;
mod server;

use application::{Gate, Refusing, Undecided};
use client::{Client, Received};
use plimsoll_cable::{broadcast::Publication, command};
use plimsoll_server::Config;
use server::{Server, config};

const IDENTIFIER: &str = r#"{"channel":"TestChannel"}"#;
const CONFIRM: &str = r#"{"type":"confirm_subscription","identifier":"{\"channel\":\"TestChannel\"}"}"#;

fn text(expected: &str) -> Received {
    Received::Text(expected.to_owned())
}

fn broadcast(message: &str) -> Received {
    Received::Text(format!(
        r#"{{"identifier":"{{\"channel\":\"TestChannel\"}}","message":{message}}}"#
    ))
}

#[tokio::test]
async fn a_repeated_subscribe_while_the_first_is_in_flight_does_no_harm() {
    let gate = Gate::closed();
    let server = Server::start(config(), gate.application());
    let mut client = Client::connect(&server, "/cable").await;
    for _ in 0..3 {
        client.send(&command::encode_subscribe(IDENTIFIER)).await;
    }
    client.send(&command::encode_message(IDENTIFIER, "hello")).await;
    gate.wait_for_calls(1).await;
    gate.open();
    assert_eq!(client.receive().await, text(CONFIRM));
    assert_eq!(client.receive().await, broadcast(r#""performed hello""#));
    assert_eq!(
        gate.calls(),
        ["subscribe", "perform hello"],
        "one subscribe, and in order"
    );
    server.stop().await;
}

fn subscribe(identifier: &str) -> String {
    format!(r#"{{"command":"subscribe","identifier":"{identifier}"}}"#)
}

fn confirm(identifier: &str) -> Received {
    text(&format!(
        r#"{{"type":"confirm_subscription","identifier":"{identifier}"}}"#
    ))
}

#[tokio::test]
async fn a_subscription_that_cannot_be_decided_is_asked_for_again_and_nothing_waits_for_it() {
    let application = Undecided::default();
    let server = Server::start(config(), application.clone());
    let mut client = Client::connect(&server, "/cable").await;
    client.send(&subscribe("fails 2")).await;
    // A client that repeats its command gets the result of the call that is made anyway.
    client.send(&subscribe("fails 2")).await;
    client
        .send(r#"{"command":"message","identifier":"fails 2","data":"{}"}"#)
        .await;
    client.send(&subscribe("fine")).await;
    client.send(&subscribe("refused")).await;
    assert_eq!(client.receive().await, confirm("fine"));
    assert_eq!(
        client.receive().await,
        text(r#"{"type":"reject_subscription","identifier":"refused"}"#)
    );
    assert_eq!(client.receive().await, confirm("fails 2"));
    assert_eq!(
        application.calls(),
        [
            "subscribe fails 2",
            "subscribe fine",
            "subscribe refused",
            "repeat fails 2",
            "repeat fails 2"
        ]
    );
    server
        .publisher()
        .publish(Publication::from_json("test", "1"))
        .await;
    let heard = [client.receive().await, client.receive().await];
    assert!(
        heard.contains(&text(r#"{"identifier":"fails 2","message":1}"#)),
        "{heard:?}"
    );
    server.stop().await;
}

#[tokio::test]
async fn an_unsubscribe_ends_a_pending_subscription_without_a_call() {
    let application = Undecided::default();
    let server = Server::start(config(), application.clone());
    let mut client = Client::connect(&server, "/cable").await;
    client.send(&subscribe("fails 1000")).await;
    client
        .send(r#"{"command":"unsubscribe","identifier":"fails 1000"}"#)
        .await;
    // This subscription is retried sooner than the other one.
    client.send(&subscribe("fails 3")).await;
    assert_eq!(client.receive().await, confirm("fails 3"));
    let calls = application.calls();
    assert_eq!(
        calls.iter().filter(|call| call.ends_with("1000")).count(),
        1,
        "{calls:?}"
    );
    server.stop().await;
}

#[tokio::test]
async fn a_server_stops_with_pending_subscriptions() {
    let server = Server::start(config(), Undecided::default());
    let mut client = Client::connect(&server, "/cable").await;
    client.send(&subscribe("fails 1000")).await;
    client.send(&subscribe("fine")).await;
    assert_eq!(client.receive().await, confirm("fine"));
    let stopped = server.begin_stop();
    let Received::Text(last) = client.receive().await else {
        panic!("a restart is announced");
    };
    assert!(last.contains("server_restart"), "{last}");
    stopped.await;
}

#[tokio::test]
async fn commands_of_one_connection_run_one_at_a_time_in_order() {
    let gate = Gate::closed();
    let server = Server::start(config(), gate.application());
    let mut client = Client::connect(&server, "/cable").await;
    for frame in [
        command::encode_subscribe(IDENTIFIER),
        command::encode_unsubscribe(IDENTIFIER),
        command::encode_message(IDENTIFIER, "while unsubscribed"),
        command::encode_subscribe(IDENTIFIER),
        command::encode_message(IDENTIFIER, "again"),
    ] {
        client.send(&frame).await;
    }
    gate.wait_for_calls(1).await;
    assert_eq!(
        gate.calls(),
        ["subscribe"],
        "the second command waits for the first"
    );
    gate.open();
    assert_eq!(client.receive().await, text(CONFIRM));
    assert_eq!(client.receive().await, text(CONFIRM));
    assert_eq!(client.receive().await, broadcast(r#""performed again""#));
    assert_eq!(
        gate.calls(),
        ["subscribe", "unsubscribe", "subscribe", "perform again"]
    );
    server.stop().await;
}

#[tokio::test]
async fn what_came_before_a_close_is_answered_before_it() {
    let gate = Gate::opened();
    let server = Server::start(config(), gate.application());
    let mut client = Client::connect(&server, "/cable").await;
    client
        .send_and_close(&command::encode_subscribe(IDENTIFIER))
        .await;
    assert_eq!(client.receive().await, text(CONFIRM));
    assert_eq!(client.receive().await, Received::Close(1000, String::new()));
    assert_eq!(client.receive().await, Received::End, "nothing follows a Close");
    server.stop().await;
}

#[tokio::test]
async fn what_no_socket_takes_at_once_still_goes_out_before_the_answer_to_a_close() {
    let config = Config {
        max_message_bytes: 8 << 20,
        ..config()
    };
    let server = Server::start(config, Gate::opened().application());
    let mut client = Client::connect(&server, "/echo").await;
    let large = "x".repeat(8 << 20);
    client.send_and_close(&large).await;
    assert!(client.receive().await == text(&large), "the whole echo");
    assert_eq!(client.receive().await, Received::Close(1000, String::new()));
    assert_eq!(client.receive().await, Received::End);
    server.stop().await;
}

#[tokio::test]
async fn a_refused_client_hears_why_and_is_closed() {
    let server = Server::start(config(), Refusing);
    let mut client = Client::connect_without_welcome(&server, "/cable").await;
    assert_eq!(
        client.receive().await,
        text(r#"{"type":"disconnect","reason":"unauthorized","reconnect":false}"#)
    );
    assert_eq!(
        client.receive().await,
        Received::Close(1000, "Auth Failed".to_owned())
    );
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_never_reads_is_cut_off_and_nobody_else_suffers() {
    let gate = Gate::opened();
    let server = Server::start(
        Config {
            max_pending_bytes: 64 * 1024,
            ..config()
        },
        gate.application(),
    );
    let mut slow = Client::connect(&server, "/cable").await;
    let mut quick = Client::connect(&server, "/cable").await;
    for client in [&mut slow, &mut quick] {
        client.send(&command::encode_subscribe(IDENTIFIER)).await;
        assert_eq!(client.receive().await, text(CONFIRM));
    }
    // Far more than the kernel holds for a connection whose unsent bytes are limited.
    let message = format!("\"{}\"", "x".repeat(32 * 1024));
    let n_messages = 1000;
    for _ in 0..n_messages {
        server
            .publisher()
            .publish(Publication::from_json("test", message.as_str()))
            .await;
        assert_eq!(quick.receive().await, broadcast(&message));
    }
    let mut n_before_the_end = 0;
    let disconnect = text(r#"{"type":"disconnect","reason":"too_slow","reconnect":true}"#);
    loop {
        match slow.receive().await {
            received if received == broadcast(&message) => n_before_the_end += 1,
            received => break assert_eq!(received, disconnect, "a whole frame came before the last words"),
        }
    }
    assert_eq!(slow.receive().await, Received::Close(1008, "Too slow".to_owned()));
    assert!(n_before_the_end < n_messages, "what was pending was given up");
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_without_reading_does_not_keep_its_connection() {
    let gate = Gate::opened();
    let server = Server::start(
        Config {
            max_pending_bytes: 1 << 30,
            ..config()
        },
        gate.application(),
    );
    let mut client = Client::connect(&server, "/cable").await;
    client.send(&command::encode_subscribe(IDENTIFIER)).await;
    assert_eq!(client.receive().await, text(CONFIRM));
    let message = format!("\"{}\"", "x".repeat(32 * 1024));
    for _ in 0..1000 {
        server
            .publisher()
            .deliver(Publication::from_json("test", message.as_str()))
            .await;
    }
    client.send_and_close(r#"{"command":"ping"}"#).await;
    client.send_until_reset().await;
    server.stop().await;
}

#[tokio::test]
async fn nothing_is_heard_behind_a_remote_disconnect() {
    let gate = Gate::opened();
    let server = Server::start(config(), gate.application());
    let mut client = Client::connect(&server, "/cable").await;
    client.send(&command::encode_subscribe(IDENTIFIER)).await;
    assert_eq!(client.receive().await, text(CONFIRM));
    for payload in [
        r#"{"stream":"test","data":"\"before\""}"#,
        r#"{"command":"disconnect","payload":{"identifier":"tester","reconnect":false}}"#,
        r#"{"stream":"test","data":"\"after\""}"#,
    ] {
        server.publisher().accept(payload.as_bytes()).await.unwrap();
    }
    assert_eq!(client.receive().await, broadcast(r#""before""#));
    let last_words = text(r#"{"type":"disconnect","reason":"remote","reconnect":false}"#);
    assert_eq!(client.receive().await, last_words);
    assert_eq!(
        client.receive().await,
        Received::Close(1000, "Closed remotely".to_owned())
    );
    client.send_and_close("").await;
    assert_eq!(client.receive().await, Received::End);
    server.stop().await;
}

#[tokio::test]
async fn what_comes_too_late_for_a_session_is_not_counted_as_a_message() {
    let gate = Gate::closed();
    let config = config();
    let registry = config.registry.clone();
    let server = Server::start(config, gate.application());
    let mut client = Client::connect(&server, "/cable").await;
    client.send(&command::encode_subscribe(IDENTIFIER)).await;
    gate.wait_for_calls(1).await;
    let disconnect = br#"{"command":"disconnect","payload":{"identifier":"tester"}}"#;
    server.publisher().accept(disconnect).await.unwrap();
    let last_words = text(r#"{"type":"disconnect","reason":"remote","reconnect":true}"#);
    assert_eq!(client.receive().await, last_words);
    assert_eq!(
        client.receive().await,
        Received::Close(1000, "Closed remotely".to_owned())
    );
    // The session is closed when its confirmation arrives.
    gate.open();
    client.send_and_close("").await;
    assert_eq!(client.receive().await, Received::End);
    server.stop().await;
    let snapshot = registry.snapshot();
    let counters = &snapshot.metric("server_msg_total").unwrap().series;
    assert_eq!(
        counters[0].value,
        plimsoll_telemetry::Value::Counter(1),
        "the welcome"
    );
}

#[tokio::test]
async fn frames_in_pieces_and_binary_commands_are_understood() {
    let gate = Gate::opened();
    let server = Server::start(config(), gate.application());
    let mut client = Client::connect(&server, "/cable").await;
    let subscribe = command::encode_subscribe(IDENTIFIER);
    client.send_byte_by_byte_in_fragments(&subscribe).await;
    assert_eq!(
        client.receive().await,
        Received::Pong(b"between fragments".to_vec())
    );
    assert_eq!(client.receive().await, text(CONFIRM));
    client
        .send_binary(command::encode_message(IDENTIFIER, "bytes").as_bytes())
        .await;
    assert_eq!(client.receive().await, broadcast(r#""performed bytes""#));
    server.stop().await;
}

#[tokio::test]
async fn faults_of_a_client_have_their_documented_ends() {
    let server = Server::start(config(), Gate::opened().application());
    for (path, frame, code, reason) in [
        ("/cable", "not json", 1003, "Command is not JSON"),
        ("/cable", "[]", 1003, "Command is a list, not a JSON object"),
        ("/cable", " null", 1003, "Command is null, not a JSON object"),
        (
            "/cable",
            r#"{"command":1}"#,
            1003,
            "Command has a duplicate field or a field of a wrong type",
        ),
        (
            "/json",
            r#"{"type":"dance","payload":1}"#,
            1003,
            "Unknown message",
        ),
        (
            "/echo",
            &"x".repeat(70_000),
            1009,
            "the message is larger than 65536 bytes",
        ),
    ] {
        let mut client = Client::connect(&server, path).await;
        client.send(frame).await;
        assert_eq!(
            client.receive().await,
            Received::Close(code, reason.to_owned()),
            "{path}"
        );
    }
    for (path, frame) in [
        ("/cable", r#"{"command":"dance","identifier":"x"}"#),
        (
            "/cable",
            r#"{"command":"message","identifier":"nobody subscribed","data":"{}"}"#,
        ),
        (
            "/cable",
            r#"{"command":"unsubscribe","identifier":"nobody subscribed"}"#,
        ),
    ] {
        let mut client = Client::connect(&server, path).await;
        client.send(frame).await;
        client.send(r#"{"command":"ping"}"#).await;
        assert_eq!(
            client.receive().await,
            text(r#"{"type":"pong"}"#),
            "{frame} is ignored"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn websocket_connections_beyond_the_limit_are_answered_503() {
    let server = Server::start(
        Config {
            max_connections: 1,
            ..config()
        },
        Gate::opened().application(),
    );
    let client = Client::connect(&server, "/cable").await;
    let upgrade = b"GET /cable HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    let answer = client::raw_request(&server, upgrade).await;
    assert!(
        answer.starts_with("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"),
        "{answer}"
    );
    drop(client);
    server.stop().await;
}

#[tokio::test]
async fn a_request_that_never_ends_is_answered_408() {
    let timeout = std::time::Duration::from_millis(50);
    let server = Server::start(
        Config {
            handshake_timeout: timeout,
            ..config()
        },
        Gate::opened().application(),
    );
    let answer = client::raw_request(&server, b"GET /cable HTTP/1.1\r\nHost:").await;
    assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn bad_handshakes_are_answered_with_the_rule_that_they_broke() {
    let server = Server::start(config(), Gate::opened().application());
    let upgrade = "Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    for (request, status) in [
        ("\u{1}\u{2}garbage\r\n\r\n".to_owned(), "400 Bad Request"),
        (
            "GET /cable HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
            "426 Upgrade Required",
        ),
        (
            format!("GET /cable HTTP/1.1\r\n{upgrade}Sec-WebSocket-Version: 8\r\n\r\n"),
            "426 Upgrade Required",
        ),
        (
            format!("POST /cable HTTP/1.1\r\n{upgrade}Sec-WebSocket-Version: 13\r\n\r\n"),
            "405 Method Not Allowed",
        ),
        (
            format!("GET /nowhere HTTP/1.1\r\n{upgrade}Sec-WebSocket-Version: 13\r\n\r\n"),
            "404 Not Found",
        ),
        (
            format!("GET /cable HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(9000)),
            "431 Request Header Fields Too Large",
        ),
    ] {
        let answer = client::raw_request(&server, request.as_bytes()).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}\r\n")),
            "{request:.60}: {answer}"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn a_restart_is_announced_and_those_who_do_not_answer_are_cut() {
    let server = Server::start(config(), Gate::opened().application());
    let mut polite = Client::connect(&server, "/cable").await;
    let deaf = Client::connect(&server, "/cable").await;
    let stopped = server.begin_stop();
    assert_eq!(
        polite.receive().await,
        text(r#"{"type":"disconnect","reason":"server_restart","reconnect":true}"#)
    );
    assert_eq!(
        polite.receive().await,
        Received::Close(1001, "Server restart".to_owned())
    );
    // The unresponsive client answers nothing, and the server still ends.
    stopped.await;
    drop(deaf);
}
