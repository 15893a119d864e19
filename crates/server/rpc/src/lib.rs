//! The remote application: AnyCable's RPC contract over gRPC or HTTP (docs/protocols/rpc.md), so that a Rails
//! application, or any other with an AnyCable RPC server, decides about the sessions.
//!
//! [`Remote`] implements the server's [`Application`](plimsoll_server::application::Application) seam. Behind it are
//! the translation between the seam and the contract's messages, the calls (concurrency, deadline, retries) over one of
//! two transports, and the queue of ended sessions.
//!
//! The crate must not know sessions, sockets of clients, or the process.

mod calls;
mod cause;
mod farewells;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod hosts;
mod journal;
mod limiter;
mod meter;
mod proto;
mod reachability;
mod remote;
mod request;
mod retry;
mod start_error;
mod status;
mod target;
mod tls;
mod translation;
mod transport;

pub use hosts::{Hosts, HostsError};
pub use limiter::{Bounds, Concurrency};
pub use remote::{DisconnectMode, Options, Remote};
pub use start_error::StartError;
pub use target::{BaseUrl, Target, TargetError};
pub use tls::{Trust, TrustError};
pub use transport::TransportOptions;
