//! The load that the generator reached compared with the plan.

use std::{fmt::Write as _, time::Duration};

use plimsoll_load::{generator::Health, histogram::Histogram};

/// Planned and actual arrivals.
#[derive(Clone, Debug)]
pub struct Arrivals {
    /// Until the end of the run.
    pub n_due: u64,
    /// Users that began because it was their time.
    pub n_created: u64,
    /// Users that began because a phase holds a number of users and one of them had finished.
    pub n_following: u64,
    /// Turned away because a phase's `maxVusers` were active.
    pub n_skipped: u64,
    /// How late each user began.
    pub lateness: Option<Histogram>,
    /// The most users at the same moment.
    pub most_active: u32,
    /// Users that the end of the run interrupted.
    pub n_interrupted: u64,
}

/// A user later than this did not arrive in time. Reason: the timer's 1 ms and a few turns of the scheduler fit into
/// it.
const LATE: Duration = Duration::from_millis(50);

impl Arrivals {
    fn n_missing(&self) -> u64 {
        self.n_due.saturating_sub(self.n_created + self.n_skipped)
    }

    fn n_late(&self) -> u64 {
        self.lateness
            .as_ref()
            .map_or(0, |lateness| lateness.n_at_or_above(LATE))
    }

    /// The text for people, with the judgement of the generator.
    pub fn text(&self, health: &Health) -> String {
        let mut text = String::from("Generator:\n");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {} of {} users that were due arrived; at most {} were active at once",
            self.n_created, self.n_due, self.most_active
        );
        if self.n_following > 0 {
            let _ = writeln!(
                text,
                "  {} followed each other in phases that hold a number of users",
                self.n_following
            );
        }
        if self.n_skipped > 0 {
            let _ = writeln!(text, "  {} were turned away by maxVusers", self.n_skipped);
        }
        if self.n_interrupted > 0 {
            let _ = writeln!(
                text,
                "  {} were interrupted by the end of the run",
                self.n_interrupted
            );
        }
        if self.n_missing() > 0 {
            let _ = writeln!(
                text,
                "  {} never arrived: the arrival rate was not kept, so the load was lower than the file asks for",
                self.n_missing()
            );
        }
        if let Some(lateness) = self.lateness.as_ref().filter(|_| self.n_late() > 0) {
            let _ = writeln!(
                text,
                "  {} arrived {} ms or more after their moment (up to {} ms): the arrival rate was not kept",
                self.n_late(),
                LATE.as_millis(),
                lateness.max().as_millis()
            );
        }
        for sentence in health.sentences() {
            let _ = writeln!(text, "  {sentence}");
        }
        text
    }
}
