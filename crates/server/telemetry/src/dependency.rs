//! The dependencies of the server: whether each is up, and since when.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// One part of a dependency, such as one of several connections to Redis. It is *down* until set otherwise. A clone is
/// the same part.
#[derive(Debug, Clone)]
pub struct Dependency(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// Why it is down; `None` while it is up.
    reason: Option<String>,
    since: Instant,
}

/// The current state of a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyStatus {
    /// The name of the dependency.
    pub name: &'static str,
    /// Why it is down; `None` while it is up.
    pub down_because: Option<String>,
    /// How long it has been up, or down.
    pub since: Duration,
}

impl Dependency {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            reason: Some("not connected yet".to_owned()),
            since: Instant::now(),
        })))
    }

    /// Sets the part to up.
    pub fn up(&self) {
        let mut state = self.state();
        if state.reason.take().is_some() {
            state.since = Instant::now();
        }
    }

    /// Sets the part to down. The reason is a lowercase fragment without a full stop, for example `connection refused`.
    /// A second call changes the reason, not the time.
    pub fn down(&self, reason: impl Into<String>) {
        let mut state = self.state();
        if state.reason.replace(reason.into()).is_none() {
            state.since = Instant::now();
        }
    }

    pub(crate) fn status(&self, name: &'static str) -> DependencyStatus {
        let state = self.state();
        DependencyStatus {
            name,
            down_because: state.reason.clone(),
            since: state.since.elapsed(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code between the two writes can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DependencyStatus {
    /// Whether the part is up.
    pub fn is_up(&self) -> bool {
        self.down_because.is_none()
    }

    /// The state of the whole when `other` is another part: up if both are. If both are down, the one that has been
    /// down longer gives the reason.
    pub(crate) fn join(self, other: Self) -> Self {
        match (self.is_up(), other.is_up()) {
            (true, false) => other,
            (false, true) => self,
            // The whole is up since its last part came up.
            (true, true) if other.since < self.since => other,
            (false, false) if other.since > self.since => other,
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(down_because: Option<&str>, since_secs: u64) -> DependencyStatus {
        DependencyStatus {
            name: "redis",
            down_because: down_because.map(str::to_owned),
            since: Duration::from_secs(since_secs),
        }
    }

    #[test]
    fn is_down_until_told_otherwise() {
        let dependency = Dependency::new();
        let reason = || dependency.status("redis").down_because;
        assert_eq!(reason().as_deref(), Some("not connected yet"));
        dependency.up();
        assert_eq!(reason(), None);
        dependency.down("connection refused");
        assert_eq!(reason().as_deref(), Some("connection refused"));
    }

    #[test]
    fn only_a_change_begins_a_new_time() {
        const LONG: Duration = Duration::from_secs(3600);
        let up = |dependency: &Dependency| dependency.up();
        let down = |dependency: &Dependency| dependency.down("gone");
        for (first, then, begins) in [
            (up as fn(&Dependency), up as fn(&Dependency), false),
            (up, down, true),
            (down, up, true),
            (down, down, false),
        ] {
            let dependency = Dependency::new();
            first(&dependency);
            dependency.state().since -= LONG;
            then(&dependency);
            assert_eq!(dependency.status("redis").since < LONG, begins);
        }
    }

    #[test]
    fn the_whole_is_up_when_all_parts_are() {
        let (up_1, up_2) = (status(None, 1), status(None, 2));
        let (down_3, down_4) = (status(Some("gone"), 3), status(Some("refused"), 4));
        let also_down_3 = status(Some("refused"), 3);
        for (one, other, expected) in [
            (&up_1, &up_2, &up_1),
            (&up_2, &up_1, &up_1),
            (&up_1, &down_3, &down_3),
            (&down_3, &up_1, &down_3),
            (&down_3, &down_4, &down_4),
            (&down_4, &down_3, &down_4),
            (&down_3, &also_down_3, &down_3),
            (&also_down_3, &down_3, &also_down_3),
        ] {
            assert_eq!(
                &one.clone().join(other.clone()),
                expected,
                "{one:?} and {other:?}"
            );
            let is_up = one.is_up() && other.is_up();
            assert_eq!(expected.is_up(), is_up);
        }
    }
}
