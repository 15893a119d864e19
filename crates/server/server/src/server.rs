//! Starts and stops the shards.

use std::{future::Future, io, net::TcpListener, rc::Rc, sync::Arc, thread};

use tokio::{
    sync::{mpsc, watch},
    task::LocalSet,
    time::{Instant, timeout, timeout_at},
};

use crate::{
    Config, Listeners, Publisher, absences, accept,
    admin::{self, Admin},
    application::Application,
    archive::Archive,
    awaited::Awaited,
    census::{self, Census},
    drain::{self, MIN_FINISH, Stage},
    fanout,
    heartbeat::TICK,
    mailbox::Letter,
    metrics::TASKS_HELP,
    open_connections::OpenConnections,
    pending_subscriptions::PendingSubscriptions,
    presence_store::Membership,
    publisher::Kept,
    purpose::Purpose,
    request_bodies::RequestBodies,
    roll::Roll,
    shard::{Shard, Shared},
    ticker,
    webhook::Herald,
};

/// The listeners of a server, each on a port of its own.
#[derive(Debug)]
pub struct Ports {
    /// For clients, and for everything without a port of its own.
    pub clients: Listeners,
    /// For broadcasts without a key. `None`: there is no such port.
    pub broadcasts: Option<Listeners>,
    /// For the REST API. `None`: there is no such port.
    pub api: Option<Listeners>,
    /// For metrics that clients must not see. `None`: there is no such port.
    pub metrics: Option<Listeners>,
}

/// The sockets of one shard, by purpose.
type Sockets = Vec<(Purpose, TcpListener)>;

/// Serves until `shutdown` completes. From then on clients are answered 503. Those who are there are sent away one after
/// the other over [`Config::slow_drain`], while everything else goes on. Then `last_intake` is awaited, which brings the
/// last broadcasts of other sources, and from then on the server takes no more work. Accepted broadcasts are delivered,
/// the sessions end, the listeners close, and this returns.
///
/// `application` is called with the publisher for the application's broadcasts.
///
/// # Errors
/// A shard's thread or runtime cannot be started.
pub async fn run(
    config: Config,
    ports: Ports,
    application: impl FnOnce(Publisher) -> Arc<dyn Application>,
    shutdown: impl Future<Output = ()>,
    last_intake: impl Future<Output = ()>,
) -> io::Result<()> {
    let config = Arc::new(config);
    let shared = share(&config);
    let (publisher, mailboxes) = Publisher::new(
        config.n_shards,
        config.max_body_total,
        Kept {
            archive: shared.archive.clone(),
            awaited: shared.awaited.clone(),
            members: shared.roll.clone().map(|roll| roll as Arc<dyn Membership>),
        },
        config.engine.clone(),
        &config.registry,
    );
    let application = application(publisher.clone());
    let finishing = Arc::clone(&application);
    let awaited = shared.awaited.clone();
    let herald = shared.herald.clone();
    let census = Census::new(config.n_shards, &config.registry);
    let (stage, stages) = watch::channel(Stage::Serving);
    let (all_left, mut leavers) = mpsc::channel::<()>(1);
    let (all_drained, drains) = mpsc::channel::<()>(1);
    let (all_ended, mut ends) = mpsc::channel::<()>(1);

    let mut threads = Vec::new();
    let sockets = ports.into_shards(config.n_shards);
    for (number, (sockets, mailbox)) in sockets.into_iter().zip(mailboxes).enumerate() {
        let (config, application, publisher) = (Arc::clone(&config), application.clone(), publisher.clone());
        let (shared, stages, census) = (shared.clone(), stages.clone(), census.clone());
        let gone = Gone {
            left: all_left.clone(),
            drained: all_drained.clone(),
        };
        let all_ended = all_ended.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let body = move || {
            let _told_when_this_ends = all_ended;
            let shard = Rc::new(Shard::new(number, config, application, publisher, shared));
            let life = serve(shard, census, sockets, mailbox, stages, gone);
            LocalSet::new().block_on(&runtime, life)
        };
        threads.push(
            thread::Builder::new()
                .name(format!("shard-{number}"))
                .spawn(body)?,
        );
    }
    drop((all_left, all_drained, all_ended));

    tokio::select! {
        () = shutdown => {}
        // A shard that ends on its own could not start; its error is below.
        _ = ends.recv() => {}
    }
    if !config.slow_drain.is_zero() {
        tracing::info!(
            over_s = config.slow_drain.as_secs_f64(),
            "The clients are sent away one after the other."
        );
        stage.send_replace(Stage::Leaving);
        while leavers.recv().await.is_some() {}
    }
    last_intake.await;
    let since = Instant::now();
    finishing.stopping();
    drain_all(&config, &publisher, &stage, since, drains).await;
    // The remaining sessions end with their shard, and the application is told about them, too.
    while ends.recv().await.is_some() {}
    if let Some(awaited) = awaited {
        let farewells = awaited.without_taken(awaited.finish()).await;
        farewells
            .into_iter()
            .for_each(|farewell| finishing.disconnect(farewell));
    }
    let time_left = config.shutdown_timeout.saturating_sub(since.elapsed());
    let finished = timeout(time_left.max(MIN_FINISH), finishing.finish());
    if finished.await.is_err() {
        tracing::warn!("The application did not learn of all ended sessions before the server had to stop.");
    }
    if let Some(herald) = herald {
        let time_left = config.shutdown_timeout.saturating_sub(since.elapsed());
        herald.finish(time_left.max(MIN_FINISH)).await;
    }
    threads.into_iter().try_for_each(|thread| {
        thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("a shard panicked")))
    })
}

/// Takes no more work, and returns when all sessions are gone or their time is up. The shards end only after that.
async fn drain_all(
    config: &Config,
    publisher: &Publisher,
    stage: &watch::Sender<Stage>,
    since: Instant,
    mut drains: mpsc::Receiver<()>,
) {
    stage.send_replace(Stage::Draining { since });
    let closed = timeout_at(drain::delivery_deadline(config, since), publisher.close());
    if closed.await.is_err() {
        tracing::warn!("Not all accepted broadcasts could be delivered before the server had to stop.");
    }
    while drains.recv().await.is_some() {}
    stage.send_replace(Stage::Over);
}

fn share(config: &Config) -> Shared {
    let Config {
        registry, n_shards, ..
    } = config;
    let open_connections = OpenConnections::new(config.max_connections, config.max_connections_per_address);
    let counted = open_connections.clone();
    registry.gauge_fn("goroutines_num", TASKS_HELP, move || counted.n_open() as f64);
    let admin = config.admin_page.clone();
    let archive = config
        .broker
        .as_ref()
        .map(|broker| Archive::new(broker.history.clone(), registry));
    let webhook = config
        .presence_webhook
        .clone()
        .filter(|_| config.broker.is_some());
    let herald = webhook.map(|webhook| Herald::start(webhook, registry));
    Shared {
        open_connections,
        pending_subscriptions: PendingSubscriptions::new(registry),
        request_bodies: RequestBodies::new(config.max_body_total, registry),
        publications: Arc::default(),
        archive,
        roll: config.broker.as_ref().and_then(|broker| {
            let presence = broker.presence.clone()?;
            Some(Roll::new(
                presence,
                broker.members.clone(),
                herald.clone(),
                registry,
            ))
        }),
        herald,
        awaited: config.broker.as_ref().and_then(|broker| {
            let resuming = broker.resuming.clone()?;
            Some(Awaited::new(resuming, broker.sessions.clone(), registry))
        }),
        admin: admin.map(|page| Arc::new(Admin::new(page, *n_shards))),
    }
}

impl Ports {
    fn into_shards(self, n_shards: usize) -> Vec<Sockets> {
        let mut by_shard: Vec<Sockets> = (0..n_shards).map(|_| Vec::new()).collect();
        let ports = [
            (Purpose::Clients, Some(self.clients)),
            (Purpose::Broadcasts, self.broadcasts),
            (Purpose::Api, self.api),
            (Purpose::Metrics, self.metrics),
        ];
        for (purpose, listeners) in ports {
            let sockets = listeners.into_iter().flat_map(Listeners::into_shards);
            for (shard, sockets) in by_shard.iter_mut().zip(sockets) {
                shard.extend(sockets.into_iter().map(|socket| (purpose, socket)));
            }
        }
        by_shard
    }
}

/// A shard drops each of these when it is that far.
struct Gone {
    /// All clients of the shard have been sent away, or there is no time for that.
    left: mpsc::Sender<()>,
    /// All sessions of the shard are gone, or their time is up.
    drained: mpsc::Sender<()>,
}

async fn serve(
    shard: Rc<Shard>,
    census: Arc<Census>,
    sockets: Sockets,
    mailbox: mpsc::Receiver<Letter>,
    mut stages: watch::Receiver<Stage>,
    gone: Gone,
) -> io::Result<()> {
    for (purpose, socket) in sockets {
        let listener = tokio::net::TcpListener::from_std(socket)?;
        tokio::task::spawn_local(accept::run(Rc::clone(&shard), listener, purpose, stages.clone()));
    }
    tokio::task::spawn_local(fanout::run(Rc::clone(&shard), mailbox));
    tokio::task::spawn_local(ticker::run(Rc::clone(&shard), TICK));
    tokio::task::spawn_local(absences::run(Rc::clone(&shard)));
    tokio::task::spawn_local(census::run(Rc::clone(&shard), census));
    if let Some(admin) = shard.shared.admin.clone().filter(|_| shard.number == 0) {
        let registry = shard.config.registry.clone();
        tokio::task::spawn_local(async move { admin::record(&admin.history, &registry).await });
    }
    drain::run(&shard, &mut stages, gone.left).await;
    // The drop is the signal.
    drop(gone.drained);
    // Other shards may still drain. This shard's listeners answer until all are done.
    let _over = stages.wait_for(|stage| *stage == Stage::Over).await;
    Ok(())
}
