//! Results in k6's newer layouts: checks, then metrics by topic.

use std::collections::BTreeMap;

use super::{
    checks,
    columns::{Columns, RateForm, Row},
};
use crate::{
    Style, Summary,
    quantity::{self, TimeUnit},
    summary::{CheckResult, Entry, Metric, Section, Values},
};

/// What metrics are about, in the order of the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Topic {
    /// All metrics that k6 does not have itself.
    Custom,
    Http,
    Execution,
    Network,
    Browser,
    WebVitals,
    Grpc,
    WebSocket,
}

impl Topic {
    const ALL: [(Self, &str); 8] = [
        (Self::Custom, "CUSTOM"),
        (Self::Http, "HTTP"),
        (Self::Execution, "EXECUTION"),
        (Self::Network, "NETWORK"),
        (Self::Browser, "BROWSER"),
        (Self::WebVitals, "WEB_VITALS"),
        (Self::Grpc, "GRPC"),
        (Self::WebSocket, "WEBSOCKET"),
    ];

    /// The section of a metric. k6 decides by names, so that a script's own `ws_rtt` is listed with k6's WebSocket
    /// metrics.
    fn of(name: &str) -> Self {
        const EXECUTION: [&str; 4] = ["iteration", "dropped_iterations", "vus", "group_duration"];
        match name {
            "http_req_failed" | "http_reqs" | "http_req_duration" => Self::Http,
            _ if HTTP_PHASES.contains(&name) => Self::Http,
            "data_sent" | "data_received" => Self::Network,
            _ if EXECUTION.iter().any(|prefix| name.starts_with(prefix)) => Self::Execution,
            _ if name.starts_with("browser_web_vital_") => Self::WebVitals,
            _ if name.starts_with("browser_") => Self::Browser,
            _ if name.starts_with("grpc_") => Self::Grpc,
            _ if name.starts_with("ws_") => Self::WebSocket,
            _ => Self::Custom,
        }
    }
}

/// The parts of a request's duration, too many for the compact layout.
const HTTP_PHASES: [&str; 6] = [
    "http_req_blocked",
    "http_req_connecting",
    "http_req_receiving",
    "http_req_sending",
    "http_req_tls_handshaking",
    "http_req_waiting",
];

/// Checks have lines of their own, and groups last as long as their waiting.
const NEVER_LISTED: [&str; 2] = ["checks", "group_duration"];

/// The answers to all checks, as the metric counts them; without the metric, those of the checks.
fn answers(metrics: &BTreeMap<String, Metric>, checks: &[CheckResult]) -> (u64, u64) {
    match metrics.get("checks").map(|metric| &metric.values) {
        Some(&Values::Rate { passes, fails, .. }) => (passes, fails),
        _ => CheckResult::answers(checks),
    }
}

/// Results in the form of k6's newer layouts: of a whole run or of a part of it.
pub(super) struct Results<'a> {
    checks: Vec<CheckResult>,
    /// Passed and failed ones, those included that a script added to the metric itself.
    answers: (u64, u64),
    entries: Vec<Entry<'a>>,
    seconds: f64,
}

impl<'a> Results<'a> {
    /// Of the whole run.
    pub(super) fn of_run(summary: &'a Summary) -> Self {
        Self {
            checks: CheckResult::by_name(&summary.checks),
            answers: answers(&summary.metrics, &summary.checks),
            entries: summary.listing(),
            seconds: summary.metadata.duration_seconds,
        }
    }

    /// The results of a part of a run of this many `seconds`.
    pub(super) fn of_section(section: &'a Section, seconds: f64) -> Self {
        Self {
            checks: CheckResult::by_name(&section.checks),
            answers: answers(&section.metrics, &section.checks),
            entries: Entry::list(&section.metrics, &[]),
            seconds,
        }
    }

    /// Without the metrics that are too much for the compact layout.
    pub(super) fn compact(mut self) -> Self {
        self.entries.retain(|entry| !HTTP_PHASES.contains(&entry.whole()));
        self
    }

    /// Totals of checks, the checks, and metrics by topic.
    pub(super) fn render(&self, indent: usize, unit: Option<TimeUnit>, style: Style) -> String {
        let blocks = [
            self.check_totals(indent, style),
            checks::list(&self.checks, indent, style),
            self.by_topic(indent, unit, style),
        ];
        super::joined(blocks, "\n")
    }

    /// The number of checks, passed and failed. Empty without answers.
    fn check_totals(&self, indent: usize, style: Style) -> String {
        let (passes, fails) = self.answers;
        let total = passes + fails;
        if total == 0 {
            return String::new();
        }
        let per_second = if self.seconds > 0.0 {
            total as f64 / self.seconds
        } else {
            0.0
        };
        let share = |n: u64| {
            let percent = quantity::percent(n as f64 / total as f64);
            [percent, format!("{n} out of {total}")]
        };
        let rows = [
            Row::plain(
                "checks_total",
                [total.to_string(), quantity::per_second(per_second)],
            ),
            Row::plain("checks_succeeded", share(passes)),
            Row::plain("checks_failed", share(fails)),
        ];
        let columns = Columns::fit(&rows);
        rows.iter()
            .map(|row| columns.render(row, indent, None, style))
            .collect()
    }

    /// The metrics below the names of their topics; all share their columns.
    fn by_topic(&self, indent: usize, unit: Option<TimeUnit>, style: Style) -> String {
        let entries = self
            .entries
            .iter()
            .filter(|entry| !NEVER_LISTED.contains(&entry.whole()));
        let mut rows = Vec::new();
        let mut whole = "";
        for entry in entries {
            let topic = Topic::of(entry.whole());
            if entry.selector().is_some() && entry.whole() != whole {
                rows.push((topic, Row::without_samples(entry)));
            }
            whole = entry.whole();
            rows.push((topic, Row::new(entry, RateForm::OutOf, unit)));
        }
        let columns = Columns::fit(rows.iter().map(|(_, row)| row));
        let blocks = Topic::ALL.map(|(topic, name)| {
            let rows = rows.iter().filter(|(of, _)| *of == topic);
            let lines: String = rows
                .map(|(_, row)| columns.render(row, indent, None, style))
                .collect();
            if lines.is_empty() {
                lines
            } else {
                format!("{}{}\n{lines}", " ".repeat(indent), style.strong(name))
            }
        });
        super::joined(blocks, "\n")
    }
}
