//! A scripted server and a session with it, on a real socket.

use std::{future::Future, rc::Rc, time::Duration};

use plimsoll_cable::subprotocol::Dialect;
use tokio::join;

use crate::{
    cable::{
        Matcher,
        opening::opcode,
        session::{Channel, Patience, Reader, Resumption, Search, Session},
    },
    test_peer::{self, Got, Peer, frame},
    websocket,
};

pub(super) const ID: &str = r#"{"channel":"C"}"#;
pub(super) const LONG: Duration = Duration::from_secs(3600);

/// A peer and a session after the welcome. `{ID}` stands for the identifier in the peer's messages.
pub(super) struct Scene {
    pub(super) peer: test_peer::Session,
    pub(super) session: Session,
    pub(super) reader: Reader,
}

impl Scene {
    pub(super) async fn open(protocol: &str, welcome: &str, resumption: Option<Resumption>) -> Self {
        let (listener, mut options) = Peer::bind().await;
        options.protocols = vec![protocol.to_owned()];
        let client = async {
            let (connection, _) = websocket::connect(&options, &Rc::default()).await.unwrap();
            Session::open(connection, LONG, resumption).await.unwrap()
        };
        let server = async {
            let mut peer = listener.accept().await;
            let mut answer = peer.answer(Some(protocol));
            answer.extend(message(protocol, welcome));
            peer.write(&answer).await;
            peer
        };
        let (peer, (session, reader)) = join!(server, client);
        Self {
            peer,
            session,
            reader,
        }
    }

    pub(super) async fn base() -> Self {
        Self::open("actioncable-v1-json", r#"{"type":"welcome"}"#, None).await
    }

    pub(super) async fn extended() -> Self {
        let welcome = r#"{"type":"welcome","sid":"s1"}"#;
        Self::open("actioncable-v1-ext-json", welcome, None).await
    }

    /// Adds one confirmed subscription.
    pub(super) async fn subscribed(mut self) -> (Self, Channel) {
        let channel = self.session.subscribe(ID).await.unwrap();
        self.says(r#"{"command":"subscribe","identifier":"{ID}"}"#).await;
        self.hears(r#"{"type":"confirm_subscription","identifier":"{ID}"}"#)
            .await;
        let confirmed = channel.confirmed(LONG);
        self.reading(confirmed).await.unwrap();
        (self, channel)
    }

    /// Runs `work` together with the reader, like a virtual user.
    pub(super) async fn reading<T>(&mut self, work: impl Future<Output = T>) -> T {
        self.reader.read_during(work).await
    }

    /// Reads until `seen`.
    pub(super) async fn read_until(&mut self, seen: impl Fn(&Session) -> bool) {
        while !seen(&self.session) {
            self.reader.read().await.unwrap();
        }
    }

    /// Checks the client's next message.
    pub(super) async fn says(&mut self, expected: &str) {
        let Got::Text(got) = self.peer.next().await else {
            panic!("expected {expected}");
        };
        assert_eq!(got.replace(&escaped(), "{ID}"), expected);
    }

    pub(super) async fn hears(&mut self, text: &str) {
        self.peer.send(&with_id(text)).await;
    }

    pub(super) async fn hears_messages(&mut self, messages: &[&str]) {
        for json in messages {
            self.hears(&format!(r#"{{"identifier":"{{ID}}","message":{json}}}"#))
                .await;
        }
    }

    pub(super) async fn search(
        &mut self,
        channel: &Channel,
        n: usize,
        condition: &str,
        patience: Patience,
    ) -> Vec<String> {
        let matcher = Matcher::from_json(condition).unwrap();
        let mut search = Search::new(channel, n, &matcher, patience);
        self.reading(search.run()).await;
        search
            .into_found()
            .into_iter()
            .map(|message| message.json.to_string())
            .collect()
    }
}

/// The frame of a server message, `{ID}` in it replaced, as the sub-protocol has it. Anything can be msgpack, not only
/// commands.
pub(super) fn message(protocol: &str, json: &str) -> Vec<u8> {
    let (json, encoding) = (with_id(json), Dialect::of(Some(protocol)).encoding);
    let content = encoding.encode_command(&json).unwrap();
    frame(opcode(encoding), &content)
}

pub(super) fn escaped() -> String {
    ID.replace('"', "\\\"")
}

pub(super) fn with_id(text: &str) -> String {
    text.replace("{ID}", &escaped())
}

pub(super) fn idle(seconds: u64) -> Patience {
    Patience::Idle(Duration::from_secs(seconds))
}
