//! The application at the other end of a connection.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
    thread,
    time::Duration,
};

use bytes::Bytes;
use plimsoll_server::application::{
    self as seam, Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, DisconnectRequest,
    Status,
};
use plimsoll_telemetry::Registry;
use tokio::{runtime::Handle, sync::oneshot};

use crate::{
    calls::Calls,
    farewells::{self, Farewells},
    journal::Journal,
    limiter::{Concurrency, Limiter},
    meter::Meter,
    reachability,
    request::Reply,
    retry::{Patience, Rules},
    start_error::StartError,
    target::Target,
    translation,
    transport::{Origin, Place, Transport, TransportOptions},
};

/// The settings of calls to a remote application.
#[derive(Debug, Clone)]
pub struct Options {
    /// The application's address.
    pub target: Target,
    /// The settings of connections to it.
    pub transport: TransportOptions,
    /// The limit of calls in progress at the same time.
    pub concurrency: Concurrency,
    /// Time for one call with all its retries, from its turn on. A call waits for its turn no longer than this, either.
    pub command_timeout: Duration,
    /// Time for one attempt. `None`: the rest of the call's time.
    pub request_timeout: Option<Duration>,
    /// Whether the application is told about ended sessions.
    pub disconnect_mode: DisconnectMode,
    /// The most ended sessions per second that it is told about.
    pub disconnect_rate_per_sec: NonZeroU32,
    /// The most ended sessions that wait for that. Further ones are dropped with a warning.
    pub disconnect_backlog: NonZeroUsize,
    /// The number of shards of the server.
    pub n_shards: usize,
}

/// Whether the application is told about ended sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisconnectMode {
    /// About sessions that it has handled: it was asked about their connection or one of their commands.
    Auto,
    /// About all sessions.
    Always,
    /// About no session.
    Never,
}

/// A remote application.
///
/// Over gRPC every shard makes its calls itself, on connections of its own, because waking another thread twice per
/// call costs more than the call. A background thread does the work that belongs to no shard: it resolves the
/// application's addresses, checks whether it can be reached, and tells it about ended sessions. Over HTTP the
/// background thread makes all calls: a connection carries one call at a time, and a pool per thread would need too
/// many connections.
pub struct Remote {
    calls: Arc<Calls>,
    background: Handle,
    farewells: Option<Farewells>,
    hears_of_every_end: bool,
    /// Its drop ends the thread.
    _alive: oneshot::Sender<()>,
}

impl Remote {
    /// Starts the thread. It connects at the first call, because the application may start later.
    ///
    /// # Errors
    /// The thread or its runtime cannot be started, or the options cannot be used.
    pub fn start(options: &Options, registry: &Registry) -> Result<Self, StartError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let (alive, ended) = oneshot::channel::<()>();
        thread::Builder::new().name("rpc".to_owned()).spawn(move || {
            let _nobody_sends = runtime.block_on(ended);
        })?;
        let calls = {
            let _in_runtime = handle.enter();
            Arc::new(new_calls(options, registry)?)
        };
        handle.spawn(reachability::watch(Arc::clone(&calls)));
        let farewells = (options.disconnect_mode != DisconnectMode::Never).then(|| {
            let (backlog, concurrency) = (options.disconnect_backlog.get(), options.concurrency.max());
            let (farewells, caller) = farewells::queue(backlog, options.disconnect_rate_per_sec, concurrency);
            handle.spawn(caller.run(Arc::clone(&calls)));
            let n_queued = farewells.n_queued();
            gauge(
                registry,
                "disconnect_queue_size",
                "Ended sessions that wait for their call",
                n_queued,
            );
            farewells
        });
        add_gauges(registry, &calls);
        Ok(Self {
            calls,
            background: handle,
            farewells,
            hears_of_every_end: options.disconnect_mode == DisconnectMode::Always,
            _alive: alive,
        })
    }

    /// Makes a call for a session of the shard with this number.
    ///
    /// # Errors
    /// The reason. It is logged already.
    async fn call<R: Reply, T: Send + 'static>(
        &self,
        shard: usize,
        sid: &str,
        patience: Patience,
        message: Bytes,
        translate: fn(R) -> Result<T, String>,
    ) -> Result<T, Box<str>> {
        if !self.calls.transport.shares_connections() {
            let origin = Origin::new(shard, sid);
            return self.calls.call(origin, patience, message, translate).await;
        }
        let (calls, sid) = (Arc::clone(&self.calls), sid.to_owned());
        let call = async move {
            let origin = Origin::background(&sid);
            calls.call(origin, patience, message, translate).await
        };
        self.background.spawn(call).await.unwrap_or_else(|error| {
            tracing::error!("Gave up a call to the application: {error}.");
            Err("the server gave up the call".into())
        })
    }
}

fn new_calls(options: &Options, registry: &Registry) -> Result<Calls, StartError> {
    let (target, timeout) = (&options.target, options.command_timeout);
    let place = Place {
        n_shards: options.n_shards,
        connect_timeout: timeout,
        concurrency: options.concurrency.max(),
        registry,
    };
    Ok(Calls {
        transport: Transport::new(target, &options.transport, &place)?,
        rules: Rules {
            limiter: Limiter::new(options.concurrency),
            timeout,
            attempt_timeout: options.request_timeout,
            meter: Meter::new(registry),
        },
        journal: Journal::new(&target.to_string()),
    })
}

fn add_gauges(registry: &Registry, calls: &Arc<Calls>) {
    let limiter = Arc::clone(calls);
    let n_waiting = move || limiter.rules.limiter.n_waiting();
    gauge(
        registry,
        "rpc_pending_num",
        "Calls that wait for their turn",
        n_waiting,
    );
    let limiter = Arc::clone(calls);
    let limit = move || limiter.rules.limiter.limit();
    gauge(
        registry,
        "rpc_capacity_num",
        "Calls that may be under way at the same time",
        limit,
    );
}

#[expect(clippy::cast_precision_loss, reason = "numbers of calls are far below 2^52")]
fn gauge(
    registry: &Registry,
    name: &'static str,
    help: &'static str,
    number: impl Fn() -> usize + Send + Sync + 'static,
) {
    registry.gauge_fn(name, help, move || number() as f64);
}

impl Application for Remote {
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> seam::Reply<'a, ConnectReply> {
        Box::pin(async move {
            let message = translation::connection_request(request);
            let message = self.calls.transport.encode(&message);
            let patience = Patience::Limited;
            let reply = self.call(
                request.shard,
                &request.sid,
                patience,
                message,
                translation::connect_reply,
            );
            reply.await.unwrap_or(ConnectReply::Failed)
        })
    }

    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> seam::Reply<'a, CommandReply> {
        Box::pin(async move {
            let message = translation::command_message(request);
            let message = self.calls.transport.encode(&message);
            let patience = if request.is_repetition {
                Patience::Unlimited
            } else {
                Patience::Limited
            };
            let reply = self.call(
                request.shard,
                request.sid,
                patience,
                message,
                translation::command_reply,
            );
            reply.await.unwrap_or_else(|failure| CommandReply {
                status: Status::Failed,
                failure,
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

    fn stopping(&self) {
        if let Some(farewells) = &self.farewells {
            farewells.hurry();
        }
    }

    fn finish(&self) -> seam::Reply<'_, ()> {
        Box::pin(async move {
            if let Some(farewells) = &self.farewells {
                farewells.finish().await;
            }
        })
    }
}
