//! When each client is cut. Pure.

use std::time::Duration;

/// The cuts of all clients, as the user asks for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cuts {
    /// How often each client is cut.
    pub n_cuts: u32,
    /// How long it stays away.
    pub away: Duration,
    /// Whether all clients are cut at once, and not one after the other.
    pub is_herd: bool,
}

/// The cuts of all clients over time: each client is cut once in every period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timetable {
    cuts: Cuts,
    period: Duration,
    n_clients: u32,
}

/// Clients would be cut before they are back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{n_cuts} cuts in {:?} leave {period:?} for each, which is not longer than the time away of {away:?}; use fewer cuts, a \
     shorter time away, or a longer duration", period.saturating_mul(*n_cuts)
)]
pub struct TooManyCuts {
    n_cuts: u32,
    period: Duration,
    away: Duration,
}

impl Timetable {
    /// The cuts of `n_clients` clients within `duration`. Each client is back before its period ends.
    ///
    /// # Errors
    /// Clients would be cut before they are back.
    pub fn new(cuts: Cuts, duration: Duration, n_clients: usize) -> Result<Self, TooManyCuts> {
        let Cuts { n_cuts, away, .. } = cuts;
        let period = duration.checked_div(n_cuts).unwrap_or(duration);
        if n_cuts > 0 && away >= period {
            return Err(TooManyCuts { n_cuts, period, away });
        }
        Ok(Self {
            cuts,
            period,
            n_clients: u32::try_from(n_clients).unwrap_or(u32::MAX).max(1),
        })
    }

    /// What the user asked for.
    pub(crate) fn cuts(&self) -> Cuts {
        self.cuts
    }

    /// When a client is cut for the time numbered `round` (from 0), since the begin of the broadcasts.
    pub(crate) fn cut(&self, client: usize, round: u32) -> Duration {
        let room = self.period.saturating_sub(self.cuts.away);
        let within = if self.cuts.is_herd {
            room / 2
        } else {
            let client = u32::try_from(client).unwrap_or(u32::MAX) % self.n_clients;
            room.mul_f64(f64::from(client) / f64::from(self.n_clients))
        };
        self.period.saturating_mul(round) + within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    fn cuts(n_cuts: u32, away: u64, is_herd: bool) -> Cuts {
        Cuts {
            n_cuts,
            away: S(away),
            is_herd,
        }
    }

    #[test]
    fn each_client_is_cut_once_per_period_and_back_before_its_end() {
        for is_herd in [false, true] {
            let timetable = Timetable::new(cuts(3, 2, is_herd), S(30), 4).unwrap();
            let times = |client| [0, 1, 2].map(|round| timetable.cut(client, round).as_secs());
            if is_herd {
                assert_eq!(times(0), [4, 14, 24]);
                assert_eq!(times(3), times(0));
            } else {
                assert_eq!(times(0), [0, 10, 20]);
                assert_eq!(times(1), [2, 12, 22]);
                assert_eq!(times(3), [6, 16, 26]);
            }
            for (client, round) in [(0, 0), (3, 2)] {
                let back = timetable.cut(client, round) + S(2);
                assert!(back <= S(10) * (round + 1), "{client} {round}");
            }
        }
        assert!(Timetable::new(cuts(0, 60, false), S(30), 4).is_ok());
    }

    #[test]
    fn a_client_cannot_be_cut_while_it_is_away() {
        let error = Timetable::new(cuts(3, 2, false), S(6), 4).unwrap_err();
        assert_eq!(
            error.to_string(),
            "3 cuts in 6s leave 2s for each, which is not longer than the time away of 2s; use fewer cuts, a shorter time \
             away, or a longer duration"
        );
    }
}
