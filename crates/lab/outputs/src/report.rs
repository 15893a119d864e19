//! The fate of the samples: each is written, or counted here.

/// The results of a run's outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputReport {
    /// Each output as the user named it, with its outcome.
    pub outcomes: Vec<(String, Outcome)>,
}

/// The result of one output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Samples that are written, alone or as a part of a figure.
    pub n_written: u64,
    /// Samples that were dropped because the output was too slow.
    pub n_dropped: u64,
    /// Samples that were lost to an error.
    pub n_failed: u64,
    /// Samples of time series beyond the limit.
    pub n_beyond: u64,
    /// The last error, if any.
    pub error: Option<String>,
}

impl OutputReport {
    /// The report of outputs that were not waited for, so the number of samples that they have written is unknown.
    pub fn given_up(names: Vec<String>) -> Self {
        let outcome = Outcome {
            error: Some("the program ended before the output had written everything".to_owned()),
            ..Outcome::default()
        };
        Self {
            outcomes: names.into_iter().map(|name| (name, outcome.clone())).collect(),
        }
    }

    /// Whether every output has written all samples.
    pub fn is_complete(&self) -> bool {
        self.outcomes.iter().all(|(_, outcome)| outcome.is_complete())
    }

    /// Messages for people, one sentence per incomplete output.
    pub fn notices(&self) -> Vec<String> {
        let incomplete = self.outcomes.iter().filter(|(_, outcome)| !outcome.is_complete());
        incomplete
            .map(|(name, outcome)| format!("output `{name}`: {}", outcome.notice()))
            .collect()
    }
}

impl Outcome {
    /// Whether all samples were written.
    pub fn is_complete(&self) -> bool {
        self.n_lost() == 0 && self.error.is_none()
    }

    /// Samples that are not written.
    pub fn n_lost(&self) -> u64 {
        self.n_dropped + self.n_failed + self.n_beyond
    }

    fn notice(&self) -> String {
        let reasons = [
            (self.n_dropped, "because it could not keep up"),
            (self.n_failed, "because of an error"),
            (
                self.n_beyond,
                "because they belong to too many different time series",
            ),
        ];
        let reasons: Vec<_> = reasons
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, reason)| format!("{n} {reason}"))
            .collect();
        let n_all = self.n_written + self.n_lost();
        let mut text = format!("{} of {n_all} samples were not written", self.n_lost());
        if !reasons.is_empty() {
            text = format!("{text} ({})", reasons.join(", "));
        }
        match &self.error {
            Some(error) => format!("{text}; the last error: {error}"),
            None => text,
        }
    }
}
