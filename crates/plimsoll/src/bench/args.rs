//! The flags of the benches: websocket-bench's, and ab's for HTTP, under their names.
//!
//! Every subcommand has its own struct with its own defaults. In websocket-bench they share one, so that the
//! subcommand registered last decides the defaults of all (`echo` takes 20 samples where its help says 10000);
//! here the documented defaults hold. Flags that websocket-bench has and this tool has not are refused by name.

mod broadcast;
mod clients;
mod connect;
mod counts;
mod delay;
mod echo;
mod http;
mod recover;

pub(super) use self::clients::{ClientArgs, DEFAULT_STEP_SIZE};
pub(crate) use self::{
    broadcast::BroadcastArgs, connect::ConnectArgs, echo::EchoArgs, http::HttpArgs, recover::RecoverArgs,
};

#[cfg(test)]
pub(crate) use self::http::ABSENT as ABSENT_AB_FLAGS;

#[cfg(test)]
mod tests;
