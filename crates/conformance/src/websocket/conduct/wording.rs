//! The judgement on a connection, and its sentence with the expected and the actual behaviour.

use std::fmt::Write as _;

use super::{
    Course,
    fitting::{Fit, fit},
};
use crate::{
    Judgement, Octets, Verdict,
    websocket::{
        connection::{End, Side},
        exchange::{Ending, Event, Exchange},
    },
};

/// Events that a sentence names. Reason: more are not read.
const MOST_NAMED: usize = 4;

impl Course {
    pub(super) fn judge(&self, exchange: &Exchange, side: Side) -> Judgement {
        if let Some(limit) = self.limit(exchange) {
            return Judgement::new(Verdict::Informational, limit);
        }
        let ending = exchange.ending;
        let (verdict, note) = self.verdict(exchange);
        let closing = self.closing(ending, side);
        let got = self.told();
        let mut explanation = match (verdict, &closing) {
            (Verdict::Fail, _) | (_, Some((Verdict::Fail, _))) => {
                format!("expected {}; got {got}", expected(exchange))
            }
            _ => format!("got {got}"),
        };
        let remark = closing.as_ref().map_or("", |(_, remark)| remark);
        for remark in [note, remark].into_iter().filter(|remark| !remark.is_empty()) {
            _ = write!(explanation, ": {remark}");
        }
        Judgement {
            closing: closing.map(|(closing, _)| closing),
            against: match &self.end {
                Some(End::Violated(violation)) => Some(violation.clause.clone()),
                _ => None,
            },
            ..Judgement::new(verdict, explanation)
        }
    }

    /// The target's limit, if it closed the connection because of one: RFC 6455 §10.4 leaves sizes to the implementation.
    fn limit(&self, exchange: &Exchange) -> Option<String> {
        let Some(Some((code @ (1008 | 1009), _))) = self.close else {
            return None;
        };
        let is_for_messages = matches!(exchange.ending, Ending::ByTester | Ending::Answered(_));
        limit(code, exchange.n_payload_bytes()).filter(|_| is_for_messages)
    }

    /// The verdict on the events, with a remark if they fit only because pongs are free.
    fn verdict(&self, exchange: &Exchange) -> (Verdict, &'static str) {
        if matches!(self.end, Some(End::Violated(_))) || self.answered_probe {
            return (Verdict::Fail, "");
        }
        if exchange.ending == Ending::Any {
            return (Verdict::Informational, "");
        }
        if matches!(exchange.ending, Ending::Failed(_)) && self.was_silent {
            return (Verdict::Fail, "");
        }
        let fitting = |(verdict, events): &(Verdict, Vec<Event>)| {
            fit(events, &self.events).map(|fit| match fit {
                Fit::Exact => (*verdict, ""),
                Fit::FewerPongs => (
                    Verdict::Informational.max(*verdict),
                    "it answers the last of several pings (RFC 6455 §5.5.3)",
                ),
                Fit::LatePong => (
                    Verdict::NonStrict.max(*verdict),
                    "a pong should come as soon as is practical (RFC 6455 §5.5.2)",
                ),
            })
        };
        let matching = exchange.outcomes.iter().find_map(fitting);
        matching.unwrap_or((Verdict::Fail, ""))
    }

    /// The verdict on the end of the connection, with a remark if it was not the best way; `None` where the target has not
    /// ended a connection that it had to fail, which is the verdict's matter.
    fn closing(&self, ending: Ending, side: Side) -> Option<(Verdict, &'static str)> {
        if self.spoke_after_close.is_some() {
            let remark = "no data may follow its Close (RFC 6455 §5.5.1)";
            return Some((Verdict::Fail, remark));
        }
        let closing = match (ending, &self.close) {
            (Ending::Any, _) => (Verdict::Informational, ""),
            (Ending::Failed(_), None) if self.end.is_some() => (
                Verdict::NonStrict,
                "the Close that should come first is missing (RFC 6455 §7.1.7)",
            ),
            (Ending::Failed(_), None) => return None,
            (Ending::Failed(codes), Some(Some((code, _)))) if codes.contains(code) => clean(),
            (Ending::Failed(_), Some(None)) => (Verdict::NonStrict, "its Close does not say why"),
            (Ending::ByTester, Some(Some((1000, _)))) => clean(),
            (Ending::ByTester, Some(None)) => (Verdict::NonStrict, "its Close does not repeat the code"),
            (Ending::Answered(codes), Some(close))
                if codes.contains(&close.as_ref().map(|(code, _)| *code)) =>
            {
                clean()
            }
            (_, Some(_)) => (
                Verdict::NonStrict,
                "another code is usual, or appropriate (RFC 6455 §5.5.1, §7.1.7)",
            ),
            (_, None) if !self.has_said_close => (
                Verdict::NonStrict,
                "it ended the connection without a Close (RFC 6455 §7.1.7)",
            ),
            (_, None) => (
                Verdict::Fail,
                "a Close must be answered with a Close (RFC 6455 §5.5.1)",
            ),
        };
        if self.lingers && side == Side::Client && closing.0 < Verdict::NonStrict {
            let remark = "the server should have ended TCP then (RFC 6455 §7.1.1)";
            return Some((Verdict::NonStrict, remark));
        }
        Some(closing)
    }

    fn told(&self) -> String {
        let mut text = events_told(&self.events);
        if let Some(payload) = &self.unsolicited {
            _ = write!(text, ", a pong that no ping asked for, with {}", Octets(payload));
        }
        if self.answered_probe {
            text.push_str(", and an answer to a ping that was sent after it");
        }
        match (&self.close, &self.end) {
            (Some(None), _) => text.push_str(", then a Close without a code"),
            (Some(Some((code, reason))), _) if reason.is_empty() => {
                _ = write!(text, ", then a Close with {code}");
            }
            (Some(Some((code, reason))), _) => {
                _ = write!(text, ", then a Close with {code} {reason:?}");
            }
            (None, Some(End::Finished)) => text.push_str(", then the end of TCP without a Close"),
            (None, Some(End::Broken(kind))) => {
                _ = write!(text, ", then a broken connection ({kind})");
            }
            (None, Some(End::Violated(_)) | None) => {}
        }
        if let Some(End::Violated(violation)) = &self.end {
            _ = write!(text, ", then {}", violation.what);
        }
        if let Some(heard) = &self.spoke_after_close {
            _ = write!(text, ", then {}", Shortened(&heard.to_string()));
        }
        if self.was_silent {
            text.push_str(", then silence");
        }
        text
    }
}

fn clean() -> (Verdict, &'static str) {
    (Verdict::Pass, "")
}

/// The limit that a target reports with a code, for `n_bytes` of messages. The smallest messages are within every limit.
pub(in crate::websocket) fn limit(code: u16, n_bytes: usize) -> Option<String> {
    const LARGEST_FOR_ALL: usize = 4096;
    (n_bytes > LARGEST_FOR_ALL && matches!(code, 1008 | 1009)).then(|| {
        format!(
            "closed with {code} on {n_bytes} bytes of messages: a limit of the target, as RFC 6455 §10.4 allows"
        )
    })
}

fn expected(exchange: &Exchange) -> String {
    let events = exchange.outcomes.first().map_or(&[][..], |(_, events)| events);
    let ending = match exchange.ending {
        Ending::ByTester => "an answer to the Close with 1000".to_owned(),
        Ending::Answered(codes) => format!("a Close with {}", either(codes)),
        Ending::Failed(codes) => {
            let codes: Vec<Option<u16>> = codes.iter().copied().map(Some).collect();
            format!("the end of the connection with {}", either(&codes))
        }
        Ending::Any => "anything".to_owned(),
    };
    format!("{}, then {ending}", events_told(events))
}

fn either(codes: &[Option<u16>]) -> String {
    let codes: Vec<String> = codes
        .iter()
        .map(|code| code.map_or_else(|| "no code".to_owned(), |code| code.to_string()))
        .collect();
    codes.join(" or ")
}

fn events_told(events: &[Event]) -> String {
    if events.is_empty() {
        return "nothing".to_owned();
    }
    let mut text = String::new();
    for (at, event) in events.iter().take(MOST_NAMED).enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        match event {
            Event::Heard(heard) => {
                _ = write!(text, "{}", Shortened(&heard.to_string()));
            }
            Event::Waited => text.push_str("no end of the connection yet"),
        }
    }
    if let Some(n_more @ 1..) = events.len().checked_sub(MOST_NAMED) {
        _ = write!(text, ", and {n_more} more");
    }
    text
}

/// The beginning of a text. Reason: a sentence with four messages has to stay one.
struct Shortened<'a>(&'a str);

impl std::fmt::Display for Shortened<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const MOST_BYTES: usize = 60;
        let cut = self.0.floor_char_boundary(MOST_BYTES);
        f.write_str(&self.0[..cut])?;
        f.write_str(if cut < self.0.len() { "…" } else { "" })
    }
}
