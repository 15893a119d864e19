//! The checked options of `recover`, in the types of the workload.

use std::{num::NonZero, thread};

use plimsoll_clients::{
    http::Url,
    target::{Target, TargetError},
};
use plimsoll_load::watch;
use plimsoll_shootout::{
    Bench, Results, Schedule,
    recover::{self, Cuts, Protocol, RecoverOptions, Timetable, TooManyCuts},
};

use super::{
    args::RecoverArgs,
    options::{UsageError, parse_header},
    typed::{Here, Typed},
};
use crate::session::Format;

/// The path of broadcasts in the default settings of AnyCable's servers and of ours.
const BROADCAST_PATH: &str = "/_broadcast";

/// The command line is not usable. Exit code 2.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RecoverUsageError {
    /// The URL is wrong.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// An option that other benches have, too.
    #[error(transparent)]
    Common(#[from] UsageError),
    /// All clients speak the base protocol already.
    #[error(
        "--base and --protocol base do not go together: --base has clients of the base protocol beside extended ones"
    )]
    OnlyBase,
    /// All clients would subscribe to one identifier.
    #[error(
        "--channel {0:?} does not contain {{stream}}, which stands for the name of the stream of a client"
    )]
    Channel(String),
    /// The URL for broadcasts is wrong.
    #[error("--broadcast-url {0:?} is not a URL; expected something like http://127.0.0.1:8090/_broadcast")]
    BroadcastUrl(String),
    /// Clients would be cut before they are back.
    #[error("--cuts, --away and --duration do not fit: {0}")]
    Cuts(#[from] TooManyCuts),
    /// A threshold that cannot be judged.
    #[error("{0}")]
    Threshold(String),
}

impl TryFrom<RecoverArgs> for RecoverOptions {
    type Error = RecoverUsageError;

    fn try_from(args: RecoverArgs) -> Result<Self, RecoverUsageError> {
        let target = Target::parse(&args.url)?;
        let protocol = Protocol::from(args.protocol);
        if protocol == Protocol::Base && args.base > 0 {
            return Err(RecoverUsageError::OnlyBase);
        }
        if !args.channel.contains("{stream}") {
            return Err(RecoverUsageError::Channel(args.channel));
        }
        for limit in &args.threshold {
            recover::check(limit).map_err(RecoverUsageError::Threshold)?;
        }
        let schedule = Schedule::new(args.rate, args.duration).map_err(|error| UsageError::Schedule {
            rate: args.rate.to_string(),
            seconds: args.duration.as_secs_f64().to_string(),
            reason: error.to_string(),
        })?;
        let cuts = Cuts {
            n_cuts: args.cuts,
            away: args.away,
            is_herd: args.herd,
        };
        let headers = args.header.into_iter().map(parse_header);
        let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
        Ok(Self {
            broadcast_url: broadcast_url(args.broadcast_url, &target)?,
            timetable: Timetable::new(cuts, args.duration, args.clients + args.base)?,
            target,
            protocol,
            encoding: args.action_cable_encoding,
            channel: args.channel,
            stream_prefix: args
                .stream_prefix
                .unwrap_or_else(|| format!("recover-{:08x}", fastrand::u32(..))),
            origin: args.origin,
            headers: headers.collect::<Result<_, _>>()?,
            tls: args.insecure.tls(),
            local_addresses: args.local_addr,
            n_clients: args.clients,
            n_beside: args.base,
            n_streams: args.streams,
            schedule,
            broadcast_key: args.broadcast_key,
            n_padding_bytes: args.payload_padding,
            connect_width: args.connect_concurrent,
            connect_timeout: args.connect_timeout,
            answer_timeout: args.answer_timeout,
            quiet: args.wait_broadcasts,
            drain: args.drain_timeout,
            n_workers: args.workers.unwrap_or(n_cores),
            watched: Vec::new(),
            limits: args.threshold,
        })
    }
}

/// The URL for broadcasts: the given one, or the usual path of the target.
fn broadcast_url(given: Option<String>, target: &Target) -> Result<Url, RecoverUsageError> {
    let text = given.unwrap_or_else(|| format!("{}{BROADCAST_PATH}", target.own_origin()));
    match Url::parse(&text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        _ => Err(RecoverUsageError::BroadcastUrl(text)),
    }
}

impl Typed for RecoverArgs {
    type Mistake = RecoverUsageError;
    type Fleet = Here;

    fn url(&self) -> &str {
        &self.url
    }

    fn set_url(&mut self, url: String) {
        self.url = url;
    }

    fn bench(self, format: Format, watched: &[watch::Target]) -> Result<Bench, RecoverUsageError> {
        let results = Results {
            format: format.into(),
            path: self.filename.clone(),
        };
        let mut options: RecoverOptions = self.try_into()?;
        options.watched = watched.to_vec();
        Ok(Bench::Recover(Box::new(options), results))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        args: RecoverArgs,
    }

    fn options(arguments: &str) -> Result<RecoverOptions, RecoverUsageError> {
        let words = ["recover"].into_iter().chain(arguments.split_whitespace());
        CommandLine::try_parse_from(words).unwrap().args.try_into()
    }

    #[test]
    fn broadcasts_go_to_the_server_itself_by_default() {
        for (arguments, expected) in [
            ("ws://h:8080/cable", "http://h:8080/_broadcast"),
            ("wss://h/cable", "https://h/_broadcast"),
            ("ws://[::1]:8080/cable?a=b", "http://[::1]:8080/_broadcast"),
            (
                "ws://h/ --broadcast-url http://h:8090/_broadcast",
                "http://h:8090/_broadcast",
            ),
        ] {
            assert_eq!(options(arguments).unwrap().broadcast_url.as_str(), expected);
        }
    }

    #[test]
    fn each_run_has_streams_of_its_own() {
        let prefix = || options("ws://h/").unwrap().stream_prefix;
        assert_ne!(prefix(), prefix());
        assert_eq!(options("ws://h/ --stream-prefix a").unwrap().stream_prefix, "a");
    }

    #[test]
    fn mistakes_are_explained() {
        for (arguments, expected) in [
            ("http://h/", "expected"),
            (
                "ws://h/ --channel {}",
                "--channel \"{}\" does not contain {stream}",
            ),
            (
                "ws://h/ --broadcast-url redis://h",
                "--broadcast-url \"redis://h\" is not a URL; expected something like http",
            ),
            (
                "ws://h/ --cuts 15",
                "--cuts, --away and --duration do not fit: 15 cuts in 30s leave 2s for each",
            ),
            (
                "ws://h/ --threshold rtt:p(95)<1",
                "bench recover does not measure rtt; it measures recovery",
            ),
            (
                "ws://h/ --base 3 --protocol base",
                "--base and --protocol base do not go together",
            ),
            ("ws://h/ --header x", "--header \"x\" is not a header"),
            ("ws://h/ --rate 1/h --duration 0s", "--rate"),
        ] {
            let error = options(arguments).unwrap_err().to_string();
            assert!(error.contains(expected), "{arguments}: {error}");
        }
        assert!(options("ws://h/ --action-cable-encoding protobuf --protocol base").is_ok());
        assert!(options("ws://h/ --threshold lost:count==0 --threshold recovery:p(99)<9").is_ok());
    }
}
