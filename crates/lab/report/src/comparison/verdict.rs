//! The verdict of a figure and of a whole comparison: one type for the terminal, the tables, the pages, the JSON and the
//! exit codes.

use serde::Serialize;

/// The meaning of a difference, or of all differences of a comparison together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Worse, and not by chance.
    Worse,
    /// Better, and not by chance.
    Better,
    /// The whole interval for the true change lies within the margin, in both directions.
    Equal,
    /// The runs decide nothing: the interval contains both changes that matter and changes that do not.
    Inconclusive,
}

impl Verdict {
    /// The word for tables. [`Comparison::headline`](super::Comparison::headline) also names the margin.
    pub fn word(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Equal => "equal",
            Self::Inconclusive => "inconclusive",
        }
    }
}
