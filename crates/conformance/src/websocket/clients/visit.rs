//! One connection of a client under test: its request, and the case that runs on it.

use std::cell::RefCell;

use tokio::time::timeout;

use crate::{
    Case, CaseId, Clause, Judgement, Suite, Verdict, WireLog,
    websocket::{
        answering::{self, Opened},
        cases::{Planned, Script, replies::Reply},
        conduct::conduct,
        payloads::Corpora,
        servers::{GREETS_WITHIN, first_words, greeted, without_compression},
        terms::Terms,
    },
};

/// The request of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// The number of cases.
    Count,
    /// Runs the case with this number, from 1.
    Run { case: usize, agent: Option<String> },
    /// The title of the case.
    Info { case: usize },
    /// The verdict of the case.
    Status { case: usize },
    /// Ends the run.
    Finish,
    /// An unknown path.
    Unknown,
}

impl Wish {
    /// The visit of a request's target, such as `/runCase?case=1&agent=me`.
    pub(super) fn of(target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let value = |name: &str| {
            let mut pairs = url::form_urlencoded::parse(query.as_bytes());
            pairs.find_map(|(found, value)| (found == name).then(|| value.into_owned()))
        };
        let case = value("case").and_then(|case| case.parse().ok());
        match (path, case) {
            ("/getCaseCount", _) => Self::Count,
            ("/runCase", Some(case)) => Self::Run {
                case,
                agent: value("agent"),
            },
            ("/getCaseInfo", Some(case)) => Self::Info { case },
            ("/getCaseStatus", Some(case)) => Self::Status { case },
            ("/updateReports" | "/stopServer", _) => Self::Finish,
            _ => Self::Unknown,
        }
    }

    pub(super) fn agent(&self) -> Option<&str> {
        match self {
            Self::Run { agent, .. } => agent.as_deref(),
            _ => None,
        }
    }
}

/// A connection on which a case is run, once.
pub(super) struct Visit<'s> {
    planned: &'s Planned,
    corpora: &'s Corpora,
    opened: RefCell<Option<Opened>>,
    /// Whether to listen for a while before the case begins.
    listens_first: bool,
    hopeless: RefCell<Option<String>>,
}

impl<'s> Visit<'s> {
    pub(super) fn new(planned: &'s Planned, opened: Opened, corpora: &'s Corpora) -> Self {
        Self {
            planned,
            corpora,
            opened: RefCell::new(Some(opened)),
            listens_first: false,
            hopeless: RefCell::default(),
        }
    }

    /// Whether the client has nothing to say before the case begins.
    pub(super) fn can_listen(&self) -> bool {
        matches!(self.planned.script, Script::Exchange(_))
    }

    /// The visit, which begins with listening for a client that speaks first.
    pub(super) fn listening(self) -> Self {
        Self {
            listens_first: true,
            ..self
        }
    }

    async fn perform(&self, opened: Opened, wire: &mut WireLog) -> Judgement {
        wire.received(format_args!(
            "{} with {} fields",
            opened.request.first_line,
            opened.request.fields.len()
        ));
        if let Err(what) = answering::check(&opened.request) {
            // What is wrong with one request is wrong with the others, too.
            return Judgement::fail(format!(
                "expected a valid request (RFC 6455 §4.1); got a request where {what}"
            ))
            .against(Clause::must("RFC 6455 §4.1"))
            .with_cause(what);
        }
        let usual = Reply::new(&opened.request);
        match &self.planned.script {
            Script::Exchange(make) => {
                let mut connection = answering::open(opened, &usual, None, wire).await;
                if self.listens_first
                    && let Ok(Some(greeting)) = timeout(GREETS_WITHIN, first_words(&mut connection)).await
                {
                    let text = greeted("the client", &greeting, "");
                    *self.hopeless.borrow_mut() = Some(text.clone());
                    return Judgement::fail(text);
                }
                conduct(&make(), &mut connection).await
            }
            Script::Compressed { needs_takeover, make } => match Terms::answering(&opened.request) {
                None => without_compression(),
                Some(terms) if *needs_takeover && terms.server_no_context_takeover => Judgement::new(
                    Verdict::Informational,
                    "the client wants each message compressed by itself",
                ),
                Some(terms) => {
                    let mut connection = answering::open(opened, &usual, Some(terms), wire).await;
                    conduct(&make(), &mut connection).await
                }
            },
            Script::Series(series) if series.offers.is_empty() => {
                let mut connection = answering::open(opened, &usual, None, wire).await;
                series.run(&mut connection, self.corpora).await
            }
            Script::Series(series) => {
                let request = &opened.request;
                match series
                    .offers
                    .iter()
                    .find_map(|wanted| Terms::limiting(request, wanted))
                {
                    None => without_compression(),
                    Some(terms) => {
                        let mut connection = answering::open(opened, &usual, Some(terms), wire).await;
                        series.run(&mut connection, self.corpora).await
                    }
                }
            }
            Script::Reply(replied) => answering::reply(opened, replied, wire).await,
            Script::Request(_) => Judgement::new(Verdict::Skipped, "a request is for servers"),
        }
    }
}

impl Suite for Visit<'_> {
    fn cases(&self) -> Vec<Case> {
        vec![self.planned.case.clone()]
    }

    fn is_independent(&self, _: &CaseId) -> bool {
        true
    }

    fn hopeless(&self) -> Option<String> {
        self.hopeless.borrow().clone()
    }

    async fn run(&self, _: &CaseId, wire: &mut WireLog) -> Judgement {
        let opened = self.opened.borrow_mut().take();
        match opened {
            Some(opened) => self.perform(opened, wire).await,
            None => Judgement::skipped("a connection runs one case"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_are_those_of_autobahn() {
        for (target, expected) in [
            ("/getCaseCount", Wish::Count),
            (
                "/runCase?case=3&agent=a%20b/1",
                Wish::Run {
                    case: 3,
                    agent: Some("a b/1".to_owned()),
                },
            ),
            (
                "/runCase?agent=x&case=3",
                Wish::Run {
                    case: 3,
                    agent: Some("x".to_owned()),
                },
            ),
            ("/runCase?agent=x", Wish::Unknown),
            ("/getCaseInfo?case=1", Wish::Info { case: 1 }),
            ("/getCaseStatus?case=1&agent=x", Wish::Status { case: 1 }),
            ("/updateReports?agent=x", Wish::Finish),
            ("/stopServer", Wish::Finish),
            ("/", Wish::Unknown),
        ] {
            assert_eq!(Wish::of(target), expected, "{target}");
        }
    }
}
