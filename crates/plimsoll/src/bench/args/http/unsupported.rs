//! Unsupported flags of ab, also of its development version. Each one is refused with an alternative.

use clap::Args;

/// The unsupported flags and the alternatives.
pub(crate) const ABSENT: [(&str, &str); 3] = [
    ("-W", "use --workers"),
    ("-R", "use --warm-up, whose requests do not count, or --rate"),
    ("-Q", "use -q, --quiet"),
];

/// The unsupported flags on the command line, in the order of [`ABSENT`].
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AbOnly {
    #[arg(short = 'W', hide = true, value_name = "N")]
    worker_threads: Option<String>,
    #[arg(short = 'R', hide = true, value_name = "MS")]
    ramp_delay: Option<String>,
    #[arg(short = 'Q', hide = true)]
    quits_quietly: bool,
}

impl AbOnly {
    /// The first unsupported flag on the command line, and the alternative.
    pub(crate) fn refused(&self) -> Option<(&'static str, &'static str)> {
        let are_typed = [
            self.worker_threads.is_some(),
            self.ramp_delay.is_some(),
            self.quits_quietly,
        ];
        let (_, absent) = are_typed
            .into_iter()
            .zip(ABSENT)
            .find(|(is_typed, _)| *is_typed)?;
        Some(absent)
    }
}
