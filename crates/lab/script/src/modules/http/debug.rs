//! `--http-debug`: requests and responses in the log.

use std::fmt::Write as _;

use plimsoll_clients::http::{Exchange, Request};

use crate::program::Program;

/// The detail of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Debug {
    /// Heads.
    Headers,
    /// Bodies, too.
    Full,
}

impl Debug {
    /// The value of the option `httpDebug`.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        match program.option("httpDebug")?.as_str()? {
            "" | "false" => None,
            "full" => Some(Self::Full),
            _ => Some(Self::Headers),
        }
    }

    /// Writes an exchange to the log. `request` is what the body is taken from, unless a redirect dropped it.
    pub(super) fn show(self, request: &Request, exchange: &Exchange) {
        tracing::info!(target: "http", "{}", self.text(request, exchange));
    }

    fn text(self, request: &Request, exchange: &Exchange) -> String {
        let mut text = String::from("Request:\n");
        text.push_str(&String::from_utf8_lossy(&exchange.request_head).replace('\r', ""));
        if self == Self::Full && exchange.method == request.method {
            text.push_str(&String::from_utf8_lossy(&request.body));
        }
        text.push_str("\nResponse:\n");
        let written = match &exchange.outcome {
            Err(error) => write!(text, "none: {error}"),
            Ok(response) => {
                let head = writeln!(
                    text,
                    "{} {} {}",
                    response.protocol.name(),
                    response.status,
                    response.reason
                );
                for (name, value) in response.headers.iter() {
                    let value = String::from_utf8_lossy(value);
                    text.extend([name, ": ", &value, "\n"]);
                }
                if self == Self::Full {
                    text.push('\n');
                    text.push_str(&String::from_utf8_lossy(&response.body));
                }
                head
            }
        };
        written.expect("a string takes everything");
        text
    }
}
