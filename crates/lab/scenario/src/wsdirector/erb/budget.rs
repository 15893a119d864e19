//! Limits of a template's work and memory, so that no file runs forever or fills the machine.

use super::problem::Problem;

/// The most expressions that a template may evaluate. Reason: a scenario of a million steps needs a few of them each.
const MAX_STEPS: u64 = 20_000_000;

/// The most bytes of texts and lists that a template may make in total, and so the longest result.
const MAX_BYTES: u64 = 256 << 20;

/// What a template has used.
#[derive(Debug, Default)]
pub(super) struct Budget {
    n_steps: u64,
    n_bytes: u64,
}

impl Budget {
    /// Counts the evaluation of an expression.
    pub(super) fn step(&mut self, at: usize) -> Result<(), Problem> {
        self.n_steps += 1;
        if self.n_steps > MAX_STEPS {
            return Err(Problem::new(
                at,
                format!(
                    "the template has evaluated {MAX_STEPS} expressions without an end; is this a loop without an end?"
                ),
            ));
        }
        Ok(())
    }

    /// Counts bytes before they are made.
    pub(super) fn bytes(&mut self, at: usize, n: u64) -> Result<(), Problem> {
        self.n_bytes = self.n_bytes.saturating_add(n);
        if self.n_bytes > MAX_BYTES {
            return Err(Problem::new(
                at,
                format!(
                    "the template has made more than {} MiB of texts and lists",
                    MAX_BYTES >> 20
                ),
            ));
        }
        Ok(())
    }
}
