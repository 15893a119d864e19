//! A comparison for terminals.

use super::{
    Comparison, Verdict,
    cells::{cells, heads},
};
use crate::{Style, text::wrap};

/// Columns between two cells.
const GAP: usize = 2;

/// The right-aligned columns: numbers.
const IS_NUMBER: [bool; 6] = [false, true, true, true, true, false];

impl Comparison {
    /// The verdict alone, in one line.
    pub fn verdict_line(&self, style: Style) -> String {
        format!("{}\n", paint(self.verdict, &self.headline(), style))
    }

    /// The runs, the verdict, the remarks, and all figures.
    pub fn text(&self, style: Style) -> String {
        let mut text = format!(
            "\n  baseline   {}\n  candidate  {}\n\n  {}\n",
            self.baseline.text(),
            self.candidate.text(),
            paint(self.verdict, &self.headline(), style)
        );
        for sentence in self.remarks() {
            for line in wrap(sentence, "  - ", "    ", style.width) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        if self.differences.is_empty() {
            return text;
        }
        text.push('\n');
        let rows: Vec<_> = self.differences.iter().map(cells).collect();
        let headlines = heads(self);
        let widths: [usize; 6] = std::array::from_fn(|column| {
            let cells = rows.iter().chain([&headlines]).map(|row| &row[column]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        });
        text.push_str(&row(&headlines, &widths, |headline, _| style.faint(headline)));
        for (cells, difference) in rows.iter().zip(&self.differences) {
            text.push_str(&row(cells, &widths, |cell, column| match column {
                5 => paint(difference.verdict, cell, style),
                1 | 2 => style.value(cell),
                _ => cell.to_owned(),
            }));
        }
        text.push('\n');
        for line in wrap(&self.legend(), "  ", "  ", style.width) {
            text.push_str(&style.faint(&line));
            text.push('\n');
        }
        text
    }
}

fn row(cells: &[String; 6], widths: &[usize; 6], paint: impl Fn(&str, usize) -> String) -> String {
    let mut line = " ".repeat(GAP);
    for (column, cell) in cells.iter().enumerate() {
        let padding = " ".repeat(widths[column] - cell.chars().count());
        let painted = paint(cell, column);
        let is_last = column + 1 == cells.len();
        line.push_str(&match (IS_NUMBER[column], is_last) {
            (true, _) => format!("{padding}{painted}"),
            (false, false) => format!("{painted}{padding}"),
            (false, true) => painted,
        });
        if !is_last {
            line.push_str(&" ".repeat(GAP));
        }
    }
    line + "\n"
}

fn paint(verdict: Verdict, text: &str, style: Style) -> String {
    match verdict {
        Verdict::Worse => style.bad(text),
        Verdict::Better => style.good(text),
        Verdict::Inconclusive => style.strong(text),
        Verdict::Equal => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::tests::{comparison_of, made_up};

    const COLOURED: Style = Style {
        color: true,
        ..Style::PLAIN
    };

    #[test]
    fn a_verdict_has_its_colour() {
        for (slowdown, headline) in [
            (1.3, "\u{1b}[31mworse: http"),
            (0.7, "\u{1b}[32mbetter: http"),
            (1.0, "\u{1b}[1minconclusive: http"),
        ] {
            let text = comparison_of(&made_up(1.0, 1), &made_up(slowdown, 2)).text(COLOURED);
            assert!(text.contains(headline), "{text}");
        }
        let mut candidate = made_up(1.0, 2);
        candidate.environment.cores = 4;
        let text = comparison_of(&made_up(1.0, 1), &candidate).text(COLOURED);
        assert!(
            text.contains("\u{1b}[1minconclusive: http_req_duration p50, p95, iterations rate\u{1b}[0m\n  - run-2 ran on a different machine"),
            "{text}"
        );
    }

    #[test]
    fn cells_stand_in_columns_with_colours_inside() {
        let cells = ["name", "1", "22", "+3 %", "a … b", "worse"].map(str::to_owned);
        let painted = row(&cells, &[6, 3, 3, 5, 6, 12], |cell, column| match column {
            1 => format!("<{cell}>"),
            5 => format!("[{cell}]"),
            _ => cell.to_owned(),
        });
        assert_eq!(painted, "  name      <1>   22   +3 %   a … b  [worse]\n");
    }

    #[test]
    fn figures_and_headlines_are_told_apart() {
        let text = comparison_of(&made_up(1.0, 1), &made_up(1.3, 2)).text(COLOURED);
        for part in [
            "\u{1b}[2mfigure\u{1b}[0m",
            "\u{1b}[36m2.59ms\u{1b}[0m",
            "\u{1b}[31mworse\u{1b}[0m\n",
        ] {
            assert!(text.contains(part), "{part:?} in {text:?}");
        }
        let plain = comparison_of(&made_up(1.0, 1), &made_up(1.0, 2));
        assert!(!plain.text(COLOURED).contains("\u{1b}[31m"));
        let mut nothing = plain;
        nothing.differences.clear();
        nothing.advice.clear();
        let text = nothing.text(Style::PLAIN);
        assert!(text.ends_with("\n  inconclusive\n"), "{text}");
    }
}
