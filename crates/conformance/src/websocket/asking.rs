//! Asks a server for a WebSocket as in a case of family h, and judges its reaction.

use std::time::Duration;

use tokio::time::timeout;

use super::{
    cases::requests::{Asked, Reaction, SMUGGLED},
    conduct::conduct,
    connection::{Connection, Side},
    exchange::{Exchange, message, text},
    opening::{Agreed, DECLINE, ask, check},
    terms::Terms,
};
use crate::{
    Clause, Judgement, Server, Verdict, WireLog,
    address::Duplex,
    protocol::{
        frame::TEXT,
        head::{Head, NoHead},
        reader::Violation,
    },
};

/// The clause about answers that are no HTTP: a server MUST reply with a valid response.
const ANSWER: Clause = Clause::must("RFC 6455 §4.2.1, §4.2.2");

/// The clause about bodies: a server MUST read the whole body, or close the connection.
const BODY: Clause = Clause::must("RFC 9112 §9.3");

/// The time limit of an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The text that proves that a WebSocket is open.
const GREETING: &str = "Hello, world!";

/// The result of a request.
enum Outcome {
    /// A WebSocket, on which a text came back and which was closed in order.
    Opened { agreed: Agreed, closing: Verdict },
    /// An answer with another status than 101.
    Refused(Head, Option<u16>),
    /// The end of the connection.
    Ended,
    /// No answer.
    Silence,
    /// A violation of the rules, for any request; the clause is that of the case unless another one is broken.
    Wrong(String, Option<Clause>),
    /// An offer that was accepted on other terms, which many cases meet.
    OtherTerms(String, Clause),
}

/// Asks a server.
pub(super) async fn run(asked: &Asked, server: &Server, wire: &mut WireLog) -> Judgement {
    let outcome = match server.dial().await {
        Ok(stream) => ask_on(stream, asked, server, wire).await,
        Err(error) => Outcome::Wrong(format!("no connection: {error}"), None),
    };
    judge(asked.reaction, outcome)
}

async fn ask_on(mut stream: Box<dyn Duplex>, asked: &Asked, server: &Server, wire: &mut WireLog) -> Outcome {
    let mut bytes = (asked.request)(server);
    let (offers, keys) = (offers_in(&bytes), keys_in(&bytes));
    if asked.text_at_once {
        text(GREETING).encode(Some([1, 2, 3, 4]), &mut bytes);
    }
    let asking = timeout(
        PATIENCE,
        ask(&mut *stream, &bytes, asked.n_at_once.min(bytes.len()), wire),
    );
    let (head, early) = match asking.await {
        Ok(Ok(answer)) => answer,
        Ok(Err(NoHead::Nonsense(what))) => return Outcome::Wrong(what, Some(ANSWER)),
        Ok(Err(NoHead::Ended)) => return Outcome::Ended,
        Err(_elapsed) => return Outcome::Silence,
    };
    if head.status() != Some(101) {
        let status = head.status();
        return Outcome::Refused(head, status);
    }
    let agreed = match check(&head, &keys, &offers, asked.protocols) {
        Ok(agreed) => agreed,
        Err(Violation { what, clause }) if clause.place == DECLINE => {
            return Outcome::OtherTerms(what, clause);
        }
        Err(Violation { what, clause }) => return Outcome::Wrong(what, Some(clause)),
    };
    let deflate = agreed.deflate.map(|terms| terms.of_client());
    let mut connection = Connection::new(stream, Side::Client, deflate, early, wire);
    greet(&mut connection, agreed, asked.text_at_once).await
}

/// A text comes back, and nothing else.
async fn greet(connection: &mut Connection<'_>, agreed: Agreed, is_sent: bool) -> Outcome {
    let exchange = if is_sent {
        Exchange::of(Vec::new()).hears(vec![message(TEXT, GREETING)])
    } else {
        Exchange::echo(TEXT, GREETING.into())
    };
    let Judgement {
        verdict,
        closing,
        explanation,
        against,
        ..
    } = conduct(&exchange, connection).await;
    match verdict {
        Verdict::Pass => Outcome::Opened {
            agreed,
            closing: closing.unwrap_or(Verdict::Pass),
        },
        _ if explanation.contains(SMUGGLED) => Outcome::Wrong(
            format!("the body of the request was taken for a frame ({explanation})"),
            Some(BODY),
        ),
        _ => Outcome::Wrong(format!("a 101, and then: {explanation}"), against),
    }
}

fn judge(reaction: Reaction, outcome: Outcome) -> Judgement {
    let (verdict, closing) = (verdict(reaction, &outcome), closing(&outcome));
    let got = outcome.told();
    let text = match verdict {
        Verdict::Pass | Verdict::Informational => format!("got {got}"),
        Verdict::Unimplemented => format!("got {got}: the server does not have permessage-deflate"),
        _ => format!("expected {}; got {got}", reaction.told()),
    };
    let judgement = Judgement {
        closing,
        ..Judgement::new(verdict, text)
    };
    match outcome {
        Outcome::Wrong(_, Some(clause)) => judgement.against(clause),
        Outcome::OtherTerms(what, clause) => judgement.against(clause).with_cause(what),
        _ => judgement,
    }
}

fn verdict(reaction: Reaction, outcome: &Outcome) -> Verdict {
    match (reaction, outcome) {
        (_, Outcome::Wrong(..) | Outcome::OtherTerms(..)) => Verdict::Fail,
        (Reaction::Tell, _) => Verdict::Informational,
        (_, Outcome::Silence) => Verdict::Fail,
        (Reaction::Open | Reaction::OpenBetter | Reaction::Either, Outcome::Opened { .. }) => Verdict::Pass,
        (Reaction::OpenPlain, Outcome::Opened { .. }) => Verdict::Pass,
        (Reaction::OpenDeflated, Outcome::Opened { agreed, .. }) => match agreed.deflate {
            Some(_) => Verdict::Pass,
            None => Verdict::Unimplemented,
        },
        (Reaction::RefuseBetter, Outcome::Opened { .. }) => Verdict::NonStrict,
        (Reaction::RefuseUnlessUnderstood(..), Outcome::Opened { .. }) => Verdict::Informational,
        (Reaction::Refuse(_) | Reaction::RefuseWith(..), Outcome::Opened { .. }) => Verdict::Fail,
        (Reaction::Either | Reaction::RefuseBetter, _) => Verdict::Pass,
        (Reaction::OpenBetter | Reaction::OpenPlain, _) => Verdict::NonStrict,
        (Reaction::Open | Reaction::OpenDeflated, _) => Verdict::Fail,
        (Reaction::Refuse(statuses), Outcome::Refused(_, Some(status))) if statuses.contains(status) => {
            Verdict::Pass
        }
        (Reaction::Refuse(_), _) => Verdict::NonStrict,
        (
            Reaction::RefuseWith(expected, name, value)
            | Reaction::RefuseUnlessUnderstood(expected, name, value),
            Outcome::Refused(head, status),
        ) => match (head.lists(name, value), *status == Some(expected)) {
            (true, true) => Verdict::Pass,
            (true, false) => Verdict::NonStrict,
            (false, _) => Verdict::Fail,
        },
        (Reaction::RefuseWith(..) | Reaction::RefuseUnlessUnderstood(..), Outcome::Ended) => Verdict::Fail,
    }
}

fn closing(outcome: &Outcome) -> Option<Verdict> {
    match outcome {
        Outcome::Opened { closing, .. } => Some(*closing),
        _ => None,
    }
}

impl Outcome {
    fn told(&self) -> String {
        match self {
            Self::Opened { agreed, .. } => match agreed.deflate {
                Some(terms) => format!("a WebSocket with {}", terms.header()),
                None => "a WebSocket".to_owned(),
            },
            Self::Refused(head, _) => format!("{:?}", head.first_line),
            Self::Ended => "the end of the connection without an answer".to_owned(),
            Self::Silence => format!("no answer in {} s", PATIENCE.as_secs()),
            Self::Wrong(what, _) | Self::OtherTerms(what, _) => what.clone(),
        }
    }
}

impl Reaction {
    fn told(self) -> String {
        match self {
            Self::Open | Self::OpenBetter => "a WebSocket on which a text comes back".to_owned(),
            Self::OpenPlain => "a WebSocket without the extension".to_owned(),
            Self::OpenDeflated => "a WebSocket with permessage-deflate".to_owned(),
            Self::Refuse(statuses) => {
                let statuses: Vec<String> = statuses.iter().map(ToString::to_string).collect();
                format!("a refusal with {}", statuses.join(" or "))
            }
            Self::RefuseWith(status, name, value) | Self::RefuseUnlessUnderstood(status, name, value) => {
                format!("a refusal with {status} and {name}: {value}")
            }
            Self::RefuseBetter => "a refusal".to_owned(),
            Self::Either | Self::Tell => "a refusal or a WebSocket".to_owned(),
        }
    }
}

/// The keys in a request, each alone and all as one list; without the zero bytes that a server may replace by spaces.
fn keys_in(request: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(request);
    let values = text.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let value = value.trim_matches([' ', '\t', '\0']);
        name.eq_ignore_ascii_case("Sec-WebSocket-Key")
            .then(|| value.to_owned())
    });
    let mut keys: Vec<String> = values.collect();
    if keys.len() > 1 {
        keys.push(keys.join(", "));
    }
    keys
}

/// The valid offers of permessage-deflate in a request.
fn offers_in(request: &[u8]) -> Vec<Terms> {
    let text = String::from_utf8_lossy(request);
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("Sec-WebSocket-Extensions:"));
    lines.flat_map(Terms::read).filter_map(Result::ok).collect()
}
