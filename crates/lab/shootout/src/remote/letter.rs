//! Orders and reports on their way between a coordinator and its agents. Times are nanoseconds on the agent's clock,
//! durations are nanoseconds, and workers have their numbers on their agent.

use std::time::Duration;

use plimsoll_load::generator::{Evidence, Glance};
use serde::{Deserialize, Serialize};

use crate::{
    ledger::Harvest,
    wire::Command,
    worker::{Failing, Opening, Report},
};

/// An order to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Letter {
    /// Let a worker connect the client of its next slot: worker, server, and the number of the route, which is reduced to the
    /// routes that the agent has.
    Open(usize, usize, usize),
    /// A step begins for a worker: worker, the first id and the number of ids.
    OpenStep(usize, u64, usize),
    /// Let a client send.
    Send(Sending),
    /// Let a worker tell the account of a step: worker, step.
    Report(usize, usize),
    /// Let a worker tell its deliveries, which belong to this time of the run: worker, time.
    Collect(usize, u64),
    /// Let a worker tell how many deliveries of a step have arrived: worker, step, the first id that does not count.
    Survey(usize, usize, u64),
    /// Let a worker wait no longer for deliveries of a step: worker, step, time, and the least that missing ones count with.
    CloseStep(usize, usize, u64, u64),
    /// Another agent has sent a broadcast: id, floor, time.
    Sent(u64, u64, u64),
    /// All broadcasts that were sent before this time are known to the agent.
    Known(u64),
    /// Tell the evidence about the generator since the last time.
    Lap,
    /// Tell whether there is room for this number of clients on the agent.
    Room(usize),
    /// Close all connections.
    End,
}

/// A message to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sending {
    pub(super) worker: usize,
    pub(super) slot: usize,
    pub(super) command: Command,
    pub(super) id: u64,
    pub(super) floor: u64,
    /// The scheduled time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) due: Option<u64>,
}

/// What an agent tells.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Account {
    /// A client is ready: worker, slot, phases.
    Opened(usize, usize, Phases),
    /// A client did not get ready.
    Unready(Failing),
    /// A client has lost its connection: worker, slot, failure.
    Dropped(usize, usize, Failing),
    /// A message has its answer: id, latency.
    Answered(u64, u64),
    /// A message will get no answer.
    Unanswerable(u64),
    /// A broadcast was sent: id, floor, time.
    Sent(u64, u64, u64),
    /// A broadcast has arrived at all clients of a worker: id, the number of clients that it did not reach, and the time from
    /// its send to its last arrival.
    Completed(u64, usize, Option<u64>),
    /// A worker has begun a step.
    StepOpened,
    /// Deliveries that a worker expects, those that are settled, and the time of the last arrival.
    Surveyed(u64, u64, Option<u64>),
    /// The server has sent Action Cable's welcome.
    SpeaksCable,
    /// The account of a worker.
    Reported(Box<Report>),
    /// Deliveries of a step that belong to this time of the run: step, time.
    Collected(usize, u64, Box<Harvest>),
    /// The generator in the last second.
    Glanced(Glance),
    /// The evidence about the generator.
    Lapped(Box<Evidence>),
    /// Why there is no room for more clients; `None` if there is.
    Room(Option<String>),
}

/// The time until a client was ready, phase by phase: TCP connect, upgrade, welcome, subscription, and in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Phases(u64, u64, Option<u64>, Option<u64>, u64);

impl From<Opening> for Phases {
    fn from(it: Opening) -> Self {
        Self(
            ns(it.tcp_connect),
            ns(it.upgrade),
            it.welcome.map(ns),
            it.subscribe.map(ns),
            ns(it.total),
        )
    }
}

impl From<Phases> for Opening {
    fn from(Phases(tcp_connect, upgrade, welcome, subscribe, total): Phases) -> Self {
        Self {
            tcp_connect: Duration::from_nanos(tcp_connect),
            upgrade: Duration::from_nanos(upgrade),
            welcome: welcome.map(Duration::from_nanos),
            subscribe: subscribe.map(Duration::from_nanos),
            total: Duration::from_nanos(total),
        }
    }
}

/// A duration as it travels.
pub(super) fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn letters() -> impl Strategy<Value = Letter> {
        let (number, small) = (any::<u64>(), any::<u32>().prop_map(|n| n as usize));
        let sending = (
            small.clone(),
            small.clone(),
            any::<bool>(),
            number,
            number,
            any::<Option<u64>>(),
        );
        let sending = sending.prop_map(|(worker, slot, is_echo, id, floor, due)| Sending {
            worker,
            slot,
            command: if is_echo {
                Command::Echo
            } else {
                Command::Broadcast
            },
            id,
            floor,
            due,
        });
        prop_oneof![
            (small.clone(), small.clone(), small.clone()).prop_map(|(a, b, c)| Letter::Open(a, b, c)),
            (small.clone(), number, small.clone()).prop_map(|(a, b, c)| Letter::OpenStep(a, b, c)),
            sending.prop_map(Letter::Send),
            (small.clone(), small.clone()).prop_map(|(a, b)| Letter::Report(a, b)),
            (small.clone(), number).prop_map(|(a, b)| Letter::Collect(a, b)),
            (small.clone(), small.clone(), number).prop_map(|(a, b, c)| Letter::Survey(a, b, c)),
            (small.clone(), small.clone(), number, number)
                .prop_map(|(a, b, c, d)| Letter::CloseStep(a, b, c, d)),
            (number, number, number).prop_map(|(a, b, c)| Letter::Sent(a, b, c)),
            number.prop_map(Letter::Known),
            small.prop_map(Letter::Room),
            Just(Letter::Lap),
            Just(Letter::End),
        ]
    }

    proptest! {
        #[test]
        fn orders_are_read_as_they_were_written(letters in prop::collection::vec(letters(), 0..9)) {
            let text = serde_json::to_string(&letters).expect("it serialises");
            prop_assert_eq!(serde_json::from_str::<Vec<Letter>>(&text).expect("it reads"), letters);
        }

        #[test]
        fn phases_survive_the_way(phases in any::<(u64, u64, Option<u64>, Option<u64>, u64)>()) {
            let (a, b, c, d, e) = phases;
            let phases = Phases(a, b, c, d, e);
            prop_assert_eq!(Phases::from(Opening::from(phases)), phases);
        }

        #[test]
        fn no_text_makes_reports_panic(text in r#"[\[{"]{0,4}(opened|collected|reported|lapped)?[":\[{}\],0-9a-z]{0,40}"#) {
            let _any = serde_json::from_str::<Vec<Account>>(&text);
            let _any = serde_json::from_str::<Vec<Letter>>(&text);
        }
    }

    #[test]
    fn reports_are_short() {
        let check = |account: Account, expected: &str| {
            assert_eq!(serde_json::to_string(&account).expect("it serialises"), expected);
        };
        check(Account::Answered(7, 1_000), r#"{"answered":[7,1000]}"#);
        check(Account::Completed(7, 0, Some(9)), r#"{"completed":[7,0,9]}"#);
        check(
            Account::Opened(0, 3, Phases(1, 2, None, None, 3)),
            r#"{"opened":[0,3,[1,2,null,null,3]]}"#,
        );
        check(Account::StepOpened, r#""step_opened""#);
        check(
            Account::Collected(0, 5, Box::default()),
            r#"{"collected":[0,5,{"n_delivered":0,"latency":{},"missing":{},"by_node":[]}]}"#,
        );
    }
}
