//! What an agent must know to make its part of the requests.

use std::{sync::Arc, time::Duration};

use plimsoll_clients::{
    dial::Proxy,
    http::{Method, Request, Version},
    tls::{Believe, Identity, TlsOptions, Versions},
};
use plimsoll_load::segment::Split;
use serde::{Deserialize, Serialize};

use crate::http::{
    options::HttpOptions,
    schedule::{Extent, Part},
    squad::groups,
};

/// The requests of a run, for its agents. The body of the request is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// With user and password.
    url: String,
    method: String,
    headers: Vec<(String, String)>,
    timeout: Duration,
    is_http2: bool,
    keeps_alive: bool,
    extent: Extent,
    /// On all agents together.
    concurrency: usize,
    n_streams: usize,
    /// Threads of each agent.
    n_workers: usize,
    goes_on: bool,
    compares_lengths: bool,
    tls: TlsJob,
    proxy: Option<Proxy>,
    buffer_bytes: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TlsJob {
    /// Whether certificates are not verified.
    is_insecure: bool,
    versions: Versions,
    cipher_suites: Option<Vec<String>>,
    /// Certificates and keys in PEM.
    identities: Vec<(String, String)>,
    hides_server_name: bool,
}

impl Job {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        let HttpOptions { request, tls, .. } = options;
        Self {
            url: request.url.to_string(),
            method: request.method.to_string(),
            headers: request.headers.clone(),
            timeout: request.timeout,
            is_http2: options.version == Version::Http2,
            keeps_alive: options.keeps_alive,
            extent: options.extent,
            concurrency: options.concurrency,
            n_streams: options.n_streams,
            n_workers: options.n_workers,
            goes_on: options.goes_on,
            compares_lengths: options.compares_lengths,
            tls: TlsJob {
                // A bench has no authorities of its own.
                is_insecure: matches!(tls.believe, Believe::Anybody),
                versions: tls.versions,
                cipher_suites: tls.cipher_suites.clone(),
                identities: tls
                    .identities
                    .iter()
                    .map(|it| (it.certificates.clone(), it.key.clone()))
                    .collect(),
                hides_server_name: tls.hides_server_name,
            },
            proxy: options.proxy.clone(),
            buffer_bytes: options.buffer_bytes,
        }
    }

    /// The options of the requests with this body.
    ///
    /// # Errors
    /// They are none, in words.
    pub(super) fn options(&self, body: &[u8]) -> Result<HttpOptions, String> {
        if self.concurrency == 0 || self.n_streams == 0 || self.n_workers == 0 {
            return Err("a run needs lanes, connections and threads".to_owned());
        }
        let url = self
            .url
            .parse()
            .map_err(|error| format!("the URL cannot be read: {error}"))?;
        let method = Method::from_bytes(self.method.as_bytes()).map_err(|error| error.to_string())?;
        let mut request = Request::new(method, url);
        request.headers = self.headers.clone();
        request.body = body.to_vec();
        request.timeout = self.timeout;
        let identity = |(certificates, key): &(String, String)| Identity {
            domains: Vec::new(),
            certificates: certificates.clone(),
            key: key.clone(),
        };
        Ok(HttpOptions {
            request,
            version: if self.is_http2 {
                Version::Http2
            } else {
                Version::Http11
            },
            keeps_alive: self.keeps_alive,
            extent: self.extent,
            concurrency: self.concurrency,
            n_streams: self.n_streams,
            n_workers: self.n_workers,
            goes_on: self.goes_on,
            compares_lengths: self.compares_lengths,
            tls: TlsOptions {
                believe: if self.tls.is_insecure {
                    Believe::Anybody
                } else {
                    Believe::System
                },
                versions: self.tls.versions,
                cipher_suites: self.tls.cipher_suites.clone(),
                identities: self.tls.identities.iter().map(identity).collect(),
                hides_server_name: self.tls.hides_server_name,
            },
            proxy: self.proxy.clone(),
            buffer_bytes: self.buffer_bytes,
            transcript: None,
            source: None,
            // The coordinator watches targets and judges.
            watched: Vec::new(),
            thresholds: Vec::new(),
            keeps_samples: false,
        })
    }

    /// How many requests the agent number `own` of `n` has in progress at the same time.
    pub(crate) fn n_own_lanes(&self, own: usize, n: usize) -> usize {
        own_groups(self.concurrency, self.n_streams, own, n).iter().sum()
    }
}

/// The connections of the agent number `own` of `n`, which take turns at the agents: the number of lanes of each.
pub(super) fn own_groups(concurrency: usize, n_streams: usize, own: usize, n: usize) -> Vec<usize> {
    let groups = groups(concurrency, n_streams.max(1));
    groups.into_iter().skip(own).step_by(n.max(1)).collect()
}

/// The lanes of each of `n` agents.
pub(super) fn lanes(concurrency: usize, n_streams: usize, n: usize) -> Vec<usize> {
    let of = |own| own_groups(concurrency, n_streams, own, n).iter().sum();
    (0..n).map(of).collect()
}

/// The requests of the agent number `own`, if the agents have so many lanes: as many as its share of the lanes.
pub(super) fn part(lanes: &[usize], own: usize) -> Part {
    let lanes = lanes.iter().map(|lanes| *lanes as u64).collect();
    Split::by_shares(lanes, own).map_or(Part::Nothing, |split| Part::Stripe(Arc::clone(split.stripe())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_follow_their_connections() {
        let check = |concurrency, n_streams, n, expected: &[usize]| {
            assert_eq!(lanes(concurrency, n_streams, n), expected);
        };
        check(10, 1, 1, &[10]);
        check(10, 1, 3, &[4, 3, 3]);
        check(2, 1, 3, &[1, 1, 0]);
        check(10, 4, 2, &[6, 4]);
        check(10, 4, 7, &[4, 4, 2, 0, 0, 0, 0]);
    }

    #[test]
    fn an_agent_reads_what_the_command_line_said() {
        let mut request = Request::new(
            Method::POST,
            "https://alice:secret@localhost/a?b".parse().unwrap(),
        );
        request.headers = vec![("A".to_owned(), "b".to_owned())];
        request.body = vec![0, 255];
        request.timeout = Duration::from_millis(1_500);
        let options = HttpOptions {
            request,
            version: Version::Http2,
            keeps_alive: true,
            extent: Extent {
                rate: Some("0.5".parse().unwrap()),
                warm_up: Duration::from_secs(1),
                duration: Some(Duration::from_secs(9)),
                n_requests: None,
            },
            concurrency: 6,
            n_streams: 2,
            n_workers: 2,
            goes_on: true,
            compares_lengths: false,
            tls: TlsOptions {
                believe: Believe::Anybody,
                identities: vec![Identity {
                    domains: Vec::new(),
                    certificates: "c".to_owned(),
                    key: "k".to_owned(),
                }],
                hides_server_name: true,
                ..TlsOptions::default()
            },
            proxy: Some("127.0.0.1:3128".parse::<Proxy>().unwrap().with_password("u", "p")),
            buffer_bytes: Some(4_096),
            transcript: None,
            source: None,
            watched: Vec::new(),
            thresholds: Vec::new(),
            keeps_samples: false,
        };
        let text = serde_json::to_string(&Job::new(&options)).unwrap();
        let job: Job = serde_json::from_str(&text).unwrap();
        let read = job.options(&options.request.body).unwrap();
        assert_eq!(format!("{read:?}"), format!("{options:?}"));
        assert_eq!(read.proxy, options.proxy);
        let keys = read.tls.identities.iter().map(|it| it.key.as_str());
        assert_eq!(keys.collect::<Vec<_>>(), ["k"]);
        let idle = text.replace("\"concurrency\":6", "\"concurrency\":0");
        assert!(serde_json::from_str::<Job>(&idle).unwrap().options(&[]).is_err());
        let still = text.replace("[500,", "[0,");
        assert!(
            still != text && serde_json::from_str::<Job>(&still).is_err(),
            "{text}"
        );
    }
}
