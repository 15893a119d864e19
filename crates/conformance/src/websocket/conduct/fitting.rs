//! Holds the events of a connection against the expected ones. Messages come in their order; pongs have more freedom: of
//! several pings only the last one needs an answer (RFC 6455 §5.5.3), and an answer SHOULD, not MUST, come at once (§5.5.2).

use crate::{protocol::messages::Heard, websocket::exchange::Event};

/// How well events fit the expected ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// All events, in their order.
    Exact,
    /// Pings before the last one were not answered.
    FewerPongs,
    /// All messages and pongs, but a pong is not where it was expected.
    LatePong,
}

/// How `got` fits `expected`; `None` if it does not.
pub(super) fn fit(expected: &[Event], got: &[Event]) -> Option<Fit> {
    if expected == got {
        return Some(Fit::Exact);
    }
    let (due, came) = (pongs(expected), pongs(got));
    if !others(expected).eq(others(got)) || due.last() != came.last() || !is_within(&came, &due) {
        return None;
    }
    let got: Vec<_> = got.iter().collect();
    let is_in_order = is_within(&got, &expected.iter().collect::<Vec<_>>());
    Some(if is_in_order {
        Fit::FewerPongs
    } else {
        Fit::LatePong
    })
}

/// Whether `got` may still become `expected`.
pub(super) fn may_become(expected: &[Event], got: &[Event]) -> bool {
    let mut due = others(expected);
    others(got).all(|event| due.next() == Some(event)) && is_within(&pongs(got), &pongs(expected))
}

/// Whether everything that has to come of `expected` has come.
pub(super) fn is_there(expected: &[Event], got: &[Event]) -> bool {
    let has_last_pong = pongs(expected)
        .last()
        .is_none_or(|last| pongs(got).contains(last));
    has_last_pong && others(got).count() >= others(expected).count()
}

/// Whether `some` is `all` without some of its elements.
fn is_within<T: PartialEq>(some: &[T], all: &[T]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|one| rest.any(|other| other == one))
}

fn is_pong(event: &&Event) -> bool {
    matches!(event, Event::Heard(Heard::Pong(_)))
}

fn pongs(events: &[Event]) -> Vec<&Event> {
    events.iter().filter(is_pong).collect()
}

fn others(events: &[Event]) -> impl Iterator<Item = &Event> {
    events.iter().filter(|event| !is_pong(event))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Capitals are messages, small letters are pongs.
    fn events(text: &str) -> Vec<Event> {
        let event = |letter: char| {
            let payload = letter.to_string().into_bytes();
            Event::Heard(if letter.is_uppercase() {
                Heard::Text(payload)
            } else {
                Heard::Pong(payload)
            })
        };
        text.chars().map(event).collect()
    }

    #[test]
    fn pongs_have_some_freedom_and_messages_have_none() {
        for (expected, got, expected_fit) in [
            ("", "", Some(Fit::Exact)),
            ("aA", "aA", Some(Fit::Exact)),
            ("abc", "c", Some(Fit::FewerPongs)),
            ("abcA", "acA", Some(Fit::FewerPongs)),
            ("aA", "Aa", Some(Fit::LatePong)),
            ("aAb", "Ab", Some(Fit::FewerPongs)),
            ("abc", "ab", None),
            ("abc", "acb", None),
            ("aA", "A", None),
            ("A", "aA", None),
            ("AB", "BA", None),
            ("AB", "A", None),
            ("A", "AA", None),
        ] {
            assert_eq!(
                fit(&events(expected), &events(got)),
                expected_fit,
                "{expected} {got}"
            );
        }
    }

    #[test]
    fn waiting_ends_when_nothing_more_can_come() {
        for (expected, got, expected_may, expected_there) in [
            ("aA", "", true, false),
            ("aA", "A", true, false),
            ("abA", "bA", true, true),
            ("abA", "aA", true, false),
            ("AB", "B", false, false),
            ("A", "b", false, false),
        ] {
            let (expected, got) = (events(expected), events(got));
            assert_eq!(may_become(&expected, &got), expected_may, "{expected:?} {got:?}");
            assert_eq!(is_there(&expected, &got), expected_there, "{expected:?} {got:?}");
        }
    }
}
