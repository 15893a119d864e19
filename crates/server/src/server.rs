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
    application::Application,
    drain, fanout,
    heartbeat::TICK,
    mailbox::Letter,
    open_connections::OpenConnections,
    shard::Shard,
    ticker,
};

/// What the application gets at least to finish when the sessions took all the time: enough for a few calls, and
/// short enough for process supervisors that wait three seconds.
const MIN_FINISH: Duration = Duration::from_millis(500);

/// The sockets of one shard, by purpose.
struct Sockets {
    clients: Vec<TcpListener>,
    broadcasts: Vec<TcpListener>,
}

/// Serves until `shutdown` completes, then drains the sessions and returns.
///
/// `broadcasts` are the listeners of the separate broadcast port, if there is one. `application` is made with
/// the publisher that its broadcasts go through.
///
/// # Errors
/// When a shard's thread or runtime cannot be started.
pub async fn run(
    config: Config,
    clients: Listeners,
    broadcasts: Option<Listeners>,
    application: impl FnOnce(Publisher) -> Arc<dyn Application>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let config = Arc::new(config);
    let drain_timeout = config.drain_timeout;
    let (publisher, mailboxes) = Publisher::new(config.n_shards, &config.registry);
    let application = application(publisher.clone());
    let finishing = Arc::clone(&application);
    let open_connections = OpenConnections::new(config.max_connections, config.max_connections_per_address);
    let (stop, stopped) = watch::channel(false);
    let (all_ended, mut ends) = mpsc::channel::<()>(1);

    let mut broadcasts = broadcasts.map(Listeners::into_shards);
    let mut threads = Vec::new();
    for (number, (clients, mailbox)) in clients.into_shards().zip(mailboxes).enumerate() {
        let broadcasts = broadcasts.as_mut().and_then(Iterator::next).unwrap_or_default();
        let sockets = Sockets { clients, broadcasts };
        let (config, application, publisher) = (config.clone(), application.clone(), publisher.clone());
        let (open_connections, stopped) = (open_connections.clone(), stopped.clone());
        let all_ended = all_ended.clone();
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
            ));
            LocalSet::new().block_on(&runtime, serve(shard, sockets, mailbox, stopped))
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
    let time_left = drain_timeout.saturating_sub(stopped_at.elapsed());
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

async fn serve(
    shard: Rc<Shard>,
    sockets: Sockets,
    mailbox: mpsc::Receiver<Letter>,
    mut stopped: watch::Receiver<bool>,
) -> io::Result<()> {
    let listeners = [
        (Purpose::Clients, sockets.clients),
        (Purpose::Broadcasts, sockets.broadcasts),
    ];
    for (purpose, sockets) in listeners {
        for socket in sockets {
            let listener = tokio::net::TcpListener::from_std(socket)?;
            tokio::task::spawn_local(accept::run(Rc::clone(&shard), listener, purpose, stopped.clone()));
        }
    }
    tokio::task::spawn_local(fanout::run(Rc::clone(&shard), mailbox));
    tokio::task::spawn_local(ticker::run(Rc::clone(&shard), TICK));
    // The sender lives until after the stop, so this is the stop.
    let _stopped = stopped.changed().await;
    drain::run(&shard).await;
    Ok(())
}
