//! The judgement on a connection, and its sentence with the expected and the actual behaviour.

use std::fmt::Write as _;

use super::Course;
use crate::{
    Judgement, Verdict,
    websocket::{
        connection::{End, Side},
        exchange::{Ending, Event, Exchange},
    },
};

/// Events that a sentence names. Reason: more are not read.
const MOST_NAMED: usize = 4;

impl Course {
    pub(super) fn judge(&self, exchange: &Exchange, side: Side) -> Judgement {
        let ending = exchange.ending;
        let verdict = self.verdict(exchange);
        let (closing, remark) = self.closing(ending, side);
        let got = self.told();
        let explanation = match verdict {
            Verdict::Fail => format!("expected {}; got {got}", expected(exchange)),
            _ if closing == Verdict::Fail => format!("expected {}; got {got}: {remark}", expected(exchange)),
            _ if remark.is_empty() => format!("got {got}"),
            _ => format!("got {got}: {remark}"),
        };
        Judgement::new(verdict, explanation).with_closing(closing)
    }

    fn verdict(&self, exchange: &Exchange) -> Verdict {
        if matches!(self.end, Some(End::Violated(_))) || self.answered_probe {
            return Verdict::Fail;
        }
        if exchange.ending == Ending::Any {
            return Verdict::Informational;
        }
        let is_silent_failure = matches!(exchange.ending, Ending::Failed(_)) && self.was_silent;
        let matching = exchange
            .outcomes
            .iter()
            .find(|(_, events)| *events == self.events);
        matching
            .filter(|_| !is_silent_failure)
            .map_or(Verdict::Fail, |(verdict, _)| *verdict)
    }

    /// The end of the connection, with a remark if it was not the best way.
    fn closing(&self, ending: Ending, side: Side) -> (Verdict, String) {
        if let Some(heard) = &self.spoke_after_close {
            return (
                Verdict::Fail,
                format!("after its Close it sent {heard} (RFC 6455 §5.5.1)"),
            );
        }
        let closing = match (ending, &self.close) {
            (Ending::Any, _) => (Verdict::Informational, String::new()),
            (Ending::Failed(_), None) if self.end.is_some() => {
                let remark = "the Close that should come first is missing (RFC 6455 §7.1.7)";
                (Verdict::NonStrict, remark.to_owned())
            }
            (Ending::Failed(codes), Some(Some((code, _)))) if codes.contains(code) => clean(),
            (Ending::Failed(_), Some(None)) => (Verdict::NonStrict, "its Close does not say why".to_owned()),
            (Ending::ByTester, Some(Some((1000, _)))) => clean(),
            (Ending::ByTester, Some(None)) => (
                Verdict::NonStrict,
                "its Close does not repeat the code".to_owned(),
            ),
            (Ending::Answered(codes), Some(close))
                if codes.contains(&close.as_ref().map(|(code, _)| *code)) =>
            {
                clean()
            }
            (_, Some(_)) => return (Verdict::Fail, "that is the wrong code".to_owned()),
            (_, None) => {
                return (
                    Verdict::Fail,
                    "the closing handshake did not complete (RFC 6455 §7.1.2)".to_owned(),
                );
            }
        };
        if self.lingers && side == Side::Client && closing.0 < Verdict::NonStrict {
            let remark = "the server should have ended TCP then (RFC 6455 §7.1.1)";
            return (Verdict::NonStrict, remark.to_owned());
        }
        closing
    }

    fn told(&self) -> String {
        let mut text = events_told(&self.events);
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
            _ = write!(text, ", then {}", violation.0);
        }
        if self.was_silent {
            text.push_str(", then silence");
        }
        text
    }
}

fn clean() -> (Verdict, String) {
    (Verdict::Pass, String::new())
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
