//! The suite for clients: the tester is a server with the addresses of Autobahn's, so that clients written for that one need
//! no change.
//!
//! A client asks `/getCaseCount`, runs `/runCase?case=1&agent=NAME` and so on, echoing every message until the connection
//! ends, and then calls `/updateReports?agent=NAME`. `/getCaseInfo?case=1` and `/getCaseStatus?case=1&agent=NAME` answer with
//! JSON; `/stopServer` ends the run.

use std::{
    cell::{Cell, OnceCell, RefCell},
    time::Duration,
};

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};

use super::{
    answering::{self, Opened},
    cases::{self, Planned},
    connection::Side,
    payloads::Corpora,
    servers::deadline,
};
use crate::{Case, Ended, Outcome, Ran, Suite as _, Verdict, judge, run::whole};

mod listener;
mod visit;

pub use listener::Listener;
use visit::{Visit, Wish};

/// Connections that are served at a time. Reason: clients run one case after the other, or a few at once.
const MOST_VISITS: usize = 256;

/// The time limit for a connection to send its request.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time to wait for `/updateReports` after all cases have run: it is the last request of clients.
const FAREWELL: Duration = Duration::from_secs(3);

/// The suite for clients.
#[derive(Debug)]
pub struct ClientSuite {
    cases: Vec<Planned>,
    corpora: Corpora,
}

/// The result of a run with a client.
#[derive(Debug)]
pub struct ClientRun {
    /// The name that the client gave itself.
    pub agent: Option<String>,
    /// The outcomes in the order of the cases. Cases that the client did not ask for are skipped.
    pub ran: Ran,
}

/// A run with a client in progress.
struct Run<'s> {
    suite: &'s ClientSuite,
    cases: &'s [Case],
    usual_deadline: Duration,
    outcomes: RefCell<Vec<Option<Outcome>>>,
    agent: RefCell<Option<String>>,
    is_over: Cell<bool>,
    /// Whether a case has failed.
    has_failed: Cell<bool>,
    /// Whether the first failure has led to a look at the client.
    is_looked_at: Cell<bool>,
    /// Why the client is not one for this suite.
    hopeless: OnceCell<String>,
}

impl ClientSuite {
    /// All cases for a client; `n_messages` is the number of messages in each case of families 12 and 13.
    pub fn new(n_messages: usize) -> Self {
        Self {
            cases: cases::all(Side::Server, n_messages),
            corpora: Corpora::default(),
        }
    }

    /// All cases, in the order of their ids.
    pub fn cases(&self) -> Vec<Case> {
        self.cases.iter().map(|planned| planned.case.clone()).collect()
    }

    /// The names of the families of cases.
    pub fn families(&self) -> &'static [(&'static str, &'static str)] {
        cases::FAMILIES
    }

    /// Serves `cases` until the client is done: it calls `/updateReports` or `/stopServer`, or all cases have run, or `stop`
    /// says that it is enough. A case that runs again replaces the earlier outcome. `on_progress` gets every outcome.
    pub async fn run(
        &self,
        listener: &Listener,
        cases: &[Case],
        usual_deadline: Duration,
        stop: impl Future<Output = ()>,
        mut on_progress: impl FnMut(&Outcome),
    ) -> ClientRun {
        let run = Run {
            suite: self,
            cases,
            usual_deadline,
            outcomes: RefCell::new(cases.iter().map(|_| None).collect()),
            agent: RefCell::default(),
            is_over: Cell::new(false),
            has_failed: Cell::new(false),
            is_looked_at: Cell::new(false),
            hopeless: OnceCell::new(),
        };
        let ended = tokio::select! {
            biased;
            () = stop => Some(Ended::Stopped),
            () = run.serve(listener, &mut on_progress) => run.hopeless.get().cloned().map(Ended::Hopeless),
        };
        let reason = match &ended {
            Some(Ended::Hopeless(why)) => why,
            Some(Ended::Stopped) => "the run was ended before this case",
            None => "the client did not ask for this case",
        };
        ClientRun {
            agent: run.agent.into_inner(),
            ran: Ran {
                outcomes: whole(run.outcomes.into_inner(), cases, reason),
                ended,
            },
        }
    }
}

impl Run<'_> {
    async fn serve(&self, listener: &Listener, on_progress: &mut impl FnMut(&Outcome)) {
        let mut visits = FuturesUnordered::new();
        while !self.is_over.get() && self.hopeless.get().is_none() {
            let all_have_run = self.outcomes.borrow().iter().all(Option::is_some);
            tokio::select! {
                accepted = listener.accept(), if visits.len() < MOST_VISITS => match accepted {
                    Ok(socket) => visits.push(self.receive(listener, socket)),
                    // Too many open files, or a client that has gone already: others are waiting.
                    Err(_) => sleep(Duration::from_millis(100)).await,
                },
                Some(finished) = visits.next() => {
                    if let Some((at, outcome)) = finished {
                        if outcome.worst() == Verdict::Fail {
                            self.has_failed.set(true);
                        }
                        on_progress(&outcome);
                        self.outcomes.borrow_mut()[at] = Some(outcome);
                    }
                }
                () = sleep(FAREWELL), if all_have_run && visits.is_empty() => return,
            }
        }
    }

    /// Serves one connection; the outcome, if it was of a case, and the case's place.
    async fn receive(&self, listener: &Listener, socket: TcpStream) -> Option<(usize, Outcome)> {
        let opened = timeout(PATIENCE, async {
            answering::receive(listener.secure(socket).await.ok()?).await
        });
        let opened = opened.await.ok()??;
        let wish = Wish::of(&opened.target);
        if let Some(agent) = wish.agent() {
            *self.agent.borrow_mut() = Some(agent.to_owned());
        }
        match wish {
            Wish::Run { case, .. } => self.run_case(case.checked_sub(1)?, opened).await,
            Wish::Count => self.tell(opened, self.cases.len().to_string()).await,
            Wish::Info { case } => self.tell(opened, self.info(case)).await,
            Wish::Status { case } => self.tell(opened, self.status(case)).await,
            Wish::Finish => {
                self.tell(opened, String::new()).await;
                self.is_over.set(true);
                None
            }
            Wish::Unknown => {
                answering::refuse(opened).await;
                None
            }
        }
    }

    async fn run_case(&self, at: usize, opened: Opened) -> Option<(usize, Outcome)> {
        let case = self.cases.get(at)?;
        let planned = self
            .suite
            .cases
            .iter()
            .find(|planned| planned.case.id == case.id)?;
        let visit = Visit::new(planned, opened, &self.suite.corpora);
        // The first failure leads to a look at what the client does without being asked for anything.
        let can_look = self.has_failed.get() && visit.can_listen() && !self.is_looked_at.replace(true);
        let visit = if can_look { visit.listening() } else { visit };
        let outcome = judge(&visit, case.clone(), deadline(&case.id, self.usual_deadline)).await;
        if let Some(why) = visit.hopeless() {
            // One visit looks, so nothing is set yet.
            let _ = self.hopeless.set(why);
        }
        Some((at, outcome))
    }

    async fn tell(&self, opened: Opened, text: String) -> Option<(usize, Outcome)> {
        // A client that does not take it is none of our business.
        let _ = timeout(PATIENCE, answering::tell(opened, text)).await;
        None
    }

    fn info(&self, case: usize) -> String {
        let case = case.checked_sub(1).and_then(|at| self.cases.get(at));
        let (id, title) = case.map_or(("", ""), |case| (case.id.as_str(), &case.title));
        serde_json::json!({"id": id, "description": title}).to_string()
    }

    fn status(&self, case: usize) -> String {
        let outcomes = self.outcomes.borrow();
        let outcome = case.checked_sub(1).and_then(|at| outcomes.get(at)?.as_ref());
        let behavior = outcome.map_or("MISSING", |outcome| autobahn_word(outcome.worst()));
        serde_json::json!({"behavior": behavior}).to_string()
    }
}

/// Autobahn's word for a verdict.
fn autobahn_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "OK",
        Verdict::NonStrict => "NON-STRICT",
        Verdict::Informational => "INFORMATIONAL",
        Verdict::Unimplemented | Verdict::Skipped => "UNIMPLEMENTED",
        Verdict::Fail => "FAILED",
    }
}

#[cfg(test)]
mod tests;
