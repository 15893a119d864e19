//! Scripts as virtual users: a QuickJS host with k6's modules (k6 spec §2).
//!
//! This crate knows what an iteration of a script does, and nothing of executors, worker threads or reports.

pub mod source;
