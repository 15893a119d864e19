//! The cable suite: whether a server speaks Action Cable's protocol as clients and applications of both rely on it.
//!
//! The scenarios are those of AnyT, which needs a Rails application, and many that no other suite tests. The suite is
//! its own application ([`Rpc`]), publishes as a backend does ([`Adapter`]), and can start and restart the server
//! under test.

mod application;
mod broadcast;
mod channels;
mod client;
mod codec;
mod dialect;
mod fidelity;
mod handshake;
mod message;
mod port;
mod process;
mod scenario;
mod stage;
mod stop;
mod words;

use std::{
    cell::{Cell, OnceCell},
    io,
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use rustls::ClientConfig;
use tokio::sync::Mutex;

pub use self::{
    application::Rpc,
    broadcast::{Adapter, BroadcastError},
    dialect::Dialect,
    process::ProcessError,
    words::OpenQuotes,
};
use self::{
    application::{Application, Calls},
    broadcast::Broadcaster,
    client::Refused,
    handshake::Handshake,
    process::Process,
    scenario::{FAMILIES, SCENARIOS, Scenario},
    stage::{LentLog, Stage},
};
use crate::{Case, CaseId, DialError, Judgement, Server, Suite, Verdict, WireLog};

/// Scenarios with many clients or several pings take longer than others, on a slow machine.
const LONGEST: Duration = Duration::from_secs(90);

/// How the suite reaches a server, answers its calls and sends it broadcasts.
#[derive(Debug, Clone)]
pub struct Options {
    /// The server under test. Port 0 takes a free port, for `command`.
    pub target: Server,
    /// The sub-protocol of all clients but those of cases that are about another one. Cases about the extended protocol
    /// use its form in the same encoding.
    pub dialect: Dialect,
    /// How the server calls its application.
    pub rpc: Rpc,
    /// The address of the application; port 0 takes a free port.
    pub rpc_listen: SocketAddr,
    /// How broadcasts reach the server.
    pub broadcast: Adapter,
    /// The URL for broadcasts; `None` is the adapter's default. `{port}` is the target's port.
    pub broadcast_url: Option<String>,
    /// The TLS configuration for broadcasts, if their URL or the target needs it.
    pub broadcast_tls: Option<Arc<ClientConfig>>,
    /// The key that broadcasts over HTTP need.
    pub broadcast_key: Option<String>,
    /// The command that starts the server under test; `None` when it already runs. `{rpc}`, `{host}` and `{port}` are
    /// replaced.
    pub command: Option<String>,
    /// The time limit of a scenario for one message.
    pub patience: Duration,
}

impl Options {
    /// A backend with a connection of its own for broadcasts to the target.
    fn broadcaster(&self, target: &Server) -> Result<Broadcaster, BroadcastError> {
        let url = self.broadcast_url.as_ref().map(|url| with_port(url, target));
        let (tls, key) = (self.broadcast_tls.clone(), self.broadcast_key.as_deref());
        Broadcaster::new(self.broadcast, url.as_deref(), tls, key, target)
    }
}

/// Why the suite cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The application's address is taken, or not one of this machine.
    #[error(
        "the application cannot listen on {address}: {error}; choose another address with --rpc-listen, such as 127.0.0.1:0"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// No port for the server under test.
    #[error("there is no free port at {host}: {error}")]
    Port {
        /// The host of the URL.
        host: String,
        /// The system's error.
        error: io::Error,
    },
    /// Port 0 is for servers that the suite starts.
    #[error(
        "port 0 in the URL means a free port, which only --command can pass to the server; give --command \"… --port \
         {{port}}\", or the server's port"
    )]
    PortWithoutCommand,
    /// No server listens at the target's address.
    #[error("nothing listens at {target}: {error}; start the server first, or start it with --command \"…\"")]
    Silent {
        /// The URL.
        target: Server,
        /// The system's error.
        error: io::Error,
    },
    /// The server listens, but TLS fails or its certificate is not trusted.
    #[error("cannot connect to {target}: {error}")]
    Tls {
        /// The URL.
        target: Server,
        /// The error.
        error: DialError,
    },
    /// The server does not speak the sub-protocol that the suite is to run over.
    #[error(
        "the server at {target} does not speak {wanted}: it {answer}; choose another sub-protocol with --subprotocol"
    )]
    SubProtocol {
        /// The URL.
        target: Server,
        /// The name of the sub-protocol.
        wanted: &'static str,
        /// What it did with the offer.
        answer: String,
    },
    /// An error of the broadcasts' URL.
    #[error(transparent)]
    Broadcast(#[from] BroadcastError),
    /// The server under test does not start.
    #[error(transparent)]
    Process(#[from] ProcessError),
}

/// The suite.
#[derive(Debug)]
pub struct Cable {
    options: Options,
    ready: OnceCell<Ready>,
    /// Whether the first failure has led to a look at the server's channels.
    is_looked_at: Cell<bool>,
    /// Why the server is not one for this suite.
    hopeless: OnceCell<String>,
}

/// The parts that [`prepare`](Suite::prepare) starts. They end with the suite; before that, [`finish`](Suite::finish)
/// ends the server under test in an orderly way.
#[derive(Debug)]
struct Ready {
    target: Server,
    /// Serves for as long as the suite lives.
    application: Option<Application>,
    broadcaster: Arc<Broadcaster>,
    process: Option<Mutex<Process>>,
}

impl Cable {
    /// The suite, before it has started anything.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            ready: OnceCell::new(),
            is_looked_at: Cell::new(false),
            hopeless: OnceCell::new(),
        }
    }

    /// After the first failure: notes what the server has said, and looks once whether it has the suite's channels.
    async fn look(&self, stage: &Stage<'_>) {
        stage.note_output().await;
        if !self.is_looked_at.replace(true)
            && let Some(why) = channels::missing(stage).await
        {
            // Nothing else sets it.
            let _ = self.hopeless.set(why);
        }
    }
}

impl Ready {
    /// Starts all of it. Whether the server under test [answers](Self::answers) is another question, so that one that does
    /// not can be ended like any other.
    async fn start(options: &Options) -> Result<Self, StartError> {
        let target = match (options.target.address().port(), &options.command) {
            (0, None) => return Err(StartError::PortWithoutCommand),
            (0, Some(_)) => with_free_port(&options.target)?,
            _ => options.target.clone(),
        };
        let broadcaster = Arc::new(options.broadcaster(&target)?);
        let calls = Calls::new(Arc::clone(&broadcaster));
        let application = Application::start(options.rpc, options.rpc_listen, calls)
            .await
            .map_err(|error| StartError::Listen {
                address: options.rpc_listen,
                error,
            })?;
        let process = match &options.command {
            Some(command) => {
                let rpc_host = application.as_ref().map(Application::rpc_host);
                let command = with_port(command, &target)
                    .replace("{host}", target.address().host())
                    .replace("{rpc}", &rpc_host.unwrap_or_default());
                Some(Mutex::new(Process::start(&command, target.clone())?))
            }
            None => None,
        };
        Ok(Self {
            target,
            application,
            broadcaster,
            process,
        })
    }

    /// Waits for the server under test, if it was only started now.
    async fn answers(&self) -> Result<(), StartError> {
        if let Some(process) = &self.process {
            process.lock().await.listens().await?;
        }
        let target = self.target.clone();
        match self.target.dial().await {
            Ok(_connection) => Ok(()),
            Err(DialError::Unreachable(error)) => Err(StartError::Silent { target, error }),
            Err(error @ DialError::Tls(_)) => Err(StartError::Tls { target, error }),
        }
    }

    /// Checks that the server agrees to a sub-protocol that not every server of cables speaks. The cases about connecting
    /// judge everything else that can happen.
    async fn speaks(&self, options: &Options) -> Result<(), StartError> {
        let wanted = options.dialect.name();
        if options.dialect == Dialect::default() {
            return Ok(());
        }
        let mut wire = WireLog::default();
        let log = LentLog::new(&mut wire);
        let stage = Stage::new(options, self, log.log());
        let answer = match stage.open(&Handshake::default()).await {
            Ok(Ok(client)) if client.sub_protocol() == Some(wanted) => return Ok(()),
            Ok(Ok(client)) => {
                let chosen = client.sub_protocol();
                format!("chose {}", chosen.unwrap_or("no sub-protocol"))
            }
            Ok(Err(Refused(status))) => format!("answered the upgrade with status {status}"),
            Err(_no_answer) => return Ok(()),
        };
        Err(StartError::SubProtocol {
            target: self.target.clone(),
            wanted,
            answer,
        })
    }
}

impl Suite for Cable {
    fn cases(&self) -> Vec<Case> {
        SCENARIOS.iter().map(Scenario::case).collect()
    }

    fn families(&self) -> &'static [(&'static str, &'static str)] {
        FAMILIES
    }

    async fn prepare(&self) -> Result<(), String> {
        let ready = Ready::start(&self.options).await;
        let ready = ready.map_err(|error| error.to_string())?;
        let ready = self.ready.get_or_init(|| ready);
        ready.answers().await.map_err(|error| error.to_string())?;
        ready
            .speaks(&self.options)
            .await
            .map_err(|error| error.to_string())
    }

    fn target(&self) -> Option<String> {
        self.ready.get().map(|ready| ready.target.to_string())
    }

    async fn finish(&self) {
        if let Some(process) = self.ready.get().and_then(|ready| ready.process.as_ref()) {
            // One that cannot be stopped is killed when it is dropped.
            let _cannot_be_stopped = process.lock().await.stop().await;
        }
    }

    fn is_independent(&self, case: &CaseId) -> bool {
        scenario(case).is_some_and(|scenario| !scenario.alone)
    }

    fn deadline(&self, case: &CaseId, usual: Duration) -> Duration {
        match scenario(case) {
            Some(scenario) if scenario.long => usual.max(LONGEST),
            _ => usual,
        }
    }

    async fn run(&self, case: &CaseId, wire: &mut WireLog) -> Judgement {
        let (Some(scenario), Some(ready)) = (scenario(case), self.ready.get()) else {
            return Judgement::fail("there is no such scenario, or the suite was not prepared");
        };
        let log = LentLog::new(wire);
        let stage = Stage::new(&self.options, ready, log.log());
        match (scenario.run)(&stage).await {
            Ok(()) => Judgement::pass("as expected"),
            Err(stop) => {
                let judgement = stop.judgement();
                if judgement.verdict == Verdict::Fail {
                    self.look(&stage).await;
                }
                judgement
            }
        }
    }

    fn hopeless(&self) -> Option<String> {
        self.hopeless.get().cloned()
    }
}

fn scenario(case: &CaseId) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.id == case.as_str())
}

fn with_port(text: &str, target: &Server) -> String {
    text.replace("{port}", &target.address().port().to_string())
}

/// The target with a free port in place of port 0.
fn with_free_port(target: &Server) -> Result<Server, StartError> {
    let host = target.address().host().trim_matches(['[', ']']);
    let port = port::free(host).map_err(|error| StartError::Port {
        host: host.to_owned(),
        error,
    })?;
    Ok(target.with_port(port))
}
