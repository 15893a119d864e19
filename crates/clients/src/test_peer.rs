//! A scripted server for the tests of this crate: it accepts one connection on a free port of 127.0.0.1 and does
//! what the test says, byte by byte where that matters.

use plimsoll_websocket::{
    CloseCode, CloseFrame, Config, Decoder, Event, Opcode, Role, encode_close, encode_frame,
    handshake::server::{Request, Upgrade},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::{target::Target, websocket::Options};

/// A bound listener that nobody has connected to yet.
pub(crate) struct Peer {
    listener: TcpListener,
}

/// One accepted connection.
pub(crate) struct Session {
    stream: TcpStream,
    decoder: Decoder,
    input: Vec<u8>,
    /// The head of the upgrade request.
    pub(crate) request: String,
}

/// What the client sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Got {
    Text(String),
    Binary(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>),
    Other,
    End,
}

impl Peer {
    /// The listener, and options that lead to its `/cable?a=1`.
    pub(crate) async fn bind() -> (Self, Options) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let target = Target::parse(&format!("ws://{address}/cable?a=1")).unwrap();
        (Self { listener }, Options::new(target, vec![address]))
    }

    /// Accepts and reads the request head; the answer is the test's.
    pub(crate) async fn accept(&self) -> Session {
        let (mut stream, _) = self.listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            assert!(stream.read_buf(&mut head).await.unwrap() > 0, "the client left");
        }
        let request = String::from_utf8(head).unwrap();
        Session {
            stream,
            decoder: Decoder::new(),
            input: Vec::new(),
            request,
        }
    }

    /// Accepts and upgrades; `first_bytes` travel with the answer.
    pub(crate) async fn accept_websocket(&self, first_bytes: &[u8]) -> Session {
        let mut session = self.accept().await;
        let mut answer = session.answer(None);
        answer.extend_from_slice(first_bytes);
        session.write(&answer).await;
        session
    }
}

impl Session {
    /// The 101 that the request deserves.
    pub(crate) fn answer(&self, protocol: Option<&str>) -> Vec<u8> {
        let (request, _) = Request::parse(self.request.as_bytes()).unwrap().unwrap();
        Upgrade::from_request(&request)
            .unwrap()
            .response(protocol, None, &[])
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.write(&frame(Opcode::Text, text.as_bytes())).await;
    }

    /// The next thing that the client sends.
    pub(crate) async fn next(&mut self) -> Got {
        let config = Config {
            role: Role::Server,
            max_message_bytes: 1 << 20,
            deflate: None,
        };
        loop {
            let decoded = self.decoder.decode(&config, &mut self.input).unwrap();
            let (n_consumed, got) = (decoded.consumed, decoded.event.map(Got::of));
            self.input.drain(..n_consumed);
            if let Some(got) = got {
                return got;
            }
            if self.stream.read_buf(&mut self.input).await.unwrap_or(0) == 0 {
                return Got::End;
            }
        }
    }
}

impl Got {
    fn of(event: Event<'_>) -> Self {
        match event {
            Event::Text(text) => Self::Text(text.to_owned()),
            Event::Binary(bytes) => Self::Binary(bytes.to_owned()),
            Event::Pong(bytes) => Self::Pong(bytes.to_owned()),
            Event::Close(frame) => Self::Close(frame.map(|frame| frame.code.get())),
            Event::Ping(_) => Self::Other,
        }
    }
}

/// An unmasked frame.
pub(crate) fn frame(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_frame(opcode, payload, None, &mut bytes);
    bytes
}

/// An unmasked Close frame.
pub(crate) fn close(code: CloseCode, reason: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_close(Some(CloseFrame { code, reason }), None, &mut bytes);
    bytes
}
