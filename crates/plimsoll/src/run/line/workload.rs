//! The load of a search: a script, or a file of another tool.

use std::time::Duration;

use plimsoll_line::report::Unit;
use plimsoll_load::{metrics::Registry, threshold::Rule};
use plimsoll_scenario::dialect::Dialect;
use plimsoll_script::Redaction;

use super::{
    super::dialect,
    Options,
    steady::shortage,
    step::{Taken, Taker},
    talk::Present,
    watched::Watched,
};
use crate::{exit::Failure, surroundings::Surroundings};

mod artillery;
mod bench;
mod script;
mod wsdirector;

pub(super) use self::bench::BenchTest;
use self::{artillery::ArtilleryTest, script::ScriptTest, wsdirector::WsdirectorTest};

/// A load test with any load.
pub(super) enum Workload {
    Script(ScriptTest),
    Artillery(ArtilleryTest),
    Wsdirector(WsdirectorTest),
    Bench(BenchTest),
}

impl Workload {
    /// Reads the load test that the flags name.
    ///
    /// # Errors
    /// As `plimsoll run` of the same file would end before it runs.
    pub(super) async fn read(
        options: &Options,
        surroundings: &Surroundings<'_>,
        redaction: &Redaction,
    ) -> Result<Self, Failure> {
        let file = &options.file;
        let named = options.dialect.as_deref();
        let is_script = dialect::is_script(file) || file.as_os_str() == "-" || named == Some("k6");
        if is_script && named.is_none_or(|named| named == "k6") {
            return Ok(Self::Script(
                ScriptTest::read(options, surroundings, redaction).await?,
            ));
        }
        Ok(match dialect::of_file(file, named, surroundings)? {
            Dialect::Artillery => Self::Artillery(ArtilleryTest::read(options, surroundings)?),
            Dialect::Wsdirector => Self::Wsdirector(WsdirectorTest::read(options, surroundings).await?),
        })
    }

    /// The unit of the load.
    pub(super) fn unit(&self) -> Unit {
        match self {
            Self::Script(test) => test.unit(),
            Self::Artillery(test) => test.unit(),
            Self::Wsdirector(_) => Unit::Scale,
            Self::Bench(_) => Unit::Clients,
        }
    }

    /// The least load that makes sense.
    pub(super) fn least_load(&self) -> u64 {
        match self {
            Self::Script(test) => test.least_load(),
            Self::Artillery(_) | Self::Wsdirector(_) | Self::Bench(_) => 1,
        }
    }

    /// All metrics that objectives can use.
    pub(super) fn registry(&self) -> &Registry {
        match self {
            Self::Script(test) => test.registry(),
            Self::Artillery(test) => test.registry(),
            Self::Wsdirector(test) => test.registry(),
            Self::Bench(test) => test.registry(),
        }
    }

    /// The thresholds of the test itself, by metric.
    pub(super) fn thresholds(&self) -> impl Iterator<Item = (&str, &[Rule])> {
        let rules = match self {
            Self::Script(test) => Some(test.thresholds()),
            Self::Artillery(_) | Self::Wsdirector(_) | Self::Bench(_) => None,
        };
        let rules = rules.into_iter().flatten();
        rules.map(|(metric, rules)| (metric.as_str(), rules.as_slice()))
    }

    /// Remarks about the result for people.
    pub(super) fn notices(&self) -> Vec<String> {
        match self {
            Self::Script(test) => test.notices(),
            Self::Artillery(test) => test.notices(),
            Self::Wsdirector(_) | Self::Bench(_) => Vec::new(),
        }
    }

    /// The reason why this machine cannot produce such a load, if it is known in advance. `n_connections` is the
    /// limit of open connections. Agents look for themselves.
    pub(super) fn shortage(&self, load: u64, n_connections: u64) -> Option<String> {
        if self.is_elsewhere() {
            return None;
        }
        let n_users = match self {
            Self::Script(_) | Self::Artillery(_) if self.unit() == Unit::Rate => return None,
            Self::Script(_) | Self::Artillery(_) => load,
            Self::Wsdirector(test) => test.n_clients(load),
            // It looks itself, also for ports.
            Self::Bench(_) => return None,
        };
        shortage(n_users, n_connections)
    }

    /// Whether a fleet makes the load.
    pub(super) fn is_elsewhere(&self) -> bool {
        match self {
            Self::Script(test) => test.is_elsewhere(),
            Self::Artillery(test) => test.is_elsewhere(),
            Self::Wsdirector(test) => test.is_elsewhere(),
            Self::Bench(test) => test.is_elsewhere(),
        }
    }

    /// Takes one step.
    ///
    /// # Errors
    /// When it cannot be done at all.
    pub(super) async fn take(
        &self,
        present: Present,
        taker: &Taker<'_>,
        watched: &mut Watched,
    ) -> Result<Taken, Failure> {
        let attempt = match self {
            Self::Script(test) => test.attempt(present.load, taker)?,
            Self::Artillery(test) => test.attempt(present.load, taker)?,
            Self::Wsdirector(test) => test.attempt(present.load).await?,
            Self::Bench(test) => return test.take(present, taker).await,
        };
        taker.take(present, attempt, watched).await
    }

    /// So long did an iteration take at the latest load.
    pub(super) fn learn(&mut self, iteration: Duration) {
        if let Self::Script(test) = self {
            test.learn(iteration);
        }
    }
}
