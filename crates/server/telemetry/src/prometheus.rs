//! Prometheus' text format, version 0.0.4.
//!
//! Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>. An easily missed detail: in HELP only `\`
//! and line ends are escaped, in label values `"` as well.

use std::fmt::{self, Display, Write};

use crate::{BUCKET_BOUNDS, HistogramValue, Kind, Metric, Series, Snapshot, Tags, Value};

/// The format's media type.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Snapshot {
    /// Writes all metrics in Prometheus' text format. `prefix` comes before every name, `tags` are labels on every
    /// series. A series' own label takes precedence over a tag.
    pub fn to_prometheus(&self, prefix: &str, tags: &Tags) -> String {
        let mut text = String::new();
        for metric in &self.metrics {
            write(metric, prefix, tags, &mut text).expect("a String takes everything");
        }
        text
    }
}

fn write(metric: &Metric, prefix: &str, tags: &Tags, out: &mut String) -> fmt::Result {
    let Metric { name, help, kind, .. } = metric;
    let kind = match kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    };
    writeln!(out, "# HELP {prefix}{name} {}", Escaped(help, false))?;
    writeln!(out, "# TYPE {prefix}{name} {kind}")?;
    let name = format!("{prefix}{name}");
    for Series { labels, value } in &metric.series {
        let labels = &labels_text(labels, tags);
        match value {
            Value::Counter(n) => sample(out, &name, labels, n)?,
            Value::Gauge(n) => sample(out, &name, labels, n)?,
            Value::Histogram(value) => histogram(out, &name, labels, value)?,
        }
    }
    Ok(())
}

fn sample(out: &mut String, name: &str, labels: &str, value: impl Display) -> fmt::Result {
    match labels {
        "" => writeln!(out, "{name} {value}"),
        labels => writeln!(out, "{name}{{{labels}}} {value}"),
    }
}

/// Writes a histogram. A bucket of this format includes all smaller ones.
fn histogram(out: &mut String, name: &str, labels: &str, value: &HistogramValue) -> fmt::Result {
    let comma = if labels.is_empty() { "" } else { "," };
    let mut n_so_far = 0;
    let bounds = BUCKET_BOUNDS.iter().map(ToString::to_string);
    for (bound, n) in bounds.chain(["+Inf".to_owned()]).zip(&value.counts) {
        n_so_far += n;
        writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {n_so_far}")?;
    }
    sample(out, &format!("{name}_sum"), labels, value.sum.as_secs_f64())?;
    sample(out, &format!("{name}_count"), labels, n_so_far)
}

fn labels_text(labels: &[(&'static str, String)], tags: &Tags) -> String {
    let own = labels.iter().map(|(name, value)| (*name, value.as_str()));
    let tags = tags
        .iter()
        .filter(|(name, _)| labels.iter().all(|(known, _)| known != name));
    let pairs: Vec<_> = own
        .chain(tags)
        .map(|(name, value)| format!("{name}=\"{}\"", Escaped(value, true)))
        .collect();
    pairs.join(",")
}

/// Text with escapes for the characters that would end it. The flag says whether quotes are escaped, too.
struct Escaped<'a>(&'a str, bool);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '"' if self.1 => f.write_str("\\\"")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::{Expect, expect};

    use crate::{Registry, Tags};

    fn check(tags: &str, make: impl FnOnce(&Registry), expected: &Expect) {
        let registry = Registry::default();
        make(&registry);
        let tags = tags.parse().expect("tags");
        expected.assert_eq(&registry.snapshot().to_prometheus("p_", &tags));
    }

    #[test]
    fn numbers() {
        check(
            "",
            |registry| {
                registry.counter("b_total", "What \\ is\n\"counted\"").add(7);
                registry.gauge("a_num", "A").set(-2);
                registry.gauge_fn("c_ratio", "C", || 0.25);
            },
            &expect![[r#"
                # HELP p_a_num A
                # TYPE p_a_num gauge
                p_a_num -2
                # HELP p_b_total What \\ is\n"counted"
                # TYPE p_b_total counter
                p_b_total 7
                # HELP p_c_ratio C
                # TYPE p_c_ratio gauge
                p_c_ratio 0.25
            "#]],
        );
    }

    #[test]
    fn tags_are_labels_and_own_labels_win() {
        check(
            "env:a\"b\\c,reason:other",
            |registry| {
                registry.counter("a_total", "A").add(1);
                registry
                    .labelled_counter("b_total", "B", &[("reason", "full")])
                    .add(2);
            },
            &expect![[r#"
                # HELP p_a_total A
                # TYPE p_a_total counter
                p_a_total{env="a\"b\\c",reason="other"} 1
                # HELP p_b_total B
                # TYPE p_b_total counter
                p_b_total{reason="full",env="a\"b\\c"} 2
            "#]],
        );
    }

    #[test]
    fn a_histogram_without_labels_has_its_bounds_alone() {
        let registry = Registry::default();
        registry
            .histogram("d_seconds", "D", &[])
            .observe(Duration::from_secs(1));
        let text = registry.snapshot().to_prometheus("p_", &Tags::default());
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(lines.len(), 19);
        assert_eq!(lines[0], r#"p_d_seconds_bucket{le="0.0001"} 0"#);
        assert_eq!(
            lines[16..],
            [
                r#"p_d_seconds_bucket{le="+Inf"} 1"#,
                "p_d_seconds_sum 1",
                "p_d_seconds_count 1"
            ]
        );
    }

    #[test]
    fn buckets_include_the_smaller_ones() {
        check(
            "env:x",
            |registry| {
                let histogram = registry.histogram("d_seconds", "D", &[("method", "connect")]);
                for millis in [1, 1, 30, 20_000] {
                    histogram.observe(Duration::from_millis(millis));
                }
            },
            &expect![[r##"
                # HELP p_d_seconds D
                # TYPE p_d_seconds histogram
                p_d_seconds_bucket{method="connect",env="x",le="0.0001"} 0
                p_d_seconds_bucket{method="connect",env="x",le="0.00025"} 0
                p_d_seconds_bucket{method="connect",env="x",le="0.0005"} 0
                p_d_seconds_bucket{method="connect",env="x",le="0.001"} 2
                p_d_seconds_bucket{method="connect",env="x",le="0.0025"} 2
                p_d_seconds_bucket{method="connect",env="x",le="0.005"} 2
                p_d_seconds_bucket{method="connect",env="x",le="0.01"} 2
                p_d_seconds_bucket{method="connect",env="x",le="0.025"} 2
                p_d_seconds_bucket{method="connect",env="x",le="0.05"} 3
                p_d_seconds_bucket{method="connect",env="x",le="0.1"} 3
                p_d_seconds_bucket{method="connect",env="x",le="0.25"} 3
                p_d_seconds_bucket{method="connect",env="x",le="0.5"} 3
                p_d_seconds_bucket{method="connect",env="x",le="1"} 3
                p_d_seconds_bucket{method="connect",env="x",le="2.5"} 3
                p_d_seconds_bucket{method="connect",env="x",le="5"} 3
                p_d_seconds_bucket{method="connect",env="x",le="10"} 3
                p_d_seconds_bucket{method="connect",env="x",le="+Inf"} 4
                p_d_seconds_sum{method="connect",env="x"} 20.032
                p_d_seconds_count{method="connect",env="x"} 4
            "##]],
        );
    }
}
