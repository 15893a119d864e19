//! The checked options of `http`, in the types of the workload.

use std::{
    fs, io,
    num::NonZero,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use plimsoll_clients::http::{Method, Request, Url, Version};
use plimsoll_load::watch::Target;
use plimsoll_shootout::{
    Bench, Results,
    http::{Extent, HttpOptions, HttpResults, Layout},
};

use super::{args::HttpArgs, options::parse_header, typed::Typed};
use crate::{fleet::FleetFlags, session::Format};

/// ab's number of requests for `-t` without `-n`.
const TIMED_REQUESTS: u64 = 50_000;

/// The default limit of concurrent requests in an open model.
const OPEN_CONCURRENCY: usize = 100;

/// The command line is not usable. Exit code 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpUsageError {
    /// A flag of ab that is not built.
    #[error("ab's flag {flag} is not supported: {instead}")]
    Unsupported {
        /// The flag.
        flag: &'static str,
        /// The alternative.
        instead: &'static str,
    },
    /// The URL cannot be read.
    #[error("invalid URL {url:?}: {reason}; expected something like http://localhost:3000/path")]
    Url {
        /// The URL as given, without user, password and tokens.
        url: String,
        /// The problem.
        reason: String,
    },
    /// ab refuses this, too.
    #[error(
        "-c {concurrency} is more than -n {n_requests}: there cannot be more concurrent requests than requests; \
         raise -n to {concurrency} or more, or lower -c"
    )]
    Concurrency {
        /// `-c`.
        concurrency: usize,
        /// `-n`.
        n_requests: u64,
    },
    /// No method.
    #[error("-m {0:?} is not a method; expected a word such as GET or DELETE")]
    Method(String),
    /// The body cannot be read.
    #[error("{flag}: cannot read {}: {source}; expected a file with the body of the request", path.display())]
    Body {
        /// `-p` or `-u`.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// No user and password.
    #[error("-A {0:?} has no colon; expected a user and a password such as alice:secret")]
    Auth(String),
    /// No cookie.
    #[error("-C {0:?} is not a cookie; expected a name and a value such as session=1")]
    Cookie(String),
    /// A header without a colon.
    #[error(
        "-H {0:?} is not a header; expected a name, a colon and a value, for example \"Accept-Encoding: gzip\""
    )]
    Header(String),
    /// More streams per connection than concurrent requests.
    #[error(
        "--streams {n_streams} is more than -c {concurrency}: there are never so many concurrent requests; lower \
         --streams or raise -c"
    )]
    Streams {
        /// `--streams`.
        n_streams: usize,
        /// `-c`.
        concurrency: usize,
    },
    /// The client certificate cannot be read.
    #[error("-E: cannot read {}: {source}; expected a PEM file with a certificate and its private key", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// What needs the exchanges or the addresses of this machine.
    #[error("{flag} and --fleet exclude each other: {reason}")]
    Fleet {
        /// The flag.
        flag: &'static str,
        /// Why agents cannot do it.
        reason: &'static str,
    },
    /// Two forms of one result.
    #[error("-w prints HTML and --format json prints JSON; remove one of them")]
    TwoForms,
    /// A run that would make nothing.
    #[error("{0} is zero, so the run would make no request; expected a time such as 30s")]
    NoTime(&'static str),
}

impl Typed for HttpArgs {
    type Mistake = HttpUsageError;
    type Fleet = FleetFlags;

    fn url(&self) -> &str {
        &self.url
    }

    fn set_url(&mut self, url: String) {
        self.url = url;
    }

    /// `-f` is ab's flag for versions of TLS, too.
    const SHORT_OF_FORMAT: Option<char> = None;

    fn format(&self) -> Option<Format> {
        self.tls.format()
    }

    fn n_workers(&self) -> Option<usize> {
        self.workers
    }

    fn check_fleet(&self) -> Result<(), HttpUsageError> {
        let flag = [
            (
                "-B",
                self.local_addr.is_some(),
                "agents connect from their own addresses",
            ),
            (
                "-g",
                self.gnuplot.is_some(),
                "single requests stay on the agents, and only their sums come to the coordinator",
            ),
            (
                "-v",
                self.exchange.detail().is_some(),
                "exchanges stay on the agents, and only their sums come to the coordinator",
            ),
        ];
        let refused = flag.into_iter().find(|(_, is_given, _)| *is_given);
        refused.map_or(Ok(()), |(flag, _, reason)| {
            Err(HttpUsageError::Fleet { flag, reason })
        })
    }

    fn bench(self, format: Format, watched: &[Target]) -> Result<Bench, HttpUsageError> {
        let html = self.html.attributes();
        if html.is_some() && format == Format::Json {
            return Err(HttpUsageError::TwoForms);
        }
        let options = HttpOptions {
            watched: watched.to_vec(),
            ..HttpOptions::try_from(&self)?
        };
        let results = HttpResults {
            report: Results {
                format: format.into(),
                path: self.filename,
            },
            layout: Layout {
                shows_percentiles: !self.no_percentiles,
                shows_deviations: !self.no_deviations,
            },
            html,
            csv: self.csv,
            gnuplot: self.gnuplot,
        };
        Ok(Bench::Http(Box::new(options), results))
    }
}

impl TryFrom<&HttpArgs> for HttpOptions {
    type Error = HttpUsageError;

    fn try_from(args: &HttpArgs) -> Result<Self, HttpUsageError> {
        if let Some((flag, instead)) = args.ab_only.refused() {
            return Err(HttpUsageError::Unsupported { flag, instead });
        }
        let extent = extent(args)?;
        let concurrency = args.concurrency.unwrap_or(match args.rate {
            None => 1,
            Some(_) => OPEN_CONCURRENCY.min(extent.n_requests.map_or(OPEN_CONCURRENCY, clamped)),
        });
        if let Some(n_requests) = extent.n_requests.filter(|n| clamped(*n) < concurrency) {
            return Err(HttpUsageError::Concurrency {
                concurrency,
                n_requests,
            });
        }
        if args.streams > concurrency {
            return Err(HttpUsageError::Streams {
                n_streams: args.streams,
                concurrency,
            });
        }
        let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
        let keeps_alive = args.keepalive || args.http2;
        Ok(Self {
            request: request(args, keeps_alive)?,
            version: if args.http2 {
                Version::Http2
            } else {
                Version::Http11
            },
            keeps_alive,
            extent,
            concurrency,
            n_streams: args.streams,
            n_workers: args.workers.unwrap_or(n_cores),
            goes_on: args.go_on,
            compares_lengths: !args.variable_length,
            tls: args
                .tls
                .options()
                .map_err(|(path, source)| HttpUsageError::Certificate { path, source })?,
            proxy: args.exchange.proxy(),
            buffer_bytes: args.exchange.buffer_bytes(),
            transcript: args.exchange.detail(),
            source: args.local_addr,
            watched: Vec::new(),
            thresholds: args.threshold.clone(),
            keeps_samples: args.gnuplot.is_some(),
        })
    }
}

fn clamped(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn extent(args: &HttpArgs) -> Result<Extent, HttpUsageError> {
    let is_zero = |time: Option<Duration>| time.is_some_and(|time| time.is_zero());
    if is_zero(args.limits.timelimit) {
        return Err(HttpUsageError::NoTime("-t"));
    }
    if is_zero(args.duration) {
        return Err(HttpUsageError::NoTime("--duration"));
    }
    if args.timeout.is_zero() {
        return Err(HttpUsageError::NoTime("-s"));
    }
    let n_requests = match (args.limits.requests, args.limits.timelimit, args.duration) {
        (Some(n), _, _) => Some(n),
        (None, Some(_), _) => Some(TIMED_REQUESTS),
        (None, None, Some(_)) => None,
        (None, None, None) => Some(1),
    };
    Ok(Extent {
        rate: args.rate,
        warm_up: args.warm_up,
        duration: args.limits.timelimit.or(args.duration),
        n_requests,
    })
}

fn request(args: &HttpArgs, keeps_alive: bool) -> Result<Request, HttpUsageError> {
    let mut url = url(&args.url)?;
    if let Some(auth) = &args.auth {
        let (user, password) = auth
            .split_once(':')
            .ok_or_else(|| HttpUsageError::Auth(auth.clone()))?;
        // They fail for URLs without a host, which have been refused.
        let _ = url.set_username(user);
        let _ = url.set_password(Some(password));
    }
    let (default_method, body) = match (&args.postfile, &args.putfile) {
        (Some(path), _) => (Method::POST, read("-p", path)?),
        (None, Some(path)) => (Method::PUT, read("-u", path)?),
        (None, None) if args.head => (Method::HEAD, Vec::new()),
        (None, None) => (Method::GET, Vec::new()),
    };
    let method = match &args.method {
        None => default_method,
        Some(method) => {
            Method::from_bytes(method.as_bytes()).map_err(|_| HttpUsageError::Method(method.clone()))?
        }
    };
    let mut request = Request::new(method, url);
    request.headers = headers(args, keeps_alive)?;
    request.body = body;
    request.timeout = args.timeout;
    Ok(request)
}

/// ab's URLs may lack the scheme.
fn url(text: &str) -> Result<Url, HttpUsageError> {
    let error = |reason: &str| HttpUsageError::Url {
        url: plimsoll_redacted::url_with_query(text).into_owned(),
        reason: reason.to_owned(),
    };
    let (whole, rest) = match text.split_once("://") {
        Some((_, rest)) => (text.to_owned(), rest),
        None => (format!("http://{text}"), text),
    };
    // The parser would take the first folder for the host.
    if rest.starts_with('/') {
        return Err(error("it has no host"));
    }
    let url: Url = whole.parse().map_err(|reason| error(&format!("{reason}")))?;
    match url.scheme() {
        "http" | "https" => {}
        "ws" | "wss" => {
            return Err(error(
                "it is a WebSocket URL; use `plimsoll bench echo`, `connect` or `broadcast` for WebSockets",
            ));
        }
        scheme => return Err(error(&format!("the scheme {scheme} is not supported"))),
    }
    match url.host_str() {
        None | Some("") => Err(error("it has no host")),
        Some(_) => Ok(url),
    }
}

fn read(flag: &'static str, path: &Path) -> Result<Vec<u8>, HttpUsageError> {
    fs::read(path).map_err(|source| HttpUsageError::Body {
        flag,
        path: path.to_owned(),
        source,
    })
}

/// The headers of ab, with those that the user adds or replaces.
fn headers(args: &HttpArgs, keeps_alive: bool) -> Result<Vec<(String, String)>, HttpUsageError> {
    let own: Vec<_> = args
        .header
        .iter()
        .map(|text| parse_header(text.clone()).map_err(|_| HttpUsageError::Header(text.clone())))
        .collect::<Result<_, _>>()?;
    let connection = if keeps_alive { "keep-alive" } else { "close" };
    let mut headers = vec![
        ("Connection", connection.to_owned()),
        ("Accept", "*/*".to_owned()),
    ];
    if args.postfile.is_some() || args.putfile.is_some() {
        let content_type = args.content_type.as_deref().unwrap_or("text/plain");
        headers.push(("Content-Type", content_type.to_owned()));
    }
    if !args.cookie.is_empty() {
        let is_cookie = |cookie: &&String| !cookie.contains('=');
        if let Some(bad) = args.cookie.iter().find(is_cookie) {
            return Err(HttpUsageError::Cookie(bad.clone()));
        }
        headers.push(("Cookie", args.cookie.join("; ")));
    }
    let is_replaced = |name: &str| own.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    let mut headers: Vec<_> = headers
        .into_iter()
        .filter(|(name, _)| !is_replaced(name))
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    headers.extend(own);
    Ok(headers)
}

#[cfg(test)]
mod tests;
