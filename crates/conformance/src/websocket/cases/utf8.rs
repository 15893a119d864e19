//! Family 6: texts are UTF-8 (RFC 6455 §8.1, RFC 3629), wherever they are cut.

use std::time::Duration;

use super::{ECHO, List};
use crate::{
    Clause,
    protocol::{
        frame::{Frame, Masking, TEXT},
        messages::Heard,
    },
    websocket::{
        connection::Cut,
        exchange::{
            Action, Event, Exchange, INVALID_DATA, fragments, goes_on, last, message, ping, text, text_begins,
        },
    },
};

mod sequences;

const CLAUSE: Clause = Clause::must("RFC 6455 §8.1");

/// Words with characters of one to three bytes.
const VALID: &str = "Hello-µ@ßöäüàá-UTF-8!!";

/// A Greek word whose second letter has three bytes.
const WORD: &str = "κ\u{1f79}σμε";

/// A surrogate, which UTF-8 does not have (RFC 3629 §3), and text that would be right on both sides of it.
const WITH_SURROGATE: [&[u8]; 3] = [WORD.as_bytes(), b"\xED\xA0\x80", b"edited"];

/// A code point beyond the last one.
const WITH_BEYOND: [&[u8]; 3] = [WORD.as_bytes(), b"\xF4\x90\x80\x80", b"edited"];

/// The time for a target to notice bad bytes before the rest of the frame arrives. Inside a frame nothing can prove
/// that it has seen them, so only late targets wait for it.
const LATE: Duration = Duration::from_secs(2);

pub(super) fn add(list: &mut List) {
    add_empty(list);
    add_cut(list);
    add_invalid(list);
    add_fail_fast(list);
    for section in sequences::all() {
        for (number, (bytes, is_valid)) in (1..).zip(section.sequences) {
            let id = format!("6.{}.{number}", section.number);
            let shown = shortened(&bytes.escape_ascii().to_string());
            let consequence = if is_valid {
                "comes back"
            } else {
                "fails the connection"
            };
            let title = format!("{}: {shown} {consequence}", section.title);
            let clause = if is_valid {
                ECHO
            } else {
                Clause::must("RFC 6455 §8.1, RFC 3629 §3–4")
            };
            list.exchange(id, title, clause, move || {
                if is_valid {
                    Exchange::echo(TEXT, bytes.clone())
                } else {
                    Exchange::new(vec![text(bytes.clone())]).ends(INVALID_DATA)
                }
            });
        }
    }
}

fn add_empty(list: &mut List) {
    list.exchange("6.1.1", "an empty text comes back", ECHO, || {
        Exchange::echo(TEXT, Vec::new())
    });
    list.exchange(
        "6.1.2",
        "a text of three empty fragments comes back",
        ECHO,
        || Exchange::new(vec![text_begins(""), goes_on(""), last("")]).hears(vec![message(TEXT, "")]),
    );
    list.exchange(
        "6.1.3",
        "a text with an empty fragment before and behind it comes back",
        ECHO,
        || {
            Exchange::new(vec![text_begins(""), goes_on("middle"), last("")])
                .hears(vec![message(TEXT, "middle")])
        },
    );
}

fn add_cut(list: &mut List) {
    let whole = || vec![message(TEXT, VALID)];
    list.exchange("6.2.1", "a valid text comes back", ECHO, || {
        Exchange::echo(TEXT, VALID.into())
    });
    list.exchange(
        "6.2.2",
        "a valid text in two fragments, cut between characters, comes back",
        ECHO,
        move || {
            let (first, second) = VALID.split_at(VALID.len() / 2 - 1);
            Exchange::new(vec![text_begins(first), last(second)]).hears(whole())
        },
    );
    for (id, words) in [("6.2.3", VALID), ("6.2.4", WORD)] {
        let title = format!("{words:?} with one byte in each fragment comes back");
        list.exchange(id, title, ECHO, move || {
            Exchange::new(single_bytes(words.as_bytes())).hears(vec![message(TEXT, words)])
        });
    }
}

fn add_invalid(list: &mut List) {
    list.exchange(
        "6.3.1",
        "a text with a surrogate fails the connection",
        CLAUSE,
        || Exchange::new(vec![text(WITH_SURROGATE.concat())]).ends(INVALID_DATA),
    );
    list.exchange(
        "6.3.2",
        "a text with a surrogate, one byte in each fragment, fails the connection",
        CLAUSE,
        || Exchange::new(single_bytes(&WITH_SURROGATE.concat())).ends(INVALID_DATA),
    );
}

/// Bad bytes have to be noticed when they come (RFC 6455 §8.1 leaves it open; early is stricter). Between fragments a ping
/// tells: its answer proves that the target has read past the bad bytes.
fn add_fail_fast(list: &mut List) {
    for (id, parts) in [("6.4.1", WITH_BEYOND), ("6.4.2", cut_inside(WITH_BEYOND))] {
        let title = format!(
            "bad bytes ({}) in the middle fragment are noticed before the last one",
            parts[1].escape_ascii()
        );
        list.exchange(id, title, CLAUSE, move || {
            let [good, bad, rest] = parts;
            let actions = vec![
                Action::Send(vec![text_begins(good), goes_on(bad), ping("read")], Cut::Frames),
                Action::Hear(1),
                Action::Send(vec![last(rest)], Cut::Together),
            ];
            let late = vec![Event::Heard(Heard::Pong(b"read".to_vec()))];
            Exchange::of(actions).or_non_strict(late).ends(INVALID_DATA)
        });
    }
    for (id, parts) in [("6.4.3", WITH_BEYOND), ("6.4.4", cut_inside(WITH_BEYOND))] {
        let title = format!(
            "bad bytes ({}) are noticed before the frame has ended",
            parts[1].escape_ascii()
        );
        list.exchange(id, title, CLAUSE, move || {
            // The key is named because the frame goes out in two parts.
            let frame = text(parts.concat()).with_masking(Masking::Key([1, 2, 3, 4]));
            let (seen, all) = (parts[0].len() + parts[1].len(), frame.payload.len());
            let actions = vec![
                Action::SendPart(frame.clone(), 0..seen),
                Action::AwaitFailure(LATE),
                Action::SendPart(frame, seen..all),
            ];
            Exchange::of(actions)
                .or_non_strict(vec![Event::Waited])
                .ends(INVALID_DATA)
        });
    }
}

/// The bytes cut so that the first part ends inside the invalid character.
fn cut_inside([good, bad, _]: [&'static [u8]; 3]) -> [&'static [u8]; 3] {
    let (begin, _) = bad.split_at(2);
    [good, begin, b"\x80\x80edited"]
}

fn single_bytes(bytes: &[u8]) -> Vec<Frame> {
    fragments(TEXT, 0, bytes, 1)
}

/// The beginning of the text, for a title. Reason: it must fit into a line of a table.
fn shortened(text: &str) -> String {
    const MOST: usize = 48;
    match text.get(..MOST) {
        Some(beginning) if text.len() > MOST => format!("{beginning}…"),
        _ => text.to_owned(),
    }
}
