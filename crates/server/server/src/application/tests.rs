//! Applications that stand in front of another one forward the calls that they do not answer.

use std::sync::{Arc, Mutex};

use super::{
    Action, Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, DisconnectRequest,
    Environment, Identification, MayResume, Reply, State, StreamChannel, StreamChannels, WithoutToken,
};

/// Records the calls it gets.
#[derive(Default)]
struct Recorder(Mutex<Vec<&'static str>>);

impl Recorder {
    fn note(&self, call: &'static str) {
        self.0.lock().expect("no test panics with it").push(call);
    }
}

impl Application for Recorder {
    fn connect<'a>(&'a self, _request: &'a ConnectRequest) -> Reply<'a, ConnectReply> {
        self.note("connect");
        Box::pin(std::future::ready(ConnectReply::Failed))
    }

    fn may_resume<'a>(&'a self, _request: &'a ConnectRequest) -> Reply<'a, MayResume> {
        self.note("may_resume");
        Box::pin(std::future::ready(MayResume::Any))
    }

    fn command<'a>(&'a self, _request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply> {
        self.note("command");
        Box::pin(std::future::ready(CommandReply::default()))
    }

    fn keeps_state_in_sessions(&self) -> bool {
        self.note("keeps_state_in_sessions");
        true
    }

    fn hears_of_every_end(&self) -> bool {
        self.note("hears_of_every_end");
        true
    }

    fn disconnect(&self, _request: DisconnectRequest) {
        self.note("disconnect");
    }

    fn stopping(&self) {
        self.note("stopping");
    }

    fn finish(&self) -> Reply<'_, ()> {
        self.note("finish");
        Box::pin(std::future::ready(()))
    }
}

async fn check(front: impl FnOnce(Arc<Recorder>) -> Box<dyn Application>) {
    let recorder = Arc::new(Recorder::default());
    let front = front(Arc::clone(&recorder));
    let sid = String::new();
    let environment = Environment::EMPTY;
    let connect = ConnectRequest {
        shard: 0,
        sid,
        environment,
    };
    front.connect(&connect).await;
    assert_eq!(front.may_resume(&connect).await, MayResume::Any);
    let command = CommandRequest {
        shard: 0,
        sid: "",
        identifiers: "",
        identifier: r#"{"channel":"ItsOwn"}"#,
        action: Action::Subscribe,
        is_repetition: false,
        environment: &Environment::EMPTY,
        istate: &State::EMPTY,
    };
    front.command(&command).await;
    assert!(front.keeps_state_in_sessions());
    assert!(front.hears_of_every_end());
    front.disconnect(DisconnectRequest {
        sid: "".into(),
        identifiers: "".into(),
        subscriptions: Vec::new(),
        environment: Environment::EMPTY,
        istate: crate::application::Entries::EMPTY,
    });
    front.stopping();
    front.finish().await;
    assert_eq!(
        *recorder.0.lock().expect("no test panics with it"),
        [
            "connect",
            "may_resume",
            "command",
            "keeps_state_in_sessions",
            "hears_of_every_end",
            "disconnect",
            "stopping",
            "finish"
        ]
    );
}

#[tokio::test]
async fn the_application_behind_stream_channels_hears_of_everything_else() {
    check(|application| Box::new(StreamChannels::new(vec![StreamChannel::turbo("s")], application))).await;
}

#[tokio::test]
async fn the_application_behind_identification_hears_of_everything_else() {
    check(|application| Box::new(Identification::new(None, WithoutToken::Application, application))).await;
}
