//! A run by load: the loads that it held, its figures at rising loads, and where the target began to slow down.
//!
//! A *plateau* is a time in which the load stayed the same (within 1 %) for at least two seconds and a fiftieth of the
//! run, or for a minute, or for half of a short run. A *band* is the part of a run
//! with loads in a range. The figures of both come from their own samples: none is an average of percentiles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod bands;
mod basis;
mod knee;
mod level;
mod memory;
mod plateaus;
mod portion;
mod usage;

pub(crate) use self::{basis::Basis, memory::per_user};
pub use self::{
    knee::Knee,
    level::{Level, Usage},
    memory::PerUser,
};

/// A run by load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ByLoad {
    /// What the load is.
    pub unit: LoadUnit,
    /// The name of the trend whose figures the levels have. `None` without a trend.
    pub latency: Option<String>,
    /// The loads that were held, in the order of time; at most 50, the longest ones.
    pub plateaus: Vec<Level>,
    /// The run at rising loads: its plateaus if they are most of it, or else bands of loads. Empty for a run with one
    /// load.
    pub curve: Vec<Level>,
    /// Whether [`Self::curve`] has plateaus, not bands.
    pub curve_is_held: bool,
    /// Where the 95th percentile of [`Self::latency`] begins to rise clearly faster. `None` if nowhere.
    pub knee: Option<Knee>,
}

/// What a load is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadUnit {
    /// Virtual users that are active at the same moment.
    #[default]
    Users,
    /// Iterations that are to start per second.
    IterationsPerSecond,
}

/// The most plateaus that are listed. Reason: more than a chart shows apart; a bench has as many steps.
const MOST_PLATEAUS: usize = 50;

impl ByLoad {
    /// The levels of a run. `steps` are its plateaus, if the workload knows them: the steps of a bench.
    pub(crate) fn of(basis: &Basis<'_>, steps: Vec<Level>) -> Self {
        let mut plateaus = if steps.is_empty() {
            let held = plateaus::find(basis.legs, basis.seconds);
            held.iter().map(|portion| portion.level(basis)).collect()
        } else {
            steps
        };
        while plateaus.len() > MOST_PLATEAUS {
            let shortest = |(_, one): &(usize, &Level), (_, other): &(usize, &Level)| {
                one.seconds.total_cmp(&other.seconds)
            };
            let Some((at, _)) = plateaus.iter().enumerate().min_by(shortest) else {
                break;
            };
            plateaus.remove(at);
        }
        let curve_is_held = plateaus::are_a_curve(&plateaus, basis.seconds);
        let curve = if curve_is_held {
            let mut curve = plateaus.clone();
            curve.sort_by(|one, other| one.mean.total_cmp(&other.mean));
            curve
        } else {
            let bands = bands::cut(basis.legs);
            bands.iter().map(|portion| portion.level(basis)).collect()
        };
        Self {
            unit: if basis.legs.are_of_rates() {
                LoadUnit::IterationsPerSecond
            } else {
                LoadUnit::Users
            },
            latency: basis.latency.map(str::to_owned),
            knee: knee::find(&curve),
            plateaus,
            curve,
            curve_is_held,
        }
    }

    /// The highest load that was held; of equal ones, the longest.
    pub(crate) fn held(&self) -> Option<&Level> {
        self.plateaus.iter().max_by(|one, other| {
            one.least
                .total_cmp(&other.least)
                .then(one.seconds.total_cmp(&other.seconds))
        })
    }

    /// The band with the highest loads. `None` if the curve has no bands.
    pub(crate) fn highest_band(&self) -> Option<&Level> {
        self.curve.last().filter(|_| !self.curve_is_held)
    }
}

#[cfg(test)]
mod tests;
