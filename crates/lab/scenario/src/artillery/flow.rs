//! A virtual user's program: the steps of a scenario, flat, so that a user stores only a position.

use std::{sync::Arc, time::Duration};

use plimsoll_clients::dial::Proxy;
use serde_json::Value;

use super::{
    capture::{Capture, Match},
    condition::Condition,
    duration,
    http::{Request, RequestHooks},
    processor::FunctionName,
    template::{JsonTemplate, Template},
    variables::Variables,
};

/// The steps of one scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    pub(crate) steps: Vec<Step>,
    /// The WebSocket's URL, if the scenario sets it.
    pub(crate) connect: Option<Connect>,
    /// Names of further connections. The first of them has the place after that of the usual one.
    pub(crate) connections: Vec<String>,
    /// Whether messages that no step waits for are kept for `receive`.
    pub(crate) has_inbox: bool,
    /// Functions around each request of the scenario.
    pub(crate) hooks: RequestHooks,
    /// Whether a step calls a function.
    pub(crate) calls_functions: bool,
}

/// One step. A loop is two: its head, and the jump back to it.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Think(Think),
    Log(Template),
    /// `end` is the position of the [`Step::Repeat`] that belongs to it.
    Loop {
        head: Loop,
        end: usize,
    },
    /// `head` is the position of the [`Step::Loop`].
    Repeat {
        head: usize,
    },
    Connect(Box<Connecting>),
    Send(Box<Sending>),
    Wait(Box<Wait>),
    Receive(Box<Receive>),
    Request(Box<Request>),
    Parallel(Box<Parallel>),
    Function(FunctionName),
}

/// Concurrent requests.
#[derive(Clone, Debug)]
pub(crate) struct Parallel {
    pub(crate) requests: Vec<Request>,
    /// How many run at the same time.
    pub(crate) limit: usize,
}

/// A pause.
#[derive(Clone, Debug)]
pub(crate) struct Think {
    pub(crate) time: Time,
    pub(crate) jitter: Option<Jitter>,
}

/// A duration, or a template that gives one.
#[derive(Clone, Debug)]
pub(crate) enum Time {
    Fixed(Duration),
    Template(JsonTemplate),
}

/// The most by which a pause is longer or shorter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Jitter {
    By(Duration),
    /// A share of it.
    Share(f64),
}

/// The end condition of a loop, and its variables for the steps.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) kind: LoopKind,
    /// The variable with the number of the round.
    pub(crate) index_name: String,
    /// The variable with the element of the round.
    pub(crate) element_name: String,
}

#[derive(Clone, Debug)]
pub(crate) enum LoopKind {
    Forever,
    /// Iterations from one number to before another.
    Count(Bounds),
    /// As `Count`, but known only when the loop begins.
    CountOf(JsonTemplate),
    /// An iteration for each element of a list, or of a variable with a list.
    Over(JsonTemplate),
    /// While a condition holds.
    While(Condition),
    /// Until a function ends it. The function is called after each iteration, as in Artillery.
    WhileFunction(FunctionName),
}

/// The number of the first iteration, and the number before which the loop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// Settings for opening a user's WebSocket. Absent ones come from the configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connect {
    pub(crate) target: Option<Template>,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) subprotocols: Vec<Template>,
    /// Changes all of it.
    pub(crate) function: Option<FunctionName>,
    /// The proxy that makes a tunnel to the server.
    pub(crate) proxy: Option<Arc<Proxy>>,
    /// Whether the configuration's proxy has no effect, because the file writes the settings as a map.
    pub(crate) is_map: bool,
}

/// One more connection. Not in Artillery.
#[derive(Clone, Debug)]
pub(crate) struct Connecting {
    /// Its place among the user's connections.
    pub(crate) place: usize,
    pub(crate) connect: Connect,
}

/// A message to send.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    /// Over which of the user's connections.
    pub(crate) place: usize,
    pub(crate) payload: Payload,
    /// The handling of the answer. `None` does not wait for one.
    pub(crate) answer: Option<Answers>,
}

/// The contents of a message. A constant text is made once for all users.
#[derive(Clone, Debug)]
pub(crate) enum Payload {
    Constant(Box<str>),
    Text(Template),
    Json(JsonTemplate),
}

/// Messages that are waited for.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    pub(crate) wanted: Wanted,
    /// How many.
    pub(crate) n: u32,
    /// The time limit for all of them. `None` uses that of the configuration.
    pub(crate) timeout: Option<Duration>,
}

/// The requirements on a message, and the captures from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) captures: Vec<Capture>,
    pub(crate) matches: Vec<Match>,
}

/// Waits for the next messages, and ignores earlier ones.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    /// On which of the user's connections.
    pub(crate) place: usize,
    pub(crate) answers: Answers,
}

/// Takes matching messages from the inbox, and waits for missing ones. Not in Artillery.
#[derive(Clone, Debug)]
pub(crate) struct Receive {
    /// On which of the user's connections.
    pub(crate) place: usize,
    pub(crate) answers: Answers,
    /// Whether the time until the first message is a response time.
    pub(crate) is_timed: bool,
}

impl Time {
    /// The duration for one user. `None` if the template gives none.
    pub(crate) fn for_user(&self, variables: &Variables) -> Option<Duration> {
        match self {
            Self::Fixed(duration) => Some(*duration),
            Self::Template(template) => duration::of_value(&template.value(variables)),
        }
    }
}

impl Jitter {
    /// Longer or shorter by chance, each equally likely.
    pub(crate) fn apply(self, time: Duration) -> Duration {
        let most = match self {
            Self::By(duration) => duration.as_secs_f64(),
            Self::Share(share) => time.as_secs_f64() * share,
        };
        let secs = time.as_secs_f64() + most * (2.0 * fastrand::f64() - 1.0);
        Duration::try_from_secs_f64(secs.max(0.0)).unwrap_or(time)
    }
}

impl Bounds {
    /// Parses a number of iterations, or `from-to`; `None` means forever. The first iteration of a range has the first
    /// number, and the last one that before the second, as in Artillery.
    ///
    /// # Errors
    /// The value is neither.
    pub(crate) fn read(value: &Value) -> Result<Option<Self>, ()> {
        match value {
            // As in Artillery, where the number 0 means no count.
            Value::Null => Ok(None),
            Value::Number(number) if number.as_i64() == Some(0) => Ok(None),
            value => Self::rendered(value),
        }
    }

    /// Parses the value of a template, where 0 means no iteration, and an empty one is not a number.
    ///
    /// # Errors
    /// The value is neither.
    pub(crate) fn rendered(value: &Value) -> Result<Option<Self>, ()> {
        let to = match value {
            Value::Number(number) => number.as_i64().ok_or(())?,
            Value::String(text) => match text.split_once('-') {
                Some((from, to)) if !from.trim().is_empty() => {
                    let [from, to] = [from, to].map(|text| text.trim().parse().map_err(drop));
                    let (from, to) = (from?, to?);
                    return (from <= to).then_some(Some(Self { from, to })).ok_or(());
                }
                _ => text.trim().parse().map_err(drop)?,
            },
            _ => return Err(()),
        };
        match to {
            -1 => Ok(None),
            0.. => Ok(Some(Self { from: 0, to })),
            _ => Err(()),
        }
    }
}

impl Payload {
    /// The message for one user.
    pub(crate) fn for_user<'a>(&'a self, variables: &Variables) -> std::borrow::Cow<'a, str> {
        match self {
            Self::Constant(text) => (&**text).into(),
            Self::Text(template) => template.render(variables),
            Self::Json(template) => match template.value(variables) {
                Value::String(text) => text.into(),
                value => value.to_string().into(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn loops_have_bounds() {
        let check = |value: Value, expected: Result<Option<(i64, i64)>, ()>| {
            let found = Bounds::read(&value).map(|bounds| bounds.map(|Bounds { from, to }| (from, to)));
            assert_eq!(found, expected, "{value}");
        };
        check(json!(null), Ok(None));
        check(json!(0), Ok(None));
        check(json!(-1), Ok(None));
        check(json!(3), Ok(Some((0, 3))));
        check(json!("3"), Ok(Some((0, 3))));
        check(json!("0"), Ok(Some((0, 0))));
        check(json!("5-10"), Ok(Some((5, 10))));
        check(json!("10-5"), Err(()));
        check(json!(-2), Err(()));
        check(json!("x"), Err(()));
        check(json!([1]), Err(()));
        let rendered =
            |value: Value| Bounds::rendered(&value).map(|bounds| bounds.map(|it| (it.from, it.to)));
        assert_eq!(rendered(json!(0)), Ok(Some((0, 0))));
        assert_eq!(rendered(json!("2-4")), Ok(Some((2, 4))));
        assert_eq!(rendered(json!(-1)), Ok(None));
        assert_eq!(rendered(json!(null)), Err(()));
    }

    #[test]
    fn jitter_stays_within_its_bounds() {
        let time = Duration::from_secs(10);
        for _ in 0..1_000 {
            let secs = Jitter::Share(0.2).apply(time).as_secs_f64();
            assert!((8.0..=12.0).contains(&secs), "{secs}");
            let secs = Jitter::By(Duration::from_secs(20)).apply(time).as_secs_f64();
            assert!((0.0..=30.0).contains(&secs), "{secs}");
        }
    }
}
