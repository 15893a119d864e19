//! The checked options of `recover`.

use std::{net::IpAddr, sync::Arc, time::Duration};

use plimsoll_cable::encoding::Encoding;
use plimsoll_clients::{http::Url, target::Target, tls::Tls};
use plimsoll_load::watch;
use plimsoll_report::summary::{Plan, PlannedScenario};

use super::timetable::{Cuts, Timetable};
use crate::{limit::Limit, options::Schedule};

/// The protocol of the clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Action Cable's base protocol: a client that comes back subscribes anew and asks for nothing.
    Base,
    /// AnyCable's extended protocol: a client that comes back resumes its session and asks for history.
    Extended,
}

impl Protocol {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Extended => "extended",
        }
    }
}

/// The options of `recover`.
#[derive(Debug, Clone)]
pub struct RecoverOptions {
    /// The server.
    pub target: Target,
    /// The protocol of the clients.
    pub protocol: Protocol,
    /// The encoding of their messages.
    pub encoding: Encoding,
    /// The identifier to subscribe to, in which `{stream}` stands for the name of the stream.
    pub channel: String,
    /// The beginning of the names of all streams. Each run needs its own, or messages of an earlier run would be replayed.
    pub stream_prefix: String,
    /// The `Origin` header.
    pub origin: String,
    /// Further headers of the upgrade.
    pub headers: Vec<(String, String)>,
    /// The TLS options of all connections. None for the defaults.
    pub tls: Option<Arc<Tls>>,
    /// Source addresses, used in turn. Without any, the system chooses, and a server on this machine gets several when one
    /// has too few ports.
    pub local_addresses: Vec<IpAddr>,
    /// The number of clients, at least one.
    pub n_clients: usize,
    /// The number of clients of the base protocol beside them, whose counts are separate.
    pub n_beside: usize,
    /// The number of streams, at least one. Each client listens to one of them.
    pub n_streams: usize,
    /// When broadcasts are sent, to the streams in turn.
    pub schedule: Schedule,
    /// When clients are cut.
    pub timetable: Timetable,
    /// The URL for broadcasts over HTTP.
    pub broadcast_url: Url,
    /// The key that the server requires for broadcasts.
    pub broadcast_key: Option<String>,
    /// Bytes of padding in each message.
    pub n_padding_bytes: usize,
    /// The number of clients that connect concurrently before the broadcasts begin.
    pub connect_width: usize,
    /// A client that is not ready by then has failed, and tries again.
    pub connect_timeout: Duration,
    /// The time limit of the answers to a broadcast and to a request for history.
    pub answer_timeout: Duration,
    /// The silence after which missing messages are given up.
    pub quiet: Duration,
    /// The longest time to wait for missing messages after the last broadcast.
    pub drain: Duration,
    /// Threads that carry the clients, at least one.
    pub n_workers: usize,
    /// The targets of which the first with processes is measured.
    pub watched: Vec<watch::Target>,
    /// The thresholds.
    pub limits: Vec<Limit>,
}

impl RecoverOptions {
    /// All clients, those beside the others included.
    pub(crate) fn n_all(&self) -> usize {
        self.n_clients + self.n_beside
    }

    /// Whether the client with this number is beside the others.
    pub(crate) fn is_beside(&self, client: usize) -> bool {
        client >= self.n_clients
    }

    /// The protocol of the client with this number.
    pub(crate) fn protocol_of(&self, client: usize) -> Protocol {
        if self.is_beside(client) {
            Protocol::Base
        } else {
            self.protocol
        }
    }

    /// The name of the stream with this index.
    pub(crate) fn stream(&self, idx: usize) -> String {
        format!("{}-{}", self.stream_prefix, idx + 1)
    }

    /// The identifier of the subscription to a stream.
    pub(crate) fn identifier(&self, stream: &str) -> String {
        self.channel.replace("{stream}", stream)
    }

    /// The description of the plan.
    pub(crate) fn plan(&self) -> Plan {
        Plan {
            scenarios: vec![PlannedScenario {
                name: "recover".to_owned(),
                executor: "scheduled cuts".to_owned(),
                description: self.words(),
                start_seconds: 0.0,
                max_vus: u32::try_from(self.n_all()).unwrap_or(u32::MAX),
                duration_seconds: Some(self.schedule.duration().as_secs_f64()),
            }],
        }
    }

    /// The plan in a sentence.
    pub(crate) fn words(&self) -> String {
        let Cuts {
            n_cuts,
            away,
            is_herd,
        } = self.timetable.cuts();
        let cuts = match n_cuts {
            0 => "no client is cut".to_owned(),
            n_cuts => format!(
                "each client cut {n_cuts} times for {} s, {}",
                away.as_secs_f64(),
                if is_herd {
                    "all at once"
                } else {
                    "one after the other"
                }
            ),
        };
        let beside = match self.n_beside {
            0 => String::new(),
            n_beside => format!(" and {n_beside} of the base protocol"),
        };
        format!(
            "{} clients of the {} protocol{beside} on {} streams, broadcasts at {} for {} s, {cuts}",
            self.n_clients,
            self.protocol.name(),
            self.n_streams,
            self.schedule.rate(),
            self.schedule.duration().as_secs_f64()
        )
    }
}
