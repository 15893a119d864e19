//! Why clients failed, for people: equal failures of many clients are reported once.

use std::{
    borrow::Cow,
    fmt,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::document::Place;

/// The most different failures that are reported in full. Reason: people do not read more, and servers' messages must
/// not fill memory.
const MOST_TOLD: usize = 100;

/// The name of the step at which clients fail because others have failed.
const WAIT_ALL: &str = "wait_all";

/// A failed step, with the expected and the actual message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The group of the clients.
    pub group: String,
    /// The first client that failed so, from 1 within its group.
    pub client: u32,
    /// How many clients failed in this way.
    pub n_clients: u32,
    /// The step: `receive`, or `connect`.
    pub step: Cow<'static, str>,
    /// The position of the step, `file:line:column`, and the path of keys. Empty for `connect`.
    pub place: String,
    /// What was expected.
    pub expected: String,
    /// What came instead.
    pub got: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Action failed: #{}", self.step)?;
        writeln!(f, "   -- expected: {}", self.expected)?;
        writeln!(f, "   ++ got: {}", self.got)?;
        write!(f, "   client {} of group {}", self.client, self.group)?;
        match self.n_clients {
            1 => {}
            2 => f.write_str(", and another one of it")?,
            n => write!(f, ", and {} more of it", n - 1)?,
        }
        if self.place.is_empty() {
            Ok(())
        } else {
            write!(f, "; {}", self.place)
        }
    }
}

/// The failure of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unmet {
    pub(super) expected: String,
    pub(super) got: String,
}

/// The failed client and step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed<'a> {
    pub(super) group: &'a str,
    pub(super) client: u32,
    pub(super) step: &'static str,
    /// The file, the place in it, and the path of keys; `None` while connecting.
    pub(super) place: Option<(&'a str, Place, &'a str)>,
}

/// The failures of all clients of a run.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    failures: Vec<Failure>,
    n_further: u64,
}

impl Failures {
    /// Adds a failed client.
    pub(super) fn add(&self, failed: Failed<'_>, unmet: Unmet) {
        let place = failed.place.map_or_else(String::new, |(file, place, path)| {
            format!("{file}:{place}, {path}")
        });
        self.merge(Failure {
            group: failed.group.to_owned(),
            client: failed.client,
            n_clients: 1,
            step: failed.step.into(),
            place,
            expected: unmet.expected,
            got: unmet.got,
        });
    }

    /// Adds clients that failed in the same way.
    pub(super) fn merge(&self, failure: Failure) {
        // Nothing panics while it is held, and each change leaves it whole.
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = told.failures.len() < MOST_TOLD;
        let same = told.failures.iter_mut().find(|known| {
            (&known.group, &known.step, &known.place) == (&failure.group, &failure.step, &failure.place)
                && (&known.expected, &known.got) == (&failure.expected, &failure.got)
        });
        match same {
            Some(known) => {
                known.n_clients = known.n_clients.saturating_add(failure.n_clients);
                known.client = known.client.min(failure.client);
            }
            None if has_room => told.failures.push(failure),
            None => told.n_further = told.n_further.saturating_add(failure.n_clients.into()),
        }
    }

    /// Adds clients that failed in further ways.
    pub(super) fn add_further(&self, n: u64) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.n_further = told.n_further.saturating_add(n);
    }

    /// All failures, and how many clients failed in further ways. Those at a barrier, which the failures of other
    /// clients cause, come last: an agent may tell them before the agent of the cause tells the cause.
    pub(super) fn list(&self) -> (Vec<Failure>, u64) {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut failures = told.failures.clone();
        failures.sort_by_key(|failure| failure.step == WAIT_ALL);
        (failures, told.n_further)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn unmet(got: &str) -> Unmet {
        Unmet {
            expected: "{\"n\":1}".to_owned(),
            got: got.to_owned(),
        }
    }

    #[test]
    fn the_same_failure_is_told_once() {
        let failures = Failures::default();
        let place = Place {
            file: 0,
            line: 12,
            column: 7,
        };
        let failed = |client| Failed {
            group: "listener",
            client,
            step: "receive",
            place: Some(("chat.yml", place, "[1].client.actions[2].receive")),
        };
        failures.add(failed(5), unmet("nothing"));
        failures.add(failed(2), unmet("nothing"));
        failures.add(failed(3), unmet("{\"n\":2}"));
        failures.add(
            Failed {
                place: None,
                step: "connect",
                ..failed(4)
            },
            unmet("nothing"),
        );
        failures.add(failed(9), unmet("nothing"));
        let (list, n_further) = failures.list();
        assert_eq!(n_further, 0);
        let told: Vec<_> = list.iter().map(ToString::to_string).collect();
        expect![[r#"
            Action failed: #receive
               -- expected: {"n":1}
               ++ got: nothing
               client 2 of group listener, and 2 more of it; chat.yml:12:7, [1].client.actions[2].receive
            Action failed: #receive
               -- expected: {"n":1}
               ++ got: {"n":2}
               client 3 of group listener; chat.yml:12:7, [1].client.actions[2].receive
            Action failed: #connect
               -- expected: {"n":1}
               ++ got: nothing
               client 4 of group listener"#]]
        .assert_eq(&told.join("\n"));
    }

    #[test]
    fn a_cause_is_told_before_its_consequences() {
        let failures = Failures::default();
        for (client, step) in [(1, WAIT_ALL), (2, "receive"), (3, "connect")] {
            let failed = Failed {
                group: "default",
                client,
                step,
                place: None,
            };
            failures.add(failed, unmet("nothing"));
        }
        let steps: Vec<_> = failures
            .list()
            .0
            .into_iter()
            .map(|failure| failure.step)
            .collect();
        assert_eq!(steps, ["receive", "connect", WAIT_ALL]);
    }

    #[test]
    fn many_different_failures_are_counted() {
        let failures = Failures::default();
        for client in 1..=250 {
            let failed = Failed {
                group: "default",
                client,
                step: "connect",
                place: None,
            };
            failures.add(failed, unmet(&client.to_string()));
        }
        let (list, n_further) = failures.list();
        assert_eq!((list.len(), n_further), (MOST_TOLD, 150));
    }
}
