//! The layouts of k6 in which the summary of a script is printed (docs/reference/summary.md).

use std::{fmt, str::FromStr};

use crate::quantity::TimeUnit;

/// The layout of a script's summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Which of k6's layouts it is.
    pub mode: SummaryMode,
    /// The unit of all durations. `None` selects a suitable one for each.
    pub time_unit: Option<TimeUnit>,
}

/// k6's layouts (its `--summary-mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryMode {
    /// Thresholds, checks, and the metrics that matter most, by topic.
    #[default]
    Compact,
    /// All metrics, and sections for scenarios and groups. The run has to be [broken
    /// down](plimsoll_load::metrics::Registry::break_down).
    Full,
    /// The layout before k6 1.0: the tree of checks and one alphabetical list of all metrics.
    Legacy,
    /// Nothing is printed.
    Disabled,
}

impl SummaryMode {
    const ALL: [Self; 4] = [Self::Compact, Self::Full, Self::Legacy, Self::Disabled];
}

/// Writes the form of `--summary-mode`.
impl fmt::Display for SummaryMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compact => "compact",
            Self::Full => "full",
            Self::Legacy => "legacy",
            Self::Disabled => "disabled",
        })
    }
}

/// A text that is not a layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is not a layout of the summary; expected one of {}, for example `compact`",
    names()
)]
pub struct SummaryModeError {
    /// What was written.
    pub found: String,
}

fn names() -> String {
    SummaryMode::ALL.map(|mode| mode.to_string()).join(", ")
}

impl FromStr for SummaryMode {
    type Err = SummaryModeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mode = Self::ALL.into_iter().find(|mode| mode.to_string() == text);
        mode.ok_or_else(|| SummaryModeError {
            found: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_reads_as_it_is_written() {
        for mode in SummaryMode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
    }

    #[test]
    fn what_is_no_layout_is_refused_with_those_that_are() {
        for text in ["Compact", "", "short"] {
            let error = text.parse::<SummaryMode>().unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "`{text}` is not a layout of the summary; expected one of compact, full, legacy, disabled, for example \
                     `compact`"
                )
            );
        }
    }
}
