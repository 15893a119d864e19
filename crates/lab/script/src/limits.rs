//! Limits of the memory and the computing time of a script.

use std::time::Duration;

/// The limits of one script. [`Default`] gives the limits that ship; a test that has to reach one lowers it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The largest heap of one virtual user, in bytes. Reason: a script that builds a gigabyte is a mistake, and ten
    /// thousand virtual users share the machine.
    pub(crate) heap_bytes: usize,
    /// The longest time for which functions of a processor may compute without waiting. Reason: all other users of
    /// the thread wait in the meantime. A function that takes longer is an endless loop.
    pub(crate) computing: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            heap_bytes: 1 << 30,
            computing: Duration::from_secs(5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_that_ship() {
        let Limits {
            heap_bytes,
            computing,
        } = Limits::default();
        assert_eq!((heap_bytes, computing.as_secs()), (1 << 30, 5));
    }
}
