//! Starting and stopping the shards.

use std::{future::Future, io, net::TcpListener, rc::Rc, sync::Arc, thread, time::Duration};

use tokio::{
    sync::{mpsc, watch},
    task::LocalSet,
    time::Instant,
};

use crate::{
    Config, Listeners, Publisher,
    accept::{self, Purpose},
    admin::Admin,
    application::Application,
    census::{self, Census},
    drain, fanout,
    heartbeat::TICK,
    mailbox::Letter,
    metrics::TASKS_HELP,
    open_connections::OpenConnections,
    shard::Shard,
    ticker,
};

/// What the application gets at least to finish when the sessions took all the time: enough for a few calls, and
/// short enough for process supervisors that wait three seconds.
pub(crate) const MIN_FINISH: Duration = Duration::from_millis(500);

/// The listeners of a server, each on a port of its own.
#[derive(Debug)]
pub struct Ports {
    /// For clients, and for everything that has no port of its own.
    pub clients: Listeners,
    /// For broadcasts without a key, if they are taken.
    pub broadcasts: Option<Listeners>,
    /// For metrics, if clients must not see them.
    pub metrics: Option<Listeners>,
}

/// The sockets of one shard, by purpose.
type Sockets = Vec<(Purpose, TcpListener)>;

/// Serves until `shutdown` completes, then drains the sessions and returns.
///
/// `application` is made with the publisher that its broadcasts go through.
///
/// # Errors
/// When a shard's thread or runtime cannot be started.
pub async fn run(
    config: Config,
    ports: Ports,
    application: impl FnOnce(Publisher) -> Arc<dyn Application>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let config = Arc::new(config);
    let shutdown_timeout = config.shutdown_timeout;
    let (publisher, mailboxes) = Publisher::new(config.n_shards, &config.registry);
    let application = application(publisher.clone());
    let finishing = Arc::clone(&application);
    let open_connections = OpenConnections::new(config.max_connections, config.max_connections_per_address);
    let counted = open_connections.clone();
    config
        .registry
        .gauge_fn("goroutines_num", TASKS_HELP, move || counted.n_open() as f64);
    let census = Census::new(config.n_shards, &config.registry);
    let admin = config.admin_page.clone();
    let admin = admin.map(|page| Arc::new(Admin::new(page, config.n_shards)));
    let (stop, stopped) = watch::channel(false);
    let (all_ended, mut ends) = mpsc::channel::<()>(1);

    let mut threads = Vec::new();
    let sockets = ports.into_shards(config.n_shards);
    for (number, (sockets, mailbox)) in sockets.into_iter().zip(mailboxes).enumerate() {
        let (config, application, publisher) = (config.clone(), application.clone(), publisher.clone());
        let (open_connections, stopped) = (open_connections.clone(), stopped.clone());
        let (census, admin, all_ended) = (census.clone(), admin.clone(), all_ended.clone());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let body = move || {
            let _told_when_this_ends = all_ended;
            let shard = Rc::new(Shard::new(
                number,
                config,
                application,
                publisher,
                open_connections,
                admin,
            ));
            LocalSet::new().block_on(&runtime, serve(shard, census, sockets, mailbox, stopped))
        };
        threads.push(
            thread::Builder::new()
                .name(format!("shard-{number}"))
                .spawn(body)?,
        );
    }
    drop(all_ended);

    tokio::select! {
        () = shutdown => {}
        // A shard that ends by itself could not start; its error is below.
        _ = ends.recv() => {}
    }
    let stopped_at = Instant::now();
    finishing.stopping();
    stop.send_replace(true);
    while ends.recv().await.is_some() {}
    let time_left = shutdown_timeout.saturating_sub(stopped_at.elapsed());
    let finished = tokio::time::timeout(time_left.max(MIN_FINISH), finishing.finish());
    if finished.await.is_err() {
        tracing::warn!("The application did not learn of all ended sessions before the server had to stop.");
    }
    threads.into_iter().try_for_each(|thread| {
        thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("a shard panicked")))
    })
}

impl Ports {
    fn into_shards(self, n_shards: usize) -> Vec<Sockets> {
        let mut by_shard: Vec<Sockets> = (0..n_shards).map(|_| Vec::new()).collect();
        let ports = [
            (Purpose::Clients, Some(self.clients)),
            (Purpose::Broadcasts, self.broadcasts),
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

async fn serve(
    shard: Rc<Shard>,
    census: Arc<Census>,
    sockets: Sockets,
    mailbox: mpsc::Receiver<Letter>,
    mut stopped: watch::Receiver<bool>,
) -> io::Result<()> {
    for (purpose, socket) in sockets {
        let listener = tokio::net::TcpListener::from_std(socket)?;
        tokio::task::spawn_local(accept::run(Rc::clone(&shard), listener, purpose, stopped.clone()));
    }
    tokio::task::spawn_local(fanout::run(Rc::clone(&shard), mailbox));
    tokio::task::spawn_local(ticker::run(Rc::clone(&shard), TICK));
    tokio::task::spawn_local(census::run(Rc::clone(&shard), census));
    // The sender lives until after the stop, so this is the stop.
    let _stopped = stopped.changed().await;
    drain::run(&shard).await;
    Ok(())
}
