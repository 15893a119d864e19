//! Figures in Prometheus's text format, as the reporter of Artillery arranges them: three families, whose label `metric` has
//! the name of the figure.

use std::{collections::BTreeMap, fmt::Write as _};

/// The figures of a run so far.
#[derive(Clone, Debug)]
pub struct Exposition {
    prefix: String,
    /// The labels of all figures, each with a comma before it.
    labels: String,
    counters: BTreeMap<String, f64>,
    rates: BTreeMap<String, f64>,
    summaries: BTreeMap<String, f64>,
}

impl Exposition {
    /// No figures yet. `prefix` is the beginning of the families' names, and `labels` are those of all figures; both must
    /// have the characters that Prometheus allows.
    pub fn new(prefix: &str, labels: &[(String, String)]) -> Self {
        let labels = labels
            .iter()
            .map(|(name, value)| format!(",{name}=\"{}\"", escaped(value)));
        Self {
            prefix: prefix.to_owned(),
            labels: labels.collect(),
            counters: BTreeMap::new(),
            rates: BTreeMap::new(),
            summaries: BTreeMap::new(),
        }
    }

    /// Adds to a counter.
    pub fn count(&mut self, name: &str, n: u64) {
        *self.counters.entry(key(name)).or_default() += n as f64;
    }

    /// Sets a rate.
    pub fn set_rate(&mut self, name: &str, rate: f64) {
        self.rates.insert(key(name), rate);
    }

    /// Sets a figure of a distribution.
    pub fn set_summary(&mut self, name: &str, figure: &str, value: f64) {
        self.summaries.insert(format!("{}_{figure}", key(name)), value);
    }

    /// All figures as text.
    pub fn text(&self) -> String {
        let families = [
            (
                "counters",
                "counter",
                "Sums since the start of the run.",
                &self.counters,
            ),
            (
                "rates",
                "gauge",
                "Events per second in the last period.",
                &self.rates,
            ),
            (
                "summaries",
                "gauge",
                "Distributions in the last period; times are in milliseconds.",
                &self.summaries,
            ),
        ];
        let mut text = String::new();
        for (kind, form, help, figures) in families {
            let name = format!("{}_{kind}", self.prefix);
            // Writing to a string cannot fail.
            let _infallible = write!(text, "# HELP {name} {help}\n# TYPE {name} {form}\n");
            for (metric, value) in figures {
                let (metric, labels) = (escaped(metric), &self.labels);
                let _infallible = writeln!(text, "{name}{{metric=\"{metric}\"{labels}}} {value}");
            }
        }
        text
    }
}

/// The name of a figure as a label has it.
fn key(name: &str) -> String {
    let plain = name.replace(|letter: char| letter == '.' || letter.is_whitespace(), "_");
    plain.to_lowercase()
}

/// The value of a label.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn figures_are_three_families() {
        let tags = [("team".to_owned(), "a \"b\"\n".to_owned())];
        let mut exposition = Exposition::new("load", &tags);
        for _ in 0..2 {
            exposition.count("http.codes.200", 3);
            exposition.count("errors.No Such\\Thing", 1);
            exposition.set_rate("http.request_rate", 2.5);
            exposition.set_summary("http.response_time", "p95", 10.1);
        }
        expect![[r#"
            # HELP load_counters Sums since the start of the run.
            # TYPE load_counters counter
            load_counters{metric="errors_no_such\\thing",team="a \"b\"\n"} 2
            load_counters{metric="http_codes_200",team="a \"b\"\n"} 6
            # HELP load_rates Events per second in the last period.
            # TYPE load_rates gauge
            load_rates{metric="http_request_rate",team="a \"b\"\n"} 2.5
            # HELP load_summaries Distributions in the last period; times are in milliseconds.
            # TYPE load_summaries gauge
            load_summaries{metric="http_response_time_p95",team="a \"b\"\n"} 10.1
        "#]]
        .assert_eq(&exposition.text());
    }
}
