//! Node's modules and globals, for functions that were written for Node (docs/reference/artillery.md, Functions).
//!
//! What can be written in JavaScript is: `lib` has one file per module. A module is evaluated when something first asks
//! for it, so a processor that uses none of them pays for none. The host gives the rest as `native`: bytes, digests, keys,
//! ciphers, files, the machine, time, and HTTP.

mod ciphers;
mod digests;
mod encodings;
mod exchange;
mod files;
pub(crate) mod globals;
mod keys;
pub(crate) mod library;
mod machine;
pub(crate) mod missing_names;
pub(crate) mod native;
pub(crate) mod shelf;
mod system_error;
pub(crate) mod taken;
mod waiting;
