//! The outcome of a run.

use std::time::{Duration, SystemTime};

use plimsoll_clients::http::{Url, Version};
use plimsoll_load::generator::Health;
use plimsoll_report::summary::{Plan, Target};

use super::{backoff, document::Document, failures::Kind, tally::Tally, threshold::Finding};
use crate::{journal::Chronicle, meter::Period, rate::Rate, remote::Share};

mod summary;

pub(crate) use self::summary::threshold;

/// A whole run.
#[derive(Debug, Clone)]
pub struct HttpOutcome {
    pub(crate) setting: Setting,
    /// The start of the requests that count.
    pub(crate) began: SystemTime,
    /// The time from there to the end of the last of them.
    pub(crate) elapsed: Duration,
    /// `None` when no response was whole.
    pub(crate) document: Option<Document>,
    pub(crate) tally: Tally,
    /// The timeline of this time.
    pub(crate) chronicle: Chronicle,
    /// The plan of the run.
    pub(crate) plan: Plan,
    /// The cost of the run.
    pub(crate) period: Period,
    /// The resource use of the watched targets, from the first request that counts.
    pub(crate) targets: Vec<Target>,
    /// Whether the generator held up the figures.
    pub(crate) health: Health,
    /// Requests of the open model that were due and found no free lane before the end.
    pub(crate) n_unsent: u64,
    /// The number of requests in progress when the user stopped waiting.
    pub(crate) n_abandoned: u64,
    pub(crate) is_interrupted: bool,
    /// Whether a failure ended the run, and why; without `-r`.
    pub(crate) trouble: Option<String>,
    pub(crate) findings: Vec<Finding>,
    /// What each agent did. Empty if this process made the requests.
    pub(crate) shares: Vec<Share>,
    /// Why a part of the load is missing; `None` if nothing is.
    pub(crate) missing: Option<String>,
}

/// The conditions of a run.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// The URL without user and password.
    pub(crate) url: Url,
    pub(crate) method: String,
    pub(crate) version: Version,
    pub(crate) keeps_alive: bool,
    pub(crate) compares_lengths: bool,
    pub(crate) has_body: bool,
    pub(crate) concurrency: usize,
    pub(crate) n_streams: usize,
    pub(crate) n_workers: usize,
    pub(crate) rate: Option<Rate>,
    pub(crate) warm_up: Duration,
    /// Whether failures of connections are expected (`-r`), so that only thresholds judge them.
    pub(crate) goes_on: bool,
    /// The host and port of the proxy.
    pub(crate) proxy: Option<String>,
    /// Whether a threshold is about failed requests, so that they need no further judgement.
    pub(crate) judges_failures: bool,
}

impl Setting {
    /// Host and port, for people.
    pub(crate) fn authority(&self) -> String {
        let port = self.url.port_or_known_default().unwrap_or_default();
        format!("{}:{port}", self.url.host_str().unwrap_or_default())
    }
}

impl HttpOutcome {
    /// Whether requests failed or could not be started, or a threshold does not hold. Statuses are judged by thresholds
    /// only.
    pub fn is_faulty(&self) -> bool {
        let n_failed = if self.setting.goes_on {
            self.tally.failures.of(Kind::Length)
        } else {
            self.tally.failures.total()
        };
        let has_failures = n_failed > 0 && !self.setting.judges_failures;
        has_failures || self.n_unsent > 0 || self.findings.iter().any(|finding| !finding.passed)
    }

    /// Complete requests per second.
    pub(crate) fn per_second(&self) -> f64 {
        per_second(self.tally.n_complete as f64, self.elapsed)
    }

    /// Path and query, as ab shows them.
    pub(crate) fn path(&self) -> String {
        let url = &self.setting.url;
        let query = url.query().map_or(String::new(), |query| format!("?{query}"));
        format!("{}{query}", url.path())
    }

    /// The length of the document, as ab shows it.
    pub(crate) fn document_length(&self) -> String {
        match &self.document {
            Some(Document { n_bytes, .. }) if self.setting.compares_lengths => format!("{n_bytes} bytes"),
            Some(_) => "Variable".to_owned(),
            None => "unknown".to_owned(),
        }
    }

    /// Remarks about the figures, in sentences.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let tally = &self.tally;
        let mut remarks: Vec<_> = self.missing.iter().cloned().collect();
        let n_incomplete = tally.n_incomplete();
        if n_incomplete > 0 && tally.n_complete > 0 {
            remarks.push(format!(
                "all times are of the {} complete requests; {n_incomplete} requests failed",
                tally.n_complete
            ));
        }
        if self.n_unsent > 0 {
            remarks.push(format!(
                "the rate was not reached: {} requests were never sent because all {} places were taken until the \
                 end; the server is slower than the rate, or -c is too low for it",
                self.n_unsent, self.setting.concurrency
            ));
        }
        if tally.n_repeated > 0 {
            remarks.push(format!(
                "{} requests were sent twice because the server closed a kept connection at that moment; the server \
                 may have counted them twice",
                tally.n_repeated
            ));
        }
        if tally.n_held_back > 0 {
            remarks.push(format!(
                "{} times a place delayed its next request by up to {} s because its previous requests had failed",
                tally.n_held_back,
                backoff::LONGEST.as_secs()
            ));
        }
        if tally.n_warm_up_failed > 0 {
            remarks.push(format!(
                "{} of {} requests of the warm-up failed",
                tally.n_warm_up_failed,
                tally.n_warm_up + tally.n_warm_up_failed
            ));
        }
        if self.n_abandoned > 0 {
            remarks.push(format!(
                "{} requests were in progress at the end and are not counted",
                self.n_abandoned
            ));
        }
        let n_left_out = tally.samples.as_ref().map_or(0, |samples| samples.n_left_out);
        if n_left_out > 0 {
            remarks.push(format!(
                "{n_left_out} requests are not in the gnuplot file, which has room for {}",
                super::samples::MAX_SAMPLES
            ));
        }
        if self.is_interrupted {
            remarks.push("interrupted before its end".to_owned());
        }
        remarks
    }
}

/// So many per second of `time`; zero in no time.
pub(crate) fn per_second(n: f64, time: Duration) -> f64 {
    if time.is_zero() {
        0.0
    } else {
        n / time.as_secs_f64()
    }
}

#[cfg(test)]
pub(crate) mod examples;
