//! A small server that speaks all dialects of the shootout, and makes exactly the mistake that a test asks for.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use plimsoll_cable::{
    command::Command,
    reply::{encode_confirm, encode_message, encode_reject, encode_welcome},
};
use plimsoll_websocket::{
    Config, Decoder, Event, Opcode, Role, encode_frame,
    handshake::server::{Request, Upgrade},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
};

use crate::ServerType;

/// Protocol of the test server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Json,
    Binary,
    Cable,
    /// Plain echo, with this welcome.
    Echo(Option<&'static str>),
}

/// One mistake, mostly about a broadcast and a client. Broadcasts are numbered from 1 in the order of their arrival,
/// clients from 0 in the order of theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// The client never gets the broadcast.
    Lose(usize, usize),
    /// The client gets it twice.
    Repeat(usize, usize),
    /// The client gets it behind the next one.
    Swap(usize, usize),
    /// The client gets it behind the broadcast with the last number.
    Delay(usize, usize, usize),
    /// The sender never hears of the broadcast's end.
    NoResult(usize),
    /// The client is cut off when this broadcast arrives, before it is sent on.
    Cut(usize, usize),
    /// Everyone gets each broadcast so many milliseconds after it was acknowledged.
    Late(u64),
    /// Each client gets each broadcast so many milliseconds after the client before it.
    Drip(u64),
    /// No client gets a broadcast.
    LoseAll,
    /// No broadcast is acknowledged.
    NoResults,
    /// All clients are cut off when this broadcast arrives.
    Die(usize),
    /// Clients of the type json are welcomed as Action Cable does.
    Welcome,
    /// Everyone gets a message of another run with each broadcast.
    Foreign,
    /// Echoes come back with other letters.
    Alter,
    /// The upgrade is refused for every second client.
    RefuseHalf,
    /// Subscriptions are rejected.
    Reject,
}

/// A running server; it ends with the process.
pub(super) struct Server {
    address: SocketAddr,
    dialect: Dialect,
}

#[derive(Default)]
struct Hub {
    clients: Vec<Option<UnboundedSender<Frame>>>,
    n_accepted: usize,
    n_broadcasts: usize,
    /// Frames that wait, by the number of the broadcast that must go first.
    held_back: BTreeMap<usize, Vec<(usize, Frame)>>,
}

/// Ready for the wire; empty means: cut the connection.
type Frame = Vec<u8>;

impl Server {
    pub(super) fn start(dialect: Dialect, fault: Fault) -> Self {
        let (sender, receiver) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                sender.send(listener.local_addr().unwrap()).unwrap();
                let hub = Arc::new(Mutex::new(Hub::default()));
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    tokio::spawn(serve(stream, dialect, fault, Arc::clone(&hub)));
                }
            });
        });
        Self {
            address: receiver.recv().unwrap(),
            dialect,
        }
    }

    pub(super) fn url(&self) -> String {
        format!("ws://{}/", self.address)
    }

    /// The server type that its clients need.
    pub(super) fn server_type(&self) -> ServerType {
        match self.dialect {
            Dialect::Json => ServerType::Json,
            Dialect::Binary => ServerType::Binary,
            Dialect::Cable => ServerType::ActionCable,
            Dialect::Echo(_) => ServerType::Echo,
        }
    }
}

async fn serve(mut stream: TcpStream, dialect: Dialect, fault: Fault, hub: Arc<Mutex<Hub>>) {
    let n_accepted = {
        let mut hub = hub.lock().unwrap();
        hub.n_accepted += 1;
        hub.n_accepted
    };
    let Some(answer) = upgrade(&mut stream).await else {
        return;
    };
    if fault == Fault::RefuseHalf && n_accepted.is_multiple_of(2) {
        stream
            .write_all(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")
            .await
            .unwrap();
        return;
    }
    stream.write_all(&answer).await.unwrap();
    let (reader, writer) = stream.into_split();
    let (outbox, frames) = mpsc::unbounded_channel();
    match dialect {
        Dialect::Cable => outbox.send(text(&encode_welcome("sid"))).unwrap(),
        Dialect::Json if fault == Fault::Welcome => outbox.send(text(&encode_welcome("sid"))).unwrap(),
        Dialect::Echo(Some(welcome)) => outbox.send(text(welcome)).unwrap(),
        Dialect::Json | Dialect::Binary | Dialect::Echo(None) => {}
    }
    let client = {
        let mut hub = hub.lock().unwrap();
        hub.clients.push(Some(outbox.clone()));
        hub.clients.len() - 1
    };
    tokio::select! {
        () = write(writer, frames) => {}
        () = read(reader, |event| answer_event(dialect, fault, &hub, &outbox, event)) => {}
    }
    hub.lock().unwrap().clients[client] = None;
}

async fn upgrade(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let (request, _) = Request::parse(&head).unwrap().unwrap();
    Some(Upgrade::from_request(&request).unwrap().response(None, None, &[]))
}

async fn write(mut writer: OwnedWriteHalf, mut frames: UnboundedReceiver<Frame>) {
    while let Some(frame) = frames.recv().await {
        if frame.is_empty() || writer.write_all(&frame).await.is_err() {
            return;
        }
    }
}

async fn read(mut reader: OwnedReadHalf, mut on_event: impl FnMut(Event<'_>)) {
    let config = Config {
        role: Role::Server,
        max_message_bytes: 1 << 20,
        deflate: None,
    };
    let (mut decoder, mut buffer) = (Decoder::new(), vec![0; 4096]);
    loop {
        let n = reader.read(&mut buffer).await.unwrap_or(0);
        if n == 0 {
            return;
        }
        let mut at = 0;
        while at < n {
            let decoded = decoder.decode(&config, &mut buffer[at..n]).unwrap();
            at += decoded.consumed;
            match decoded.event {
                Some(Event::Close(_)) => return,
                Some(event) => on_event(event),
                None => {}
            }
        }
    }
}

fn answer_event(
    dialect: Dialect,
    fault: Fault,
    hub: &Arc<Mutex<Hub>>,
    outbox: &UnboundedSender<Frame>,
    event: Event<'_>,
) {
    match (dialect, event) {
        (Dialect::Json, Event::Text(message)) => {
            let result = message.replacen(r#""broadcast""#, r#""broadcastResult""#, 1);
            let is_broadcast = result != message;
            exchange(
                fault,
                hub,
                outbox,
                text(message),
                is_broadcast.then(|| text(&result)),
            );
        }
        (Dialect::Binary, Event::Binary(message)) => {
            let mut result = message.to_vec();
            result[0] = b'r';
            exchange(
                fault,
                hub,
                outbox,
                binary(message),
                (message[0] == b'b').then(|| binary(&result)),
            );
        }
        (Dialect::Cable, Event::Text(message)) => answer_command(fault, hub, outbox, message),
        (Dialect::Echo(_), Event::Text(message)) if fault == Fault::Alter => {
            outbox
                .send(text(&message.replace("sendTime", "SendTime")))
                .unwrap();
        }
        (Dialect::Echo(_), Event::Text(message)) => outbox.send(text(message)).unwrap(),
        _ => {}
    }
}

fn answer_command(fault: Fault, hub: &Arc<Mutex<Hub>>, outbox: &UnboundedSender<Frame>, message: &str) {
    match Command::parse(message.as_bytes()).unwrap() {
        Command::Subscribe { identifier, .. } if fault == Fault::Reject => {
            outbox.send(text(&encode_reject(&identifier))).unwrap();
        }
        Command::Subscribe { identifier, .. } => outbox.send(text(&encode_confirm(&identifier))).unwrap(),
        Command::Message { identifier, data } => {
            let result = data.replacen(r#""broadcast""#, r#""broadcastResult""#, 1);
            let is_broadcast = result != data;
            let message = text(&encode_message(&identifier, &data));
            exchange(
                fault,
                hub,
                outbox,
                message,
                is_broadcast.then(|| text(&encode_message(&identifier, &result))),
            );
        }
        _ => {}
    }
}

/// An echo, or with a `result` a broadcast.
fn exchange(
    fault: Fault,
    hub: &Arc<Mutex<Hub>>,
    outbox: &UnboundedSender<Frame>,
    message: Frame,
    result: Option<Frame>,
) {
    let Some(result) = result else {
        outbox.send(message).unwrap();
        return;
    };
    let n = {
        let mut hub = hub.lock().unwrap();
        hub.n_broadcasts += 1;
        hub.n_broadcasts
    };
    match fault {
        Fault::Late(ms) => later(hub, ms, move |hub| hub.fan_out(n, fault, &message)),
        Fault::Drip(ms) => {
            for client in 0..hub.lock().unwrap().clients.len() {
                let message = message.clone();
                later(hub, ms * client as u64, move |hub| hub.send(client, message));
            }
        }
        Fault::LoseAll => {}
        _ => hub.lock().unwrap().fan_out(n, fault, &message),
    }
    if fault != Fault::NoResult(n) && fault != Fault::NoResults {
        outbox.send(result).unwrap();
    }
}

/// Does it after so many milliseconds.
fn later(hub: &Arc<Mutex<Hub>>, ms: u64, act: impl FnOnce(&mut Hub) + Send + 'static) {
    let hub = Arc::clone(hub);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        act(&mut hub.lock().unwrap());
    });
}

impl Hub {
    fn fan_out(&mut self, n: usize, fault: Fault, message: &Frame) {
        for client in 0..self.clients.len() {
            let copies = match fault {
                Fault::Lose(broadcast, it) if (broadcast, it) == (n, client) => 0,
                Fault::Repeat(broadcast, it) if (broadcast, it) == (n, client) => 2,
                Fault::Swap(broadcast, it) if (broadcast, it) == (n, client) => {
                    self.held_back
                        .entry(n + 1)
                        .or_default()
                        .push((client, message.clone()));
                    0
                }
                Fault::Delay(broadcast, it, until) if (broadcast, it) == (n, client) => {
                    self.held_back
                        .entry(until)
                        .or_default()
                        .push((client, message.clone()));
                    0
                }
                Fault::Cut(broadcast, it) if (broadcast, it) == (n, client) => {
                    self.send(client, Vec::new());
                    0
                }
                Fault::Die(broadcast) if broadcast == n => {
                    self.send(client, Vec::new());
                    0
                }
                _ => 1,
            };
            (0..copies).for_each(|_| self.send(client, message.clone()));
            if fault == Fault::Foreign {
                self.send(client, text(r#"{"type":"broadcast","payload":{"id":"other"}}"#));
            }
        }
        for (client, held) in self.held_back.remove(&n).unwrap_or_default() {
            self.send(client, held);
        }
    }

    /// A client that has left gets nothing.
    fn send(&self, client: usize, frame: Frame) {
        if let Some(outbox) = &self.clients[client] {
            let _ = outbox.send(frame);
        }
    }
}

/// A text frame.
fn text(message: &str) -> Frame {
    let mut frame = Vec::new();
    encode_frame(Opcode::Text, message.as_bytes(), None, &mut frame);
    frame
}

fn binary(message: &[u8]) -> Frame {
    let mut frame = Vec::new();
    encode_frame(Opcode::Binary, message, None, &mut frame);
    frame
}
