//! `plimsoll quick`: a look at a server without a file.

use std::path::PathBuf;

use clap::{Parser, ValueHint};
use plimsoll_clients::http::Url;
use serde_json::json;

use super::{
    file_test,
    input::Source,
    options::{self, MarkFlags, ResultFlags, TestFlags},
};
use crate::{
    exit::{Failure, Status},
    fleet::FleetFlags,
    runtime::run_local,
    series::{SeriesFlags, Targeted, lead},
    session::SessionFlags,
    surroundings::Surroundings,
};

/// The message that users send over a WebSocket.
const MESSAGE: &str = "hello";

/// Send a few users to a server: requests over HTTP, or messages over a WebSocket.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// The server: http, https, ws or wss.
    #[arg(value_name = "URL", value_parser = server, value_hint = ValueHint::Url)]
    url: Url,
    /// Number of users, who arrive within a second.
    #[arg(long, short, value_name = "N", default_value_t = 10)]
    count: u32,
    /// Requests or messages of each.
    #[arg(long, short, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    num: u32,
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
        let source = Source {
            path: "quick".into(),
            text: self.file().to_string(),
        };
        let options = options::Options {
            test_files: vec!["quick".into()],
            test: TestFlags {
                insecure: self.insecure,
                ..TestFlags::default()
            },
            results: ResultFlags {
                output: self.output,
                ..ResultFlags::default()
            },
            marks: MarkFlags::default(),
            fleet: self.fleet,
            session: self.session,
            verbose: false,
        };
        run_local(file_test::conduct(&options, vec![source], surroundings))
    }

    /// The file that asks for the same.
    fn file(&self) -> serde_json::Value {
        let url = self.url.as_str();
        let is_websocket = self.url.scheme().starts_with("ws");
        let (engine, step) = if is_websocket {
            ("ws", json!({ "send": MESSAGE }))
        } else {
            ("http", json!({ "get": { "url": url } }))
        };
        json!({
            "config": { "target": url, "phases": [{ "duration": 1, "arrivalCount": self.count }] },
            "scenarios": [{ "engine": engine, "flow": [{ "loop": [step], "count": self.num }] }],
        })
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
