//! `plimsoll quick`: a look at a server without a file. The server is examined first, and its kind decides what users do.

mod bars;
mod load;
mod look;
mod screen;
mod view;

use std::{
    io::{self, Write as _},
    path::PathBuf,
    time::Duration,
};

use clap::{Parser, ValueHint};
use plimsoll_clients::{http::Url, target::Target};
use plimsoll_probe::{Approach, Findings, Question};
use serde_json::Value;

use self::load::{Client, Load, Subscription, choose};
pub(super) use self::{
    look::Look,
    view::{View, refusal_of_all},
};
use super::{
    file_test,
    input::Source,
    options::{self, MarkFlags, ResultFlags, TestFlags},
};
use crate::{
    bench::parse_header,
    exit::{Failure, Status},
    fleet::FleetFlags,
    probe,
    runtime::run_local,
    series::{SeriesFlags, Targeted, lead},
    session::SessionFlags,
    surroundings::Surroundings,
    trust::Insecure,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll quick http://localhost:3000/                 ten users make ten requests each
  plimsoll quick ws://localhost:3000/ws                 connections, messages, and replies if the server echoes
  plimsoll quick ws://localhost:8080/cable -H 'Cookie: uid=kay/1' --channel ChatChannel --channel-params '{\"id\":\"demo\"}'

A WebSocket server is examined first, over one connection, as by plimsoll probe.";

/// The time limit of the examination.
const LIMIT: Duration = Duration::from_secs(10);

/// Send a few users to a server and show one screen of results: HTTP, WebSocket or Action Cable.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The server: http, https, ws or wss.
    #[arg(value_name = "URL", value_parser = server, value_hint = ValueHint::Url)]
    url: Url,
    /// Number of users, who arrive within a second.
    #[arg(long, short, value_name = "N", default_value_t = 10)]
    count: u32,
    /// Requests, messages or, for Action Cable, connections of each.
    #[arg(long, short, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    num: u32,
    /// Header field of the users, for example "Cookie: uid=1"; may be given several times.
    #[arg(long, short = 'H', value_name = "HEADER")]
    header: Vec<String>,
    /// Channel of Action Cable to which users subscribe. Without it, they connect and wait for the welcome.
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
    /// Parameters of the channel, a JSON object.
    #[arg(long, value_name = "JSON", requires = "channel", value_parser = probe::object)]
    channel_params: Option<Value>,
    /// Write Artillery's JSON report to this file.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Do not verify TLS certificates.
    #[arg(long, short = 'k')]
    insecure: bool,
    #[command(flatten)]
    fleet: FleetFlags,
    #[command(flatten)]
    session: SessionFlags,
}

impl Options {
    pub(crate) fn execute(mut self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        if let Some(outcome) = lead(&mut self, surroundings) {
            return outcome;
        }
        self.session.check()?;
        let results = ResultFlags {
            output: self.output.take(),
            ..ResultFlags::default()
        };
        results.check_output()?;
        let is_elsewhere = self.fleet.wanted(surroundings)?.is_some();
        let client = self.client()?;
        let load = self.load(&client, is_elsewhere)?;
        let source = Source {
            path: "quick".into(),
            text: load.file(&client, self.count, self.num).to_string(),
        };
        let look = Look {
            url: plimsoll_redacted::url_with_query(self.url.as_str()).into_owned(),
            load,
            n_users: self.count.into(),
            n_each: self.num.into(),
            has_headers: !self.header.is_empty(),
        };
        let options = options::Options {
            test_files: vec!["quick".into()],
            test: TestFlags {
                insecure: self.insecure,
                ..TestFlags::default()
            },
            results,
            marks: MarkFlags::default(),
            fleet: self.fleet,
            session: self.session,
            verbose: false,
        };
        run_local(file_test::conduct(
            &options,
            vec![source],
            Some(look),
            surroundings,
        ))
    }

    fn client(&self) -> Result<Client, Failure> {
        let headers = self.header.iter().cloned().map(parse_header);
        let headers: Vec<_> = headers
            .collect::<Result<_, _>>()
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let is_origin = |name: &str| name.eq_ignore_ascii_case("origin");
        let (origins, headers): (Vec<_>, Vec<_>) = headers.into_iter().partition(|(name, _)| is_origin(name));
        Ok(Client {
            url: self.url.to_string(),
            origin: origins.into_iter().map(|(_, value)| value).next_back(),
            headers,
        })
    }

    /// What users do. The server of a WebSocket is examined for it.
    fn load(&self, client: &Client, is_elsewhere: bool) -> Result<Load, Failure> {
        let subscription = self.channel.clone().map(|channel| Subscription {
            channel,
            parameters: self.channel_params.clone(),
        });
        if self.url.scheme().starts_with("http") {
            return match subscription {
                None => Ok(Load::Http),
                Some(_) => Err(Failure::Usage(
                    "--channel subscribes to a channel of Action Cable, and the URL is one of HTTP; expected ws:// or wss://"
                        .to_owned(),
                )),
            };
        }
        let findings = self.examine(client)?;
        if is_elsewhere && load::is_out_of_reach(&findings) {
            if !self.session.quiet {
                let found = probe::title(&findings);
                writeln!(
                    io::stderr(),
                    "{found}, seen from this machine, so the agents go by the URL: they connect and send messages"
                )?;
            }
            return Ok(match subscription {
                Some(_) => Load::Cable(subscription),
                None => Load::Websocket,
            });
        }
        choose(&findings, subscription)
    }

    fn examine(&self, client: &Client) -> Result<Findings, Failure> {
        let question = Question {
            target: Target::parse(self.url.as_str()).map_err(|error| Failure::Usage(error.to_string()))?,
            is_http: false,
            origin: client.origin.clone(),
            headers: client.headers.clone(),
            protocols: Vec::new(),
            believe: Insecure::new(self.insecure).believe(),
            limit: LIMIT,
        };
        let findings = run_local(async {
            let findings = plimsoll_probe::recognize(&question, Approach::Ask).await;
            findings.map_err(|error| Failure::Usage(error.to_string()))
        })?;
        Ok(probe::shown(&findings))
    }
}

impl Targeted for Options {
    fn series(&self) -> SeriesFlags<'_> {
        self.session.series()
    }

    fn target(&self) -> String {
        self.url.to_string()
    }

    fn point_at(&mut self, url: &str) -> Result<(), Failure> {
        self.url = server(url).map_err(|problem| Failure::Usage(format!("--against: {problem}")))?;
        Ok(())
    }
}

fn server(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok();
    let is_spoken = |url: &Url| ["http", "https", "ws", "wss"].contains(&url.scheme()) && url.has_host();
    url.filter(is_spoken)
        .ok_or_else(|| "expected http, https, ws or wss, for example http://localhost:8080/".to_owned())
}
