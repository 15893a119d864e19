//! A small cable server for the tests of scripts: it says to each command what a rule book says.

use plimsoll_websocket::{
    CloseCode, CloseFrame, Config, Decoder, Event, Opcode, Role, encode_close, encode_frame,
    handshake::server::{Request, Upgrade},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// The URL of a server that runs until the test ends. Each connection is greeted, its request told to `on_request`.
pub(super) async fn serve(on_request: impl Fn(String) + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/cable", listener.local_addr().unwrap());
    tokio::task::spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // With Nagle's algorithm the kernel holds a second message back until it gets an acknowledgement, for up to
            // 40 ms. Nothing is ready in the meantime, so a stopped clock would move to the next time limit.
            stream.set_nodelay(true).unwrap();
            if let Some((peer, request)) = Peer::upgrade(stream).await {
                on_request(request);
                tokio::task::spawn_local(peer.converse());
            }
        }
    });
    url
}

struct Peer {
    stream: TcpStream,
    decoder: Decoder,
    input: Vec<u8>,
    is_refusing: bool,
    is_restoring: bool,
}

impl Peer {
    async fn upgrade(mut stream: TcpStream) -> Option<(Self, String)> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
                return None;
            }
        }
        let text = String::from_utf8(head.clone()).unwrap();
        let (request, _) = Request::parse(&head).unwrap().unwrap();
        let protocol = text
            .lines()
            .find_map(|line| line.strip_prefix("Sec-WebSocket-Protocol: "));
        let answer = Upgrade::from_request(&request)
            .unwrap()
            .response(protocol, None, &[]);
        stream.write_all(&answer).await.unwrap();
        let peer = Self {
            stream,
            decoder: Decoder::new(),
            input: Vec::new(),
            is_refusing: text.contains("/cable?refuse"),
            is_restoring: text.contains("X-ANYCABLE-RESTORE-SID: sid-1"),
        };
        Some((peer, text))
    }

    async fn converse(mut self) {
        if self.is_refusing {
            self.say(&json!({"type": "disconnect", "reason": "unauthorized", "reconnect": false}))
                .await;
            return;
        }
        let mut welcome = json!({"type": "welcome", "sid": "sid-1"});
        if self.is_restoring {
            welcome["restored"] = true.into();
            welcome["restored_ids"] = json!([r#"{"channel":"Room"}"#]);
        }
        self.say(&welcome).await;
        while let Some(command) = self.next().await {
            for answer in answers(&command) {
                self.say(&answer).await;
            }
            if command["data"]
                .as_str()
                .is_some_and(|data| data.contains("\"leave_me\""))
            {
                self.close().await;
            }
        }
    }

    async fn say(&mut self, message: &Value) {
        let mut bytes = Vec::new();
        encode_frame(Opcode::Text, message.to_string().as_bytes(), None, &mut bytes);
        // A client may be gone already.
        let _ = self.stream.write_all(&bytes).await;
    }

    async fn close(&mut self) {
        let frame = CloseFrame {
            code: CloseCode::GOING_AWAY,
            reason: "",
        };
        let mut bytes = Vec::new();
        encode_close(Some(frame), None, &mut bytes);
        let _ = self.stream.write_all(&bytes).await;
    }

    /// The next command; `None` at the end, with the client's Close answered.
    async fn next(&mut self) -> Option<Value> {
        let config = Config {
            role: Role::Server,
            max_message_bytes: 1 << 20,
            deflate: None,
        };
        loop {
            let decoded = self.decoder.decode(&config, &mut self.input).unwrap();
            let n_consumed = decoded.consumed;
            let (command, is_close) = match decoded.event {
                Some(Event::Text(text)) => (Some(serde_json::from_str(text).unwrap()), false),
                Some(Event::Close(_)) => (None, true),
                _ => (None, false),
            };
            self.input.drain(..n_consumed);
            if is_close {
                self.close().await;
                return None;
            }
            if command.is_some() {
                return command;
            }
            if self.stream.read_buf(&mut self.input).await.unwrap_or(0) == 0 {
                return None;
            }
        }
    }
}

/// What the server says to a command. The identifier `…no…` is rejected, `…mute…` not answered.
fn answers(command: &Value) -> Vec<Value> {
    let identifier = &command["identifier"];
    let typed = |kind: &str| json!({"type": kind, "identifier": identifier});
    let message = |message: Value| json!({"identifier": identifier, "message": message});
    match command["command"].as_str().unwrap() {
        "subscribe" if identifier.as_str().unwrap().contains("Mute") => vec![],
        "subscribe" if identifier.as_str().unwrap().contains("Forbidden") => {
            vec![typed("reject_subscription")]
        }
        "subscribe" if command["history"].is_object() => {
            let replayed = message(command["history"].clone());
            vec![typed("confirm_subscription"), replayed, typed("confirm_history")]
        }
        "subscribe" => vec![typed("confirm_subscription")],
        "message" => {
            let data: Value = serde_json::from_str(command["data"].as_str().unwrap()).unwrap();
            match data["action"].as_str().unwrap() {
                "say" => data["messages"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .cloned()
                    .map(message)
                    .collect(),
                "storm" => (0..data["n"].as_u64().unwrap())
                    .map(|n| message(json!({"n": n, "ts": 1})))
                    .collect(),
                "number" => vec![json!({
                    "identifier": identifier, "message": 1, "stream_id": "s", "epoch": "e", "offset": 7,
                })],
                "leave_me" => vec![json!({"type": "disconnect", "reason": "remote", "reconnect": true})],
                _ => vec![message(data)],
            }
        }
        "history" => {
            let replayed = message(command["history"].clone());
            vec![replayed, typed("confirm_history")]
        }
        "whisper" => vec![message(command["data"].clone())],
        "join" => vec![json!({"type": "presence", "identifier": identifier, "message":
            {"type": "join", "id": command["presence"]["id"], "info": command["presence"]["info"]}})],
        "presence" => vec![json!({"type": "presence", "identifier": identifier, "message":
            {"type": "info", "total": 1, "records": [{"id": "7", "info": {}}]}})],
        _ => vec![],
    }
}
