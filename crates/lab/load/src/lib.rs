//! *When* things happen in a load run, and what is counted.
//!
//! This crate starts and stops virtual users on a schedule, keeps their metrics in fixed memory, measures
//! its own health so that a run can tell whether the generator was the limit, and samples the processes
//! under test. What an iteration does is behind [`vu::Vu`]; no protocol and no script language is known here.
//! Percentiles that are reported are not made here either: `plimsoll-report` reads them from a
//! [`histogram::Histogram`].

pub mod causes;
pub mod cpu_clock;
pub mod executor;
pub mod generator;
pub mod histogram;
pub mod machine;
pub mod metrics;
pub mod nearest;
pub mod pacer;
pub mod plan;
pub mod preflight;
pub mod run;
pub mod threshold;
pub mod vu;
pub mod watch;
