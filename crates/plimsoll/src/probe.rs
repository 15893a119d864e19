//! `plimsoll probe`: examines a running server, explains what was found, and writes a load test for it.

mod screen;
mod words;

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Parser, ValueHint};
use plimsoll_clients::target::Target;
use plimsoll_probe::{Authentication, Findings, Kind, Question, script};
use serde_json::Value;

pub(crate) use self::words::{problem, quoted, shown, title};
use crate::{
    bench::parse_header,
    exit::{Failure, Status},
    new, run,
    runtime::run_local,
    session::Format,
    terminal,
    trust::Trust,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll probe ws://localhost:8080/cable -H 'Cookie: uid=kay/1'
  plimsoll probe localhost:3000                         ws:// is assumed
  plimsoll probe wss://chat.example.com/cable --write chat.js --channel ChatChannel
  plimsoll probe ws://localhost:3000/cable -H 'Cookie: _session=…' --origin https://example.com
  plimsoll probe https://localhost:8443/ --insecure --format json

It opens at most 20 connections, one after the other, sends at most one message over each of them (a heartbeat of
Phoenix, to a server that is silent), and ends within --timeout.

Exit codes: 0 a client can connect; 3 a server answers, and a client cannot connect to this URL in this way;
1 no server answers; 2 wrong usage.";

/// Examine a running server: its kind and rules, what to do next, and a load test for it.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The server: ws, wss, http or https.
    #[arg(value_name = "URL", value_hint = ValueHint::Url)]
    url: String,
    /// Header field of the client, for example "Cookie: uid=1"; may be given several times.
    #[arg(long, short = 'H', value_name = "HEADER")]
    header: Vec<String>,
    /// The Origin of the client. Default: the server's own.
    #[arg(long, value_name = "ORIGIN")]
    origin: Option<String>,
    /// Sub-protocol to offer; may be given several times. Those of Action Cable are tried in any case.
    #[arg(long, value_name = "NAME")]
    sub_protocol: Vec<String>,
    /// Seconds after which no further question is asked.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
    #[command(flatten)]
    trust: Trust,
    /// Write a k6 script for the server. Header values are not written: the script takes them from variables.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    write: Option<PathBuf>,
    /// Overwrite an existing script.
    #[arg(long, requires = "write")]
    force: bool,
    /// Channel of the script (Action Cable, Pusher) or its topic (Phoenix). Without it a terminal is asked.
    #[arg(long, value_name = "CHANNEL", requires = "write")]
    channel: Option<String>,
    /// Parameters of the channel, a JSON object.
    #[arg(long, value_name = "JSON", requires = "write", value_parser = object)]
    channel_params: Option<Value>,
    /// How to print the findings.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
}

impl Options {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        let question = self.question()?;
        if let Some(path) = &self.write {
            self.check_script_name(path)?;
        }
        let findings = run_local(async {
            let findings = plimsoll_probe::examine(&question).await;
            findings.map_err(|error| Failure::Usage(error.to_string()))
        })?;
        let shown = shown(&findings);
        match self.format {
            Format::Text => {
                let text = screen::draw(
                    &shown,
                    &self.header_names(&question),
                    terminal::style(&io::stdout()),
                );
                io::stdout().write_all(text.as_bytes())?;
            }
            Format::Json => {
                let next = words::next_steps(&shown, &self.header_names(&question));
                let mut document = serde_json::to_value(&shown)?;
                document["next"] = next.into();
                writeln!(io::stdout(), "{document:#}")?;
            }
        }
        if let Some(path) = &self.write {
            self.write_script(path, &findings, &question)?;
        }
        if findings.kind == Kind::Nothing {
            return Err(Failure::Runtime(
                format!("no server answers at {}", shown.url).into(),
            ));
        }
        Ok(if findings.problems.is_empty() {
            Status::Success
        } else {
            Status::BadResult
        })
    }

    fn question(&self) -> Result<Question, Failure> {
        let (target, is_http) = target(&self.url)?;
        let headers = self.header.iter().cloned().map(parse_header);
        Ok(Question {
            target,
            is_http,
            origin: self.origin.clone(),
            headers: headers
                .collect::<Result<_, _>>()
                .map_err(|error| Failure::Usage(error.to_string()))?,
            protocols: self.sub_protocol.clone(),
            believe: self.trust.believe()?,
            limit: Duration::from_secs(self.timeout),
        })
    }

    fn header_names(&self, question: &Question) -> Vec<String> {
        question.headers.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Refuses a file that could not be written, or not be run, before the examination.
    fn check_script_name(&self, path: &Path) -> Result<(), Failure> {
        if !run::is_script(path) {
            return Err(Failure::Usage(format!(
                "--write {}: expected the name of a script, for example chat.js",
                path.display()
            )));
        }
        if path.exists() && !self.force {
            return Err(new::refusal(path, &io::ErrorKind::AlreadyExists.into()));
        }
        Ok(())
    }

    fn write_script(&self, path: &Path, findings: &Findings, question: &Question) -> Result<(), Failure> {
        let refusal = |reason: &str| {
            Failure::Runtime(format!("--write {}: {reason}; no file was written", path.display()).into())
        };
        if findings.authentication == Authentication::Refused {
            return Err(refusal(
                "the server refuses this client: send its cookie or token with -H",
            ));
        }
        if let Some(reason) = words::unfit_for_a_script(findings) {
            return Err(refusal(&reason));
        }
        let channel = match &self.channel {
            Some(channel) => channel.clone(),
            None => ask_for_channel(findings.kind)?,
        };
        let parameters = script::Parameters {
            channel,
            parameters: self.channel_params.clone(),
            header_names: self.header_names(question),
            origin: self.origin.clone(),
        };
        let Some(text) = script::write(findings, &parameters) else {
            let title = title(&shown(findings));
            return Err(refusal(&format!("{title}, and scripts have no client for it")));
        };
        let mut file = new::open(path, self.force).map_err(|error| new::refusal(path, &error))?;
        file.write_all(text.as_bytes())?;
        let command = words::run_command(path, &parameters.header_names);
        writeln!(io::stderr(), "Wrote {}. Run it with: {command}", path.display())?;
        if let Some(names) = words::secrets_in_script(findings) {
            writeln!(
                io::stderr(),
                "Keep the file private: its URL has the value of {names}."
            )?;
        }
        Ok(())
    }
}

/// The target, and whether the URL asks for HTTP.
fn target(url: &str) -> Result<(Target, bool), Failure> {
    let lower = url.to_ascii_lowercase();
    let (url, is_http) = if lower.starts_with("http://") || lower.starts_with("https://") {
        (format!("ws{}", &url[4..]), true)
    } else if url.contains("://") {
        (url.to_owned(), false)
    } else {
        (format!("ws://{url}"), false)
    };
    let target = Target::parse(&url).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok((target, is_http))
}

pub(crate) fn object(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        _ => Err("expected a JSON object, for example '{\"id\": 1}'".to_owned()),
    }
}

/// Asks a person at a terminal. Empty without one, or if the kind of server has no channels.
fn ask_for_channel(kind: Kind) -> Result<String, Failure> {
    let example = match kind {
        Kind::ActionCable | Kind::Anycable => "Channel to subscribe to, for example ChatChannel",
        Kind::Phoenix => "Topic to join, for example room:lobby",
        Kind::Pusher => "Public channel to subscribe to, for example news",
        _ => return Ok(String::new()),
    };
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(String::new());
    }
    write!(io::stderr(), "{example} (Enter: only connect): ")?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_is_read_as_websocket() {
        let check = |url: &str, expected: Result<(&str, bool), &str>| match (target(url), expected) {
            (Ok((target, is_http)), Ok((text, expected))) => {
                assert_eq!((target.to_string().as_str(), is_http), (text, expected), "{url}");
            }
            (Err(failure), Err(words)) => assert!(failure.message().contains(words), "{}", failure.message()),
            (found, _) => panic!("{url}: {found:?}"),
        };
        check(
            "http://localhost:3000/cable",
            Ok(("ws://localhost:3000/cable", true)),
        );
        check("HTTPS://localhost/", Ok(("wss://localhost/", true)));
        check("localhost:3000", Ok(("ws://localhost:3000/", false)));
        check("wss://a/b", Ok(("wss://a/b", false)));
        check("redis://localhost", Err("expected ws or wss"));
        check("ws://u:p@localhost", Err("user name"));
    }
}
