//! The suite for servers: the tester is the client of an echo server.

use std::{
    cell::{Cell, OnceCell},
    time::Duration,
};

use tokio::time::timeout;

use super::{
    asking,
    cases::{self, Planned, Script},
    conduct::conduct,
    connection::{Connection, Cut, Side},
    exchange::ping,
    opening::{is_refusal, open},
    payloads::Corpora,
    series::Series,
    terms::Terms,
};
use crate::{
    Case, CaseId, DialError, Judgement, Server, Suite, Verdict, WireLog,
    protocol::{messages::Heard, reader::Violation},
};

/// The suite for servers.
#[derive(Debug)]
pub struct ServerSuite {
    server: Server,
    cases: Vec<Planned>,
    corpora: Corpora,
    /// Whether the first failure has led to a look at the server.
    is_looked_at: Cell<bool>,
    /// Why the server is not one for this suite.
    hopeless: OnceCell<String>,
}

/// The additional time of a case with much data. Reason: 4 MiB in fragments of 64 bytes, and a thousand messages of
/// 128 KiB.
pub(super) const LONG: Duration = Duration::from_secs(300);

/// The time in which a greeting would come. Reason: a greeting is sent with the handshake.
pub(super) const GREETS_WITHIN: Duration = Duration::from_secs(1);

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
            is_looked_at: Cell::new(false),
            hopeless: OnceCell::new(),
        }
    }

    /// Looks once at what the server does without being asked for anything: a server that opens no WebSocket at this URL
    /// fails every case in the same way, and one that speaks first each with another wrong echo.
    async fn look(&self) {
        if self.is_looked_at.replace(true) {
            return;
        }
        let mut wire = WireLog::default();
        if let Ok(Err(violation)) = timeout(GREETS_WITHIN, open(&self.server, &[], &mut wire)).await
            && is_refusal(&violation)
        {
            let what = violation.what;
            let text = format!(
                "the server answers a plain opening handshake with {what}; check the path of {}",
                self.server
            );
            // Nothing else sets it; so also below.
            let _ = self.hopeless.set(text);
            return;
        }
        if let Ok(Some(greeting)) = timeout(GREETS_WITHIN, self.greeting()).await {
            let text = greeted(
                "the server",
                &greeting,
                "; plimsoll serve --no-welcome sends none",
            );
            let _ = self.hopeless.set(text);
        }
    }

    /// The message that the server sends before it answers a ping; `None` without one.
    async fn greeting(&self) -> Option<Heard> {
        let mut wire = WireLog::default();
        let (mut connection, _) = open(&self.server, &[], &mut wire).await.ok()?;
        connection.send(&[ping("who speaks first?")], Cut::Together).await;
        first_words(&mut connection).await
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
            Some(planned) => {
                let judgement = self.perform(&planned.script, wire).await;
                if judgement.verdict == Verdict::Fail {
                    self.look().await;
                }
                judgement
            }
            None => Judgement::skipped("there is no such case"),
        }
    }

    fn hopeless(&self) -> Option<String> {
        self.hopeless.get().cloned()
    }
}

/// The first text or binary message, if one comes before a pong, a Close or the end.
pub(super) async fn first_words(connection: &mut Connection<'_>) -> Option<Heard> {
    loop {
        match connection.next().await {
            Ok(heard @ (Heard::Text(_) | Heard::Binary(_))) => return Some(heard),
            Ok(Heard::Ping(_)) => {}
            Ok(Heard::Pong(_) | Heard::Close(_)) | Err(_) => return None,
        }
    }
}

/// Says in one line that a target speaks first.
pub(super) fn greeted(who: &str, greeting: &Heard, hint: &str) -> String {
    format!("{who} sends {greeting} before anything was sent to it; a target of this suite only echoes{hint}")
}

/// The deadline of a case. Families 9, 12 and 13 send much data and get more time.
pub(super) fn deadline(case: &CaseId, usual: Duration) -> Duration {
    match case.family() {
        "9" | "12" | "13" => usual.max(LONG),
        _ => usual,
    }
}

/// A handshake that is wrong for one case is wrong for others, too.
fn unopened(violation: &Violation) -> Judgement {
    let Violation { what, clause } = violation;
    Judgement::fail(format!("expected a WebSocket; got {what}"))
        .against(clause.clone())
        .with_cause(what)
}

pub(super) fn without_compression() -> Judgement {
    let text = "permessage-deflate was not agreed on with these parameters";
    Judgement::new(Verdict::Unimplemented, text)
}
