//! Reports to the log and to StatsD the changes since the last report.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use plimsoll_telemetry::{Reading, Registry, Snapshot, StatsdFormat, log_line};
use tokio::{
    net::{UdpSocket, lookup_host},
    time::MissedTickBehavior,
};

/// The receivers of reports, and the last state.
pub(super) struct Reporter {
    registry: Registry,
    told: Snapshot,
    /// The metrics to log, where an empty list means all; `None` when the log gets none.
    log_filter: Option<Vec<String>>,
    statsd: Option<Statsd>,
}

/// A StatsD server.
pub(super) struct Statsd {
    /// Host and port. Resolved for each report, so that it may move.
    server: String,
    format: StatsdFormat,
    /// Whether the last report was not sent: that is logged once.
    is_failing: bool,
}

impl Reporter {
    pub(super) fn new(registry: Registry, log_filter: Option<Vec<String>>, statsd: Option<Statsd>) -> Self {
        Self {
            registry,
            told: Snapshot::default(),
            log_filter,
            statsd,
        }
    }

    /// Reports after every interval, as long as the process lives.
    pub(super) async fn run(mut self, interval: Duration) {
        let mut intervals = tokio::time::interval(interval);
        intervals.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first one is due at once, when nothing has happened yet.
        intervals.tick().await;
        loop {
            intervals.tick().await;
            self.report().await;
        }
    }

    async fn report(&mut self) {
        let now = self.registry.snapshot();
        let readings = now.since(&self.told);
        self.told = now;
        if let Some(filter) = &self.log_filter {
            tracing::info!("Metrics: {}", log_line(&readings, filter));
        }
        if let Some(statsd) = &mut self.statsd {
            statsd.report(&readings).await;
        }
    }
}

impl Statsd {
    pub(super) fn new(server: String, format: StatsdFormat) -> Self {
        Self {
            server,
            format,
            is_failing: false,
        }
    }

    /// UDP has no answers, so a missing StatsD server costs nothing, and its metrics are lost.
    async fn report(&mut self, readings: &[Reading]) {
        let sent = self.send(&self.format.packets(readings)).await;
        match &sent {
            Err(error) if !self.is_failing => {
                tracing::warn!(%error, server = self.server, "Cannot send metrics to StatsD; trying again without \
                    further messages.");
            }
            Ok(()) if self.is_failing => {
                tracing::info!(server = self.server, "Metrics are sent to StatsD again.");
            }
            Ok(()) | Err(_) => {}
        }
        self.is_failing = sent.is_err();
    }

    async fn send(&self, packets: &[String]) -> io::Result<()> {
        let server = lookup_host(&self.server)
            .await?
            .next()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the host has no address"))?;
        let own: SocketAddr = match server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(own).await?;
        for packet in packets {
            socket.send_to(packet.as_bytes(), server).await?;
        }
        Ok(())
    }
}
