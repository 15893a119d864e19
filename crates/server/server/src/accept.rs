//! Accepts connections from a listening socket.

use std::{io, rc::Rc, time::Duration};

use tokio::{net::TcpListener, sync::watch, time::Instant};

use crate::{drain::Stage, purpose::Purpose, shard::Shard, upgrade};

/// Pause after a failed `accept`. The usual cause is the open-file limit: the connection stays in the kernel's queue,
/// and an immediate retry would spin.
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(100);

/// Minimum time between two log lines of a shard about connections that cannot be accepted.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Accepts connections until the server is over, then closes the listener. Connections are still accepted while the
/// sessions end, so that new clients are told to use another server.
pub(crate) async fn run(
    shard: Rc<Shard>,
    listener: TcpListener,
    purpose: Purpose,
    mut stage: watch::Receiver<Stage>,
) {
    let mut last_log: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stage.wait_for(|stage| matches!(stage, Stage::Over)) => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                // The limit per address applies to clients only. Backends broadcast from a few addresses.
                let address = (purpose == Purpose::Clients).then(|| peer.ip());
                let counted = shard.shared.open_connections.enter(address);
                tokio::task::spawn_local(upgrade::receive(
                    Rc::clone(&shard),
                    stream,
                    peer,
                    purpose,
                    counted,
                ));
            }
            Err(error) if is_the_peers_fault(&error) => {}
            Err(error) => {
                if last_log.is_none_or(|at| at.elapsed() >= LOG_INTERVAL) {
                    tracing::error!(%error, "Cannot accept connections; trying again every 100 ms.");
                    last_log = Some(Instant::now());
                }
                tokio::time::sleep(PAUSE_AFTER_ERROR).await;
            }
        }
    }
}

/// Whether the client gave up between its SYN and our `accept`.
fn is_the_peers_fault(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}
