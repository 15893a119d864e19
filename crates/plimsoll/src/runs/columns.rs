//! Tables of runs for the terminal.

/// Rows of equally many cells, as lines: each column is as wide as its widest cell.
pub(super) fn aligned<R: AsRef<[String]>>(rows: &[R]) -> String {
    let n_columns = rows.first().map_or(0, |row| row.as_ref().len());
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row.as_ref()[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..n_columns).map(width).collect();
    let line = |row: &R| {
        let cells = row.as_ref().iter().zip(&widths);
        let cells = cells.map(|(cell, &width)| format!("{cell:width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
