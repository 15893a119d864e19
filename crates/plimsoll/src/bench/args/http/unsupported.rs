//! Unsupported flags of ab, also of its development version. Each one is refused with an alternative.

use clap::Args;

/// The unsupported flags on the command line.
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
        let typed = [
            ("-W", self.worker_threads.is_some(), "use --workers"),
            (
                "-R",
                self.ramp_delay.is_some(),
                "use --warm-up, whose requests do not count, or --rate",
            ),
            ("-Q", self.quits_quietly, "use -q, --quiet"),
        ];
        let (flag, _, instead) = typed.into_iter().find(|(_, is_typed, _)| *is_typed)?;
        Some((flag, instead))
    }
}
