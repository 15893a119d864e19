//! What the flags of a bench mean for a search (`plimsoll line bench`), which decides about the clients itself.

use plimsoll_shootout::Trials;

use super::{
    args::{BroadcastArgs, ClientArgs, ConnectArgs, DEFAULT_STEP_SIZE, EchoArgs},
    options::UsageError,
};

impl TryFrom<BroadcastArgs> for Trials {
    type Error = UsageError;

    fn try_from(args: BroadcastArgs) -> Result<Self, UsageError> {
        refuse_searched(&args.clients, args.total_steps)?;
        refuse_set("--initial-clients", args.initial_clients > 0)?;
        Ok(Self::Exchange(Box::new(args.try_into()?)))
    }
}

impl TryFrom<EchoArgs> for Trials {
    type Error = UsageError;

    fn try_from(args: EchoArgs) -> Result<Self, UsageError> {
        refuse_searched(&args.clients, args.total_steps)?;
        Ok(Self::Exchange(Box::new(args.try_into()?)))
    }
}

impl TryFrom<ConnectArgs> for Trials {
    type Error = UsageError;

    fn try_from(args: ConnectArgs) -> Result<Self, UsageError> {
        refuse_searched(&args.clients, args.total_steps)?;
        Ok(Self::Connect(Box::new(args.try_into()?)))
    }
}

/// Names the first flag that says what a search decides.
fn refuse_searched(clients: &ClientArgs, n_steps: usize) -> Result<(), UsageError> {
    refuse_set("--total-steps", n_steps > 0)?;
    refuse_set("--step-size", clients.step_size != DEFAULT_STEP_SIZE)?;
    refuse_set("--interactive", clients.interactive)?;
    refuse_set("--steps-delay", !clients.steps_delay.is_zero())?;
    refuse_set("--filename", clients.filename.is_some())
}

fn refuse_set(flag: &'static str, is_set: bool) -> Result<(), UsageError> {
    match is_set {
        true => Err(UsageError::Searched(flag)),
        false => Ok(()),
    }
}
