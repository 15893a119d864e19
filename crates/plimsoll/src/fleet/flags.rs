//! The flags of a run on a fleet.

use std::{fs, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum, ValueHint};
use plimsoll_fleet::{FleetAddress, FleetKey, OnLoss};
use plimsoll_load::plan::parse_duration;

use crate::{exit::Failure, surroundings::Surroundings};

/// The variable with the key of a fleet.
const KEY_VARIABLE: &str = "PLIMSOLL_FLEET_KEY";

/// The most agents of one run.
const MAX_AGENTS: i64 = 1_000;

/// Where a run is carried out.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Fleet")]
pub(crate) struct FleetFlags {
    /// Run on the agents that wait at this NATS, for example nats://localhost:4222; a path names the fleet.
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    fleet: Option<FleetAddress>,
    /// How many agents share the load.
    #[arg(long, value_name = "N", requires = "fleet", value_parser = clap::value_parser!(u16).range(1..=MAX_AGENTS))]
    agents: Option<u16>,
    /// How long to wait for them.
    #[arg(long, value_name = "DURATION", requires = "fleet", default_value = "60s", value_parser = parse_duration)]
    agents_timeout: Duration,
    /// When an agent is lost: abort – the run ends; continue – the others go on. The run is incomplete in both cases.
    #[arg(long, value_enum, value_name = "POLICY", requires = "fleet", default_value_t = Policy::Abort)]
    on_agent_loss: Policy,
    #[command(flatten)]
    key: KeyFlag,
}

/// The key of a fleet.
#[derive(Clone, Debug, Args)]
pub(super) struct KeyFlag {
    /// File with the key that agents and their coordinator share. Default: the variable PLIMSOLL_FLEET_KEY.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    fleet_key: Option<PathBuf>,
}

/// What happens when an agent is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Policy {
    Abort,
    Continue,
}

/// A fleet that a run asks for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(super) address: FleetAddress,
    pub(super) n_agents: usize,
    pub(super) patience: Duration,
    pub(super) on_loss: OnLoss,
    pub(super) key: Option<FleetKey>,
    /// Whether earlier runs of this command had its agents, so that they are not told again.
    pub(super) is_known: bool,
    /// Whether its package has secrets, so that all connections must be private.
    pub(super) sends_secrets: bool,
}

impl Wanted {
    /// How many agents share the load.
    pub(crate) fn n_agents(&self) -> usize {
        self.n_agents
    }

    /// What happens when an agent is lost.
    pub(crate) fn on_loss(&self) -> OnLoss {
        self.on_loss
    }

    /// The same fleet for a run whose package has secrets.
    ///
    /// # Errors
    /// Others could read them on their way.
    pub(crate) fn with_secrets(self) -> Result<Self, Failure> {
        if !self.address.is_private() {
            return Err(Failure::Usage(format!(
                "--fleet-secrets: the connection to {} is not encrypted, so others could read the secrets; expected tls://, \
                 for example tls://user:password@host:4222",
                self.address
            )));
        }
        Ok(Self {
            sends_secrets: true,
            ..self
        })
    }

    /// The same fleet for another run of this command.
    pub(crate) fn again(self) -> Self {
        Self {
            is_known: true,
            ..self
        }
    }

    /// The key that agents and their coordinator share.
    pub(crate) fn key(&self) -> Option<&FleetKey> {
        self.key.as_ref()
    }
}

impl FleetFlags {
    /// Refuses `--on-agent-loss continue` for a reason.
    pub(crate) fn refuse_losses(&self, reason: &str) -> Result<(), Failure> {
        match self.on_agent_loss {
            Policy::Abort => Ok(()),
            Policy::Continue => Err(Failure::Usage(format!(
                "--on-agent-loss continue is for single runs: {reason}; remove it"
            ))),
        }
    }

    /// The fleet. `None`: the run stays in this process.
    ///
    /// # Errors
    /// A key that cannot be read, or an address that others can reach without one.
    pub(crate) fn wanted(&self, surroundings: &Surroundings<'_>) -> Result<Option<Wanted>, Failure> {
        let Some(address) = &self.fleet else {
            return Ok(None);
        };
        let Some(n_agents) = self.agents else {
            return Err(Failure::Usage(
                "--fleet needs the number of agents that share the load, for example --agents 3".to_owned(),
            ));
        };
        Ok(Some(Wanted {
            key: self.key.of(address, surroundings)?,
            address: address.clone(),
            n_agents: n_agents.into(),
            is_known: false,
            sends_secrets: false,
            patience: self.agents_timeout,
            on_loss: match self.on_agent_loss {
                Policy::Abort => OnLoss::Abort,
                Policy::Continue => OnLoss::Continue,
            },
        }))
    }
}

impl KeyFlag {
    /// The key for a fleet at this address.
    ///
    /// # Errors
    /// It cannot be read, or it is missing where others can reach the fleet.
    pub(super) fn of(
        &self,
        address: &FleetAddress,
        surroundings: &Surroundings<'_>,
    ) -> Result<Option<FleetKey>, Failure> {
        let text = match &self.fleet_key {
            Some(path) => Some(fs::read_to_string(path).map_err(|error| {
                Failure::Usage(format!("--fleet-key: cannot read {}: {error}", path.display()))
            })?),
            None => surroundings.variable(KEY_VARIABLE).map(str::to_owned),
        };
        let key = text.map(|text| FleetKey::new(&text)).transpose();
        let key = key.map_err(|error| Failure::Usage(error.to_string()))?;
        if address.is_loopback() {
            return Ok(key);
        }
        if !address.is_guarded() {
            return Err(Failure::Usage(format!(
                "other machines can reach {address}, and agents run the code that they are given; expected a user, a \
                 token or TLS, for example tls://user:password@host:4222"
            )));
        }
        if key.is_none() {
            return Err(Failure::Usage(format!(
                "other machines can reach {address}, and agents run the code that they are given; expected a key that \
                 all share: --fleet-key FILE or {KEY_VARIABLE}, for example from openssl rand -hex 32"
            )));
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        fleet: FleetFlags,
    }

    #[track_caller]
    fn check(arguments: &str, variables: &[(&str, &str)], expected: Result<Option<(usize, bool)>, &str>) {
        let arguments = ["plimsoll"].into_iter().chain(arguments.split_whitespace());
        let surroundings = Surroundings::of_variables(variables);
        let found = match Program::try_parse_from(arguments) {
            Ok(program) => program
                .fleet
                .wanted(&surroundings)
                .map_err(|failure| failure.message()),
            Err(error) => Err(error.to_string()),
        };
        let found = found.map(|wanted| wanted.map(|wanted| (wanted.n_agents, wanted.key.is_some())));
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
            (found, expected) => panic!("{found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn a_fleet_that_others_can_reach_is_guarded_and_has_a_key() {
        const KEY: &[(&str, &str)] = &[("PLIMSOLL_FLEET_KEY", "0123456789abcdef")];
        check("", &[], Ok(None));
        check("--fleet nats://localhost --agents 3", &[], Ok(Some((3, false))));
        check("--fleet nats://localhost --agents 3", KEY, Ok(Some((3, true))));
        check("--fleet nats://u:p@h --agents 3", KEY, Ok(Some((3, true))));
        check(
            "--fleet nats://h --agents 3",
            KEY,
            Err("expected a user, a token or TLS"),
        );
        check("--fleet tls://h --agents 3", &[], Err("expected a key"));
        check("--fleet nats://localhost", &[], Err("for example --agents 3"));
        check("--agents 3", &[], Err("--fleet"));
        check("--fleet redis://h --agents 3", &[], Err("expected nats://"));
        check("--fleet nats://h --agents 0", &[], Err("1..=1000"));
        check(
            "--fleet nats://localhost --agents 2 --fleet-key /nowhere",
            &[],
            Err("cannot read /nowhere"),
        );
        let short = &[("PLIMSOLL_FLEET_KEY", "short")][..];
        check("--fleet nats://localhost --agents 2", short, Err("at least 16"));
    }
}
