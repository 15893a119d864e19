//! The layout of Artillery's second version.

use std::{fmt::Write as _, time::SystemTime};

use super::{Figures, clock, rounded_rate, summary_figure};

/// The column of values.
const COLUMN: usize = 79;

/// The figures of a distribution that are printed.
const SHOWN: [&str; 6] = ["min", "max", "mean", "median", "p95", "p99"];

const LINE: &str = "--------------------------------------";

/// Prints figures as Artillery does since 2022.
#[derive(Clone, Copy, Debug)]
pub struct Version2;

impl Version2 {
    /// A phase that began at `at`; `duration` in seconds.
    pub fn phase(self, name: Option<&str>, position: usize, duration: f64, at: SystemTime) -> String {
        let name = name.unwrap_or("unnamed");
        format!(
            "Phase started: {name} (index: {position}, duration: {duration}s) {}\n\n",
            clock(at).0
        )
    }

    /// A period.
    pub fn period(self, figures: &Figures) -> String {
        let (time, _) = clock(figures.start + figures.width);
        let width = figures.width.as_secs_f64();
        let title = format!("Metrics for period to: {time} (width: {width:.3}s)");
        format!("{}{}\n", heading(&title), body(figures))
    }

    /// The whole run.
    pub fn summary(self, figures: &Figures) -> String {
        let (time, _) = clock(figures.start + figures.width);
        format!(
            "{}{}",
            heading(&format!("Summary report @ {time}")),
            body(figures)
        )
    }
}

fn heading(title: &str) -> String {
    format!("{LINE}\n{title}\n{LINE}\n\n")
}

/// All figures in the order of their names.
fn body(figures: &Figures) -> String {
    if figures.is_empty() {
        return "No measurements recorded during this period\n".to_owned();
    }
    let counters = figures
        .counters
        .iter()
        .map(|(name, n)| (name, line("", name, &n.to_string())));
    let rates = figures.rates.iter();
    let rates = rates.map(|(name, rate)| (name, line("", name, &format!("{}/sec", rounded_rate(*rate)))));
    let summaries = figures.summaries.iter().map(|(name, histogram)| {
        let mut text = format!("{name}:\n");
        for figure in SHOWN {
            let value = summary_figure(histogram, figure).unwrap_or_default();
            text.push_str(&line("  ", figure, &value.to_string()));
        }
        (name, text)
    });
    let mut lines: Vec<_> = counters.chain(rates).chain(summaries).collect();
    lines.sort();
    let mut text = String::new();
    for (_, lines) in lines {
        text.push_str(&lines);
    }
    text
}

fn line(indent: &str, name: &str, value: &str) -> String {
    let mut line = format!("{indent}{name}: ");
    let n_dots = COLUMN.saturating_sub(line.chars().count());
    // Writing to a string cannot fail.
    let _ = writeln!(line, "{} {value}", ".".repeat(n_dots));
    line
}
