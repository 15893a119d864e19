//! A WebSocket server for tests: what it does is decided by the path of the URL.
//!
//! `/echo` sends messages back; `/close/1002` ends at once with this code and the reason `why`, `/close` without a
//! code; `/eof` leaves without a word; `/refuse` answers 403; `/ping` sends a Ping first and then echoes; `/deaf` reads
//! nothing, not even a Close; `/silent` does not even answer the upgrade; `/flood/N` sends N messages and then echoes;
//! `/cookie` sets the cookie `seen`; `/last-words` sends a message and a Close at once.

use std::{cell::RefCell, net::SocketAddr, rc::Rc};

use plimsoll_websocket::{
    CloseCode, CloseFrame, Config, Decoder, Event, Opcode, Role,
    deflate::Preferences,
    encode_close, encode_frame,
    handshake::server::{Request, Upgrade},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

const CONFIG: Config = Config {
    role: Role::Server,
    max_message_bytes: 1 << 24,
    deflate: None,
};

/// Serves until it is dropped.
pub(crate) struct TestServer {
    address: SocketAddr,
    task: JoinHandle<()>,
    log: Log,
}

/// What clients have done: request heads, frames, ends.
type Log = Rc<RefCell<Vec<String>>>;

impl TestServer {
    /// Needs a `LocalSet`, or a runtime that spawns locally.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let log = Log::default();
        let (address, own) = (listener.local_addr().unwrap(), Rc::clone(&log));
        let task = tokio::task::spawn_local(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let log = Rc::clone(&own);
                tokio::task::spawn_local(async move { serve(stream, log).await });
            }
        });
        Self { address, task, log }
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("ws://{}{path}", self.address)
    }

    /// What clients have done so far.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.borrow().clone()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, log: Log) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let (request, _) = Request::parse(&head).unwrap().unwrap();
    let path = request.path().to_owned();
    log.borrow_mut().push(String::from_utf8(head.clone()).unwrap());
    if path == "/silent" {
        return std::future::pending().await;
    }
    if path == "/refuse" {
        let answer = b"HTTP/1.1 403 Forbidden\r\nx-a: 1\r\nX-A: 2\r\nContent-Length: 8\r\n\r\nno entry";
        stream.write_all(answer).await.unwrap();
        return;
    }
    let upgrade = Upgrade::from_request(&request).unwrap();
    let agreed = upgrade.negotiate(&Preferences::default());
    let protocol = upgrade.protocols().next().map(str::to_owned);
    let cookie = [("Set-Cookie", "seen=yes; Path=/")];
    let headers = if path == "/cookie" { &cookie[..] } else { &[] };
    let answer = upgrade.response(protocol.as_deref(), agreed.as_ref(), headers);
    stream.write_all(&answer).await.unwrap();
    if path == "/deaf" {
        return std::future::pending().await;
    }
    if path == "/eof" {
        return;
    }
    let mut first = Vec::new();
    if path == "/ping" {
        encode_frame(Opcode::Ping, b"x", None, &mut first);
    }
    if let Some(n) = path.strip_prefix("/flood/") {
        for n in 0..n.parse().unwrap() {
            encode_frame(Opcode::Text, format!("{n}").as_bytes(), None, &mut first);
        }
    }
    if path == "/last-words" {
        encode_frame(Opcode::Text, b"bye", None, &mut first);
        let close = CloseFrame {
            code: CloseCode::NORMAL,
            reason: "why",
        };
        encode_close(Some(close), None, &mut first);
    }
    if let Some(code) = path.strip_prefix("/close") {
        let code = code
            .strip_prefix('/')
            .and_then(|code| CloseCode::new(code.parse().unwrap()));
        encode_close(
            code.map(|code| CloseFrame { code, reason: "why" }),
            None,
            &mut first,
        );
    }
    let decoder = agreed.map_or_else(Decoder::new, |agreed| Decoder::with_deflate(&CONFIG, &agreed));
    if stream.write_all(&first).await.is_ok() {
        echo(stream, decoder, &log).await;
    }
    log.borrow_mut().push("end".to_owned());
}

async fn echo(mut stream: TcpStream, mut decoder: Decoder, log: &Log) {
    let (mut input, mut output) = (Vec::new(), Vec::new());
    let mut is_over = false;
    while !is_over {
        if stream.read_buf(&mut input).await.unwrap_or(0) == 0 {
            return;
        }
        while let decoded = decoder.decode(&CONFIG, &mut input).unwrap()
            && let Some(event) = decoded.event
        {
            if !matches!(event, Event::Text(_) | Event::Binary(_)) {
                log.borrow_mut().push(format!("{event:?}"));
            }
            match event {
                Event::Text(text) => encode_frame(Opcode::Text, text.as_bytes(), None, &mut output),
                Event::Binary(bytes) => encode_frame(Opcode::Binary, bytes, None, &mut output),
                Event::Ping(bytes) => encode_frame(Opcode::Pong, bytes, None, &mut output),
                Event::Pong(_) => {}
                Event::Close(frame) => {
                    encode_close(frame, None, &mut output);
                    is_over = true;
                }
            }
            let n_consumed = decoded.consumed;
            input.drain(..n_consumed);
            if is_over {
                break;
            }
        }
        if !is_over {
            input.clear();
        }
        let out = std::mem::take(&mut output);
        if stream.write_all(&out).await.is_err() {
            return;
        }
    }
}
