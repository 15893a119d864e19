//! The section below the metrics: failed iterations, losses, the target's resource use, the generator's own delay, and
//! other programs on its machine.

use std::time::Duration;

use super::{LEAST_DOTS, causes, columns, dotted, wrap::wrap};
use crate::{
    Distribution, Style, Summary,
    agents::MOST_SHOWN,
    quantity::{self, TimeUnit},
    summary::{End, ErrorGroup, Generator, Iterations, Losses, Neighbours, Target, Threshold, Values},
};

/// The share of the time in which a program waited for a CPU, from which on it is told. Reason: a calm machine has less.
const NOTABLE_PRESSURE: f64 = 0.1;

/// A name, a line about it, and sentences below that line.
#[derive(Debug)]
struct Condition {
    name: &'static str,
    line: String,
    details: Vec<String>,
}

/// The conditions that apply; the generator's always does.
#[derive(Debug)]
pub(super) struct Conditions(Vec<Condition>);

impl Conditions {
    /// The conditions of a native workload.
    pub(super) fn of_native(summary: &Summary, style: Style) -> Self {
        Self::of([thresholds(&summary.thresholds, style)], summary, style)
    }

    /// The conditions of a script. Thresholds are above, in k6's own sections.
    pub(super) fn of_script(summary: &Summary, unit: Option<TimeUnit>, style: Style) -> Self {
        let schedule = [
            dropped(summary, style),
            trend(summary, "iteration_lateness", "late starts", unit, style),
            trend(
                summary,
                "iteration_duration_scheduled",
                "duration from the schedule",
                unit,
                style,
            ),
            interrupted(&summary.iterations, style),
            closed_model(summary),
            clock(&summary.generator.lateness, style),
        ];
        Self::of(schedule, summary, style)
    }

    fn of<const N: usize>(first: [Option<Condition>; N], summary: &Summary, style: Style) -> Self {
        let common = [
            end(&summary.end, style),
            notices(&summary.notices, style),
            failed(&summary.iterations, style),
            failures(&summary.errors, style),
            summary.losses.as_ref().map(|losses| deliveries(losses, style)),
        ];
        let targets = summary.targets.iter().map(|found| target(found, style));
        let n_reasons = if summary.agents.is_empty() {
            usize::MAX
        } else {
            MOST_SHOWN
        };
        let generator = generator(&summary.generator, n_reasons, style);
        let machine = summary.generator.machine.as_ref().and_then(machine);
        let conditions = first.into_iter().chain(common).flatten().chain(targets);
        Self(conditions.chain([generator]).chain(machine).collect())
    }

    /// One block per condition.
    pub(super) fn render(&self, indent: usize, style: Style) -> String {
        let Self(conditions) = self;
        let names = conditions.iter().map(|condition| condition.name.len());
        let width = names.max().unwrap_or(0) + LEAST_DOTS;
        conditions
            .iter()
            .map(|condition| condition.render(indent, width, style))
            .collect()
    }
}

impl Condition {
    fn render(&self, indent: usize, width: usize, style: Style) -> String {
        let indent = " ".repeat(indent);
        let (first, rest) = (format!("{indent}  - "), format!("{indent}    "));
        let details = self
            .details
            .iter()
            .flat_map(|detail| wrap(detail, &first, &rest, style.width));
        let details: String = details.map(|line| line + "\n").collect();
        format!(
            "{indent}{} {}\n{details}",
            dotted(self.name, width, style),
            self.line
        )
    }
}

/// Scheduled iterations that did not begin.
fn dropped(summary: &Summary, style: Style) -> Option<Condition> {
    let metric = summary.metrics.get("dropped_iterations")?;
    let Values::Counter { count, .. } = metric.values else {
        return None;
    };
    (count > 0.0).then(|| Condition {
        name: "dropped iterations",
        line: style.bad(&quantity::number(count)),
        details: vec!["they were scheduled, but no virtual user was free; allow more users".to_owned()],
    })
}

/// A trend that k6 does not have.
fn trend(
    summary: &Summary,
    metric: &str,
    name: &'static str,
    unit: Option<TimeUnit>,
    style: Style,
) -> Option<Condition> {
    let metric = summary.metrics.get(metric)?;
    Some(Condition {
        name,
        line: columns::trend_line(metric, unit, style),
        details: Vec::new(),
    })
}

/// What the figures of a run without arrivals cannot show.
fn closed_model(summary: &Summary) -> Option<Condition> {
    let is_open = summary.metrics.contains_key("iteration_lateness");
    (!is_open && summary.iterations.complete > 0).then(|| Condition {
        name: "model",
        line: "closed".to_owned(),
        details: vec![
            "each user waits for the target before it continues, so a stall shows in few samples; with an \
             arrival-rate executor it shows in every iteration that it delays"
                .to_owned(),
        ],
    })
}

fn thresholds(thresholds: &[Threshold], style: Style) -> Option<Condition> {
    let crossed: Vec<_> = thresholds.iter().filter(|threshold| !threshold.passed).collect();
    (!crossed.is_empty()).then(|| Condition {
        name: "thresholds",
        line: style.bad(&format!("✗ {} of {} crossed", crossed.len(), thresholds.len())),
        details: crossed.into_iter().map(crossed_line).collect(),
    })
}

fn crossed_line(threshold: &Threshold) -> String {
    let Threshold {
        metric, expression, ..
    } = threshold;
    match threshold.value {
        Some(value) => format!("{metric}: {expression}, found {}", quantity::number(value)),
        None => format!("{metric}: {expression}, no data"),
    }
}

/// A line about the end, unless it is the plan's own.
fn end(end: &End, style: Style) -> Option<Condition> {
    let line = match end {
        End::Complete => return None,
        End::Shutdown => "ended from outside before its planned end".to_owned(),
        End::ThresholdsCrossed => "ended by a crossed threshold".to_owned(),
        End::Aborted { reason } => format!("aborted: {reason}"),
        End::SetupFailed { reason } => format!("not started, setup failed: {reason}"),
    };
    Some(Condition {
        name: "run",
        line: style.bad(&line),
        details: Vec::new(),
    })
}

fn notices(notices: &[String], style: Style) -> Option<Condition> {
    (!notices.is_empty()).then(|| Condition {
        name: "notices",
        line: style.bad(&notices.len().to_string()),
        details: notices.to_vec(),
    })
}

/// Iterations that the end of the run cut short. They are in no metric.
fn interrupted(iterations: &Iterations, style: Style) -> Option<Condition> {
    let Iterations {
        complete,
        interrupted,
        ..
    } = iterations;
    (*interrupted > 0).then(|| Condition {
        name: "iterations",
        line: format!(
            "{complete} complete, {}",
            style.bad(&format!("{interrupted} interrupted"))
        ),
        details: Vec::new(),
    })
}

/// Failed iterations. The reasons are among the causes of all failures.
fn failed(iterations: &Iterations, style: Style) -> Option<Condition> {
    (iterations.failed > 0).then(|| Condition {
        name: "failed iterations",
        line: style.bad(&iterations.failed.to_string()),
        details: Vec::new(),
    })
}

/// All failures by cause: of iterations, requests and connections.
fn failures(errors: &[ErrorGroup], style: Style) -> Option<Condition> {
    let n: u64 = errors.iter().map(|group| group.count).sum();
    (n > 0).then(|| Condition {
        name: "failures by cause",
        line: style.bad(&n.to_string()),
        details: causes::sentences(errors),
    })
}

fn deliveries(losses: &Losses, style: Style) -> Condition {
    let count = |n: u64, what: &str| {
        let text = format!("{n} {what}");
        if n == 0 { text } else { style.bad(&text) }
    };
    let line = format!(
        "{} of {} received, {}, {}, {}",
        style.value(&losses.received.to_string()),
        losses.expected,
        count(losses.lost, "lost"),
        count(losses.duplicated, "duplicated"),
        count(losses.out_of_order, "out of order"),
    );
    Condition {
        name: "deliveries",
        line,
        details: Vec::new(),
    }
}

/// One target, without a style.
pub(super) fn of_target(found: &Target) -> String {
    let condition = target(found, Style::PLAIN);
    condition.render(0, condition.name.len() + LEAST_DOTS, Style::PLAIN)
}

fn target(target: &Target, style: Style) -> Condition {
    Condition {
        name: "target",
        line: super::target::line(target, style),
        details: super::target::details(target),
    }
}

/// The generator with so many of its reasons. A fleet may have several for each agent.
fn generator(generator: &Generator, n_reasons: usize, style: Style) -> Condition {
    let verdict = match generator.doubt() {
        Some(doubt) => style.bad(&format!("✗ DOUBTFUL: {doubt}")),
        None => style.good("✓ was not the bottleneck"),
    };
    // A doubt about late replies says the bound itself.
    let bound = generator
        .bound()
        .filter(|bound| !verdict.contains(bound.as_str()));
    let bound = bound.map(|bound| format!(", {bound}")).unwrap_or_default();
    let line = format!(
        "{verdict}{bound}, CPU {}",
        cpu(generator.cpu_seconds, generator.cores, style)
    );
    let meaning = "these figures do not describe the target alone".to_owned();
    Condition {
        name: "generator",
        line,
        details: generator
            .doubtful
            .then_some(meaning)
            .into_iter()
            .chain(generator.reasons.iter().take(n_reasons).cloned())
            .collect(),
    }
}

/// What other programs on the generator's machine took, if it is much.
fn machine(machine: &Neighbours) -> Option<Condition> {
    let line = machine.other_programs.clone()?;
    let waited = machine.pressure_share.filter(|share| *share >= NOTABLE_PRESSURE);
    Some(Condition {
        name: "machine",
        line,
        details: waited
            .map(|share| {
                format!(
                    "for {:.0} % of the time, a program waited for a CPU",
                    share * 100.0
                )
            })
            .into_iter()
            .collect(),
    })
}

/// How late the generator's timers fired.
fn clock(lateness: &Distribution, style: Style) -> Option<Condition> {
    let figure = |us| style.value(&quantity::duration(Duration::from_micros(us)));
    (lateness.count > 0).then(|| Condition {
        name: "clock",
        line: format!(
            "late by p(99)={} max={}",
            figure(lateness.p99),
            figure(lateness.max)
        ),
        details: Vec::new(),
    })
}

fn cpu(seconds: f64, cores: f64, style: Style) -> String {
    let time = quantity::duration(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    format!("{} ({cores:.2} cores)", style.value(&time))
}
