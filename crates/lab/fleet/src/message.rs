//! What coordinators and agents say to each other (docs/protocols/fleet.md).

use plimsoll_load::run::StageFailure;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::parcel::Label;

/// The number of this protocol. Coordinator and agents must have the same.
pub const PROTOCOL: u32 = 1;

/// Who an agent is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Its own number, which no other agent has, in hexadecimal digits.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// The number of its protocol.
    pub protocol: u32,
    /// Processor cores that it may use.
    pub cores: usize,
    /// Memory of its machine, in bytes. `None`: the system does not say.
    pub memory_bytes: Option<u64>,
    /// Files that it may open.
    pub open_files: Option<u64>,
    /// The run that it works on.
    pub busy_with: Option<String>,
    /// What it watches, in words. Empty: it makes load.
    #[serde(default)]
    pub watches: Vec<String>,
    /// Whether what it gets is encrypted on its way, or stays on its machine.
    #[serde(default)]
    pub is_private: bool,
}

/// A request of a coordinator to one agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The run that it is for.
    pub(crate) run: String,
    /// What is asked.
    pub(crate) order: Order,
}

/// What a coordinator asks of an agent. Asked twice, each does no more than once.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// To work for this run and no other one.
    Reserve {
        /// The version of the coordinator.
        version: String,
        /// The number of its protocol.
        protocol: u32,
    },
    /// To fetch the package and prepare its part of the run.
    Assign(Assignment),
    /// To say what its clock shows.
    Tell,
    /// To run the function before the run.
    Setup,
    /// To fetch what the function before the run returned.
    Share(Label),
    /// To begin when its clock shows this, in nanoseconds.
    Begin { at_ns: u64 },
    /// To follow the controller.
    Control(Steering),
    /// To do what the workload says.
    Work(Work),
    /// To let its users hear the latest notes of other agents' users.
    Hear(Vec<String>),
    /// To end its part now. The results so far count.
    Stop,
    /// To finish: all agents have stopped. Who tears down runs the function after the run.
    Finish { tears_down: bool },
    /// To forget the run: everything that it told has arrived, or the run is given up.
    Release,
}

/// An agent's part of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Assignment {
    /// The package.
    pub(crate) package: Label,
    /// Its signature for this agent. `None`: the fleet has no key.
    pub(crate) signature: Option<String>,
    /// The number of the agent in the run, from 0.
    pub(crate) instance: usize,
    /// How many agents take part.
    pub(crate) n_instances: usize,
    /// Whether outputs of the coordinator take its single samples.
    pub(crate) gives_samples: bool,
}

/// Orders of a workload that directs its agents all the time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Work {
    /// The number of these orders, from 0. Each number is carried out once, in order.
    pub(crate) number: u64,
    /// The orders, whose form is the workload's.
    pub(crate) orders: Box<RawValue>,
}

/// The orders of a controller to one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Steering {
    pub(crate) is_paused: bool,
    pub(crate) vus: u32,
    pub(crate) max_vus: u32,
}

/// An agent's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// It has understood.
    Done,
    /// It is reserved. The signature of its package must be for this word.
    Reserved { nonce: String },
    /// What its clock shows, in nanoseconds.
    Time { ns: u64 },
    /// It does not do it.
    Refused { reason: String },
}

/// What an agent tells of its part of a run, in this order. The contents of parts are the workload's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// It has prepared everything.
    Ready {
        /// Virtual users that exist.
        vus: u32,
    },
    /// It cannot take part, or cannot go on.
    Failed {
        /// The reason, for people.
        reason: String,
        /// Whether the script or its options are the reason, and not this agent.
        is_of_script: bool,
    },
    /// The function before the run has returned this, as JSON.
    SetUp(Option<String>),
    /// The function before the run has failed.
    SetupFailed(StageFailure),
    /// It has begun, when its clock showed this, in nanoseconds.
    Began {
        /// The time.
        at_ns: u64,
    },
    /// What happened since its last part.
    Part(Box<RawValue>),
    /// Single samples, for outputs of the coordinator.
    Samples(Box<RawValue>),
    /// All of its samples have been told.
    Relayed(Relayed),
    /// What its users tell those of other agents. Only the latest note counts.
    Note(String),
    /// Its part of the run is over.
    Idle {
        /// Why a virtual user ended the whole run, if one did.
        aborted: Option<String>,
    },
    /// The outcome of its users as far as parts do not tell it.
    Outcome(Box<RawValue>),
    /// Its last part, after the function after the run.
    Ended(Box<RawValue>),
    /// It leaves the run before its end.
    Leaving {
        /// The reason, for people.
        reason: String,
    },
}

/// What became of the single samples of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relayed {
    /// Those that it has told.
    pub n_told: u64,
    /// Those that it dropped, because too many waited.
    pub n_dropped: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_read_as_it_was_written() {
        let orders = RawValue::from_string(r#"[{"open":[0,1]},{"send":18446744073709551615}]"#.to_owned())
            .expect("JSON");
        let request = Request {
            run: "r".to_owned(),
            order: Order::Work(Work { number: 7, orders }),
        };
        let text = serde_json::to_string(&request).expect("it serialises");
        let back: Request = serde_json::from_str(&text).expect("it reads");
        let Order::Work(Work { number: 7, orders }) = back.order else {
            panic!("{text}");
        };
        assert_eq!(orders.get(), r#"[{"open":[0,1]},{"send":18446744073709551615}]"#);
        for text in [
            "{}",
            r#"{"run":"r","order":{"work":{"number":-1,"orders":1}}}"#,
            r#"{"run":"r","order":{"work":[]}}"#,
        ] {
            assert!(serde_json::from_str::<Request>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn parts_keep_their_own_form() {
        let part = RawValue::from_string(r#"{"a":1.0,"b":[18446744073709551615]}"#.to_owned()).expect("JSON");
        let text = serde_json::to_string(&Told::Part(part)).expect("it serialises");
        assert_eq!(text, r#"{"part":{"a":1.0,"b":[18446744073709551615]}}"#);
        let back: Told = serde_json::from_str(&text).expect("it reads");
        assert!(matches!(back, Told::Part(part) if part.get().contains("18446744073709551615")));
    }
}
