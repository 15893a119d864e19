//! One run from several machines: a coordinator hands out the parts of a run over NATS, agents carry them out, and what
//! they tell is merged into one result.
//!
//! The messages are described in docs/protocols/fleet.md. Each is an idempotent request, or it is kept by its sender until
//! the receiver has confirmed it, so a NATS server without storage is enough, and its restart loses nothing.

mod address;
mod agent;
mod clock;
mod comparison;
mod crew;
mod duty;
mod engine;
mod error;
mod exchange;
mod gate;
mod key;
mod link;
mod message;
mod observer;
mod observers;
mod parcel;
mod part;
mod post;
mod recruit;
mod samples;
mod silence;

pub use self::{
    address::{AddressError, FleetAddress},
    agent::{Agent, Task, Workshop},
    clock::{Clock, Timepiece},
    crew::{Clocks, Crew, Director, Event, Member},
    duty::Duty,
    engine::{AgentAccount, ConductError, Mission, OnLoss, Outcome, conduct},
    error::FleetError,
    key::{FleetKey, KeyError},
    link::Link,
    message::{PROTOCOL, Profile, Told},
    observer::Observer,
    observers::Observers,
    parcel::MAX_BYTES as MAX_PACKAGE_BYTES,
    part::{WHOLE, take_part},
    recruit::{Recruited, Terms, profiles, recruit},
    silence::Silence,
};
