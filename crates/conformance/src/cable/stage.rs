//! What a scenario has at hand: clients, names of its own, broadcasts, and the server's process.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use tokio::{sync::Mutex, time::timeout};

use super::{
    Options, Ready, Rpc,
    application::Application,
    broadcast::{Broadcaster, disconnect, passing, to_stream},
    client::{Client, Log, Refused},
    dialect::Dialect,
    handshake::Handshake,
    message::quoted,
    process::Process,
    stop::{Checked, Stop},
};
use crate::{Server, WireLog};

/// A case's log while several clients write to it; it goes back whichever way the case ends.
pub(super) struct LentLog<'a> {
    wire: &'a mut WireLog,
    log: Log,
}

impl<'a> LentLog<'a> {
    pub(super) fn new(wire: &'a mut WireLog) -> Self {
        let log = Rc::new(RefCell::new(std::mem::take(wire)));
        Self { wire, log }
    }

    pub(super) fn log(&self) -> Log {
        Rc::clone(&self.log)
    }
}

impl Drop for LentLog<'_> {
    fn drop(&mut self) {
        *self.wire = self.log.take();
    }
}

/// One of several backends of a scenario.
pub(super) struct Backend<'a> {
    stage: &'a Stage<'a>,
    broadcaster: Broadcaster,
}

impl Backend<'_> {
    /// Publishes `data` to a stream.
    pub(super) async fn publish(&self, stream: &str, data: &str) -> Checked {
        let body = to_stream(stream, data);
        self.stage.broadcast_by(&self.broadcaster, &body).await
    }
}

/// One run of a scenario. All that it names is its own, so that others may run at the same time.
pub(super) struct Stage<'a> {
    options: &'a Options,
    ready: &'a Ready,
    log: Log,
    token: String,
    n_clients: Cell<usize>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(options: &'a Options, ready: &'a Ready, log: Log) -> Self {
        Self {
            options,
            ready,
            log,
            token: format!("{:08x}", fastrand::u32(..)),
            n_clients: Cell::new(0),
        }
    }

    pub(super) fn rpc(&self) -> Rpc {
        self.options.rpc
    }

    /// The number of commands that the server has asked the application about.
    pub(super) fn n_commands(&self) -> u64 {
        let application = self.ready.application.as_ref();
        application.map_or(0, |application| *application.n_commands().borrow())
    }

    /// Waits until the server has asked the application about more than `n` commands. Returns at once if the suite does
    /// not serve the application, because nothing tells then.
    pub(super) async fn has_asked_about_more_than(&self, n: u64) -> Checked {
        let Some(application) = &self.ready.application else {
            return Ok(());
        };
        let mut n_commands = application.n_commands();
        let asked = n_commands.wait_for(|n_asked| *n_asked > n);
        match timeout(self.options.patience, asked).await {
            Ok(_asked) => Ok(()),
            Err(_) => Err(Stop::fail(format!(
                "expected that the server asks the application about the command; it did not within {:?}",
                self.options.patience
            ))),
        }
    }

    /// The address of the application, as the server's `--rpc_host` has it; empty without an application.
    pub(super) fn rpc_host(&self) -> String {
        let host = self.ready.application.as_ref().map(Application::rpc_host);
        host.unwrap_or_default()
    }

    /// The sub-protocol that the suite runs over.
    pub(super) fn dialect(&self) -> Dialect {
        self.options.dialect
    }

    pub(super) fn target(&self) -> &Server {
        &self.ready.target
    }

    /// A name that no other scenario has: of a stream, or of a user.
    pub(super) fn name(&self, word: &str) -> String {
        format!("{word}-{}", self.token)
    }

    /// A client after its welcome.
    pub(super) async fn client(&self) -> Checked<Client> {
        self.client_with(&Handshake::default()).await
    }

    /// A client of the base protocol after its welcome, whatever the suite runs over.
    pub(super) async fn base_client(&self) -> Checked<Client> {
        self.client_with(&Handshake {
            protocols: Some(&[self.dialect().base().name()]),
            ..Handshake::default()
        })
        .await
    }

    /// A client after its welcome, with a handshake of its own.
    pub(super) async fn client_with(&self, handshake: &Handshake<'_>) -> Checked<Client> {
        let mut client = self.connected(handshake).await?;
        let message = client.message("a welcome").await?;
        if message.is("welcome") {
            Ok(client)
        } else {
            Err(client.unexpected("a welcome as the first message", &message))
        }
    }

    /// A client that has read nothing yet.
    pub(super) async fn connected(&self, handshake: &Handshake<'_>) -> Checked<Client> {
        self.open(handshake).await?.map_err(|Refused(status)| {
            Stop::fail(format!(
                "expected the upgrade to be answered with 101; got {status}"
            ))
        })
    }

    /// The same, or the status with which it was refused.
    pub(super) async fn open(&self, handshake: &Handshake<'_>) -> Checked<Result<Client, Refused>> {
        self.n_clients.set(self.n_clients.get() + 1);
        let name = format!("client {}", self.n_clients.get());
        Client::open(
            name,
            &self.ready.target,
            self.options.dialect,
            handshake,
            Rc::clone(&self.log),
            self.options.patience,
        )
        .await
    }

    /// A client of the user `uid`.
    pub(super) async fn user(&self, uid: &str) -> Checked<Client> {
        let query = format!("test=uid&uid={uid}");
        self.client_with(&Handshake {
            query: &query,
            ..Handshake::default()
        })
        .await
    }

    /// Publishes `data` to a stream.
    pub(super) async fn publish(&self, stream: &str, data: &str) -> Checked {
        self.broadcast(&to_stream(stream, data)).await
    }

    /// Publishes `data` to those who listen now; history is not to keep it.
    pub(super) async fn publish_passing(&self, stream: &str, data: &str) -> Checked {
        self.broadcast(&passing(stream, data)).await
    }

    /// Ends all sessions of the user `uid` from outside.
    pub(super) async fn end_sessions(&self, uid: &str, reconnect: bool) -> Checked {
        let identifiers = format!(r#"{{"uid":{}}}"#, quoted(uid));
        self.broadcast(&disconnect(&identifiers, reconnect)).await
    }

    /// A backend with a connection of its own: its broadcasts and those of others are on their way at the same time.
    pub(super) fn backend(&self) -> Checked<Backend<'_>> {
        let broadcaster = self.options.broadcaster(&self.ready.target);
        let broadcaster = broadcaster.map_err(|error| Stop::fail(error.to_string()))?;
        Ok(Backend {
            stage: self,
            broadcaster,
        })
    }

    async fn broadcast(&self, body: &str) -> Checked {
        self.broadcast_by(&self.ready.broadcaster, body).await
    }

    async fn broadcast_by(&self, broadcaster: &Broadcaster, body: &str) -> Checked {
        self.log.borrow_mut().note(format_args!("broadcast: {body}"));
        let published = broadcaster.publish(body).await;
        published.map_err(|error| Stop::fail(format!("expected the broadcast to be taken; {error}")))
    }

    /// Stops the server under test, with `meanwhile` going on, and starts it again.
    pub(super) async fn restart<T>(&self, meanwhile: impl Future<Output = Checked<T>>) -> Checked<T> {
        let mut process = self.process()?.lock().await;
        self.log.borrow_mut().note("SIGTERM to the server");
        let (stopped, outcome) = tokio::join!(process.stop(), meanwhile);
        let took = stopped.map_err(|error| Stop::fail(error.to_string()))?;
        self.log
            .borrow_mut()
            .note(format_args!("the server ended after {:.1} s", took.as_secs_f64()));
        process
            .start_again()
            .await
            .map_err(|error| Stop::fail(format!("expected the server to start again; {error}")))?;
        outcome
    }

    /// Notes the last line that the server under test wrote, which may say why a case failed.
    pub(super) async fn note_output(&self) {
        let Some(process) = &self.ready.process else {
            return;
        };
        let output = process.lock().await.output();
        if let Some(line) = output.lines().last() {
            self.log
                .borrow_mut()
                .note(format_args!("the server's last line: {line}"));
        }
    }

    /// Whether the suite may restart the server; a scenario that would have to do much first asks before.
    pub(super) fn can_restart(&self) -> Checked {
        self.process().map(|_process| ())
    }

    fn process(&self) -> Checked<&Mutex<Process>> {
        self.ready.process.as_ref().ok_or_else(|| {
            Stop::skip("the suite did not start the server, so it cannot restart it; give --command")
        })
    }

    /// What only AnyCable's contract has needs an application with that contract.
    pub(super) fn needs_rpc(&self, what: &str) -> Checked {
        match self.options.rpc {
            Rpc::Grpc | Rpc::Http => Ok(()),
            Rpc::None => Err(Stop::skip(format!(
                "{what} is part of AnyCable's contract between server and application, and this target has none (--rpc none)"
            ))),
        }
    }
}
