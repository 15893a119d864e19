//! The application at the other end of a gRPC connection.

use std::{
    io,
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
    thread,
    time::Duration,
};

use plimsoll_server::application::{
    Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, DisconnectRequest, Reply, Status,
};
use tokio::{runtime::Handle, sync::oneshot};

use crate::{
    calls::Calls,
    farewells::{self, Farewells},
    hosts::Hosts,
    proto::Call,
    translation,
};

/// How a remote application is called.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens.
    pub hosts: Hosts,
    /// Calls that may be under way at the same time; fewer than the application has workers.
    pub concurrency: NonZeroUsize,
    /// Time for one call with all its retries, from its turn on.
    pub command_timeout: Duration,
    /// Whether the application hears of ended sessions.
    pub disconnect_mode: DisconnectMode,
    /// The most ended sessions that it hears of in a second.
    pub disconnect_rate_per_sec: NonZeroU32,
    /// Ended sessions that may wait for that; more are dropped with a warning.
    pub disconnect_backlog: NonZeroUsize,
}

/// Whether the application hears of ended sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisconnectMode {
    /// Of those that it has dealt with: it was asked about their connection or about one of their commands.
    Auto,
    /// Of all.
    Always,
    /// Of none.
    Never,
}

/// A remote application.
///
/// All its connections are driven by one background thread, whatever the number of shards: HTTP/2 carries all calls
/// of a host on one connection, and one connection is one task. A call costs a shard two wake-ups across threads,
/// which is little beside the call itself.
pub struct Remote {
    calls: Arc<Calls>,
    runtime: Handle,
    farewells: Option<Farewells>,
    hears_of_every_end: bool,
    /// The thread ends when this is dropped.
    _alive: oneshot::Sender<()>,
}

impl Remote {
    /// Starts the thread. Nothing is connected before the first call: the application may start later.
    ///
    /// # Errors
    /// When the thread or its runtime cannot be started.
    pub fn start(options: &Options) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let (alive, ended) = oneshot::channel::<()>();
        thread::Builder::new().name("rpc".to_owned()).spawn(move || {
            let _nobody_sends = runtime.block_on(ended);
        })?;
        let _in_runtime = handle.enter();
        let concurrency = options.concurrency.get();
        let calls = Arc::new(Calls::new(&options.hosts, concurrency, options.command_timeout));
        let farewells = (options.disconnect_mode != DisconnectMode::Never).then(|| {
            let backlog = options.disconnect_backlog.get();
            let (farewells, caller) = farewells::queue(backlog, options.disconnect_rate_per_sec, concurrency);
            handle.spawn(caller.run(Arc::clone(&calls)));
            farewells
        });
        Ok(Self {
            calls,
            runtime: handle.clone(),
            farewells,
            hears_of_every_end: options.disconnect_mode == DisconnectMode::Always,
            _alive: alive,
        })
    }

    /// Makes a call on the background thread. `None`: it failed, which is logged.
    async fn call<C, R>(
        &self,
        sid: &str,
        message: C,
        translate: impl FnOnce(C::Reply) -> Result<R, String>,
    ) -> Option<R>
    where
        C: Call,
    {
        let calls = Arc::clone(&self.calls);
        let owned_sid = sid.to_owned();
        let call = self
            .runtime
            .spawn(async move { calls.call(&owned_sid, &message).await });
        let (code, text) = match call.await {
            Ok(Ok(reply)) => match translate(reply) {
                Ok(reply) => return Some(reply),
                Err(text) => (tonic::Code::Ok, text),
            },
            Ok(Err(status)) => (status.code(), status.message().to_owned()),
            Err(error) => (tonic::Code::Internal, error.to_string()),
        };
        tracing::warn!(sid, ?code, "{} failed: {text}", C::PATH);
        None
    }
}

impl Application for Remote {
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, ConnectReply> {
        Box::pin(async move {
            let message = translation::connection_request(request);
            let reply = self.call(&request.sid, message, translation::connect_reply).await;
            reply.unwrap_or(ConnectReply::Failed)
        })
    }

    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply> {
        Box::pin(async move {
            let message = translation::command_message(request);
            let reply = self.call(request.sid, message, translation::command_reply).await;
            reply.unwrap_or_else(|| CommandReply {
                status: Status::Failed,
                ..CommandReply::default()
            })
        })
    }

    fn keeps_state_in_sessions(&self) -> bool {
        true
    }

    fn hears_of_every_end(&self) -> bool {
        self.hears_of_every_end
    }

    fn disconnect(&self, request: DisconnectRequest) {
        if let Some(farewells) = &self.farewells {
            farewells.add(request);
        }
    }

    fn finish(&self) -> Reply<'_, ()> {
        Box::pin(async move {
            if let Some(farewells) = &self.farewells {
                farewells.finish().await;
            }
        })
    }
}
