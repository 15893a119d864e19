//! The workloads of websocket-bench (docs/protocols/websocket-bench.md): `broadcast`, `echo` and `connect`, natively and
//! without a script.
//!
//! The closed loop and the JSON are websocket-bench's, so that its users can compare.
//! What it cannot say is added: an open model, the time to the last delivery and per listener, exact counts of lost, duplicated and
//! reordered messages, connect times from before the TCP connect, the cost to the server, and whether the
//! generator itself was the limit.
//!
//! The workload [`recover`] is our own: clients that are cut and come back.
//!
//! And the workload of ab, in [`http`], which runs in its own way because it has no deliveries to account for.
//!
//! From the outside in: a [`Bench`] has checked options. A coordinator runs it ([`exchange`], [`connect`]), which gives
//! orders to a `fleet` of one `worker` per core; `staff` is the way to them. Each worker carries its clients and keeps a `ledger` of what they got. An
//! [`outcome::Outcome`] comes out, and `output` writes it. The command line, signals and keys are the caller's: they come in
//! as options, as [`Company`] and as a [`GoAhead`].

pub mod agent;
pub mod connect;
pub mod exchange;
mod execute;
mod fleet;
pub mod http;
mod in_flight;
mod interrupt;
mod journal;
mod ledger;
mod limit;
mod measures;
mod meter;
mod onlooker;
mod options;
pub mod outcome;
mod output;
mod pause;
mod ramp;
mod rate;
mod records;
pub mod recover;
pub mod remote;
mod run;
mod samples;
mod sampling;
mod server_type;
mod sink;
mod staff;
mod talk;
mod trial;
mod window;
mod wire;
mod worker;

pub use self::{
    execute::{Bench, Company, Error, Finished, Format, Results, Streams, Verdict},
    in_flight::InFlight,
    interrupt::Interrupt,
    limit::Limit,
    meter::{Period, Watched},
    onlooker::{Onlooker, SoFar},
    options::{Common, Connect, Exchange, Model, Pacing, Schedule, Steps, Waits},
    pause::{BetweenSteps, GoAhead},
    rate::Rate,
    run::RunError,
    samples::Rtt,
    server_type::{ServerType, ServerTypeError},
    sink::{Progress, Readings, Sink},
    talk::Columns,
    trial::{Load, Trial, Trials},
    wire::Command,
};

#[cfg(test)]
mod end_to_end;
