//! What people and machines read of a search: the line in a sentence, all steps, the curve, and JSON.

use plimsoll_report::{Style, html};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::{
    objective::Objective,
    search::{Budget, CONFIDENCE, End, Expectation, Level, Line, Vote},
    step::Step,
    verdict::Verdict,
};

mod change;
mod curve;
mod kept;
mod sentence;
mod table;

pub use self::{
    change::{Change, ChangeVerdict},
    kept::{Kept, KeptError},
    table::{header, row},
};

/// The unit of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Users at the same time.
    Users,
    /// Iterations that begin per second.
    Rate,
    /// Clients connected at the same time.
    Clients,
    /// The value of `:scale` in a wsdirector scenario.
    Scale,
}

impl Unit {
    /// For the head of a column.
    pub fn title(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::Rate => "per second",
            Self::Clients => "clients",
            Self::Scale => "scale",
        }
    }

    /// A load for people: `1,240 users`, `35 iterations/s`.
    pub fn of(self, load: u64) -> String {
        let n = grouped(load);
        let plural = if load == 1 { "" } else { "s" };
        match self {
            Self::Users => format!("{n} user{plural}"),
            Self::Rate => format!("{n} iteration{plural}/s"),
            Self::Clients => format!("{n} client{plural}"),
            Self::Scale => format!("scale {n}"),
        }
    }

    /// Loads from one to another for people: `450 to 520 users`.
    pub fn of_range(self, low: u64, high: u64) -> String {
        match self {
            Self::Scale => format!("scale {} to {}", grouped(low), grouped(high)),
            Self::Users | Self::Rate | Self::Clients => format!("{} to {}", grouped(low), self.of(high)),
        }
    }
}

/// A whole search.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The version of the program.
    pub plimsoll: &'static str,
    /// The command line as it was typed, beginning with `plimsoll`, without the secrets of URLs and flags.
    pub command: Vec<String>,
    /// The start of the search, as RFC 3339.
    pub started_at: String,
    /// What was run, for people: a file's name, or a bench.
    pub name: String,
    /// The unit of a load.
    pub unit: Unit,
    /// What had to hold.
    pub objectives: Vec<Objective>,
    /// Whether these are the default objectives.
    pub are_defaults: bool,
    /// The requested precision: the greatest distance of the interval's ends from its middle, as a share.
    pub precision: f64,
    /// The load that is expected to hold. `None` if no load is.
    pub expected: Option<u64>,
    /// What was found.
    pub line: Line,
    /// All steps in the order in which they ran.
    pub steps: Vec<Step>,
    /// Messages for people.
    pub notices: Vec<String>,
}

impl Report {
    /// Everything for people.
    pub fn text(&self, style: Style) -> String {
        let notices = self.notices.iter().map(|notice| format!("{notice}\n"));
        [
            curve::curve(self),
            format!(
                "{}: {}\n",
                painted(self.verdict(), style),
                sentence::after_verdict(&sentence::sentence(self, style))
            ),
            notices.collect(),
        ]
        .concat()
    }

    /// The line in a few words.
    pub fn headline(&self) -> String {
        sentence::headline(self)
    }

    /// The line in a sentence or two.
    pub fn sentence(&self) -> String {
        sentence::sentence(self, Style::PLAIN)
    }

    /// The expected load, and whether it holds.
    pub fn expectation(&self) -> Option<(u64, Expectation)> {
        let expected = self.expected?;
        Some((expected, self.line.expectation(expected)))
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        Verdict::new(
            self.line.end,
            self.expectation().map(|(_, expectation)| expectation),
        )
    }

    /// The whole as JSON; `docs/reference/line.md` describes it.
    pub fn json(&self) -> Value {
        let level = |level: Option<Level>| {
            level.map(|Level { load, ballot }| {
                json!({ "load": load, "held": ballot.held, "broke": ballot.broke, "generator": ballot.generator })
            })
        };
        json!({
            "version": kept::VERSION,
            "plimsoll": self.plimsoll,
            "command": self.command,
            "name": self.name,
            "unit": self.unit,
            "started_at": self.started_at,
            "objectives": self.objectives.iter().map(Objective::text).collect::<Vec<_>>(),
            "limits": self.objectives.iter().map(limit).collect::<Vec<_>>(),
            "default_objectives": self.are_defaults,
            "result": {
                "verdict": self.verdict(),
                "end": self.line.end,
                "spent": self.line.end.spent(),
                "interval": self.line.interval.map(|interval| json!({
                    "low": interval.low,
                    "high": interval.high,
                    "within": interval.within(),
                    "confidence": CONFIDENCE,
                })),
                "fit": self.line.fit,
                "expected": self.expectation().map(|(load, verdict)| json!({ "load": load, "verdict": verdict })),
                "holds": level(self.line.holds),
                "breaks": level(self.line.breaks),
                "what_broke": self.breaking_step().map(|step| &step.broke),
                "likely_cause": self.breaking_step().and_then(|step| step.likely_cause.as_ref()),
                "other_programs": self.breaking_step().and_then(|step| step.other_programs.as_ref()),
                "reasons": self.breaking_step().map(|step| &step.reasons),
                "headline": sentence::headline(self),
                "sentence": self.sentence(),
            },
            "steps": self.steps,
            "notices": self.notices,
        })
    }

    /// The report as a page: one file that works offline.
    pub fn html(&self) -> String {
        let title = format!("{}: {} · Plimsoll", self.name, sentence::headline(self));
        html::file("line", &title, &self.sentence(), &self.json().to_string())
    }

    /// The latest step that explains why the upper end fails.
    fn breaking_step(&self) -> Option<&Step> {
        let load = self.line.breaks?.load;
        let steps = self.steps.iter().rev();
        let mut at_load = steps.filter(|step| step.load == load && step.verdict != Vote::Held);
        match self.line.end {
            End::Generator => at_load.find(|step| step.verdict == Vote::Generator),
            _ => at_load.find(|step| step.verdict == Vote::Broke),
        }
    }
}

/// A verdict in a terminal.
fn painted(verdict: Verdict, style: Style) -> String {
    match verdict {
        Verdict::Pass => style.good(verdict.name()),
        Verdict::Fail | Verdict::Inconclusive | Verdict::Incomplete => style.bad(verdict.name()),
    }
}

/// An objective's data for a chart.
fn limit(objective: &Objective) -> Value {
    json!({ "title": objective.title(), "measure": objective.measure(), "limit": objective.limit() })
}

impl End {
    /// Its name in the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Max => "max",
            Self::Generator => "generator",
            Self::NothingHolds => "nothing_holds",
            Self::Degraded => "degraded",
            Self::Inconclusive(_) => "inconclusive",
            Self::Interrupted => "interrupted",
        }
    }

    /// What an inconclusive search has spent, as in the JSON.
    pub fn spent(self) -> Option<&'static str> {
        match self {
            Self::Inconclusive(Budget::Steps) => Some("steps"),
            Self::Inconclusive(Budget::Time) => Some("time"),
            _ => None,
        }
    }
}

impl Serialize for End {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A number with commas between thousands.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
