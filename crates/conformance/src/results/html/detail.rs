//! The details of a cell, shown when the address of the page names it.

use plimsoll_report::html::in_text;

use super::{Page, families};
use crate::{Outcome, Results, Verdict, results::text::log_lines};

impl Page {
    /// The details of each cell.
    pub(super) fn details(&mut self, results: &[Results]) {
        for row in families(results).iter().flat_map(|(_, rows)| rows) {
            for (at, outcome) in row.outcomes.iter().enumerate() {
                if let Some(outcome) = outcome {
                    self.detail(&results[at], at, row.number, outcome);
                }
            }
        }
    }

    fn detail(&mut self, result: &Results, at: usize, number: usize, outcome: &Outcome) {
        let Outcome {
            case,
            verdict,
            closing,
            ..
        } = outcome;
        let closing = match closing {
            Some(closing) => format!(", the connection's end: {closing}"),
            None => String::new(),
        };
        self.add(format_args!(
            "<section class=\"detail\" id=\"d-{at}-{number}\"><a class=\"close\" href=\"#r-{number}\" \
             title=\"Close\">×</a>\
             <h2><span class=\"id\">{}</span>{}</h2><p class=\"muted\">{} · {}</p>\
             <p><span class=\"verdict {}\">{verdict}{closing}</span> after {:.3} s</p><p>{}</p>",
            in_text(case.id.as_str()),
            in_text(&case.title),
            in_text(&result.target.name),
            in_text(&outcome.clause().to_string()),
            outcome.worst(),
            outcome.seconds,
            in_text(&outcome.explanation),
        ));
        if outcome.worst() != Verdict::Pass && !outcome.wire.is_empty() {
            let log = log_lines(&outcome.wire).join("\n");
            self.add(format_args!("<pre>{}</pre>", in_text(&log)));
        }
        self.add(format_args!("</section>\n"));
    }
}
