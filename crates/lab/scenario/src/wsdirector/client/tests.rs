//! Automatic messages of a client while its steps wait, in virtual time.

use std::net::SocketAddr;

use plimsoll_clients::target::Target;
use plimsoll_websocket::{
    Config, Decoder, Event, Role, encode_frame,
    handshake::server::{Request, Upgrade},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    time::Instant,
};

use super::*;
use crate::wsdirector::voice::Voice;
use crate::{document::Document, wsdirector::Scenario};

/// A server that answers heartbeats, and drops a client that was silent for as long as Phoenix waits. Returns when it
/// received what.
async fn serve(listener: TcpListener) -> Vec<(Duration, String)> {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_buf(&mut head).await.unwrap();
    }
    let upgrade = Upgrade::from_request(&Request::parse(&head).unwrap().unwrap().0).unwrap();
    stream
        .write_all(&upgrade.response(None, None, &[]))
        .await
        .unwrap();
    let config = Config {
        role: Role::Server,
        max_message_bytes: 1 << 20,
        deflate: None,
    };
    let (start, mut decoder, mut heard) = (Instant::now(), Decoder::new(), Vec::new());
    loop {
        let mut input = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(60), stream.read_buf(&mut input));
        if !matches!(read.await, Ok(Ok(1..))) {
            return heard;
        }
        let mut rest = input.as_mut_slice();
        while !rest.is_empty() {
            let decoded = decoder.decode(&config, rest).unwrap();
            if let Some(Event::Text(text)) = decoded.event {
                heard.push((start.elapsed(), text.to_owned()));
                let reply = text
                    .replace("heartbeat", "phx_reply")
                    .replace("{}", r#"{"status":"ok"}"#);
                let mut frame = Vec::new();
                encode_frame(Opcode::Text, reply.as_bytes(), None, &mut frame);
                stream.write_all(&frame).await.unwrap();
            }
            let n_consumed = decoded.consumed;
            rest = &mut rest[n_consumed..];
        }
    }
}

/// Runs the steps of one client. Returns the messages that a server received.
async fn heard(protocol: &str, actions: &str) -> Vec<(Duration, String)> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let file = format!("- client: {{protocol: {protocol}, actions: {actions}}}");
    let document = Document::read("test.yml", &file).unwrap();
    let scenario = Scenario::read(&document, 1).unwrap();
    let group = scenario.groups().next().unwrap();
    let options = Options::new(Target::parse(&format!("ws://{address}/")).unwrap(), vec![address]);
    let voice = Voice::new(true, |_| {});
    let speaker = Speaker {
        voice: &voice,
        group,
        number: 1,
    };
    let client = async {
        let (mut client, _) = Client::connect(speaker, &options, &Rc::default())
            .await
            .ok()
            .unwrap();
        for turn in &group.course {
            let taken = client.perform(&group.steps[turn.step as usize].action).await;
            taken.unwrap_or_else(|unmet| panic!("{} instead of {}", unmet.got, unmet.expected));
        }
        client.close().await;
    };
    tokio::join!(serve(listener), client).0
}

#[tokio::test(start_paused = true)]
async fn phoenix_hears_of_its_clients_twice_a_minute() {
    let heartbeats = heard("phoenix", "[sleep: {time: 100}]").await;
    let expected = [(30, 3), (60, 4), (90, 5)].map(|(at, reference)| {
        let text = format!(r#"[null,"{reference}","phoenix","heartbeat",{{}}]"#);
        (Duration::from_secs(at), text)
    });
    let whole_secs = |(at, text): (Duration, String)| (Duration::from_secs(at.as_secs()), text);
    assert_eq!(
        heartbeats.into_iter().map(whole_secs).collect::<Vec<_>>(),
        expected
    );
}

#[tokio::test(start_paused = true)]
async fn replies_to_heartbeats_are_for_no_step() {
    // The server sends everything back: the awaited message comes after the reply to a heartbeat.
    let heard = heard(
        "phoenix",
        "[sleep: {time: 45}, send: {data: hi}, receive: {data: hi, ordered: true}]",
    )
    .await;
    assert_eq!(heard.len(), 2, "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn other_clients_say_nothing_by_themselves() {
    assert_eq!(heard("base", "[sleep: {time: 50}]").await, []);
}
