//! *When* things happen in a load run, and what is counted.
//!
//! This crate starts and stops virtual users on a schedule, keeps their metrics in fixed memory, measures its own
//! health so that a run can tell whether the generator was saturated, and samples the processes under test. Iterations
//! are behind [`vu::Vu`]; the crate knows no protocol and no script language. Reported percentiles are not computed
//! here either: `plimsoll-report` reads them from a [`histogram::Histogram`].

pub mod attempts;
pub mod causes;
pub mod cpu_clock;
pub mod executor;
pub mod generator;
pub mod histogram;
pub mod machine;
pub mod metrics;
pub mod nearest;
pub mod pacer;
pub mod parity;
pub mod plan;
pub mod preflight;
pub mod run;
pub mod segment;
pub mod threshold;
pub mod vu;
pub mod watch;
