//! A Redis server for tests, which answers each command as the test says.

use std::{
    fmt::Write,
    sync::{Arc, Mutex},
};

use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
};

use crate::{resp::ReplyReader, server::Server, target::RedisUrls, tls::TlsSettings};

/// The answer to a command, as it goes over the wire. Empty: the connection is closed.
type Answer = dyn Fn(&str) -> String + Send + Sync;

/// A server on a port of its own. It runs as long as the test.
pub(crate) struct Scripted {
    pub(crate) port: u16,
    commands: Arc<Mutex<Vec<String>>>,
    listener: Option<TcpListener>,
}

impl Scripted {
    /// A server that does not answer yet.
    pub(crate) async fn bind() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("there is a free port");
        Self {
            port: listener.local_addr().expect("it is bound").port(),
            commands: Arc::default(),
            listener: Some(listener),
        }
    }

    /// Answers from now on.
    pub(crate) fn answer(&mut self, answer: impl Fn(&str) -> String + Send + Sync + 'static) {
        let listener = self.listener.take().expect("it does not answer yet");
        let answer: Arc<Answer> = Arc::new(answer);
        let commands = Arc::clone(&self.commands);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&answer), Arc::clone(&commands)));
            }
        });
    }

    /// No program listens on its port any more.
    pub(crate) fn close(&mut self) {
        self.listener = None;
    }

    /// The commands so far that begin so.
    pub(crate) fn commands(&self, beginning: &str) -> Vec<String> {
        let commands = self.commands.lock().expect("no test panics with it");
        commands
            .iter()
            .filter(|command| command.starts_with(beginning))
            .cloned()
            .collect()
    }
}

async fn serve(stream: TcpStream, answer: Arc<Answer>, commands: Arc<Mutex<Vec<String>>>) {
    let (reader, mut writer) = stream.into_split();
    let mut reader = ReplyReader::new(reader, 1 << 20);
    // A command looks like a reply that is an array.
    while let Ok(command) = reader.read().await {
        let words = command.into_elements().into_iter().map(|word| match word {
            crate::resp::Reply::Text(word) => String::from_utf8(word).expect("the tests send text"),
            other => panic!("{other:?} is not a word of a command"),
        });
        let command = words.collect::<Vec<_>>().join(" ");
        let said = answer(&command);
        commands.lock().expect("no test panics with it").push(command);
        if said.is_empty() || writer.write_all(said.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The answer of a cluster's node to `CLUSTER INFO`.
pub(crate) fn cluster_info(state: &str, epoch: u64) -> String {
    bulk(&format!(
        "cluster_state:{state}\r\ncluster_current_epoch:{epoch}\r\n"
    ))
}

/// The answer of a cluster's node to `CLUSTER SLOTS`: first slot, last slot and the port of the primary.
pub(crate) fn cluster_slots(ranges: &[(u16, u16, u16)]) -> String {
    let mut said = format!("*{}\r\n", ranges.len());
    for (first, last, port) in ranges {
        let node = format!("*3\r\n{}:{port}\r\n{}", bulk("127.0.0.1"), bulk("id"));
        write!(said, "*3\r\n:{first}\r\n:{last}\r\n{node}").expect("memory takes everything");
    }
    said
}

pub(crate) fn bulk(text: &str) -> String {
    format!("${}\r\n{text}\r\n", text.len())
}

/// The cluster of the nodes with these ports.
pub(crate) fn cluster(ports: &[u16]) -> Server {
    let urls: Vec<_> = ports
        .iter()
        .map(|port| format!("redis://127.0.0.1:{port},"))
        .collect();
    let urls: RedisUrls = urls.concat().parse().expect("URLs");
    Server::at_urls(urls, &TlsSettings::default(), 1 << 20).expect("no files are named")
}
