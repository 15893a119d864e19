//! A client that can break the rules.

use std::time::Duration;

use plimsoll_websocket::{
    CloseCode, CloseFrame, Config, Decoder, Event, Frame, Opcode, Role, encode_close, encode_frame,
    handshake::client::Handshake,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::server::Server;

const MASK: Option<[u8; 4]> = Some([1, 2, 3, 4]);
/// Longer than any step takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
const CONFIG: Config = Config {
    role: Role::Client,
    max_message_bytes: 8 << 20,
    deflate: None,
};

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Text(String),
    Pong(Vec<u8>),
    Close(u16, String),
    End,
}

pub(crate) struct Client {
    stream: TcpStream,
    decoder: Decoder,
    unread: Vec<u8>,
}

impl Client {
    /// Connects and, on a cable path, reads the welcome.
    pub(crate) async fn connect(server: &Server, path: &str) -> Self {
        let mut client = Self::connect_without_welcome(server, path).await;
        if path == "/cable" {
            match client.receive().await {
                Received::Text(text) => assert!(text.starts_with(r#"{"type":"welcome","sid":""#), "{text}"),
                other => panic!("{other:?} instead of a welcome"),
            }
        }
        client
    }

    pub(crate) async fn connect_without_welcome(server: &Server, path: &str) -> Self {
        Self::shake_hands(server, Handshake::new("localhost", path, [7; 16])).await
    }

    /// Connects with the extended protocol. `sid` names the session to resume. Reads nothing.
    pub(crate) async fn connect_extended(server: &Server, sid: Option<&str>) -> Self {
        let handshake =
            Handshake::new("localhost", "/cable", [7; 16]).protocols(&["actioncable-v1-ext-json"]);
        let handshake = match sid {
            Some(sid) => handshake.headers(&[("X-ANYCABLE-RESTORE-SID", sid)]),
            None => handshake,
        };
        Self::shake_hands(server, handshake).await
    }

    async fn shake_hands(server: &Server, handshake: Handshake) -> Self {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(&handshake.request().unwrap()).await.unwrap();
        let mut unread = Vec::new();
        loop {
            stream.read_buf(&mut unread).await.unwrap();
            if let Some((_, length)) = handshake.parse_response(&unread).unwrap() {
                unread.drain(..length);
                return Self {
                    stream,
                    decoder: Decoder::new(),
                    unread,
                };
            }
        }
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.send_frame(Opcode::Text, text.as_bytes()).await;
    }

    /// Sends a message and a Close frame in one write.
    pub(crate) async fn send_and_close(&mut self, text: &str) {
        let mut frames = Vec::new();
        encode_frame(Opcode::Text, text.as_bytes(), MASK, &mut frames);
        let close = CloseFrame {
            code: CloseCode::NORMAL,
            reason: "bye",
        };
        encode_close(Some(close), MASK, &mut frames);
        self.stream.write_all(&frames).await.unwrap();
    }

    /// Sends bytes until the server has ended the connection. Reads nothing.
    pub(crate) async fn send_until_reset(&mut self) {
        let all_taken = async { while self.stream.write(&[0; 4096]).await.is_ok() {} };
        tokio::time::timeout(PATIENCE, all_taken)
            .await
            .expect("the server closes the connection in time");
    }

    /// Sends one message again and again until the server has ended the connection. Reads nothing.
    pub(crate) async fn send_text_until_reset(&mut self, text: &str) {
        let mut frame = Vec::new();
        encode_frame(Opcode::Text, text.as_bytes(), MASK, &mut frame);
        let all_taken = async { while self.stream.write_all(&frame).await.is_ok() {} };
        tokio::time::timeout(PATIENCE, all_taken)
            .await
            .expect("the server closes the connection in time");
    }

    /// Sends the header of a text message, and the first `n_bytes` bytes: half of it.
    pub(crate) async fn send_half_a_message(&mut self, n_bytes: usize) {
        let mut frame = Vec::new();
        encode_frame(Opcode::Text, &vec![b'x'; 2 * n_bytes], MASK, &mut frame);
        frame.truncate(frame.len() - n_bytes);
        self.stream.write_all(&frame).await.unwrap();
    }

    /// Sends messages in one write, as far as the system allows.
    pub(crate) async fn send_all(&mut self, texts: impl IntoIterator<Item = String>) {
        let mut frames = Vec::new();
        for text in texts {
            encode_frame(Opcode::Text, text.as_bytes(), MASK, &mut frames);
        }
        self.stream.write_all(&frames).await.unwrap();
    }

    pub(crate) async fn send_binary(&mut self, bytes: &[u8]) {
        self.send_frame(Opcode::Binary, bytes).await;
    }

    /// Sends a message with one frame per byte, one write per byte, and a ping in the middle.
    pub(crate) async fn send_byte_by_byte_in_fragments(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut frames = Vec::new();
        for (index, byte) in bytes.iter().enumerate() {
            let opcode = if index == 0 {
                Opcode::Text
            } else {
                Opcode::Continuation
            };
            let fin = index + 1 == bytes.len();
            Frame {
                fin,
                compressed: false,
                opcode,
                payload: &[*byte],
            }
            .encode(MASK, &mut frames);
            if index == bytes.len() / 2 {
                encode_frame(Opcode::Ping, b"between fragments", MASK, &mut frames);
            }
        }
        for byte in frames {
            self.stream.write_all(&[byte]).await.unwrap();
        }
    }

    async fn send_frame(&mut self, opcode: Opcode, payload: &[u8]) {
        let mut frame = Vec::new();
        encode_frame(opcode, payload, MASK, &mut frame);
        self.stream.write_all(&frame).await.unwrap();
    }

    /// The server's next message. A test that waits in vain fails instead of hanging.
    pub(crate) async fn receive(&mut self) -> Received {
        tokio::time::timeout(PATIENCE, self.next())
            .await
            .expect("the server says something in time")
    }

    async fn next(&mut self) -> Received {
        loop {
            let decoded = self.decoder.decode(&CONFIG, &mut self.unread).unwrap();
            let consumed = decoded.consumed;
            let received = decoded.event.map(|event| match event {
                Event::Text(text) => Received::Text(text.to_owned()),
                Event::Pong(bytes) => Received::Pong(bytes.to_vec()),
                Event::Close(frame) => {
                    let frame = frame.expect("this server gives its reasons");
                    Received::Close(frame.code.get(), frame.reason.to_owned())
                }
                event => panic!("unexpected {event:?}"),
            });
            self.unread.drain(..consumed);
            if let Some(received) = received {
                return received;
            }
            if self.stream.read_buf(&mut self.unread).await.unwrap() == 0 {
                return Received::End;
            }
        }
    }
}

/// Sends bytes and returns everything that comes back until the server closes.
pub(crate) async fn raw_request(server: &Server, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    // A keep-alive answer does not end the connection, so a complete head is enough.
    while !answer.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        if stream.read_buf(&mut answer).await.unwrap() == 0 {
            break;
        }
    }
    String::from_utf8(answer).unwrap()
}
