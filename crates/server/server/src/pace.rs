//! A session's ping settings: how often, and with which timestamp.

use std::time::Duration;

/// The longest ping interval that a client may ask for, in seconds. It is also the server's longest.
const MAX_INTERVAL_SECS: u16 = 3600;

/// The unit of the timestamp in a ping.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PingPrecision {
    /// Seconds of Unix time, Action Cable's unit.
    #[default]
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl PingPrecision {
    /// Converts `since_epoch` to this unit.
    pub(crate) fn timestamp(self, since_epoch: Duration) -> u64 {
        match self {
            Self::Seconds => since_epoch.as_secs(),
            Self::Milliseconds => u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX),
            // Overflows in the year 2554.
            Self::Nanoseconds => u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX),
        }
    }

    /// The precision with this AnyCable name.
    fn named(name: &str) -> Option<Self> {
        match name {
            "s" => Some(Self::Seconds),
            "ms" => Some(Self::Milliseconds),
            "ns" => Some(Self::Nanoseconds),
            _ => None,
        }
    }
}

/// A session's ping settings. Small, because there is one per session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// The interval in seconds, at least one.
    pub(crate) interval_secs: u16,
    pub(crate) precision: PingPrecision,
}

impl Pace {
    /// The server's own settings. The interval is rounded to whole seconds between 1 and 3,600.
    pub(crate) fn new(interval: Duration, precision: PingPrecision) -> Self {
        let interval_secs = u16::try_from(interval.as_secs()).unwrap_or(MAX_INTERVAL_SECS);
        Self {
            interval_secs: interval_secs.clamp(1, MAX_INTERVAL_SECS),
            precision,
        }
    }

    /// Applies the wishes in a request's URL: `pi` (seconds) and `ptp` (`s`, `ms`, `ns`), AnyCable's parameters
    /// (docs/protocols/cable.md, Connecting). Absent or invalid values change nothing.
    pub(crate) fn with_wishes_of(mut self, url: &str) -> Self {
        let query = url.split_once('?').map_or("", |(_, query)| query);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "pi" => {
                    let wanted = value.parse().ok();
                    let allowed = wanted.filter(|secs| (1..=MAX_INTERVAL_SECS).contains(secs));
                    self.interval_secs = allowed.unwrap_or(self.interval_secs);
                }
                "ptp" => self.precision = PingPrecision::named(&value).unwrap_or(self.precision),
                _ => {}
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Pace = Pace {
        interval_secs: 3,
        precision: PingPrecision::Seconds,
    };

    #[track_caller]
    fn check(url: &str, interval_secs: u16, precision: PingPrecision) {
        let expected = Pace {
            interval_secs,
            precision,
        };
        assert_eq!(OWN.with_wishes_of(url), expected, "{url}");
    }

    #[test]
    fn a_client_may_choose() {
        check("ws://h/cable", 3, PingPrecision::Seconds);
        check("ws://h/cable?pi=1&ptp=ns", 1, PingPrecision::Nanoseconds);
        check("ws://h/cable?ptp=ms", 3, PingPrecision::Milliseconds);
        check("ws://h/cable?ptp=s&pi=3600", 3600, PingPrecision::Seconds);
    }

    #[test]
    fn what_makes_no_sense_is_ignored() {
        for wish in [
            "pi=0", "pi=3601", "pi=-1", "pi=x", "pi=", "pi=1.5", "ptp=us", "ptp=", "xpi=1", "PI=1",
        ] {
            check(&format!("ws://h/cable?{wish}"), 3, PingPrecision::Seconds);
        }
    }

    #[test]
    fn the_servers_own_pace_has_bounds() {
        for (interval, expected) in [
            (Duration::ZERO, 1),
            (Duration::from_secs(3), 3),
            (Duration::from_secs(1 << 40), 3600),
        ] {
            let pace = Pace::new(interval, PingPrecision::Seconds);
            assert_eq!(pace.interval_secs, expected);
        }
    }

    #[test]
    fn timestamps_have_their_unit() {
        let since_epoch = Duration::new(1_700_000_000, 123_456_789);
        let all = [
            PingPrecision::Seconds,
            PingPrecision::Milliseconds,
            PingPrecision::Nanoseconds,
        ];
        let timestamps = all.map(|precision| precision.timestamp(since_epoch));
        assert_eq!(
            timestamps,
            [1_700_000_000, 1_700_000_000_123, 1_700_000_000_123_456_789]
        );
    }
}
