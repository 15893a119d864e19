//! Why a curve of rates is refused.

/// Why a curve is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrivalsError {
    /// Nothing would ever start.
    #[error("no iteration would ever start; expected a rate above 0, for example 10")]
    NoRate,
    /// The whole curve takes no time.
    #[error(
        "the stages have a total duration of zero; expected at least one stage with a duration, for example 10s"
    )]
    NoTime,
    /// The time unit is zero.
    #[error("timeUnit is zero; expected the period in which `rate` iterations start, for example 1s")]
    NoTimeUnit,
    /// The area does not fit into the arithmetic: about a million per second for a year; or more than 50 million
    /// arrivals at random.
    #[error(
        "this rate and this duration together are too large to schedule; use a shorter duration or a lower rate"
    )]
    TooLarge,
}
