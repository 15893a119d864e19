//! The report for people: ab's lines with its labels, so that scripts which search them still work, and below them
//! the figures that ab does not have.

use std::{fmt::Write, time::Duration};

use plimsoll_clients::{http::Version, tls::TlsVersion};
use plimsoll_report::percentile;

use super::percentiles::{Bar, FINE, OF_AB, at_ms, bars};
use crate::http::{
    failures::Kind,
    outcome::{HttpOutcome, per_second},
    phase::Phase,
};

/// Which of ab's tables are shown.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// The tables of percentiles (no `-d`).
    pub shows_percentiles: bool,
    /// Standard deviations, medians and warnings (no `-S`).
    pub shows_deviations: bool,
}

/// The whole report.
pub(crate) fn text(outcome: &HttpOutcome, layout: Layout) -> String {
    let mut text = String::new();
    // A String takes everything.
    let _ = write(&mut text, outcome, layout);
    text
}

fn write(out: &mut String, outcome: &HttpOutcome, layout: Layout) -> std::fmt::Result {
    writeln!(out, "Plimsoll {}, HTTP benchmark\n", env!("CARGO_PKG_VERSION"))?;
    server(out, outcome)?;
    totals(out, outcome)?;
    if outcome.tally.n_complete > 0 {
        connection_times(out, outcome, layout)?;
        if layout.shows_percentiles {
            percentages(out, outcome)?;
            fine_percentiles(out, outcome)?;
            histogram(out, outcome)?;
        }
    }
    writeln!(out, "\nIn {}", outcome.period)?;
    outcome
        .targets
        .iter()
        .for_each(|target| out.push_str(&target.text()));
    for sentence in outcome.health.sentences() {
        writeln!(out, "{sentence}")?;
    }
    thresholds(out, outcome)?;
    remarks(out, outcome)
}

/// A line as ab writes it: the label, and the value in column 25.
fn line(out: &mut String, label: &str, value: &str) -> std::fmt::Result {
    let label = format!("{label}:");
    writeln!(out, "{}", format!("{label:<24}{value}").trim_end())
}

fn server(out: &mut String, outcome: &HttpOutcome) -> std::fmt::Result {
    let (setting, document) = (&outcome.setting, outcome.document.as_ref());
    let url = &setting.url;
    line(
        out,
        "Server Software",
        document.map_or("", |document| &document.server_software),
    )?;
    line(out, "Server Hostname", url.host_str().unwrap_or_default())?;
    line(
        out,
        "Server Port",
        &url.port_or_known_default().unwrap_or_default().to_string(),
    )?;
    if let Some(tls) = document.and_then(|document| document.tls.as_ref()) {
        let version = match tls.version {
            TlsVersion::Tls13 => "TLSv1.3",
            TlsVersion::Tls12 => "TLSv1.2",
            TlsVersion::Tls11 => "TLSv1.1",
            TlsVersion::Tls10 => "TLSv1",
        };
        line(
            out,
            "SSL/TLS Protocol",
            &format!("{version},{}", tls.cipher_suite),
        )?;
        line(out, "TLS Server Name", url.host_str().unwrap_or_default())?;
    }
    if setting.version == Version::Http2 {
        line(out, "HTTP version", "2")?;
    }
    writeln!(out)?;
    line(out, "Document Path", &outcome.path())?;
    line(out, "Document Length", &outcome.document_length())?;
    writeln!(out)
}

fn totals(out: &mut String, outcome: &HttpOutcome) -> std::fmt::Result {
    let HttpOutcome {
        setting,
        tally,
        elapsed,
        ..
    } = outcome;
    let seconds = elapsed.as_secs_f64();
    line(out, "Concurrency Level", &setting.concurrency.to_string())?;
    if let Some(rate) = setting.rate {
        line(out, "Rate asked for", &format!("{rate}"))?;
    }
    line(out, "Time taken for tests", &format!("{seconds:.3} seconds"))?;
    line(out, "Complete requests", &tally.n_complete.to_string())?;
    line(out, "Failed requests", &tally.failures.total().to_string())?;
    if tally.failures.total() > 0 {
        let kinds = Kind::ALL.map(|kind| format!("{}: {}", kind.name(), tally.failures.of(kind)));
        writeln!(out, "   ({})", kinds.join(", "))?;
        for (kind, cause, n) in tally.failures.causes() {
            writeln!(out, "   {}: {cause} ({n})", kind.name())?;
        }
    }
    if outcome.n_unsent > 0 {
        line(out, "Unsent requests", &outcome.n_unsent.to_string())?;
    }
    if tally.n_non_2xx > 0 {
        line(out, "Non-2xx responses", &tally.n_non_2xx.to_string())?;
    }
    if setting.keeps_alive {
        line(out, "Keep-Alive requests", &tally.n_kept_alive.to_string())?;
    }
    line(
        out,
        "Total transferred",
        &format!("{} bytes", tally.n_bytes_received),
    )?;
    if setting.has_body {
        line(out, "Total body sent", &tally.n_bytes_sent.to_string())?;
    }
    line(out, "HTML transferred", &format!("{} bytes", tally.n_body_bytes))?;
    line(
        out,
        "Requests per second",
        &format!("{:.2} [#/sec] (mean)", outcome.per_second()),
    )?;
    let per_request_ms = seconds * 1e3 / tally.n_complete.max(1) as f64;
    let mean_ms = match setting.rate {
        None => per_request_ms * setting.concurrency as f64,
        // ab's formula takes all places for busy, which they are not here.
        Some(_) => tally.total.histogram.mean_us() / 1e3,
    };
    line(out, "Time per request", &format!("{mean_ms:.3} [ms] (mean)"))?;
    line(
        out,
        "Time per request",
        &format!("{per_request_ms:.3} [ms] (mean, across all concurrent requests)"),
    )?;
    rates(out, outcome)
}

fn rates(out: &mut String, outcome: &HttpOutcome) -> std::fmt::Result {
    let tally = &outcome.tally;
    let kilobytes = |n: u64| per_second(n as f64 / 1024.0, outcome.elapsed);
    let (received, sent) = (kilobytes(tally.n_bytes_received), kilobytes(tally.n_bytes_sent));
    line(
        out,
        "Transfer rate",
        &format!("{received:.2} [Kbytes/sec] received"),
    )?;
    if outcome.setting.has_body {
        writeln!(out, "{:24}{sent:.2} kb/s sent", "")?;
        writeln!(out, "{:24}{:.2} kb/s total", "", received + sent)?;
    }
    Ok(())
}

/// ab's table in whole milliseconds.
fn connection_times(out: &mut String, outcome: &HttpOutcome, layout: Layout) -> std::fmt::Result {
    let tally = &outcome.tally;
    writeln!(out, "\nConnection Times (ms)")?;
    if layout.shows_deviations {
        writeln!(out, "              min  mean[+/-sd] median   max")?;
    } else {
        writeln!(out, "              min   avg   max")?;
    }
    let queueing = outcome.setting.rate.map(|_| ("Queueing:", &tally.queueing));
    let rows = [
        ("Connect:", &tally.connect),
        ("Processing:", &tally.processing),
        ("Waiting:", &tally.waiting),
        ("Total:", &tally.total),
    ];
    for (label, phase) in queueing.into_iter().chain(rows) {
        let histogram = &phase.histogram;
        let whole = |ms: f64| ms.round();
        let [min, mean, max] = [
            at_ms(histogram, 0.0),
            histogram.mean_us() / 1e3,
            at_ms(histogram, 100.0),
        ]
        .map(whole);
        if layout.shows_deviations {
            let (deviation, median) = (phase.deviation_us() / 1e3, whole(at_ms(histogram, 50.0)));
            writeln!(
                out,
                "{label:<12}{min:5} {mean:4} {deviation:5.1} {median:6} {max:7}"
            )?;
        } else {
            writeln!(out, "{label:<12}{min:5} {mean:5} {max:5}")?;
        }
    }
    if layout.shows_deviations {
        rows.iter()
            .try_for_each(|(label, phase)| warning(out, label, phase))?;
    }
    Ok(())
}

/// ab's doubts about a mean that lies far from the median.
fn warning(out: &mut String, label: &str, phase: &Phase) -> std::fmt::Result {
    let mean_us = phase.histogram.mean_us();
    let median_us = percentile(&phase.histogram, 50.0).as_secs_f64() * 1e6;
    let deviation_us = phase.deviation_us();
    let distance_us = (mean_us - median_us).abs();
    // Below a millisecond the table shows no difference.
    if distance_us <= deviation_us || distance_us < 1e3 {
        return Ok(());
    }
    let (word, how) = if distance_us > 2.0 * deviation_us {
        ("ERROR", "more than two standard deviations")
    } else {
        ("WARNING", "more than a standard deviation")
    };
    let label = label.trim_end_matches(':').to_lowercase();
    writeln!(
        out,
        "{word}: median and mean of the {label} times are {how} apart; read the percentiles, not the mean"
    )
}

/// ab's table of percentages, in whole milliseconds.
fn percentages(out: &mut String, outcome: &HttpOutcome) -> std::fmt::Result {
    writeln!(
        out,
        "\nPercentage of the requests served within a certain time (ms)"
    )?;
    for percent in OF_AB {
        let ms = at_ms(&outcome.tally.total.histogram, f64::from(percent)).round();
        if percent < 100 {
            writeln!(out, "  {percent}%  {ms:5}")?;
        } else {
            writeln!(out, " {percent}%  {ms:5} (longest request)")?;
        }
    }
    Ok(())
}

fn fine_percentiles(out: &mut String, outcome: &HttpOutcome) -> std::fmt::Result {
    let histogram = &outcome.tally.total.histogram;
    let since = if outcome.setting.rate.is_some() {
        "from when a request was due"
    } else {
        "from the start of a request"
    };
    writeln!(out, "\nLatency percentiles (ms), {since}")?;
    for percent in FINE {
        writeln!(out, "  p{percent:<6} {:10.3}", at_ms(histogram, percent))?;
    }
    writeln!(out, "  max     {:10.3}", at_ms(histogram, 100.0))
}

/// The width of the longest bar.
const BAR_COLUMNS: u64 = 40;

fn histogram(out: &mut String, outcome: &HttpOutcome) -> std::fmt::Result {
    writeln!(out, "\nLatency histogram (ms)")?;
    let bars = bars(&outcome.tally.total.histogram);
    let most = bars.iter().map(|bar| bar.n).max().unwrap_or(1).max(1);
    for Bar { from, to, n } in bars {
        let n_columns = u128::from(n) * u128::from(BAR_COLUMNS) / u128::from(most);
        // What is there is seen.
        let n_columns = usize::try_from(n_columns).unwrap_or(0).max(usize::from(n > 0));
        let range = format!("{} to {}", limit(from), limit(to));
        writeln!(
            out,
            "{}",
            format!("  {range:<17} {n:10} {}", "#".repeat(n_columns)).trim_end()
        )?;
    }
    Ok(())
}

/// The limit of a bar, in milliseconds.
fn limit(time: Duration) -> String {
    format!("{}", time.as_micros() as f64 / 1e3)
}

fn thresholds(out: &mut String, outcome: &HttpOutcome) -> std::fmt::Result {
    for finding in &outcome.findings {
        let word = if finding.passed { "passed" } else { "FAILED" };
        writeln!(
            out,
            "Threshold {}: {word}, the value is {}",
            finding.threshold,
            (finding.value * 1e4).round() / 1e4
        )?;
    }
    Ok(())
}

fn remarks(out: &mut String, outcome: &HttpOutcome) -> std::fmt::Result {
    let mut remarks = outcome.remarks().into_iter();
    remarks.try_for_each(|remark| writeln!(out, "Note: {remark}"))
}

#[cfg(test)]
mod tests;
