//! The suite for servers: the tester is the client of an echo server.

use std::time::Duration;

use tokio::time::timeout;

use super::{
    asking,
    cases::{self, Planned, Script},
    conduct::conduct,
    connection::Side,
    opening::open,
    payloads::Corpora,
    series::Series,
    terms::Terms,
};
use crate::{Case, CaseId, DialError, Judgement, Server, Suite, Verdict, WireLog};

/// The suite for servers.
#[derive(Debug)]
pub struct ServerSuite {
    server: Server,
    cases: Vec<Planned>,
    corpora: Corpora,
}

/// The additional time of a case with much data. Reason: 4 MiB in fragments of 64 bytes, and a thousand messages of
/// 128 KiB.
pub(super) const LONG: Duration = Duration::from_secs(300);

/// The time limit of the first connection. Reason: a packet that is lost three times, on a slow line.
const REACHABLE_WITHIN: Duration = Duration::from_secs(10);

impl ServerSuite {
    /// All cases for `server`, which echoes every message; `n_messages` is the number of messages in each case of
    /// families 12 and 13.
    pub fn new(server: Server, n_messages: usize) -> Self {
        Self {
            server,
            cases: cases::all(Side::Client, n_messages),
            corpora: Corpora::default(),
        }
    }

    async fn perform(&self, script: &Script, wire: &mut WireLog) -> Judgement {
        match script {
            Script::Exchange(make) => match open(&self.server, &[], wire).await {
                Ok((mut connection, _)) => conduct(&make(), &mut connection).await,
                Err(what) => unopened(&what),
            },
            Script::Compressed { needs_takeover, make } => {
                match open(&self.server, &[Terms::MODEST], wire).await {
                    Ok((mut connection, agreed)) => match agreed.deflate {
                        None => without_compression(),
                        Some(terms) if *needs_takeover && terms.client_no_context_takeover => {
                            let text = "the server wants each message compressed by itself";
                            Judgement::new(Verdict::Informational, text)
                        }
                        Some(_) => conduct(&make(), &mut connection).await,
                    },
                    Err(what) => unopened(&what),
                }
            }
            Script::Series(series) => self.series(series, wire).await,
            Script::Request(asked) => asking::run(asked, &self.server, wire).await,
            Script::Reply(_) => Judgement::skipped("an answer is for clients"),
        }
    }

    async fn series(&self, series: &Series, wire: &mut WireLog) -> Judgement {
        match open(&self.server, &series.offers, wire).await {
            Ok((_, agreed)) if !series.offers.is_empty() && agreed.deflate.is_none() => without_compression(),
            Ok((mut connection, _)) => series.run(&mut connection, &self.corpora).await,
            Err(what) => unopened(&what),
        }
    }
}

impl Suite for ServerSuite {
    fn cases(&self) -> Vec<Case> {
        self.cases.iter().map(|planned| planned.case.clone()).collect()
    }

    fn families(&self) -> &'static [(&'static str, &'static str)] {
        cases::FAMILIES
    }

    /// Checks that the server is reachable. Without a server every case would fail, without a helpful reason.
    async fn prepare(&self) -> Result<(), String> {
        let url = &self.server;
        match timeout(REACHABLE_WITHIN, self.server.dial()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(DialError::Unreachable(error))) => Err(format!(
                "cannot connect to {url}: {error}; start the server first"
            )),
            Ok(Err(error)) => Err(format!("cannot connect to {url}: {error}")),
            Err(_elapsed) => Err(format!(
                "cannot connect to {url}: no answer within {} s",
                REACHABLE_WITHIN.as_secs()
            )),
        }
    }

    fn is_independent(&self, _: &CaseId) -> bool {
        true
    }

    fn deadline(&self, case: &CaseId, usual: Duration) -> Duration {
        deadline(case, usual)
    }

    async fn run(&self, case: &CaseId, wire: &mut WireLog) -> Judgement {
        match self.cases.iter().find(|planned| planned.case.id == *case) {
            Some(planned) => self.perform(&planned.script, wire).await,
            None => Judgement::skipped("there is no such case"),
        }
    }
}

/// The deadline of a case. Families 9, 12 and 13 send much data and get more time.
pub(super) fn deadline(case: &CaseId, usual: Duration) -> Duration {
    match case.family() {
        "9" | "12" | "13" => usual.max(LONG),
        _ => usual,
    }
}

fn unopened(what: &str) -> Judgement {
    Judgement::fail(format!("expected a WebSocket; got {what}"))
}

pub(super) fn without_compression() -> Judgement {
    let text = "permessage-deflate was not agreed on with these parameters";
    Judgement::new(Verdict::Unimplemented, text)
}
