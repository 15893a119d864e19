//! Conformance: suites of cases that a server or a client passes or not, and what is written of the results.
//!
//! A [`Suite`] knows its cases and how to run one; [`run()`] runs those that a [`Selection`] takes, several at a time where
//! they are independent, and never longer than a deadline. Every case ends with an [`Outcome`]: a [`Verdict`], a sentence,
//! and the log of what went over the wire.
//!
//! Nothing here shares a codec with the servers and clients under test: a defect of a shared codec would agree with itself.

mod address;
pub mod cable;
mod case;
mod clause;
mod expectation;
mod outcome;
mod pattern;
mod protocol;
mod results;
mod run;
mod selection;
mod server;
mod verdict;
pub mod websocket;
mod wire;

pub use self::{
    address::DialError,
    case::{Case, CaseId},
    clause::{Clause, Level},
    expectation::{Change, Comparison, Expectation, Expectations, Mistake, Mistakes, Verdicts},
    outcome::{Judgement, Outcome, Score},
    pattern::Pattern,
    results::{Counts, Family, ReadError, Results, Target, VERSION, matrix},
    run::{Ended, Ran, Suite, judge, run},
    selection::{NoSuchCase, Selection},
    server::{Server, UrlError},
    verdict::Verdict,
    wire::{Entry, Octets, Side, WireLog},
};
