//! All cases, family by family. Numbers 1–13 are those of Autobahn's test suite, written from the RFCs; families with
//! letters are our own.

use std::{borrow::Cow, fmt};

use super::{connection::Side, exchange::Exchange, series::Series};
use crate::{Case, CaseId, Clause};

mod closing;
mod compression;
mod deflate;
mod fragmentation;
mod framing;
mod limits;
mod pings;
pub(super) mod replies;
pub(super) mod requests;
mod reserved;
mod rules;
mod utf8;

/// A case and its script.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) case: Case,
    pub(super) script: Script,
}

/// The script of a case.
pub(super) enum Script {
    /// A conversation; made when it is needed, because some have 16 MiB.
    Exchange(Box<dyn Fn() -> Exchange>),
    /// An exchange on a connection with permessage-deflate.
    Compressed {
        /// Messages that the tester sends refer to those before them, which has to be agreed on.
        needs_takeover: bool,
        make: Box<dyn Fn() -> Exchange>,
    },
    /// Many messages, one after the other.
    Series(Series),
    /// A request to open a WebSocket; servers only.
    Request(requests::Asked),
    /// An answer to such a request; clients only.
    Reply(replies::Replied),
}

/// The names of the families.
pub(super) const FAMILIES: &[(&str, &str)] = &[
    ("1", "Framing"),
    ("2", "Pings and pongs"),
    ("3", "Reserved bits"),
    ("4", "Opcodes"),
    ("5", "Fragmentation"),
    ("6", "UTF-8"),
    ("7", "Closing"),
    ("9", "Limits and timing"),
    ("10", "Fragmented by the sender"),
    ("12", "Compression: payloads"),
    ("13", "Compression: parameters"),
    ("d", "Compression: rules"),
    ("f", "Framing: rules"),
    ("h", "Handshake: requests to servers"),
    ("r", "Handshake: replies to clients"),
];

/// The clause of messages that come back: incoming data MUST be parsed as frames and become messages, and a message is sent
/// with the opcode of its kind.
const ECHO: Clause = Clause::must("RFC 6455 §6.1, §6.2");

/// All cases for a server (`Side::Client`: the tester is the client) or for a client, in the order of their ids.
/// `n_messages` is the number of messages in each case of families 12 and 13.
pub(super) fn all(side: Side, n_messages: usize) -> Vec<Planned> {
    let mut list = List(Vec::new());
    framing::add(&mut list);
    pings::add(&mut list);
    reserved::add(&mut list);
    fragmentation::add(&mut list);
    utf8::add(&mut list);
    closing::add(&mut list);
    limits::add(&mut list);
    compression::add(&mut list, side, n_messages);
    deflate::add(&mut list);
    rules::add(&mut list);
    match side {
        Side::Client => requests::add(&mut list),
        Side::Server => replies::add(&mut list),
    }
    list.0
}

/// Cases so far.
pub(super) struct List(Vec<Planned>);

impl List {
    fn add(
        &mut self,
        id: impl Into<Cow<'static, str>>,
        title: impl Into<Cow<'static, str>>,
        clause: Clause,
        script: Script,
    ) {
        let case = Case {
            id: CaseId::new(id),
            title: title.into(),
            clause,
        };
        self.0.push(Planned { case, script });
    }

    /// A case that is a conversation.
    fn exchange(
        &mut self,
        id: impl Into<Cow<'static, str>>,
        title: impl Into<Cow<'static, str>>,
        clause: Clause,
        make: impl Fn() -> Exchange + 'static,
    ) {
        self.add(id, title, clause, Script::Exchange(Box::new(make)));
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exchange(_) => "Exchange",
            Self::Compressed { .. } => "Compressed",
            Self::Series(_) => "Series",
            Self::Request(_) => "Request",
            Self::Reply(_) => "Reply",
        })
    }
}

#[cfg(test)]
mod tests;
