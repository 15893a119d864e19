//! Bars of text.

/// A full column, and a column in eighths.
const FULL: &str = "█";
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar whose length is this share (0 to 1) of `longest` columns, to the nearest eighth of a column.
pub fn bar(share: f64, longest: usize) -> String {
    let n_eighths = (share.clamp(0.0, 1.0) * (longest * EIGHTHS.len()) as f64).round() as usize;
    let (n_full, rest) = (n_eighths / EIGHTHS.len(), n_eighths % EIGHTHS.len());
    format!("{}{}", FULL.repeat(n_full), EIGHTHS[rest])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_eighths_of_a_column() {
        for (share, longest, expected) in [
            (0.0, 10, ""),
            (0.05, 10, "▌"),
            (0.5, 3, "█▌"),
            (1.0, 3, "███"),
            (7.0, 2, "██"),
            (-1.0, 2, ""),
            (1.0, 0, ""),
        ] {
            assert_eq!(bar(share, longest), expected, "{share} of {longest}");
        }
    }
}
