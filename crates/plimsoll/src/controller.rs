//! `plimsoll status`, `pause`, `resume`, `scale` and `stats`: the client of a run's REST interface.

use std::{
    io::{self, Write},
    time::Duration,
};

use bytes::Bytes;
use clap::{Args, Parser};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;

use crate::{
    exit::{Failure, Status},
    session::USUAL_ADDRESS,
};

/// The longest answer that is read. A metric has a few hundred bytes.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// The time limit of an answer. A run has little to do for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The address of the run.
#[derive(Debug, Args)]
struct Connection {
    /// The run's --address.
    #[arg(long, short, value_name = "HOST:PORT", default_value = USUAL_ADDRESS, value_parser = host_and_port)]
    address: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Print the status of a run with --address.
#[derive(Debug, Parser)]
#[command(after_help = "Example:\n  plimsoll status --address localhost:6565")]
pub(crate) struct StatusOptions {
    #[command(flatten)]
    connection: Connection,
}

/// Pause an externally-controlled scenario: no new iteration starts.
#[derive(Debug, Parser)]
pub(crate) struct PauseOptions {
    #[command(flatten)]
    connection: Connection,
}

/// Start a run that waits because of --paused, or resume a paused scenario.
#[derive(Debug, Parser)]
pub(crate) struct ResumeOptions {
    #[command(flatten)]
    connection: Connection,
}

/// Change the number of users of an externally-controlled scenario.
#[derive(Debug, Parser)]
#[command(after_help = "Example:\n  plimsoll scale --vus 100 --max 200")]
#[group(id = "numbers", required = true, multiple = true)]
pub(crate) struct ScaleOptions {
    /// Number of active users.
    #[arg(long, short = 'u', value_name = "N", group = "numbers")]
    vus: Option<u32>,
    /// Largest number of users.
    #[arg(long, short, value_name = "N", group = "numbers")]
    max: Option<u32>,
    #[command(flatten)]
    connection: Connection,
}

/// Print the current metrics of a run with --address.
#[derive(Debug, Parser)]
pub(crate) struct StatsOptions {
    #[command(flatten)]
    connection: Connection,
}

impl StatusOptions {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        self.connection.converse("GET", "/v1/status", None, status)
    }
}

impl PauseOptions {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        self.connection.order(&json!({ "paused": true }))
    }
}

impl ResumeOptions {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        self.connection.order(&json!({ "paused": false }))
    }
}

impl ScaleOptions {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        self.connection
            .order(&json!({ "vus": self.vus, "vus-max": self.max }))
    }
}

impl StatsOptions {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        self.connection.converse("GET", "/v1/metrics", None, metrics)
    }
}

impl Connection {
    fn order(self, attributes: &Value) -> Result<Status, Failure> {
        let document = json!({ "data": { "type": "status", "id": "default", "attributes": attributes } });
        self.converse("PATCH", "/v1/status", Some(&document), status)
    }

    /// Asks, and prints the answer with `text`, unless JSON is wanted.
    fn converse(
        self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        text: fn(&Value) -> String,
    ) -> Result<Status, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let answered = runtime.block_on(async {
            let asked = ask(&self.address, method, path, body);
            tokio::time::timeout(PATIENCE, asked)
                .await
                .unwrap_or_else(|elapsed| Err(elapsed.into()))
        });
        let (status, answer) =
            answered.map_err(|error| ControllerError::Unreachable(self.address.clone(), error))?;
        if !(200..300).contains(&status) {
            let detail = answer.pointer("/errors/0/detail").and_then(Value::as_str);
            let detail = detail.unwrap_or("it said no more").to_owned();
            return Err(ControllerError::Refused(status, detail).into());
        }
        let text = if self.json {
            format!("{answer:#}\n")
        } else {
            text(&answer["data"])
        };
        io::stdout().write_all(text.as_bytes())?;
        Ok(Status::Success)
    }
}

fn host_and_port(text: &str) -> Result<String, String> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(text.to_owned()),
        _ => Err(format!("expected a host and a port, for example {USUAL_ADDRESS}")),
    }
}

/// Why a run was not told or asked.
#[derive(Debug, thiserror::Error)]
enum ControllerError {
    #[error("no run answers on {0}: {1}; start the run with --address {0}")]
    Unreachable(String, Box<dyn std::error::Error>),
    #[error("the run refused the request ({0}): {1}")]
    Refused(u16, String),
}

/// The status and the document of the answer; `None` without a document.
async fn ask(
    address: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<(u16, Value), Box<dyn std::error::Error>> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, address)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(
            body.map(Value::to_string).unwrap_or_default(),
        )))?;
    let exchange = async {
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES)
            .collect()
            .await;
        let body = body.map_err(|error| error.to_string())?;
        let document = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
        Ok((status, document))
    };
    tokio::select! {
        answer = exchange => answer,
        Err(error) = connection => Err(error.into()),
    }
}

/// `/v1/status` as lines.
fn status(data: &Value) -> String {
    let empty = Map::new();
    let attributes = data["attributes"].as_object().unwrap_or(&empty);
    let lines = attributes
        .iter()
        .map(|(name, value)| format!("{name}: {value}\n"));
    lines.collect()
}

/// `/v1/metrics` as lines.
fn metrics(data: &Value) -> String {
    let lines = data.as_array().into_iter().flatten().map(|metric| {
        let figures = metric.pointer("/attributes/sample").and_then(Value::as_object);
        let figures = figures
            .into_iter()
            .flatten()
            .map(|(name, value)| format!(" {name}={value}"));
        let name = metric["id"].as_str().unwrap_or_default();
        format!("{name}:{}\n", figures.collect::<String>())
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_lines() {
        let state = json!({ "type": "status", "attributes": { "paused": false, "vus": 3, "vus-max": 5 } });
        assert_eq!(status(&state), "paused: false\nvus: 3\nvus-max: 5\n");
        let samples = json!([
            { "id": "http_reqs", "attributes": { "sample": { "count": 7, "rate": 3.5 } } },
            { "id": "vus", "attributes": { "sample": { "value": 3 } } },
        ]);
        assert_eq!(metrics(&samples), "http_reqs: count=7 rate=3.5\nvus: value=3\n");
        assert_eq!(status(&Value::Null) + &metrics(&Value::Null), "");
    }
}
