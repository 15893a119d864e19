//! What is measured in a run: names, kinds and units, each once.

use std::{collections::HashMap, fmt};

/// How samples of a metric are combined (k6's metric types).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sum that only grows.
    Counter,
    /// The latest of several values, with their minimum and maximum.
    Gauge,
    /// The share of samples that were true.
    Rate,
    /// A distribution of durations.
    Trend,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Trend => "trend",
        })
    }
}

/// What the numbers of a metric mean; decides how reports print them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contains {
    /// Plain numbers.
    #[default]
    Default,
    /// Durations.
    Time,
    /// Bytes.
    Data,
}

/// A metric as it was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name that reports print, k6's where k6 has the metric.
    pub name: String,
    /// How its samples are combined.
    pub kind: Kind,
    /// What its numbers mean.
    pub contains: Contains,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(super) usize);
    )+};
}
ids! {
    /// Handle of a counter; valid for the registry that gave it out.
    CounterId,
    /// Handle of a gauge; valid for the registry that gave it out.
    GaugeId,
    /// Handle of a rate; valid for the registry that gave it out.
    RateId,
    /// Handle of a trend; valid for the registry that gave it out.
    TrendId,
    /// Handle of a check; valid for the registry that gave it out.
    CheckId
}

/// Why a metric cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The name is not one that k6 accepts either.
    #[error(
        "`{name}` is not a metric name; expected 2 to 129 letters, digits or underscores that do not begin with \
         a digit, for example `round_trip`"
    )]
    InvalidName {
        /// The refused name.
        name: String,
    },
    /// The name stands for something else already.
    #[error("metric `{name}` is a {existing} already and cannot become a {requested}; choose another name")]
    Conflict {
        /// The name in question.
        name: String,
        /// What it stands for.
        existing: Kind,
        /// What was asked for.
        requested: Kind,
    },
}

/// All metrics and checks of a run. Grows only before the run.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    definitions: Vec<Definition>,
    /// Name → position among the definitions of the same kind, and in `definitions`.
    by_name: HashMap<String, Position>,
    checks: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Position {
    of_kind: usize,
    definition: usize,
}

impl Registry {
    /// A registry without metrics.
    pub fn new() -> Self {
        Self::default()
    }

    /// A counter of plain numbers or bytes. The same name gives the same counter.
    ///
    /// # Errors
    /// When the name is invalid or stands for another kind of metric; so also for the other kinds below.
    pub fn counter(&mut self, name: &str, contains: Contains) -> Result<CounterId, RegisterError> {
        self.register(name, Kind::Counter, contains).map(CounterId)
    }

    /// A gauge of plain numbers or bytes.
    ///
    /// # Errors
    /// As for [`Self::counter`].
    pub fn gauge(&mut self, name: &str, contains: Contains) -> Result<GaugeId, RegisterError> {
        self.register(name, Kind::Gauge, contains).map(GaugeId)
    }

    /// A rate.
    ///
    /// # Errors
    /// As for [`Self::counter`].
    pub fn rate(&mut self, name: &str) -> Result<RateId, RegisterError> {
        self.register(name, Kind::Rate, Contains::Default).map(RateId)
    }

    /// A trend of durations.
    ///
    /// # Errors
    /// As for [`Self::counter`].
    pub fn trend(&mut self, name: &str) -> Result<TrendId, RegisterError> {
        self.register(name, Kind::Trend, Contains::Time).map(TrendId)
    }

    /// A check; any text is a name, and the same text gives the same check.
    pub fn check(&mut self, name: &str) -> CheckId {
        let known = self.checks.iter().position(|known| known == name);
        CheckId(known.unwrap_or_else(|| {
            self.checks.push(name.to_owned());
            self.checks.len() - 1
        }))
    }

    /// All metrics in the order of their registration.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The names of all checks in the order of their registration.
    pub fn checks(&self) -> &[String] {
        &self.checks
    }

    pub(super) fn n_of_kind(&self, kind: Kind) -> usize {
        self.definitions
            .iter()
            .filter(|definition| definition.kind == kind)
            .count()
    }

    fn register(&mut self, name: &str, kind: Kind, contains: Contains) -> Result<usize, RegisterError> {
        if !is_valid_name(name) {
            return Err(RegisterError::InvalidName {
                name: name.to_owned(),
            });
        }
        if let Some(&position) = self.by_name.get(name) {
            return self.known(position, kind);
        }
        let position = Position {
            of_kind: self.n_of_kind(kind),
            definition: self.definitions.len(),
        };
        self.by_name.insert(name.to_owned(), position);
        self.definitions.push(Definition {
            name: name.to_owned(),
            kind,
            contains,
        });
        Ok(position.of_kind)
    }

    fn known(&self, position: Position, requested: Kind) -> Result<usize, RegisterError> {
        let definition = &self.definitions[position.definition];
        if definition.kind == requested {
            return Ok(position.of_kind);
        }
        let name = definition.name.clone();
        Err(RegisterError::Conflict {
            name,
            existing: definition.kind,
            requested,
        })
    }
}

/// k6's rule: `^[a-zA-Z_][a-zA-Z0-9_]{1,128}$`.
fn is_valid_name(name: &str) -> bool {
    (2..=129).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_metric() {
        let mut registry = Registry::new();
        let rtt = registry.trend("rtt").unwrap();
        assert_eq!(
            registry.counter("ws_sessions", Contains::Default),
            Ok(CounterId(0))
        );
        assert_eq!(registry.counter("data_sent", Contains::Data), Ok(CounterId(1)));
        assert_eq!(registry.trend("rtt"), Ok(rtt));
        assert_eq!(registry.definitions().len(), 3);
        let conflict = registry.rate("rtt").unwrap_err().to_string();
        assert_eq!(
            conflict,
            "metric `rtt` is a trend already and cannot become a rate; choose another name"
        );
    }

    #[test]
    fn names_follow_the_rule_of_k6() {
        let long = "x".repeat(129);
        let too_long = "x".repeat(130);
        for (name, valid) in [
            ("ab", true),
            ("_1", true),
            ("ws_connecting", true),
            (long.as_str(), true),
            (too_long.as_str(), false),
            ("a", false),
            ("", false),
            ("1a", false),
            ("a-b", false),
            ("größe", false),
        ] {
            assert_eq!(Registry::new().trend(name).is_ok(), valid, "{name}");
        }
    }

    #[test]
    fn checks_are_found_by_their_text() {
        let mut registry = Registry::new();
        let [first, second] = ["connected", "is it 200?"].map(|name| registry.check(name));
        assert_ne!(first, second);
        assert_eq!(registry.check("connected"), first);
        assert_eq!(registry.checks(), ["connected", "is it 200?"]);
    }
}
