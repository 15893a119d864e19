//! The agents of a fleet side by side, below everything else.

use super::wrap::wrap;
use crate::{
    Style,
    agents::{Line, MOST_SHOWN, N_FIGURES, further},
    readable::shortened,
    summary::Agent,
};

/// The heads of the columns, the name first.
const HEADS: [&str; N_COLUMNS] = [
    "agents",
    "share",
    "users",
    "iterations",
    "cores",
    "busiest",
    "late",
    "clock",
    "start",
];

/// The name, and the figures behind it.
const N_COLUMNS: usize = 1 + N_FIGURES;

/// The place of `clock`, from which on the row of a lost agent says when it was lost.
const CLOCK: usize = 7;

/// The columns with times, and their references. It fits into 80 columns.
const LEGEND: &str = "ms: late (p99), clock ahead of the coordinator's, start after the common one";

/// The shortest width of names. Reason: they keep both ends.
const LEAST_NAME: usize = 8;

/// A table with one row per agent. Empty for a run of one machine.
pub(super) fn table(agents: &[Agent], indent: usize, style: Style) -> String {
    if agents.is_empty() {
        return String::new();
    }
    let rows: Vec<_> = agents.iter().take(MOST_SHOWN).map(Row::of).collect();
    let widths = Widths::fit(&rows, indent, style);
    let margin = " ".repeat(indent);
    let sentences = [Some(LEGEND.to_owned()), further(agents.len())];
    let sentences = sentences
        .into_iter()
        .flatten()
        .flat_map(|sentence| wrap(&sentence, &margin, &margin, style.width));
    [format!("{margin}{}", widths.line(&HEADS))]
        .into_iter()
        .chain(rows.iter().map(|row| row.render(&widths, indent, style)))
        .chain(sentences.map(|line| style.faint(&line)))
        .map(|line| line + "\n")
        .collect()
}

/// The cells of an agent.
#[derive(Debug)]
struct Row {
    cells: [String; N_COLUMNS],
    lost: Option<String>,
    is_doubtful: bool,
}

impl Row {
    fn of(agent: &Agent) -> Self {
        let mut line = Line::of(agent);
        let lost = line.lost.take();
        let figures = line.figures();
        Self {
            cells: std::array::from_fn(|column| match column.checked_sub(1) {
                None => agent.name.clone(),
                Some(at) => figures[at].clone(),
            }),
            lost,
            is_doubtful: agent.doubtful,
        }
    }

    /// The line, with a mark before the name of an agent that was lost or is doubtful.
    fn render(&self, widths: &Widths, indent: usize, style: Style) -> String {
        let margin = " ".repeat(indent.saturating_sub(2));
        let mark = if self.is_doubtful || self.lost.is_some() {
            style.bad("✗ ")
        } else {
            "  ".to_owned()
        };
        let cells = self.cells.each_ref().map(String::as_str);
        let line = match &self.lost {
            None => widths.line(&cells),
            Some(lost) => {
                let room = widths.after_clock().saturating_sub(lost.chars().count());
                let before = widths.line(&cells[..CLOCK]);
                format!("{before}{}{}", " ".repeat(room), style.bad(lost))
            }
        };
        format!("{margin}{mark}{line}")
    }
}

/// The widths of the columns, and the space between them.
#[derive(Debug)]
struct Widths {
    columns: [usize; N_COLUMNS],
    gap: usize,
}

impl Widths {
    /// The widths that these rows need. Names get what the width of the terminal leaves, the gaps before the names.
    fn fit(rows: &[Row], indent: usize, style: Style) -> Self {
        let len = |text: &str| text.chars().count();
        let mut columns = HEADS.map(len);
        for row in rows {
            for (width, cell) in columns.iter_mut().zip(&row.cells) {
                *width = len(cell).max(*width);
            }
        }
        let lost = rows.iter().filter_map(|row| Some(len(row.lost.as_ref()?)));
        let end: usize = columns[CLOCK..].iter().sum();
        columns[CLOCK] += lost.max().unwrap_or(0).saturating_sub(end + 1);
        let longest_name = columns[0].min(LEAST_NAME.max(len(HEADS[0])));
        let others: usize = columns[1..].iter().sum();
        let room = |gap: usize| {
            style
                .width
                .saturating_sub(indent + others + gap * (N_COLUMNS - 1))
        };
        let gap = if room(2) >= longest_name { 2 } else { 1 };
        columns[0] = columns[0].min(room(gap).max(longest_name));
        Self { columns, gap }
    }

    /// The name to the left, and all other cells to the right of their columns.
    fn line(&self, cells: &[&str]) -> String {
        let gap = " ".repeat(self.gap);
        let mut cells = cells.iter().zip(self.columns);
        let name = cells
            .next()
            .map(|(name, width)| format!("{:<width$}", shortened(name, width)));
        let others = cells.map(|(cell, width)| format!("{gap}{cell:>width$}"));
        name.into_iter().chain(others).collect()
    }

    /// The width from the clock on, with the gaps before its columns.
    fn after_clock(&self) -> usize {
        let columns = &self.columns[CLOCK..];
        columns.iter().sum::<usize>() + self.gap * columns.len()
    }
}
