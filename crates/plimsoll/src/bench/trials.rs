//! The flags of a bench in a search (`plimsoll line bench`), which chooses the number of clients itself.

use plimsoll_load::{preflight::Memory, watch::Target};
use plimsoll_shootout::Trials;

use super::{
    args::{BroadcastArgs, ClientArgs, ConnectArgs, DEFAULT_STEP_SIZE, EchoArgs},
    detection,
    fleet::Errand,
    options::UsageError,
    typed::Typed,
};
use crate::{exit::Failure, fleet::Wanted};

/// A bench that a search tries with more and fewer clients.
#[derive(Debug)]
pub(crate) struct Searched {
    pub(crate) trials: Trials,
    /// What a fleet has to do in each trial; `None` if the clients are in this process.
    pub(crate) errand: Option<Errand>,
}

/// The trials of a workload with these flags and watched targets, on the fleet that is wanted. Without `--server-type`,
/// the server is examined.
///
/// # Errors
/// The flags ask for something impossible, or for something that a search decides; or no workload speaks the server's
/// protocol.
pub(crate) fn of_flags<A>(
    mut flags: A,
    watched: &[Target],
    wanted: Option<Wanted>,
    is_quiet: bool,
) -> Result<Searched, Failure>
where
    A: Typed<Mistake = UsageError>,
    Trials: TryFrom<A, Error = UsageError>,
{
    if wanted.is_some() {
        flags.check_fleet().map_err(|mistake| usage(&mistake))?;
    }
    detection::complete(&mut flags, is_quiet)?;
    let has_own_workers = flags.n_workers().is_some();
    let mut trials = Trials::try_from(flags).map_err(|mistake| usage(&mistake))?;
    trials
        .records()
        .check(&Memory::read())
        .map_err(|need| usage(&UsageError::Records(need.to_string())))?;
    let common = match &mut trials {
        Trials::Exchange(options) => &mut options.common,
        Trials::Connect(options) => &mut options.common,
    };
    common.watched = watched.to_vec();
    Ok(Searched {
        trials,
        errand: wanted.map(|wanted| Errand::new(wanted, has_own_workers)),
    })
}

fn usage(mistake: &UsageError) -> Failure {
    Failure::Usage(mistake.to_string())
}

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

/// Refuses the first flag that sets a value which a search chooses itself.
fn refuse_searched(clients: &ClientArgs, n_steps: usize) -> Result<(), UsageError> {
    refuse_set("--total-steps", n_steps > 0)?;
    refuse_set("--step-size", clients.step_size != DEFAULT_STEP_SIZE)?;
    refuse_set("--interactive", clients.interactive)?;
    refuse_set("--steps-delay", !clients.steps_delay.is_zero())?;
    refuse_set("--filename", clients.filename.is_some())?;
    if clients.threshold.is_empty() {
        Ok(())
    } else {
        Err(UsageError::Objective)
    }
}

fn refuse_set(flag: &'static str, is_set: bool) -> Result<(), UsageError> {
    if is_set {
        Err(UsageError::Searched(flag))
    } else {
        Ok(())
    }
}
