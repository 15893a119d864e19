//! A WebSocket server for tests: what it does is decided by the path of the URL.
//!
//! `/echo` sends messages back; `/close/1002` ends at once with this code and the reason `why`, `/close` without a
//! code; `/eof` leaves without a word; `/refuse` answers 403; `/ping` sends a Ping first and then echoes; `/deaf` reads
//! nothing, not even a Close; `/silent` does not even answer the upgrade; `/flood/N` sends N messages and then echoes;
//! `/cookie` sets the cookie `seen`; `/last-words` sends a message and a Close at once. `/behind/close` sends two messages and
//! a Close at once, `/behind/violation` a reserved opcode instead of the Close, `/behind/text` invalid UTF-8, `/behind/large` a
//! large message and a Close, `/behind/ping` a message and then, when it gets a Ping, a Close; they log all that comes and send
//! nothing back.

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

/// The Close of a server that ends in order.
const BYE: Option<CloseFrame<'_>> = Some(CloseFrame {
    code: CloseCode::NORMAL,
    reason: "why",
});

/// More than the sockets of both ends hold.
const N_LARGE_BYTES: usize = 4 << 20;

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
                // With Nagle's algorithm the kernel holds a second message back until it gets an acknowledgement, for up
                // to 40 ms. Nothing is ready in the meantime, so a stopped clock would move to the next time limit.
                stream.set_nodelay(true).unwrap();
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

    /// What the first client has done after its request, up to its end.
    pub(crate) async fn all_said(&self) -> Vec<String> {
        while self.log.borrow().last().is_none_or(|entry| entry != "end") {
            tokio::task::yield_now().await;
        }
        self.log.borrow()[1..].to_vec()
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
        encode_close(BYE, None, &mut first);
    }
    if let Some(what) = path.strip_prefix("/behind/") {
        first = behind(what);
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
        if path.starts_with("/behind/") {
            listen(stream, decoder, &log).await;
        } else {
            echo(stream, decoder, &log).await;
        }
    }
    log.borrow_mut().push("end".to_owned());
}

/// Messages, and what comes behind them.
fn behind(what: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut say = |text: &str| encode_frame(Opcode::Text, text.as_bytes(), None, &mut bytes);
    match what {
        "large" => say(&"x".repeat(N_LARGE_BYTES)),
        "ping" => {
            say("one");
            return bytes;
        }
        _ => ["one", "two"].into_iter().for_each(say),
    }
    match what {
        "violation" => bytes.extend([0x83, 0]),
        "text" => encode_frame(Opcode::Text, b"\xff", None, &mut bytes),
        _ => encode_close(BYE, None, &mut bytes),
    }
    bytes
}

/// Logs everything until the client says Close or leaves; says Close itself when it gets a Ping.
async fn listen(mut stream: TcpStream, mut decoder: Decoder, log: &Log) {
    let mut input = Vec::new();
    while stream.read_buf(&mut input).await.unwrap_or(0) > 0 {
        while let decoded = decoder.decode(&CONFIG, &mut input).unwrap()
            && let Some(event) = decoded.event
        {
            log.borrow_mut().push(match event {
                Event::Text(text) if text.len() > 100 => format!("{} bytes", text.len()),
                Event::Close(frame) => format!("Close {}", frame.map_or(1005, |frame| frame.code.get())),
                event => format!("{event:?}"),
            });
            let (is_ping, is_over) = (matches!(event, Event::Ping(_)), matches!(event, Event::Close(_)));
            let n_consumed = decoded.consumed;
            input.drain(..n_consumed);
            if is_over {
                return;
            }
            if is_ping {
                let mut close = Vec::new();
                encode_close(BYE, None, &mut close);
                stream.write_all(&close).await.unwrap();
            }
        }
        input.clear();
    }
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
