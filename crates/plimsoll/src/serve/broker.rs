//! What the server keeps for clients that are away.

use std::{str::FromStr, sync::Arc, time::Duration};

use clap::{Args, ValueEnum, builder::RangedU64ValueParser};
use plimsoll_broker::{Pattern, Retention, Retentions, Settings, Truncation, presence};
use plimsoll_load::preflight::Memory;
use plimsoll_server::{Broker, PresenceStore, Resuming, SessionStore, Webhook, WebhookUrl};

use super::memory;
use crate::exit::Failure;

/// The smallest default for the memory of all kept messages, in bytes.
const MIN_HISTORY_BYTES: u64 = 16 << 20;

/// The smallest memory of all members that are present, in bytes.
const MIN_PRESENCE_BYTES: u64 = 8 << 20;

/// The flags.
#[derive(Debug, Args)]
#[command(next_help_heading = "Clients that are away")]
#[group(id = "keeping")]
pub(super) struct BrokerOptions {
    /// Where messages are kept for clients that were away: memory keeps them in this process, redis in the Redis of
    /// --redis_url and nats in the JetStream of --nats_servers, which several servers share.
    #[arg(long, value_enum)]
    broker: Option<Adapter>,
    /// Sets of settings under one name; comma-separated. broker: --broker memory.
    #[arg(long, value_enum, value_delimiter = ',')]
    presets: Vec<Preset>,
    /// Largest number of messages that are kept of a stream.
    #[arg(long, default_value_t = 100, value_name = "MESSAGES", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    history_limit: u32,
    /// Seconds for which a message is kept.
    #[arg(long, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=MAX_TTL))]
    history_ttl: u32,
    /// Other limits for single streams, or for all whose name begins alike; the first match counts. For example
    /// chat/*=limit:500,ttl:3600; news=limit:10
    #[arg(long, value_name = "PATTERN=LIMITS; …")]
    history_streams: Option<StreamLimits>,
    /// Largest memory of all kept messages together, in bytes. Above it the streams that were silent for longest lose
    /// their messages. Default: an eighth of the memory, at least 16 MiB.
    #[arg(long, value_name = "BYTES", value_parser = RangedU64ValueParser::<usize>::new().range(1 << 20..))]
    history_max_bytes: Option<usize>,
    /// Seconds for which a client of the extended protocol may come back to its session. 0: sessions are not resumed.
    #[arg(long, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(..=MAX_TTL))]
    sessions_ttl: u32,
    /// What a client must show to go on with its session. none: the id of the session, as with AnyCable. token: also a
    /// valid token with the identifiers of the session; otherwise it connects like any other client.
    #[arg(long, value_enum, default_value_t = ResumeCheck::None)]
    resume_check: ResumeCheck,
    /// Seconds after which the application is told that a client is gone that may still come back; it is not told if
    /// the client comes back earlier.
    #[arg(long, default_value_t = 0, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(..=MAX_TTL))]
    disconnect_grace: u32,
    /// Seconds for which a member stays present whose connection is lost. A client that is back earlier has never left.
    #[arg(long, default_value_t = 15, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(..=MAX_TTL))]
    presence_ttl: u32,
    /// Tell the clients of a stream when the info of a member changes, with an event of the type update.
    #[arg(long)]
    presence_updates: bool,
    /// URL that is told who comes and who leaves, in batches of JSON with POST.
    #[arg(long, value_name = "URL")]
    presence_webhook: Option<WebhookUrl>,
    /// Answer to a client that asks for all messages since a time when some of them are no longer kept. refuse: the
    /// client learns that it has missed messages. confirm: it gets the rest, as from AnyCable.
    #[arg(long, value_enum, default_value_t = TruncationArgument::Refuse)]
    history_truncation: TruncationArgument,
}

/// The longest time for which messages are kept, in seconds: a year.
const MAX_TTL: i64 = 31_536_000;

/// What the servers of a cluster share, besides messages.
#[derive(Debug, Default)]
pub(super) struct Stores {
    pub(super) sessions: Option<Arc<dyn SessionStore>>,
    pub(super) members: Option<Arc<dyn PresenceStore>>,
}

/// Where messages are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Adapter {
    /// In the memory of this process.
    Memory,
    /// In Redis, shared by several servers.
    Redis,
    /// In NATS JetStream, shared by several servers.
    Nats,
    /// Nowhere.
    None,
}

/// Settings under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Preset {
    /// Keeps messages in memory.
    Broker,
    /// AnyCable's settings for a platform; no effect here.
    #[value(hide = true)]
    Fly,
    /// AnyCable's settings for a platform; no effect here.
    #[value(hide = true)]
    Heroku,
}

/// What a client must show to go on with its session, beside the session's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ResumeCheck {
    None,
    Token,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TruncationArgument {
    Refuse,
    Confirm,
}

/// Limits for the streams that patterns match. A limit that is not given is the general one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StreamLimits(Vec<(Pattern, Limits)>);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Limits {
    limit: Option<u32>,
    ttl_secs: Option<u32>,
}

impl BrokerOptions {
    /// Names the presets that have no effect.
    pub(super) fn warn(&self) {
        for preset in self.presets.iter().filter(|preset| **preset != Preset::Broker) {
            tracing::warn!(
                "The preset {} has no effect: platforms are not detected; give each setting, for example --host \
                 0.0.0.0 in a container.",
                format!("{preset:?}").to_lowercase()
            );
        }
    }

    fn adapter(&self) -> Adapter {
        let preset = self.presets.contains(&Preset::Broker).then_some(Adapter::Memory);
        self.broker.or(preset).unwrap_or(Adapter::None)
    }

    /// The name of the broker; `None` without one.
    pub(super) fn name(&self) -> Option<&'static str> {
        match self.adapter() {
            Adapter::Memory => Some("memory"),
            Adapter::Redis => Some("redis"),
            Adapter::Nats => Some("nats"),
            Adapter::None => None,
        }
    }

    /// Whether several servers share the broker.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.adapter(), Adapter::Redis | Adapter::Nats)
    }

    /// Whether the broker keeps who is present.
    pub(super) fn keeps_presence(&self) -> bool {
        self.adapter() != Adapter::None
    }

    /// How long a member stays present whose client or server is gone. `None`: no client is
    /// present on any stream.
    pub(super) fn presence_ttl(&self) -> Option<Duration> {
        self.keeps_presence()
            .then(|| Duration::from_secs(self.presence_ttl.into()))
    }

    /// How long a client may take to come back to its session. `None`: the broker keeps no sessions.
    pub(super) fn sessions_ttl(&self) -> Option<Duration> {
        let keeps_sessions = self.adapter() != Adapter::None && self.sessions_ttl > 0;
        keeps_sessions.then(|| Duration::from_secs(self.sessions_ttl.into()))
    }

    /// Whether a client needs a token to go on with its session.
    pub(super) fn checks_returns(&self) -> bool {
        self.sessions_ttl().is_some() && self.resume_check == ResumeCheck::Token
    }

    /// The settings of the broker, with the sessions of all servers if they share them. `None`: nothing is kept.
    pub(super) fn broker(&self, memory: &Memory, stores: Stores) -> Option<Broker> {
        self.name().map(|_| Broker {
            sessions: stores.sessions,
            members: stores.members,
            presence: self.presence_ttl().map(|ttl| presence::Settings {
                ttl,
                announces_updates: self.presence_updates,
                max_bytes: memory::share(memory, 32, MIN_PRESENCE_BYTES),
            }),
            resuming: self.resuming(memory),
            history: self.history(memory),
        })
    }

    /// How much of each stream is kept.
    pub(super) fn retentions(&self) -> Retentions {
        let retention = |limits: Limits| Retention {
            limit: limits.limit.unwrap_or(self.history_limit) as usize,
            ttl: Duration::from_secs(limits.ttl_secs.unwrap_or(self.history_ttl).into()),
        };
        let by_pattern = self.history_streams.iter().flat_map(|limits| &limits.0);
        Retentions {
            default: retention(Limits::default()),
            by_pattern: by_pattern
                .map(|(pattern, limits)| (pattern.clone(), retention(*limits)))
                .collect(),
        }
    }

    /// The webhook of presence, which is told `key`.
    pub(super) fn presence_webhook(&self, key: Option<&str>) -> Result<Option<Webhook>, Failure> {
        let url = self.presence_webhook.clone().filter(|_| self.keeps_presence());
        let webhook = url.map(|url| Webhook::new(url, key)).transpose();
        webhook.map_err(|error| Failure::Usage(format!("--presence_webhook: {error}")))
    }

    fn resuming(&self, memory: &Memory) -> Option<Resuming> {
        self.sessions_ttl().map(|ttl| Resuming {
            ttl,
            // A session that is forgotten is told at once.
            disconnect_grace: Duration::from_secs(self.disconnect_grace.into()),
            max_bytes: memory::share(memory, 16, MIN_HISTORY_BYTES),
        })
    }

    fn history(&self, memory: &Memory) -> Settings {
        Settings {
            retentions: self.retentions(),
            max_bytes: self
                .history_max_bytes
                .unwrap_or_else(|| memory::share(memory, 8, MIN_HISTORY_BYTES)),
            truncation: match self.history_truncation {
                TruncationArgument::Refuse => Truncation::Refuse,
                TruncationArgument::Confirm => Truncation::Confirm,
            },
        }
    }
}

impl FromStr for StreamLimits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let entries = text.split(';').map(str::trim).filter(|entry| !entry.is_empty());
        let parsed: Result<Vec<_>, _> = entries.map(stream_limits).collect();
        Ok(Self(parsed?))
    }
}

const EXAMPLE: &str = "expected something like chat/*=limit:500,ttl:3600";

fn stream_limits(entry: &str) -> Result<(Pattern, Limits), String> {
    let (pattern, limits) = entry
        .rsplit_once('=')
        .ok_or_else(|| format!("{entry:?} has no limits; {EXAMPLE}"))?;
    let pattern = pattern
        .trim()
        .parse::<Pattern>()
        .map_err(|error| error.to_string())?;
    let mut found = Limits::default();
    for limit in limits.split(',').map(str::trim) {
        let (name, value) = limit.split_once(':').unwrap_or((limit, ""));
        let value = || {
            let number = value
                .trim()
                .parse()
                .ok()
                .filter(|number| *number <= MAX_TTL as u32);
            number.ok_or_else(|| format!("{limit:?} is not a name and a number; {EXAMPLE}"))
        };
        match name.trim() {
            "limit" => found.limit = Some(value()?),
            "ttl" => found.ttl_secs = Some(value()?).filter(|secs| *secs > 0),
            _ => return Err(format!("{limit:?} is neither limit nor ttl; {EXAMPLE}")),
        }
    }
    Ok((pattern, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Expected<'a> = Result<&'a [(&'a str, Option<u32>, Option<u32>)], &'a str>;

    #[track_caller]
    fn check(text: &str, expected: Expected<'_>) {
        let parsed = text.parse::<StreamLimits>();
        let parsed = parsed.map(|StreamLimits(list)| {
            let entry =
                |(pattern, limits): (Pattern, Limits)| (pattern.to_string(), limits.limit, limits.ttl_secs);
            list.into_iter().map(entry).collect::<Vec<_>>()
        });
        match (parsed, expected) {
            (Ok(list), Ok(expected)) => {
                let found: Vec<_> = list
                    .iter()
                    .map(|(name, limit, ttl)| (&**name, *limit, *ttl))
                    .collect();
                assert_eq!(found, expected, "{text}");
            }
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{text}: {error}"),
            (parsed, _) => panic!("{text}: {parsed:?}"),
        }
    }

    #[test]
    fn streams_have_limits_of_their_own() {
        check("", Ok(&[]));
        check(
            "chat/*=limit:500,ttl:3600",
            Ok(&[("chat/*", Some(500), Some(3600))]),
        );
        check(
            " a=b = limit: 1 ; news=ttl:5;",
            Ok(&[("a=b", Some(1), None), ("news", None, Some(5))]),
        );
        check("*=limit:0", Ok(&[("*", Some(0), None)]));
        check(
            "chat",
            Err("\"chat\" has no limits; expected something like chat/*=limit:500,ttl:3600"),
        );
        check("chat=500", Err("\"500\" is neither limit nor ttl"));
        check(
            "chat=limit:many",
            Err("\"limit:many\" is not a name and a number"),
        );
        check("chat=limit:-1", Err("\"limit:-1\" is not a name and a number"));
        check("*/1=limit:1", Err("has a star that is not its last character"));
    }
}
