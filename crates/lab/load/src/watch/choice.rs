//! Selects the metrics of a page to follow, and their figures: a page may have thousands, a report shows a few.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use super::{
    exposition::{Exposition, Sample, Type},
    figure::{self, Figure},
};

/// So many series of a page are followed. Reason: with [`super::MAX_TARGETS`] pages and 512 intervals they are about
/// a megabyte of a report.
pub const MAX_SERIES: usize = 32;

/// The longest series, with name and labels, in bytes. Longer ones are ignored.
const MAX_SERIES_BYTES: usize = 256;

/// The default order: the process itself first, then cable servers that people compare.
const FIRST: [&str; 9] = [
    "process_",
    "plimsoll_",
    "anycable_",
    "actioncable_",
    "action_cable_",
    "puma_",
    "soketi_",
    "centrifugo_",
    "nodejs_",
];

/// The process metrics of Prometheus's client libraries, and the names of these figures here.
const OF_PROCESS: [(&str, &str); 4] = [
    ("process_cpu_seconds_total", figure::CPU_CORES),
    ("process_resident_memory_bytes", figure::RSS_BYTES),
    ("process_open_fds", figure::OPEN_FILES),
    ("process_threads", figure::THREADS),
];

/// The followed series of one page: chosen at the first sample, and completed by later ones.
#[derive(Debug)]
pub(super) struct Choice {
    wanted: Vec<String>,
    chosen: HashSet<String>,
    /// The number of further series at the last sample.
    n_left_out: usize,
}

impl Choice {
    /// Series that match one of these patterns, or all series if there is no pattern.
    pub(super) fn new(wanted: Vec<String>) -> Self {
        Self {
            wanted,
            chosen: HashSet::new(),
            n_left_out: 0,
        }
    }

    /// Wanted series at the last sample beyond [`MAX_SERIES`].
    pub(super) fn n_left_out(&self) -> usize {
        self.n_left_out
    }

    /// An error text for a page without any wanted series.
    pub(super) fn missing(&self) -> String {
        match self.wanted.as_slice() {
            [] => "it has no counter, gauge or histogram".to_owned(),
            wanted => format!("it has no metric named {}", wanted.join(",")),
        }
    }

    /// The figures of the series that are followed.
    pub(super) fn take(&mut self, page: &Exposition<'_>) -> Vec<(Cow<'static, str>, Figure)> {
        let counts = Counts::of(page);
        let mut found: Vec<_> = page
            .samples
            .iter()
            .filter(|sample| self.is_wanted(sample.name))
            .filter_map(|sample| figure_of(sample, page, &counts))
            .filter(|(name, figure)| figure.is_finite() && name.len() <= MAX_SERIES_BYTES)
            .collect();
        if self.wanted.is_empty() {
            // The order of the page otherwise stays.
            found.sort_by_key(|(name, _)| rank(name));
        }
        let mut seen = HashSet::new();
        self.n_left_out = 0;
        found.retain(|(name, _)| {
            let is_chosen = self.chosen.contains(name.as_ref()) || self.chosen.len() < MAX_SERIES;
            if !is_chosen {
                self.n_left_out += 1;
            } else if !self.chosen.contains(name.as_ref()) {
                self.chosen.insert(name.clone().into_owned());
            }
            // A page with a duplicate series is invalid; the first one counts.
            is_chosen && seen.insert(name.clone())
        });
        found
    }

    fn is_wanted(&self, name: &str) -> bool {
        // A request for a histogram means its mean.
        let family = name.strip_suffix("_sum").unwrap_or(name);
        self.wanted.is_empty()
            || self.wanted.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == pattern || family == pattern,
            })
    }
}

/// The figure of a sample over time, and its name. `None` for samples without a meaning of their own: buckets,
/// quantiles (whose window is unknown), counts that belong to a sum, and times of creation.
fn figure_of(
    sample: &Sample<'_>,
    page: &Exposition<'_>,
    counts: &Counts<'_>,
) -> Option<(Cow<'static, str>, Figure)> {
    let &Sample { name, labels, value } = sample;
    let own_name = OF_PROCESS
        .iter()
        .find(|(of_process, _)| name == *of_process && labels.is_empty());
    let kind = page.type_of(name);
    if let Some((family, suffix)) = name.rsplit_once('_')
        && matches!(page.type_of(family), Type::Histogram | Type::Summary)
    {
        return match suffix {
            "sum" => {
                let count = counts.find(family, labels)?;
                let figure = Figure::Mean { sum: value, count };
                Some((format!("mean({})", series(family, labels)).into(), figure))
            }
            _ => None,
        };
    }
    let is_total = kind == Type::Counter || (kind == Type::Untyped && name.ends_with("_total"));
    match (own_name, kind) {
        (_, Type::Histogram | Type::Summary) => None,
        (Some(&(_, own)), _) if is_total => Some((own.into(), Figure::Total(value))),
        (Some(&(_, own)), _) => Some((own.into(), Figure::Level(value))),
        _ if name.ends_with("_created") || name.ends_with("_info") => None,
        _ if is_total => Some((
            format!("rate({})", series(name, labels)).into(),
            Figure::Total(value),
        )),
        _ => Some((series(name, labels).into(), Figure::Level(value))),
    }
}

/// The number of observations of a sum, by family and labels. A map, because a page may have very many.
struct Counts<'a>(HashMap<(&'a str, &'a str), f64>);

impl<'a> Counts<'a> {
    fn of(page: &Exposition<'a>) -> Self {
        let counts = page.samples.iter().filter_map(|sample| {
            let family = sample.name.strip_suffix("_count")?;
            Some(((family, sample.labels), sample.value))
        });
        Self(counts.collect())
    }

    fn find(&self, family: &str, labels: &str) -> Option<f64> {
        self.0.get(&(family, labels)).copied()
    }
}

fn series(name: &str, labels: &str) -> String {
    match labels {
        "" => name.to_owned(),
        _ => format!("{name}{{{labels}}}"),
    }
}

/// The smaller, the earlier.
fn rank(name: &str) -> usize {
    if OF_PROCESS.iter().any(|(_, own)| name == *own) {
        return 0;
    }
    let name = name
        .strip_prefix("rate(")
        .or_else(|| name.strip_prefix("mean("))
        .unwrap_or(name);
    let position = FIRST.iter().position(|start| name.starts_with(start));
    1 + position.unwrap_or(FIRST.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"
# TYPE go_goroutines gauge
go_goroutines 9
# TYPE http_requests_total counter
http_requests_total{code="200"} 7
http_requests_total{code="500"} 1
# TYPE latency_seconds histogram
latency_seconds_bucket{le="1"} 3
latency_seconds_bucket{le="+Inf"} 4
latency_seconds_sum 2.5
latency_seconds_count 4
# TYPE gc summary
gc{quantile="0.5"} 0.1
gc_sum 10
gc_count 20
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 12.5
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 3.2e7
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.7e9
build_info{v="1"} 1
lost NaN
jobs_total 3
"#;

    fn chosen(page: &str, wanted: &[&str]) -> Vec<String> {
        let wanted = wanted.iter().map(|&name| name.to_owned()).collect();
        let figures = Choice::new(wanted).take(&Exposition::parse(page).unwrap());
        let text = |(name, figure): &(Cow<'static, str>, Figure)| match figure {
            Figure::Level(value) => format!("{name} = {value}"),
            Figure::Total(value) => format!("{name} from {value}"),
            Figure::Mean { sum, count } => format!("{name} from {sum} / {count}"),
        };
        figures.iter().map(text).collect()
    }

    #[test]
    fn what_concerns_the_process_comes_first() {
        assert_eq!(
            chosen(PAGE, &[]),
            [
                "cpu_cores from 12.5",
                "rss_bytes = 32000000",
                "process_start_time_seconds = 1700000000",
                "go_goroutines = 9",
                r#"rate(http_requests_total{code="200"}) from 7"#,
                r#"rate(http_requests_total{code="500"}) from 1"#,
                "mean(latency_seconds) from 2.5 / 4",
                "mean(gc) from 10 / 20",
                "rate(jobs_total) from 3",
            ]
        );
    }

    #[test]
    fn people_choose_by_name() {
        assert_eq!(chosen(PAGE, &["go_goroutines"]), ["go_goroutines = 9"]);
        assert_eq!(
            chosen(PAGE, &["latency_seconds", "jobs*"]),
            ["mean(latency_seconds) from 2.5 / 4", "rate(jobs_total) from 3"]
        );
        assert_eq!(chosen(PAGE, &["nothing"]), Vec::<String>::new());
    }

    #[test]
    fn no_more_than_a_bounded_number_is_followed_and_the_rest_is_counted() {
        let page = |from: usize, to: usize| -> String {
            (from..to).map(|n| format!("a{{n=\"{n}\"}} {n}\n")).collect()
        };
        let mut choice = Choice::new(Vec::new());
        let first = page(0, 30);
        assert_eq!(choice.take(&Exposition::parse(&first).unwrap()).len(), 30);
        let second = page(10, 1_000);
        assert_eq!(choice.take(&Exposition::parse(&second).unwrap()).len(), 22);
        assert_eq!((choice.chosen.len(), choice.n_left_out()), (MAX_SERIES, 990 - 22));
    }

    #[test]
    fn a_long_name_and_a_repeated_one_are_left_out() {
        let page = format!("a 1\na 2\nb{{x=\"{}\"}} 3\n", "x".repeat(300));
        assert_eq!(chosen(&page, &[]), ["a = 1"]);
    }
}
