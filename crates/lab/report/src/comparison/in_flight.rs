//! Whether two runs of `bench broadcast` had alike numbers of broadcasts in flight.
//!
//! In a closed loop the target's acknowledgements decide when the next broadcast is sent, so a target that acknowledges
//! early gets more load from the same settings. Latencies under different loads rank nothing. In the open model both get
//! the same load, and what is in flight is a result.

use crate::{Summary, summary::StepInFlight};

/// The largest ratio of the means of two comparable runs. Reason: half as much load again changes latencies by more than
/// comparisons look for.
const MOST: f64 = 1.5;

/// The executor of a bench in a closed loop.
const CLOSED_LOOP: &str = "steps";

/// Why two runs with the same plan cannot be compared; `None` if they can.
pub(super) fn obstacle(first: &Summary, run: &Summary) -> Option<String> {
    let is_closed = first.plan.scenarios.iter().any(|it| it.executor == CLOSED_LOOP);
    if !is_closed {
        return None;
    }
    let steps = first.in_flight.iter().zip(&run.in_flight);
    let (one, other) = steps.into_iter().find(|(one, other)| differ(one, other))?;
    let (id, first_id) = (&run.metadata.id, &first.metadata.id);
    Some(format!(
        "{id} had {:.1} broadcasts in flight on average with {} clients, {first_id} {:.1}: the targets acknowledge at \
         different times, so the same settings were different loads; compare them with --rate",
        other.mean, other.clients, one.mean
    ))
}

fn differ(one: &StepInFlight, other: &StepInFlight) -> bool {
    // Below one, nothing but pauses between broadcasts differs.
    let [one, other] = [one, other].map(|it| it.mean.max(1.0));
    one.max(other) > MOST * one.min(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::tests::made_up;

    fn run(seed: u64, executor: &str, means: &[f64]) -> Summary {
        let mut run = made_up(1.0, seed);
        run.plan.scenarios[0].executor = executor.to_owned();
        run.in_flight = means
            .iter()
            .zip(1..)
            .map(|(&mean, step)| StepInFlight {
                clients: 1000 * step,
                max: 20,
                mean,
            })
            .collect();
        run
    }

    #[test]
    fn runs_with_different_loads_rank_nothing() {
        let found =
            |executor, one: &[f64], other: &[f64]| obstacle(&run(1, executor, one), &run(2, executor, other));
        for (one, other) in [
            (&[4.0, 3.9][..], &[3.6, 2.7][..]),
            // One at a time, with longer pauses.
            (&[0.2], &[0.9]),
            // A run of an older version.
            (&[], &[9.0]),
            (&[4.0], &[4.0, 20.0]),
        ] {
            assert_eq!(found("steps", one, other), None, "{one:?} {other:?}");
        }
        assert_eq!(
            found("steps", &[4.0, 4.0], &[4.0, 19.5]).unwrap(),
            "run-2 had 19.5 broadcasts in flight on average with 2000 clients, run-1 4.0: the targets acknowledge at \
             different times, so the same settings were different loads; compare them with --rate"
        );
        assert!(found("steps", &[19.5], &[4.0]).is_some());
        assert_eq!(
            found("scheduled steps", &[4.0], &[19.5]),
            None,
            "a result of the open model"
        );
    }
}
