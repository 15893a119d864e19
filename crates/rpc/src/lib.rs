//! The remote application: AnyCable's RPC contract over gRPC (spec §3), so that a Rails application, or any other
//! with an AnyCable RPC server, decides about the sessions.
//!
//! [`Remote`] takes the server's [`Application`](plimsoll_server::application::Application) seam. Behind it are the
//! translation between the seam and the contract's messages, the calls (concurrency, deadline, retries), and the
//! queue of sessions that have ended.
//!
//! The crate must not know sessions, sockets of clients, or the process.

mod calls;
mod farewells;
mod hosts;
mod proto;
mod remote;
mod retry;
mod translation;

pub use hosts::{Hosts, HostsError};
pub use remote::{DisconnectMode, Options, Remote};
