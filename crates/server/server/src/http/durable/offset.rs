//! The offsets of Durable Streams: opaque texts that name a position (docs/protocols/durable-streams.md, Offsets).

use std::fmt;

use plimsoll_broker::Start;

/// Between the parts of an offset, as in AnyCable.
const SEPARATOR: &str = "::";

/// Begins the second part of the offset of a stream that had no log.
const NO_LOG: &str = "since-";

/// Where a reader begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Offset {
    /// At the oldest message that is kept.
    Beginning,
    /// Behind the last message.
    Now,
    /// Behind a message.
    After { offset: u64, epoch: String },
    /// The stream had no log at this second of Unix time.
    NoLog { at_secs: u64 },
}

impl Offset {
    /// Parses an offset. Without one a reader begins at the oldest message.
    pub(super) fn parse(text: Option<&str>) -> Option<Self> {
        // An empty offset and `0` are AnyCable's names of the beginning.
        match text {
            None | Some("" | "-1" | "0") => Some(Self::Beginning),
            Some("now") => Some(Self::Now),
            Some(text) => {
                let (offset, epoch) = text.split_once(SEPARATOR)?;
                let offset = number(offset)?;
                if let Some(at_secs) = epoch.strip_prefix(NO_LOG) {
                    let at_secs = number(at_secs)?;
                    return (offset == 0).then_some(Self::NoLog { at_secs });
                }
                let epoch = Some(epoch).filter(|epoch| !epoch.is_empty())?.to_owned();
                Some(Self::After { offset, epoch })
            }
        }
    }

    /// The start of a replay. `None`: all that is kept.
    pub(super) fn start(&self) -> Option<Start<'_>> {
        match self {
            Self::Beginning | Self::Now => None,
            Self::After { offset, epoch } => Some(Start::After {
                epoch,
                offset: *offset,
            }),
            Self::NoLog { at_secs } => Some(Start::Since(*at_secs)),
        }
    }
}

/// Digits only: `+7` is not a number here.
fn number(text: &str) -> Option<u64> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| text.parse().ok()).flatten()
}

/// Later offsets of one log are greater texts, too, as the protocol demands; AnyCable's are not.
impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beginning => f.write_str("-1"),
            Self::Now => f.write_str("now"),
            Self::After { offset, epoch } => write!(f, "{offset:016}{SEPARATOR}{epoch}"),
            Self::NoLog { at_secs } => write!(f, "{:016}{SEPARATOR}{NO_LOG}{at_secs}", 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(offset: u64, epoch: &str) -> Offset {
        Offset::After {
            offset,
            epoch: epoch.to_owned(),
        }
    }

    #[test]
    fn offsets_are_read_and_written() {
        for (text, expected) in [
            (None, Some(Offset::Beginning)),
            (Some(""), Some(Offset::Beginning)),
            (Some("-1"), Some(Offset::Beginning)),
            (Some("0"), Some(Offset::Beginning)),
            (Some("now"), Some(Offset::Now)),
            (Some("0000000000000012::x7Qf"), Some(after(12, "x7Qf"))),
            // As AnyCable writes it.
            (Some("12::x7Qf"), Some(after(12, "x7Qf"))),
            (Some("0::x7Qf"), Some(after(0, "x7Qf"))),
            (
                Some("0000000000000000::since-17"),
                Some(Offset::NoLog { at_secs: 17 }),
            ),
            (Some("1::since-17"), None),
            (Some("0::since-x"), None),
            (Some("12"), None),
            (Some("12::"), None),
            (Some("::x"), None),
            (Some("-2::x"), None),
            (Some("+2::x"), None),
            (Some("99999999999999999999::x"), None),
        ] {
            assert_eq!(Offset::parse(text), expected, "{text:?}");
        }
        for offset in [after(12, "x7Qf"), Offset::NoLog { at_secs: 17 }] {
            assert_eq!(Offset::parse(Some(&offset.to_string())), Some(offset));
        }
    }

    #[test]
    fn later_offsets_are_greater_texts() {
        let texts = [0, 1, 9, 10, 99, 12_345_678_901_u64].map(|offset| after(offset, "x").to_string());
        assert!(texts.is_sorted());
        assert!(Offset::NoLog { at_secs: 17 }.to_string() < after(1, "x").to_string());
    }
}
