//! A page like Autobahn's matrix: cases against targets, in one file without any network or script.
//!
//! A click on a cell shows what it says of the case: links within the page and `:target` do that. The page's own policy
//! forbids the browser to run or load anything, so that nothing a target has sent can do harm.

use std::fmt::{self, Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use plimsoll_report::html::in_text;
use sha2::{Digest as _, Sha256};

use super::Results;
use crate::Verdict;

mod detail;
mod rows;

use self::rows::{Row, families};

const STYLE: &str = include_str!("../../assets/matrix.css");

/// A page of these results, in their order: one column for each.
pub fn matrix(results: &[Results]) -> String {
    let mut page = Page(String::new());
    page.head(results);
    page.overview(results);
    for (name, rows) in families(results) {
        page.family(results, &name, &rows);
    }
    page.details(results);
    page.add(format_args!("</body>\n</html>\n"));
    page.0
}

/// The page so far.
struct Page(String);

impl Page {
    fn add(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a text cannot fail.
        let _always_ok = self.0.write_fmt(text);
    }

    fn head(&mut self, results: &[Results]) {
        let title = in_text(&title(results));
        let style_hash = STANDARD.encode(Sha256::digest(STYLE));
        self.add(format_args!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{style_hash}'; \
             base-uri 'none'; form-action 'none'\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <h1>{title}</h1>\n<p class=\"muted\">Choose a verdict to see the expected and the actual \
             behaviour.</p>\n"
        ));
    }

    /// The targets with the counts of their verdicts.
    fn overview(&mut self, results: &[Results]) {
        self.add(format_args!(
            "<div class=\"surface\"><table><thead><tr><th>Target</th><th>Verdicts</th></tr></thead><tbody>\n"
        ));
        for result in results {
            let target = &result.target;
            let version = target.version.as_deref().unwrap_or_default();
            // Who has no name is called by the address.
            let url = if target.url == target.name {
                ""
            } else {
                &target.url
            };
            self.add(format_args!(
                "<tr><th>{} {}<small>{}</small><small>{}, {:.0} s, {}</small></th><td><ul class=\"list\">",
                in_text(&target.name),
                in_text(version),
                in_text(url),
                in_text(&result.started),
                result.seconds,
                in_text(&result.tester),
            ));
            let counts = result.counts();
            for verdict in Verdict::ALL.into_iter().filter(|&verdict| counts.n(verdict) > 0) {
                self.add(format_args!(
                    "<li class=\"{verdict} plain\">{} {} {verdict}</li>",
                    sign(verdict),
                    counts.n(verdict)
                ));
            }
            self.add(format_args!("</ul></td></tr>\n"));
        }
        self.add(format_args!("</tbody></table></div>\n"));
    }

    /// One family. It is open if it has cases that did not pass.
    fn family(&mut self, results: &[Results], name: &str, rows: &[Row<'_>]) {
        let title = results.iter().find_map(|result| result.families.get(name));
        let title = title.map_or("", String::as_str);
        let all_pass = rows.iter().all(Row::is_passed);
        let open = if all_pass { "" } else { " open" };
        let n = rows.len();
        let noun = if n == 1 { "case" } else { "cases" };
        let many = if results.len() > 3 { " class=\"many\"" } else { "" };
        let state = if all_pass { ", all passed" } else { "" };
        self.add(format_args!(
            "<details class=\"surface\"{open}><summary>{} {} <span class=\"muted\">{n} {noun}{state}</span></summary>\n\
             <table{many}><colgroup><col>{}</colgroup><thead><tr><th>Case</th>",
            in_text(name),
            in_text(title),
            "<col class=\"target\">".repeat(results.len()),
        ));
        for result in results {
            self.add(format_args!("<th>{}</th>", in_text(&result.target.name)));
        }
        self.add(format_args!("</tr></thead><tbody>\n"));
        for row in rows {
            self.row(row);
        }
        self.add(format_args!("</tbody></table></details>\n"));
    }

    fn row(&mut self, row: &Row<'_>) {
        let id = in_text(row.case.id.as_str());
        self.add(format_args!(
            "<tr id=\"r-{}\"><th><span class=\"id\">{id}</span>{}</th>",
            row.number,
            in_text(&row.case.title)
        ));
        for (at, outcome) in row.outcomes.iter().enumerate() {
            let Some(outcome) = outcome else {
                self.add(format_args!("<td class=\"muted\">–</td>"));
                continue;
            };
            let closing = match outcome.closing {
                Some(closing) if closing > outcome.verdict => format!("<small>end: {closing}</small>"),
                _ => String::new(),
            };
            let (class, verdict) = (outcome.worst(), outcome.verdict);
            self.add(format_args!(
                "<td class=\"cell\"><a class=\"verdict {class}\" href=\"#d-{at}-{}\" title=\"{verdict}\">\
                 <span class=\"sign\">{}</span><span class=\"word\">{verdict}{closing}</span></a></td>",
                row.number,
                sign(class)
            ));
        }
        self.add(format_args!("</tr>\n"));
    }
}

/// The title: one target by its name, several by their suite.
fn title(results: &[Results]) -> String {
    match results {
        [one] => format!("Conformance, {}: {}", one.suite, one.target.name),
        [first, others @ ..] if others.iter().all(|other| other.suite == first.suite) => {
            format!("Conformance, {}", first.suite)
        }
        _ => "Conformance".to_owned(),
    }
}

/// A sign for readers who do not see colours, and for places without room for words.
fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✓",
        Verdict::NonStrict => "~",
        Verdict::Informational => "i",
        Verdict::Unimplemented => "○",
        Verdict::Skipped => "»",
        Verdict::Fail => "✗",
    }
}

#[cfg(test)]
mod tests;
