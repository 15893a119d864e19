//! Examines a running server: its kind, and what a client must know to connect to it.
//!
//! [`examine`] opens a few connections, at most [`MAX_CONNECTIONS`] and one after the other, and returns [`Findings`].
//! [`recognize`] opens one, for commands that only need the kind.
//! [`greeting`] and [`refusal`] conclude from what the server said, without a socket. [`script`] writes a load test for
//! the server that was found.

mod caller;
mod examine;
mod findings;
mod greeting;
mod meeting;
mod refusal;
pub mod script;

pub use self::{
    caller::{MAX_CONNECTIONS, Question},
    examine::{Approach, examine, recognize},
    findings::{
        Authentication, Findings, Handshake, Kind, Origins, Ping, PingSource, Problem, SubProtocols,
        TlsFinding, Verdict,
    },
};
