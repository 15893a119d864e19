//! Scripts as virtual users: a QuickJS host with k6's modules (docs/reference/k6-compat.md).
//!
//! This crate knows what an iteration of a script does, and nothing of executors, worker threads or reports.

mod arguments;
mod bytes;
mod calling;
mod connector;
mod context_data;
mod coroutine;
mod digests;
mod error;
mod events;
#[expect(
    clippy::needless_pass_by_value,
    reason = "the library hands functions of scripts their arguments as values"
)]
mod globals;
mod heap;
mod host;
mod imported_names;
mod inspect;
mod interface;
mod interlude;
mod language;
mod limits;
mod loading;
mod members;
mod metrics;
#[expect(
    clippy::needless_pass_by_value,
    reason = "the library hands functions of scripts their arguments as values"
)]
pub mod modules;
mod names;
mod native_memory;
mod network;
#[expect(
    clippy::needless_pass_by_value,
    reason = "the library hands functions of scripts their arguments as values"
)]
mod node;
mod or_null;
mod own_options;
mod plain_data;
mod processor;
mod program;
mod promises;
mod protobuf;
mod recorders;
mod rejections;
mod review;
mod script;
mod secrets;
mod setup_data;
pub mod source;
mod source_module;
mod tags;
mod task;
mod vm;
mod waiter;
mod wanted_exports;
mod webcrypto;
mod websocket;

pub use self::{
    error::ScriptError,
    interface::{Interface, Members},
    modules::PageSelector,
    network::check_options,
    node::library::names as node_modules,
    processor::{PROCESSOR_MODULES, PackedProcessor, Processor},
    program::{Options, Program},
    review::{Finding, Review},
    script::{Script, Stages, Users},
    secrets::{
        KeptSecrets, LaterSecret, Redaction, SecretServer, SecretServerSettings, SecretSource, Secrets,
        SecretsError, WaitForSecret,
    },
    source_module::SourceModule,
    task::Files,
};

#[cfg(test)]
mod tests;
