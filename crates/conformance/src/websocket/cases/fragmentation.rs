//! Family 5: fragments become messages, control frames come between them, and everything else is wrong (RFC 6455 §5.4).

use super::List;
use crate::{
    Clause,
    protocol::{frame::TEXT, messages::Heard},
    websocket::{
        connection::Cut,
        exchange::{Action, Exchange, PROTOCOL_ERROR, goes_on, last, message, ping, pong, text, text_begins},
    },
};

const CLAUSE: Clause = Clause::must("RFC 6455 §5.4");

/// The order of fragments binds their sender only: a receiver may drop the connection (RFC 6455 §10.7).
const ORDER: Clause = Clause::should("RFC 6455 §5.4, §10.7");

/// The three cuts of frames, with their words in titles.
const CUTS: [(Cut, &str); 3] = [
    (Cut::Together, "in one write"),
    (Cut::Frames, "frame by frame"),
    (Cut::Bytes(1), "byte by byte"),
];

pub(super) fn add(list: &mut List) {
    list.exchange(
        "5.1",
        "a fragmented ping fails the connection",
        Clause::should("RFC 6455 §5.5"),
        || Exchange::new(vec![ping("first").unfinished(), last("second")]).ends(PROTOCOL_ERROR),
    );
    list.exchange(
        "5.2",
        "a fragmented pong fails the connection",
        Clause::should("RFC 6455 §5.5"),
        || Exchange::new(vec![pong("first").unfinished(), last("second")]).ends(PROTOCOL_ERROR),
    );
    for (at, (cut, how)) in CUTS.into_iter().enumerate() {
        let title = format!("a text in two fragments, {how}, comes back");
        list.exchange(format!("5.{}", 3 + at), title, CLAUSE, move || {
            Exchange::new(vec![text_begins("first"), last("second")])
                .hears(echo("firstsecond"))
                .cut(cut)
        });
    }
    for (at, (cut, how)) in CUTS.into_iter().enumerate() {
        let title = format!("a ping between two fragments, {how}, is answered before the text comes back");
        list.exchange(format!("5.{}", 6 + at), title, CLAUSE, move || {
            let frames = vec![text_begins("first"), ping("between"), last("second")];
            let answers = vec![Heard::Pong(b"between".to_vec()), message(TEXT, "firstsecond")];
            Exchange::new(frames).hears(answers).cut(cut)
        });
    }
    for (first, end) in [(9, true), (12, false)] {
        for (at, (cut, how)) in CUTS.into_iter().enumerate() {
            let what = if end { "the end of" } else { "more of" };
            let title = format!("{what} a message that never began, {how}, fails the connection");
            list.exchange(format!("5.{}", first + at), title, ORDER, move || {
                let orphan = if end { last("orphan") } else { goes_on("orphan") };
                Exchange::new(vec![orphan, text("Hello, world!")])
                    .ends(PROTOCOL_ERROR)
                    .cut(cut)
            });
        }
    }
    add_orphans(list);
    add_long(list);
}

fn add_orphans(list: &mut List) {
    list.exchange(
        "5.15",
        "more of a message that has ended fails the connection",
        ORDER,
        || {
            let frames = vec![
                text_begins("first"),
                last("second"),
                goes_on("orphan"),
                text("Hello, world!"),
            ];
            Exchange::new(frames)
                .hears(echo("firstsecond"))
                .or_non_strict(Vec::new())
                .ends(PROTOCOL_ERROR)
        },
    );
    for (id, end) in [("5.16", false), ("5.17", true)] {
        let what = if end { "the end" } else { "more" };
        let title = format!(
            "{what} of a message that never began, before a text in two fragments, fails the connection"
        );
        list.exchange(id, title, ORDER, move || {
            let orphan = if end { last("orphan") } else { goes_on("orphan") };
            let once = [orphan, text_begins("first"), last("second")];
            Exchange::new([once.clone(), once].concat()).ends(PROTOCOL_ERROR)
        });
    }
    list.exchange(
        "5.18",
        "a second fragment with the opcode of a text fails the connection",
        ORDER,
        || Exchange::new(vec![text_begins("first"), text("second")]).ends(PROTOCOL_ERROR),
    );
}

/// A case with pings between five fragments. Each pong has to come before the tester continues, so that a target
/// which answers only between messages never gets the end of this one.
fn add_long(list: &mut List) {
    for (id, cut, how) in [
        ("5.19", Cut::Together, ""),
        ("5.20", Cut::Frames, ", frame by frame,"),
    ] {
        let title =
            format!("pings between five fragments{how} are answered at once, and the text comes back");
        list.exchange(id, title, CLAUSE, move || {
            let pong = |payload: &str| Heard::Pong(payload.as_bytes().to_vec());
            let actions = vec![
                Action::Send(vec![text_begins("one "), goes_on("two "), ping("first")], cut),
                Action::Hear(1),
                Action::Send(
                    vec![goes_on("three "), goes_on("four "), ping("second"), last("five")],
                    cut,
                ),
            ];
            Exchange::of(actions).hears(vec![
                pong("first"),
                pong("second"),
                message(TEXT, "one two three four five"),
            ])
        });
    }
}

fn echo(payload: &str) -> Vec<Heard> {
    vec![message(TEXT, payload)]
}
