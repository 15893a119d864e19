//! StatsD: every sample as a line in packets over UDP, as k6's extension of this name writes them
//! (docs/reference/outputs.md, `statsd`).

use std::{collections::BTreeSet, fmt::Write as _, net::SocketAddr};

use plimsoll_load::metrics::{Batch, Kind, Sample, Tags};
use tokio::net::{UdpSocket, lookup_host};

use crate::{OutputError, passing::Receiver, settings::Settings, tag_cache::TagCache};

/// The longest packet: what fits into a frame of Ethernet on all ways.
const PACKET_BYTES: usize = 1_432;

const ADDRESS: &str = "localhost:8125";
const NAMESPACE: &str = "k6.";
const BLOCKLIST: &str = "vu,iter,url";

/// Where samples go, and what of them.
#[derive(Clone, Debug)]
pub(crate) struct StatsD {
    pub(crate) address: String,
    namespace: String,
    /// Tags that are not written; `None` if no tags are.
    blocklist: Option<BTreeSet<String>>,
    /// `name:value,…`, on all lines; empty for none.
    own_tags: String,
}

/// A server that takes lines.
pub(crate) struct Server {
    config: StatsD,
    tags: TagCache,
    socket: Option<UdpSocket>,
}

impl StatsD {
    /// `argument` goes before the variables `K6_STATSD_…`.
    pub(crate) fn read(argument: Option<&str>, settings: Settings<'_>) -> Result<Self, OutputError> {
        const EXPECTED: &str = "a host and a port, for example `localhost:8125`";
        let has_port = |address: &str| {
            address
                .rsplit_once(':')
                .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
        };
        let checked = |address: &str| has_port(address).then(|| address.to_owned());
        let address = match argument {
            Some(address) => checked(address).ok_or_else(|| OutputError::Argument {
                output: format!("statsd={address}"),
                problem: format!("expected {EXPECTED}"),
            })?,
            None => settings
                .read(&["K6_STATSD_ADDR"], EXPECTED, checked)?
                .unwrap_or_else(|| ADDRESS.to_owned()),
        };
        let namespace = settings.text(&["K6_STATSD_NAMESPACE"]);
        let blocklist = settings.text(&["K6_STATSD_TAG_BLOCKLIST"]);
        let blocklist = blocklist.unwrap_or_else(|| BLOCKLIST.to_owned());
        let has_tags = settings.flag(&["K6_STATSD_ENABLE_TAGS"])?;
        Ok(Self {
            address,
            namespace: namespace.unwrap_or_else(|| NAMESPACE.to_owned()),
            own_tags: settings.text(&["PLIMSOLL_STATSD_TAGS"]).unwrap_or_default(),
            blocklist: has_tags.then(|| blocklist.split(',').map(str::to_owned).collect()),
        })
    }
}

impl Server {
    pub(crate) fn new(config: StatsD) -> Self {
        let (blocklist, own) = (config.blocklist.clone(), config.own_tags.clone());
        Self {
            tags: TagCache::new(move |tags| suffix(tags, blocklist.as_ref(), &own)),
            config,
            socket: None,
        }
    }

    /// Packets of whole lines.
    fn packets(&mut self, batch: &Batch) -> Vec<String> {
        let mut packets = Vec::new();
        let mut packet = String::new();
        for sample in &batch.samples {
            let line = self.line(batch, sample);
            if !packet.is_empty() && packet.len() + 1 + line.len() > PACKET_BYTES {
                packets.push(std::mem::take(&mut packet));
            }
            if !packet.is_empty() {
                packet.push('\n');
            }
            packet.push_str(&line);
        }
        packets.extend(Some(packet).filter(|packet| !packet.is_empty()));
        packets
    }

    fn line(&mut self, batch: &Batch, sample: &Sample) -> String {
        let definition = batch.registry.definition(sample.metric);
        let namespace = &self.config.namespace;
        let name = definition.name.as_str();
        let tags = self.tags.text(&sample.tags);
        let whole = sample.value as i64;
        match (definition.kind, sample.tags.get("check")) {
            (Kind::Counter, _) => format!("{namespace}{name}:{whole}|c{tags}"),
            (Kind::Gauge, _) => format!("{namespace}{name}:{}|g{tags}", sample.value),
            (Kind::Trend, _) => format!("{namespace}{name}:{:.6}|ms{tags}", sample.value),
            (Kind::Rate, Some(check)) => {
                let answer = if sample.value == 0.0 { "fail" } else { "pass" };
                format!("{namespace}check.{}.{answer}:1|c{tags}", plain(check))
            }
            (Kind::Rate, None) => format!("{namespace}{name}:{whole}|c{tags}"),
        }
    }

    async fn socket(&mut self) -> Result<&UdpSocket, String> {
        if self.socket.is_none() {
            self.socket = Some(
                connected(&self.config.address)
                    .await
                    .map_err(|error| format!("{}: {error}", self.config.address))?,
            );
        }
        self.socket
            .as_ref()
            .ok_or_else(|| "there is no socket".to_owned())
    }
}

async fn connected(address: &str) -> std::io::Result<UdpSocket> {
    let mut addresses: Vec<SocketAddr> = lookup_host(address).await?.collect();
    // Servers on this machine mostly listen on IPv4 only, and UDP does not tell.
    addresses.sort_by_key(SocketAddr::is_ipv6);
    let Some(first) = addresses.first() else {
        return Err(std::io::Error::other("the name has no address"));
    };
    let any: SocketAddr = if first.is_ipv4() {
        ([0, 0, 0, 0], 0).into()
    } else {
        ([0_u16; 8], 0).into()
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(first).await?;
    Ok(socket)
}

/// Characters that end a name, or a line, become `_`.
fn plain(text: &str) -> String {
    let is_special = |letter: char| matches!(letter, ':' | '|' | '@' | '#' | ',') || letter.is_control();
    text.replace(is_special, "_")
}

/// Tags in Datadog's form, those of all lines first.
fn suffix(tags: &Tags, blocklist: Option<&BTreeSet<String>>, own: &str) -> String {
    let mut text = String::new();
    if !own.is_empty() {
        text = format!("|#{own}");
    }
    let is_written = |name: &str| blocklist.is_some_and(|out| !out.contains(name));
    for (name, value) in tags
        .iter()
        .filter(|(name, value)| is_written(name) && !value.is_empty())
    {
        let start = if text.is_empty() { "|#" } else { "," };
        let value = value.replace([',', '|', '\n', '\r'], "_");
        write!(text, "{start}{}:{value}", plain(name)).expect("a string takes all text");
    }
    text
}

impl Receiver for Server {
    async fn take(&mut self, batch: &Batch) -> Result<u64, String> {
        for packet in self.packets(batch) {
            let sent = self.socket().await?.send(packet.as_bytes()).await;
            sent.map_err(|error| format!("{}: {error}", self.config.address))?;
        }
        Ok(batch.samples.len() as u64)
    }
}

#[cfg(test)]
mod tests;
