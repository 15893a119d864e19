//! The layout of Artillery's first version, which older articles and tools show.

use std::{
    fmt::Write as _,
    time::{Duration, SystemTime},
};

use plimsoll_load::histogram::Histogram;

use super::{Figures, clock, summary_figure};

/// The figures of a distribution that are printed.
const SHOWN: [&str; 5] = ["min", "max", "median", "p95", "p99"];

/// The prefix of the names of scenarios, errors and codes.
const BY_NAME: &str = "vusers.created_by_name.";
const ERRORS: &str = "errors.";
const CODES: &str = "http.codes.";

/// The distributions that make up its response time.
const RESPONSE_TIMES: [&str; 2] = ["websocket.response_time", "http.response_time"];

/// Prints figures like Artillery until 2022. A request is a message or a request over HTTP; `Codes` counts messages
/// under 0, as it always did. `Response time` is from sending a message to its answer, while Artillery timed how long
/// the operating system took to accept the message.
#[derive(Clone, Copy, Debug)]
pub struct Version1;

impl Version1 {
    /// A phase that began at `at`; `duration` in seconds.
    pub fn phase(self, position: usize, duration: f64, at: SystemTime) -> String {
        let (time, date) = clock(at);
        format!("Started phase {position}, duration: {duration}s @ {time} {date}\n")
    }

    /// A period that ended `elapsed` after the start of the run.
    pub fn period(self, figures: &Figures, elapsed: Duration) -> String {
        let (time, date) = clock(figures.start + figures.width);
        let mut text = format!(
            "Report @ {time} {date}\nElapsed time: {:.0} seconds\n",
            elapsed.as_secs_f64()
        );
        body(figures, &mut text);
        codes_and_errors(figures, &mut text);
        text.push('\n');
        text
    }

    /// The whole run.
    pub fn summary(self, figures: &Figures) -> String {
        let (time, date) = clock(figures.start + figures.width);
        let mut text = format!("Summary report @ {time} {date}\n");
        body(figures, &mut text);
        scenario_counts(figures, &mut text);
        codes_and_errors(figures, &mut text);
        text
    }
}

fn n_requests(figures: &Figures) -> u64 {
    figures.counter("websocket.messages_sent") + figures.counter("http.responses")
}

// Writing to a string cannot fail, here and below.

fn body(figures: &Figures, text: &mut String) {
    let n_requests = n_requests(figures);
    let _ = writeln!(
        text,
        "  Scenarios launched:  {}",
        figures.counter("vusers.created")
    );
    let _ = writeln!(
        text,
        "  Scenarios completed: {}",
        figures.counter("vusers.completed")
    );
    let _ = writeln!(text, "  Requests completed:  {n_requests}");
    let secs = figures.width.as_secs_f64();
    let per_second = if secs > 0.0 { n_requests as f64 / secs } else { 0.0 };
    let _ = writeln!(
        text,
        "  Mean response/sec: {}",
        (per_second * 100.0).round() / 100.0
    );
    let mut times = Histogram::small();
    for histogram in RESPONSE_TIMES
        .iter()
        .filter_map(|name| figures.summaries.get(*name))
    {
        times.merge(histogram);
    }
    if times.is_empty() {
        text.push_str("  Response time (msec): no answer was timed\n");
        return;
    }
    text.push_str("  Response time (msec):\n");
    for figure in SHOWN {
        let value = summary_figure(&times, figure).unwrap_or_default();
        let _ = writeln!(text, "    {figure}: {value}");
    }
}

fn scenario_counts(figures: &Figures, text: &mut String) {
    let n_created = figures.counter("vusers.created").max(1);
    text.push_str("  Scenario counts:\n");
    for (name, n) in named(figures, BY_NAME) {
        let percent = n as f64 / n_created as f64 * 100.0;
        let _ = writeln!(text, "    {name}: {n} ({}%)", (percent * 1e3).round() / 1e3);
    }
}

fn codes_and_errors(figures: &Figures, text: &mut String) {
    let n_messages = figures.counter("websocket.messages_sent");
    let codes: Vec<_> = named(figures, CODES).collect();
    if n_messages > 0 || !codes.is_empty() {
        text.push_str("  Codes:\n");
        let messages = (n_messages > 0).then_some(("0", n_messages));
        for (code, n) in messages.into_iter().chain(codes) {
            let _ = writeln!(text, "    {code}: {n}");
        }
    }
    let mut errors = named(figures, ERRORS).peekable();
    if errors.peek().is_some() {
        text.push_str("  Errors:\n");
        for (error, n) in errors {
            let _ = writeln!(text, "    {error}: {n}");
        }
    }
}

/// Counters with this prefix, by the rest of the name.
fn named<'a>(figures: &'a Figures, prefix: &'static str) -> impl Iterator<Item = (&'a str, u64)> {
    let counters = figures.counters.iter();
    counters.filter_map(move |(name, &n)| Some((name.strip_prefix(prefix)?, n)))
}
