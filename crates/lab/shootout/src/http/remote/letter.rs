//! What a coordinator and its agents say to each other. Times are nanoseconds.

use std::time::Duration;

use plimsoll_load::generator::{Evidence, Glance};
use serde::{Deserialize, Serialize};

use crate::http::{document::Document, tally::Tally};

/// An order to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Letter {
    /// The run starts at this time of the agent's clock.
    Begin(u64),
    /// The length of the body of the first response of all agents, in bytes.
    Length(u64),
    /// Start no further requests. True: abandon those in progress.
    Stop(bool),
}

/// What an agent tells.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Account {
    /// The number of requests of the warm-up so far.
    WarmingUp(u64),
    /// Its first response.
    First(Document),
    /// A failure has ended its part, for this reason.
    Trouble(String),
    /// Requests that have ended.
    Counted(Box<Counted>),
    /// The generator since the last time.
    Glanced(Glance),
    /// Its end.
    Ended(Box<Ending>),
}

/// Requests that have ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Counted {
    /// The time to which they belong, since the start of the counted requests.
    pub(super) at: u64,
    /// The end of the last of them, since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last_ended: Option<u64>,
    pub(super) tally: Tally,
}

/// The end of an agent's part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ending {
    /// All requests that it has told of.
    pub(super) n_started: u64,
    /// Requests in progress at the end.
    pub(super) n_abandoned: u64,
    /// Requests that were due and found no free lane.
    pub(super) n_unsent: u64,
    /// The evidence about its generator.
    pub(super) evidence: Evidence,
}

/// A duration as it travels.
pub(super) fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::http::failures::Kind;

    #[test]
    fn counts_survive_the_way() {
        let mut tally = Tally {
            n_started: 3,
            n_complete: 2,
            ..Tally::default()
        };
        for ms in [7, 3_600_001] {
            tally.total.record(Duration::from_millis(ms));
        }
        tally.failures.count(Kind::Receive, "reset".into());
        let deviation_us = tally.total.deviation_us();
        let counted = Counted {
            at: 5,
            last_ended: Some(9),
            tally,
        };
        let text = serde_json::to_string(&[Account::Counted(Box::new(counted))]).expect("it serialises");
        let accounts: Vec<Account> = serde_json::from_str(&text).expect("it reads");
        let [Account::Counted(counted)] = accounts.as_slice() else {
            panic!("{accounts:?}");
        };
        let Counted {
            at,
            last_ended,
            tally,
        } = &**counted;
        assert_eq!((*at, *last_ended), (5, Some(9)));
        assert_eq!((tally.n_started, tally.n_complete), (3, 2));
        assert_eq!(tally.total.histogram.exact(), Some(vec![7_000, 3_600_001_000]));
        assert_eq!(tally.total.deviation_us(), deviation_us);
        assert_eq!(
            tally.failures.causes().collect::<Vec<_>>(),
            [(Kind::Receive, "reset", 1)]
        );
    }

    proptest! {
        #[test]
        fn orders_are_read_as_they_were_written(begin in any::<u64>(), length in any::<u64>(), is_urgent in any::<bool>()) {
            let letters = [Letter::Begin(begin), Letter::Length(length), Letter::Stop(is_urgent)];
            let text = serde_json::to_string(&letters).expect("it serialises");
            prop_assert_eq!(serde_json::from_str::<Vec<Letter>>(&text).expect("it reads"), letters);
        }

        #[test]
        fn no_text_makes_reports_panic(text in r#"[\[{"]{0,4}(counted|ended|first|glanced)?[":\[{}\],0-9a-z]{0,40}"#) {
            let _any = serde_json::from_str::<Vec<Account>>(&text);
            let _any = serde_json::from_str::<Vec<Letter>>(&text);
        }
    }
}
