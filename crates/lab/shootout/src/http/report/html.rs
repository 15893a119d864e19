//! ab's report as tables of HTML (`-w`).

use std::fmt::Write;

use super::percentiles::at_ms;
use crate::http::{
    failures::Kind,
    outcome::{HttpOutcome, per_second},
};

/// Attributes of the tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlAttributes {
    /// Of `table` (`-x`).
    pub table: String,
    /// Of `tr` (`-y`).
    pub row: String,
    /// Of `td` and `th` (`-z`).
    pub cell: String,
}

/// The whole report.
pub(crate) fn html(outcome: &HttpOutcome, attributes: &HtmlAttributes) -> String {
    let mut text = format!(
        "<p>\n Plimsoll {}, HTTP benchmark<br>\n</p>\n\n\n<table {}>\n",
        env!("CARGO_PKG_VERSION"),
        attributes.table
    );
    // A String takes everything.
    let _ = rows(&mut text, outcome, attributes);
    text + "</table>\n"
}

fn rows(out: &mut String, outcome: &HttpOutcome, attributes: &HtmlAttributes) -> std::fmt::Result {
    let HtmlAttributes { row, cell, .. } = attributes;
    for (label, value) in figures(outcome) {
        writeln!(
            out,
            "<tr {row}><th colspan=2 {cell}>{label}:</th><td colspan=2 {cell}>{}</td></tr>",
            escaped(&value)
        )?;
        if label == "Failed requests" && outcome.tally.failures.total() > 0 {
            let kinds = Kind::ALL.map(|kind| format!("{}: {}", kind.name(), outcome.tally.failures.of(kind)));
            writeln!(
                out,
                "<tr {row}><td colspan=4 {cell}>   ({})</td></tr>",
                kinds.join(", ")
            )?;
        }
    }
    if outcome.tally.n_complete == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "<tr {row}><th {cell} colspan=4>Connection Times (ms)</th></tr>"
    )?;
    let titles = ["&nbsp;", "min", "avg", "max"].map(|title| format!("<th {cell}>{title}</th>"));
    writeln!(out, "<tr {row}>{}</tr>", titles.join(""))?;
    let phases = [
        ("Connect", &outcome.tally.connect),
        ("Processing", &outcome.tally.processing),
        ("Total", &outcome.tally.total),
    ];
    for (label, phase) in phases {
        let histogram = &phase.histogram;
        let times = [
            at_ms(histogram, 0.0),
            histogram.mean_us() / 1e3,
            at_ms(histogram, 100.0),
        ];
        let times = times.map(|ms| format!("<td {cell}>{:5}</td>", ms.round()));
        writeln!(out, "<tr {row}><th {cell}>{label}:</th>{}</tr>", times.join(""))?;
    }
    Ok(())
}

/// The labels and values of the first table.
fn figures(outcome: &HttpOutcome) -> Vec<(&'static str, String)> {
    let HttpOutcome {
        setting,
        tally,
        elapsed,
        ..
    } = outcome;
    let url = &setting.url;
    let document = outcome.document.as_ref();
    let rate = |n: u64| per_second(n as f64 / 1024.0, *elapsed);
    let mut figures = vec![
        (
            "Server Software",
            document.map_or_else(String::new, |document| document.server_software.clone()),
        ),
        ("Server Hostname", url.host_str().unwrap_or_default().to_owned()),
        (
            "Server Port",
            url.port_or_known_default().unwrap_or_default().to_string(),
        ),
        ("Document Path", outcome.path()),
        ("Document Length", outcome.document_length()),
        ("Concurrency Level", setting.concurrency.to_string()),
        (
            "Time taken for tests",
            format!("{:.3} seconds", elapsed.as_secs_f64()),
        ),
        ("Complete requests", tally.n_complete.to_string()),
        ("Failed requests", tally.failures.total().to_string()),
    ];
    if outcome.n_unsent > 0 {
        figures.push(("Unsent requests", outcome.n_unsent.to_string()));
    }
    if tally.n_non_2xx > 0 {
        figures.push(("Non-2xx responses", tally.n_non_2xx.to_string()));
    }
    if setting.keeps_alive {
        figures.push(("Keep-Alive requests", tally.n_kept_alive.to_string()));
    }
    figures.push(("Total transferred", format!("{} bytes", tally.n_bytes_received)));
    if setting.has_body {
        figures.push(("Total body sent", tally.n_bytes_sent.to_string()));
    }
    figures.extend([
        ("HTML transferred", format!("{} bytes", tally.n_body_bytes)),
        ("Requests per second", format!("{:.2}", outcome.per_second())),
        (
            "Transfer rate",
            format!("{:.2} kb/s received", rate(tally.n_bytes_received)),
        ),
    ]);
    figures
}

/// Text between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::http::outcome::examples;

    #[test]
    fn the_tables_are_abs() {
        let mut outcome = examples::outcome();
        if let Some(document) = &mut outcome.document {
            document.server_software = "<b>nginx".to_owned();
        }
        let attributes = HtmlAttributes {
            table: "border=1".to_owned(),
            row: String::new(),
            cell: "bgcolor=white".to_owned(),
        };
        expect![[r#"
            <p>
             Plimsoll 0.1.0, HTTP benchmark<br>
            </p>


            <table border=1>
            <tr ><th colspan=2 bgcolor=white>Server Software:</th><td colspan=2 bgcolor=white>&lt;b&gt;nginx</td></tr>
            <tr ><th colspan=2 bgcolor=white>Server Hostname:</th><td colspan=2 bgcolor=white>localhost</td></tr>
            <tr ><th colspan=2 bgcolor=white>Server Port:</th><td colspan=2 bgcolor=white>3000</td></tr>
            <tr ><th colspan=2 bgcolor=white>Document Path:</th><td colspan=2 bgcolor=white>/a?b</td></tr>
            <tr ><th colspan=2 bgcolor=white>Document Length:</th><td colspan=2 bgcolor=white>5 bytes</td></tr>
            <tr ><th colspan=2 bgcolor=white>Concurrency Level:</th><td colspan=2 bgcolor=white>2</td></tr>
            <tr ><th colspan=2 bgcolor=white>Time taken for tests:</th><td colspan=2 bgcolor=white>2.000 seconds</td></tr>
            <tr ><th colspan=2 bgcolor=white>Complete requests:</th><td colspan=2 bgcolor=white>10</td></tr>
            <tr ><th colspan=2 bgcolor=white>Failed requests:</th><td colspan=2 bgcolor=white>2</td></tr>
            <tr ><td colspan=4 bgcolor=white>   (Connect: 0, Receive: 0, Length: 2, Exceptions: 0)</td></tr>
            <tr ><th colspan=2 bgcolor=white>Non-2xx responses:</th><td colspan=2 bgcolor=white>1</td></tr>
            <tr ><th colspan=2 bgcolor=white>Keep-Alive requests:</th><td colspan=2 bgcolor=white>10</td></tr>
            <tr ><th colspan=2 bgcolor=white>Total transferred:</th><td colspan=2 bgcolor=white>2048 bytes</td></tr>
            <tr ><th colspan=2 bgcolor=white>HTML transferred:</th><td colspan=2 bgcolor=white>53 bytes</td></tr>
            <tr ><th colspan=2 bgcolor=white>Requests per second:</th><td colspan=2 bgcolor=white>5.00</td></tr>
            <tr ><th colspan=2 bgcolor=white>Transfer rate:</th><td colspan=2 bgcolor=white>1.00 kb/s received</td></tr>
            <tr ><th bgcolor=white colspan=4>Connection Times (ms)</th></tr>
            <tr ><th bgcolor=white>&nbsp;</th><th bgcolor=white>min</th><th bgcolor=white>avg</th><th bgcolor=white>max</th></tr>
            <tr ><th bgcolor=white>Connect:</th><td bgcolor=white>    0</td><td bgcolor=white>    1</td><td bgcolor=white>    4</td></tr>
            <tr ><th bgcolor=white>Processing:</th><td bgcolor=white>   10</td><td bgcolor=white>   22</td><td bgcolor=white>   90</td></tr>
            <tr ><th bgcolor=white>Total:</th><td bgcolor=white>   12</td><td bgcolor=white>   22</td><td bgcolor=white>   90</td></tr>
            </table>
        "#]].assert_eq(&html(&outcome, &attributes));
    }
}
