//! A client of the extended protocol that checks every message that it hears.

use serde_json::{Value, json};

use super::STREAMS;
use crate::{
    client::{Client, Received},
    server::Server,
};

/// The subscriptions, with the indexes of their streams.
const SUBSCRIPTIONS: [(&str, &[usize]); 3] = [("a", &[0]), ("b", &[1]), ("a b", &[0, 1])];

#[derive(Default)]
pub(super) struct Listener {
    connection: Option<Client>,
    /// Connections that the client has given up, and the server may not have noticed.
    abandoned: Vec<Client>,
    sid: Option<String>,
    /// Whether the server may have to refuse a request.
    may_be_refused: bool,
    accounts: [[Account; STREAMS.len()]; SUBSCRIPTIONS.len()],
}

/// What the client knows of one stream of one subscription.
#[derive(Default)]
struct Account {
    /// The number of the last message.
    last: u64,
    position: Option<Value>,
    /// The number of the message at the position.
    at_position: u64,
    /// Whether the client knows that messages are missing before the next one.
    is_told: bool,
}

impl Account {
    fn hear(&mut self, number: u64, position: Value, name: &str) {
        if self.is_told || self.last == 0 {
            assert!(number > self.last, "{name}: {number} behind {}", self.last);
        } else {
            assert_eq!(number, self.last + 1, "{name}");
        }
        self.last = number;
        self.position = Some(position);
        self.at_position = number;
        self.is_told = false;
    }
}

impl Listener {
    pub(super) fn new(may_be_refused: bool) -> Self {
        Self {
            may_be_refused,
            ..Self::default()
        }
    }

    pub(super) fn cut(&mut self, is_noticed: bool) {
        let connection = self.connection.take();
        self.abandoned.extend(connection.filter(|_| !is_noticed));
    }

    /// Connects anew, and reads nothing.
    pub(super) async fn reconnect(&mut self, server: &Server) {
        self.cut(false);
        self.connection = Some(Client::connect_extended(server, self.sid.as_deref()).await);
    }

    /// Reads the welcome, asks for what was missed, and waits for the answers.
    pub(super) async fn ask(&mut self) {
        if self.is_welcomed_back().await {
            self.request("history").await;
        } else {
            self.subscribe().await;
        }
    }

    /// Reads the welcome. Returns whether the session goes on.
    pub(super) async fn is_welcomed_back(&mut self) -> bool {
        let welcome = self.next().await;
        assert_eq!(welcome["type"], "welcome");
        let is_restored = welcome["restored"] == true;
        assert_eq!(is_restored, self.sid.is_some(), "the session goes on");
        self.sid = welcome["sid"].as_str().map(str::to_owned);
        is_restored
    }

    pub(super) async fn subscribe(&mut self) {
        self.request("subscribe").await;
    }

    /// Performs an action on each subscription, which tells the server that no request for history comes.
    pub(super) async fn act(&mut self) {
        for (identifier, _) in SUBSCRIPTIONS {
            let action = json!({ "command": "message", "identifier": identifier, "data": "{}" });
            self.send(&action.to_string()).await;
        }
    }

    /// The client has what was published up to now from elsewhere, and hears everything behind it.
    pub(super) fn forgets_the_gap(&mut self, published: [u64; STREAMS.len()]) {
        for account in self
            .accounts
            .iter_mut()
            .flat_map(|accounts| accounts.iter_mut().zip(published))
        {
            let (account, last) = account;
            account.last = last;
            account.is_told = false;
        }
    }

    async fn request(&mut self, command: &str) {
        for account in self.accounts.iter_mut().flatten() {
            account.last = account.at_position;
        }
        for (number, (identifier, streams)) in SUBSCRIPTIONS.iter().enumerate() {
            let positions = streams.iter().filter_map(|stream| {
                let position = self.accounts[number][*stream].position.clone()?;
                Some((STREAMS[*stream].0.to_owned(), position))
            });
            let history = json!({ "since": 1, "streams": Value::Object(positions.collect()) });
            let request = json!({ "command": command, "identifier": identifier, "history": history });
            self.send(&request.to_string()).await;
        }
        let mut n_answers = 0;
        while n_answers < SUBSCRIPTIONS.len() {
            let message = self.next().await;
            n_answers += usize::from(
                message["type"]
                    .as_str()
                    .is_some_and(|it| it.ends_with("_history")),
            );
            self.hear(&message);
        }
    }

    /// Reads what the server has queued.
    pub(super) async fn read_all(&mut self) {
        if self.connection.is_none() {
            return;
        }
        self.send(r#"{"command":"ping"}"#).await;
        loop {
            let message = self.next().await;
            if message["type"] == "pong" {
                return;
            }
            self.hear(&message);
        }
    }

    /// The client has the last message of each stream.
    pub(super) fn check_is_whole(&self, published: [u64; STREAMS.len()]) {
        for ((name, streams), accounts) in SUBSCRIPTIONS.iter().zip(&self.accounts) {
            for stream in *streams {
                assert_eq!(accounts[*stream].last, published[*stream], "{name}");
            }
        }
    }

    fn hear(&mut self, message: &Value) {
        let found = SUBSCRIPTIONS
            .iter()
            .position(|(name, _)| message["identifier"] == *name);
        let accounts = &mut self.accounts[found.unwrap()];
        match message["type"].as_str() {
            Some("reject_history") => {
                assert!(self.may_be_refused, "everything is kept");
                accounts.iter_mut().for_each(|account| account.is_told = true);
            }
            Some("confirm_history" | "confirm_subscription") => {}
            Some(other) => panic!("{other}"),
            None => {
                let stream = STREAMS.iter().position(|(name, _)| message["stream_id"] == *name);
                let position = json!({ "epoch": message["epoch"], "offset": message["offset"] });
                let number = message["message"]["number"].as_u64().unwrap();
                accounts[stream.unwrap()].hear(number, position, message["identifier"].as_str().unwrap());
            }
        }
    }

    async fn send(&mut self, text: &str) {
        self.connection.as_mut().unwrap().send(text).await;
    }

    async fn next(&mut self) -> Value {
        match self.connection.as_mut().unwrap().receive().await {
            Received::Text(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }
}
