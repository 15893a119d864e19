//! The workloads of websocket-bench (docs/protocols/websocket-bench.md): `broadcast`, `echo` and `connect`, natively and
//! without a script.
//!
//! The closed loop, the flags, the result line and the JSON are websocket-bench's, so that its users can compare.
//! What it cannot say is added: time to the last delivery and per listener, exact counts of lost, duplicated and
//! reordered messages, connect times from before the TCP connect, the cost to the server, and whether the
//! generator itself was the limit.
//!
//! And the workload of ab, in [`http`], which runs in its own way because it has no deliveries to account for.
//!
//! From the outside in: [`Bench`] is what the user typed, `options` what it means. [`Prepared`] runs it on a
//! coordinator ([`exchange`], [`connect`]), which gives orders to a `fleet` of one `worker` per core. Each worker
//! carries its clients and keeps a `ledger` of what they got. An [`outcome::Outcome`] comes out, and `output` writes it.

mod args;
mod causes;
pub mod connect;
pub mod exchange;
mod execute;
mod fleet;
pub mod http;
mod interrupt;
mod journal;
mod ledger;
mod measures;
mod meter;
mod onlooker;
mod options;
pub mod outcome;
mod output;
mod pause;
mod ramp;
mod run;
mod samples;
mod sampling;
mod server_type;
mod sink;
mod talk;
mod trial;
mod watching;
mod window;
mod wire;
mod worker;

pub use self::{
    args::{Bench, BroadcastArgs, CommonArgs, ConnectArgs, EchoArgs, HttpArgs},
    causes::Causes,
    execute::{Error, Finished, Prepared, Streams, Verdict},
    interrupt::Interrupt,
    meter::{Period, Watched},
    onlooker::{Audience, Onlooker, SoFar},
    options::{Connect, Exchange, UsageError},
    run::RunError,
    samples::Rtt,
    server_type::{ServerType, ServerTypeError},
    sink::{Progress, Readings, Sink},
    talk::Columns,
    trial::{Trial, Trials},
    watching::WatchArgs,
};

#[cfg(test)]
mod end_to_end;
