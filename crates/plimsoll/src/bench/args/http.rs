//! `plimsoll bench http`, also `plimsoll ab`: ab's flags under their names, and further flags.

mod exchange;
mod html;
mod limits;
mod tls;
mod unsupported;

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::Args;
use plimsoll_load::threshold::Expression;
use plimsoll_shootout::http::{Measure, Rate, Threshold};

#[cfg(test)]
pub(crate) use self::unsupported::ABSENT;
use self::{exchange::ExchangeArgs, html::HtmlArgs, limits::Limits, tls::TlsArgs, unsupported::AbOnly};
use super::{
    counts::at_least_one,
    delay::{span, wait_seconds as seconds},
};

/// The examples under the help text.
const EXAMPLES: &str = "\
Examples:
  plimsoll bench http -n 1000 -c 100 http://localhost:3000/
  plimsoll bench http -k -c 100 --duration 30s http://localhost:3000/ --watch :3000
  plimsoll bench http -k --rate 500 --duration 1m --threshold 'latency:p(99)<200' localhost:3000/
  plimsoll bench http --http2 -c 100 --streams 10 -p order.json https://localhost/orders
  plimsoll bench http --rate 50000 -k -c 600 --duration 1m http://10.0.0.1/ \\
      --fleet nats://localhost:4222 --agents 3

Exit codes: 0 all well; 1 the run could not be done or was ended by a failure; 2 wrong usage;
3 requests failed (without -r), or a threshold does not hold; 105 a signal ended the run;
111 an agent is missing.";

/// Sends one HTTP request many times.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HttpArgs {
    /// URL to request, for example http://localhost:3000/ (http:// may be left out)
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Number of requests in progress at the same time [default: 1; with --rate up to 100]
    #[arg(short, long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) concurrency: Option<usize>,
    /// Make requests for this long, for example 30s; requests in progress at the end are completed
    #[arg(long, value_name = "DURATION", value_parser = span, allow_hyphen_values = true)]
    pub(crate) duration: Option<Duration>,
    /// Start requests at this rate per second, however slow the answers are (open model), for example 500, 0.5 or
    /// 30/m; times then count from the scheduled start of a request
    #[arg(long, value_name = "N[/UNIT]", allow_hyphen_values = true)]
    pub(crate) rate: Option<Rate>,
    /// Warm up for this long; requests during the warm-up do not count
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = span, allow_hyphen_values = true)]
    pub(crate) warm_up: Duration,
    /// Time limit of one request in seconds, including the connection
    #[arg(short = 's', long, value_name = "SECONDS", default_value = "30", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) timeout: Duration,
    /// Keep connections open between requests
    #[arg(short, long)]
    pub(crate) keepalive: bool,
    /// Use HTTP/2: negotiated in the TLS handshake (https), or from the first byte (http); connections are kept open
    #[arg(long)]
    pub(crate) http2: bool,
    /// Number of concurrent requests that share one HTTP/2 connection
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one, requires = "http2")]
    pub(crate) streams: usize,
    /// The method [default: GET; with -p POST; with -u PUT]
    #[arg(short, long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Use HEAD instead of GET
    #[arg(short = 'i', long, conflicts_with_all = ["method", "postfile", "putfile"])]
    pub(crate) head: bool,
    /// The file with the body of a POST; remember -T
    #[arg(short = 'p', long, value_name = "FILE", conflicts_with = "putfile")]
    pub(crate) postfile: Option<PathBuf>,
    /// The file with the body of a PUT; remember -T
    #[arg(short = 'u', long, value_name = "FILE")]
    pub(crate) putfile: Option<PathBuf>,
    /// The content type of the body [default: text/plain]
    #[arg(short = 'T', long, value_name = "TYPE")]
    pub(crate) content_type: Option<String>,
    /// A header; may be given several times
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// A cookie; may be given several times
    #[arg(short = 'C', long, value_name = "NAME=VALUE")]
    pub(crate) cookie: Vec<String>,
    /// User and password for Basic authentication
    #[arg(short = 'A', long, value_name = "USER:PASSWORD")]
    pub(crate) auth: Option<String>,
    /// Bodies may differ in length (dynamic pages)
    #[arg(short = 'l', long)]
    pub(crate) variable_length: bool,
    /// Continue when a connection fails; failures are counted, and only a threshold on `failed` makes them an error.
    /// Without -r the first such failure ends the run
    #[arg(short = 'r', long)]
    pub(crate) go_on: bool,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    #[command(flatten)]
    pub(crate) exchange: ExchangeArgs,
    /// The source address
    #[arg(short = 'B', long, value_name = "IP")]
    pub(crate) local_addr: Option<IpAddr>,
    /// Number of threads that run the connections [default: one per core]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) workers: Option<usize>,
    /// Condition for the run, for example 'latency:p(99)<200' (ms), 'failed:rate<0.01', 'non_2xx:count==0' or
    /// 'requests:rate>1000'; may be given several times
    #[arg(long, value_name = "MEASURE:RULE", value_parser = threshold)]
    pub(crate) threshold: Vec<Threshold>,
    /// Write a CSV file with the time of each percentage
    #[arg(short = 'e', long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write a gnuplot (TSV) file with a line per request
    #[arg(short = 'g', long, value_name = "FILE")]
    pub(crate) gnuplot: Option<PathBuf>,
    /// No tables of percentiles
    #[arg(short = 'd', long)]
    pub(crate) no_percentiles: bool,
    /// No standard deviations and medians
    #[arg(short = 'S', long)]
    pub(crate) no_deviations: bool,
    /// Write the result to this file instead of standard output; missing folders are created
    #[arg(long, value_name = "FILE")]
    pub(crate) filename: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) html: HtmlArgs,
    #[command(flatten)]
    pub(crate) ab_only: AbOnly,
}

fn threshold(text: &str) -> Result<Threshold, String> {
    let problem =
        |what: String| format!("{what}; expected something like latency:p(99)<200 or failed:rate<0.01");
    let (measure, rule) = text
        .split_once(':')
        .ok_or_else(|| problem("it has no colon between measure and rule".to_owned()))?;
    let measure: Measure = measure.trim().parse().map_err(problem)?;
    let rule: Expression = rule.trim().parse().map_err(|error| problem(format!("{error}")))?;
    Threshold::new(measure, rule).map_err(problem)
}
