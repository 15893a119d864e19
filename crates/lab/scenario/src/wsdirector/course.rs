//! The order in which a group runs its steps: loops and multipliers expanded, once for all clients.

use super::{
    expression::evaluate,
    scenario::{Sample, Step, Turn},
    steps::Steps,
};
use crate::document::{Part, Value};

/// The most turns of all groups together. Reason: 16 bytes each, and one client that runs 1,000 a second is busy for a
/// quarter of an hour.
pub(super) const MOST_TURNS: usize = 1_000_000;

/// The steps of a group, and the turns in which its clients run them.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) steps: Vec<Step>,
    pub(super) turns: Vec<Turn>,
    pub(super) n_samples: usize,
}

/// An element of a list of actions.
enum Item {
    Step {
        /// Position in [`Course::steps`].
        step: u32,
        times: u32,
        /// How many clients run it.
        sample: Option<u32>,
    },
    Loop {
        times: u32,
        items: Vec<Item>,
    },
}

impl Course {
    /// Reads a list of actions.
    pub(super) fn read(actions: &Part<'_>, steps: Steps) -> Self {
        let mut course = Self::default();
        let items = course.items(actions, steps);
        course.unroll(actions, &items);
        course
    }

    /// Reads a loop in place of a list of actions.
    pub(super) fn read_loop(repeated: &Part<'_>, steps: Steps) -> Self {
        let mut course = Self::default();
        let items: Vec<_> = course.repeated(repeated, steps).into_iter().collect();
        course.unroll(repeated, &items);
        course
    }

    fn items(&mut self, actions: &Part<'_>, steps: Steps) -> Vec<Item> {
        let actions = actions.list().into_iter().flatten();
        actions.filter_map(|action| self.item(&action, steps)).collect()
    }

    fn item(&mut self, action: &Part<'_>, steps: Steps) -> Option<Item> {
        let (name, arguments) = named(action)?;
        if name == "loop" {
            return self.repeated(&arguments, steps);
        }
        let (name, shape) = steps.find(name, &arguments)?;
        let is_bare = std::ptr::eq(arguments.node(), action.node());
        let mut fields = match arguments.node().value {
            _ if is_bare => arguments.without_fields(shape),
            Value::Null => arguments.without_fields(shape),
            _ => arguments.fields_of(shape)?,
        };
        let times = fields
            .get("multiplier")
            .map_or(Some(1), |part| evaluate(&part, steps.scale));
        let sample = match fields.get("sample") {
            None => None,
            Some(part) => Some(evaluate(&part, steps.scale)?.max(1)),
        };
        let action = steps.read(name, fields)?;
        let step = u32::try_from(self.steps.len()).ok()?;
        self.steps.push(Step {
            name,
            place: arguments.node().place,
            path: arguments.path().to_owned(),
            action,
        });
        let times = times?;
        Some(Item::Step { step, times, sample })
    }

    fn repeated(&mut self, arguments: &Part<'_>, steps: Steps) -> Option<Item> {
        let mut fields = arguments.fields_of(steps.repeated())?;
        let times = fields.require(
            "multiplier",
            "the number of repetitions, for example multiplier: 10",
        );
        let times = times.map(|part| evaluate(&part, steps.scale));
        let actions = fields.require("actions", "the steps to repeat, for example actions: [wait_all]");
        fields.finish();
        let items = self.items(&actions?, steps);
        Some(Item::Loop {
            times: times??,
            items,
        })
    }

    fn unroll(&mut self, part: &Part<'_>, items: &[Item]) {
        self.add(items);
        if self.turns.len() > MOST_TURNS {
            part.mistake(format!(
                "each client would have more than {MOST_TURNS} steps with all repetitions; lower the multipliers \
                 or the --scale"
            ));
        }
    }

    /// Adds the turns of all items; ends when there are too many.
    fn add(&mut self, items: &[Item]) {
        for item in items {
            let (times, n_before) = match item {
                Item::Step { times, .. } | Item::Loop { times, .. } => (*times, self.turns.len()),
            };
            for _ in 0..times {
                match item {
                    Item::Step { step, sample, .. } => self.push(*step, *sample),
                    Item::Loop { items, .. } => self.add(items),
                }
                // An empty loop adds nothing, however often.
                if self.turns.len() == n_before || self.turns.len() > MOST_TURNS {
                    break;
                }
            }
        }
    }

    fn push(&mut self, step: u32, sample: Option<u32>) {
        let sample = sample.map(|limit| {
            let counter = self.n_samples as u32;
            self.n_samples += 1;
            Sample { limit, counter }
        });
        self.turns.push(Turn { step, sample });
    }
}

/// The name of a step, and its settings: a map with one key. A text alone is both, as in `- wait_all`.
fn named<'a>(action: &Part<'a>) -> Option<(&'a str, Part<'a>)> {
    const EXPECTED: &str = "a step, for example wait_all or send: {data: hi}";
    match &action.node().value {
        Value::Text(name) => Some((name, action.clone())),
        Value::Map(entries) if entries.len() == 1 => action.fields()?.all().next(),
        Value::Map(entries) if entries.len() > 1 => {
            action.mistake(format!(
                "expected {EXPECTED}, found {} keys; are the parts of the step indented below it?",
                entries.len()
            ));
            None
        }
        _ => {
            action.unexpected(EXPECTED);
            None
        }
    }
}
