//! Figures of several rounds side by side, with their medians.

use std::fmt;

use serde_json::{Value, json};

/// A table with one row per round.
pub(super) struct Sheet {
    title: String,
    columns: Vec<&'static str>,
    rounds: Vec<Vec<f64>>,
}

/// Wide enough for the longest column name in use and for any figure with two decimals.
const COLUMN_WIDTH: usize = 18;

impl Sheet {
    pub(super) fn new(title: String, columns: &[&'static str]) -> Self {
        Self {
            title,
            columns: columns.to_vec(),
            rounds: Vec::new(),
        }
    }

    /// Adds the figures of one round, in the order of the columns. NaN stands for a figure that this machine does not have.
    pub(super) fn push(&mut self, figures: Vec<f64>) {
        assert_eq!(figures.len(), self.columns.len(), "a figure per column");
        self.rounds.push(figures);
    }

    /// The median of one column over all rounds; 0 without rounds.
    pub(super) fn median(&self, column: &str) -> f64 {
        let index = self
            .columns
            .iter()
            .position(|known| *known == column)
            .expect("callers name their own columns");
        median(self.rounds.iter().map(|figures| figures[index]).collect())
    }

    /// The same table for machines.
    pub(super) fn to_json(&self) -> Value {
        json!({ "title": self.title, "columns": self.columns, "rounds": self.rounds })
    }
}

/// The middle figure, or the mean of the two in the middle.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    match figures.len() {
        0 => 0.0,
        n if n % 2 == 1 => figures[n / 2],
        n => f64::midpoint(figures[n / 2 - 1], figures[n / 2]),
    }
}

impl fmt::Display for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        write!(f, "{:>8}", "round")?;
        for column in &self.columns {
            write!(f, "{column:>COLUMN_WIDTH$}")?;
        }
        for (figures, round) in self.rounds.iter().zip(1..) {
            write!(f, "\n{round:>8}")?;
            write_figures(f, figures)?;
        }
        let medians: Vec<f64> = self.columns.iter().map(|column| self.median(column)).collect();
        write!(f, "\n{:>8}", "median")?;
        write_figures(f, &medians)?;
        writeln!(f)
    }
}

fn write_figures(f: &mut fmt::Formatter<'_>, figures: &[f64]) -> fmt::Result {
    figures.iter().try_for_each(|figure| {
        if figure.is_nan() {
            write!(f, "{:>COLUMN_WIDTH$}", "-")
        } else {
            write!(f, "{figure:>COLUMN_WIDTH$.2}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        for (figures, expected) in [
            (vec![], 0.0),
            (vec![3.0], 3.0),
            (vec![9.0, 1.0, 2.0], 2.0),
            (vec![4.0, 1.0, 2.0, 8.0], 3.0),
        ] {
            assert!((median(figures.clone()) - expected).abs() < 1e-9, "{figures:?}");
        }
    }

    #[test]
    fn one_line_per_round_and_one_of_medians() {
        let mut sheet = Sheet::new("send".into(), &["limit µs", "ratio", "none"]);
        sheet.push(vec![2.0, 1.5, f64::NAN]);
        sheet.push(vec![4.0, 1.0, f64::NAN]);
        let lines: Vec<String> = sheet
            .to_string()
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            lines,
            [
                "send",
                "round limit µs ratio none",
                "1 2.00 1.50 -",
                "2 4.00 1.00 -",
                "median 3.00 1.25 -"
            ]
        );
    }
}
