//! Formats of dates: those that Go's `time` package names, its layouts (`2006-01-02`), and the patterns of Java's
//! `SimpleDateFormat` (`yyyy-MM-dd`). Dates are in UTC.

use std::fmt::Write as _;

use time::{Date, Month, Time, UtcDateTime, UtcOffset, Weekday};

/// A format, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Literal(char),
    Year,
    /// The last two digits.
    ShortYear,
    Month(Digits),
    MonthName,
    /// Three letters.
    ShortMonth,
    Day(Digits),
    WeekdayName,
    ShortWeekday,
    Hour(Digits),
    /// From 1 to 12.
    HalfDayHour(Digits),
    Minute(Digits),
    Second(Digits),
    /// This many digits after the point; `is_trimmed` leaves out zeros at the end, and then the point.
    Fraction {
        point: Option<char>,
        n_digits: usize,
        is_trimmed: bool,
    },
    AmPm,
    SmallAmPm,
    ZoneName,
    /// `+0000`. In Go's layouts with `Z`, UTC is that letter.
    Offset {
        is_z: bool,
        has_colon: bool,
        has_minutes: bool,
    },
}

/// How a number of up to two digits is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digits {
    Any,
    /// With a zero before a single digit.
    Two,
    /// With a space before a single digit.
    Spaced,
}

const fn offset(is_z: bool, has_colon: bool, has_minutes: bool) -> Part {
    Part::Offset {
        is_z,
        has_colon,
        has_minutes,
    }
}

/// Names of Go's layouts.
const NAMED: [(&str, &str); 10] = [
    ("ANSIC", "Mon Jan _2 15:04:05 2006"),
    ("UnixDate", "Mon Jan _2 15:04:05 MST 2006"),
    ("RubyDate", "Mon Jan 02 15:04:05 -0700 2006"),
    ("RFC822", "02 Jan 06 15:04 MST"),
    ("RFC822Z", "02 Jan 06 15:04 -0700"),
    ("RFC850", "Monday, 02-Jan-06 15:04:05 MST"),
    ("RFC1123", "Mon, 02 Jan 2006 15:04:05 MST"),
    ("RFC1123Z", "Mon, 02 Jan 2006 15:04:05 -0700"),
    ("RFC3339", "2006-01-02T15:04:05Z07:00"),
    ("RFC3339Nano", "2006-01-02T15:04:05.999999999Z07:00"),
];

/// The texts that stand for parts. A text stands before its beginnings. Go's first, which contain Java's letters.
const TEXTS: &[(&str, Part)] = &[
    ("January", Part::MonthName),
    ("Jan", Part::ShortMonth),
    ("Monday", Part::WeekdayName),
    ("Mon", Part::ShortWeekday),
    ("MST", Part::ZoneName),
    ("Z07:00", offset(true, true, true)),
    ("Z0700", offset(true, false, true)),
    ("Z07", offset(true, false, false)),
    ("-07:00", offset(false, true, true)),
    ("-0700", offset(false, false, true)),
    ("-07", offset(false, false, false)),
    ("PM", Part::AmPm),
    ("pm", Part::SmallAmPm),
    ("2006", Part::Year),
    ("01", Part::Month(Digits::Two)),
    ("02", Part::Day(Digits::Two)),
    ("03", Part::HalfDayHour(Digits::Two)),
    ("04", Part::Minute(Digits::Two)),
    ("05", Part::Second(Digits::Two)),
    ("06", Part::ShortYear),
    ("15", Part::Hour(Digits::Two)),
    ("_2", Part::Day(Digits::Spaced)),
    ("1", Part::Month(Digits::Any)),
    ("2", Part::Day(Digits::Any)),
    ("3", Part::HalfDayHour(Digits::Any)),
    ("4", Part::Minute(Digits::Any)),
    ("5", Part::Second(Digits::Any)),
    ("yyyy", Part::Year),
    ("yy", Part::ShortYear),
    ("y", Part::Year),
    ("MMMM", Part::MonthName),
    ("MMM", Part::ShortMonth),
    ("MM", Part::Month(Digits::Two)),
    ("M", Part::Month(Digits::Any)),
    ("dd", Part::Day(Digits::Two)),
    ("d", Part::Day(Digits::Any)),
    ("EEEE", Part::WeekdayName),
    ("EEE", Part::ShortWeekday),
    ("E", Part::ShortWeekday),
    ("HH", Part::Hour(Digits::Two)),
    ("H", Part::Hour(Digits::Any)),
    ("hh", Part::HalfDayHour(Digits::Two)),
    ("h", Part::HalfDayHour(Digits::Any)),
    ("mm", Part::Minute(Digits::Two)),
    ("m", Part::Minute(Digits::Any)),
    ("ss", Part::Second(Digits::Two)),
    ("s", Part::Second(Digits::Any)),
    ("SSS", MILLISECONDS),
    ("a", Part::AmPm),
    ("XXX", offset(true, true, true)),
    ("XX", offset(true, false, true)),
    ("X", offset(true, false, false)),
    ("Z", offset(false, false, true)),
    ("z", Part::ZoneName),
];

const MILLISECONDS: Part = Part::Fraction {
    point: None,
    n_digits: 3,
    is_trimmed: false,
};

impl Format {
    /// A format by its name, or by its text. An empty one is RFC 3339's.
    pub(crate) fn named(text: &str) -> Self {
        let mut named = NAMED.iter();
        let name = if text.is_empty() { "RFC3339" } else { text };
        Self::read_from(
            named
                .find(|(known, _)| *known == name)
                .map_or(text, |&(_, layout)| layout),
        )
    }

    fn read_from(text: &str) -> Self {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some(first) = rest.chars().next() {
            let n_read = if first == '\'' {
                quoted(rest, &mut parts)
            } else if let Some((n_read, part)) = fraction(rest).or_else(|| known(rest)) {
                parts.push(part);
                n_read
            } else {
                parts.push(Part::Literal(first));
                first.len_utf8()
            };
            rest = &rest[n_read..];
        }
        Self { parts }
    }

    /// A moment in this format.
    pub(crate) fn of(&self, moment: UtcDateTime) -> String {
        let mut text = String::new();
        for part in &self.parts {
            part.write(moment, &mut text);
        }
        text
    }

    /// The moment that a text in this format means. What the format lacks is that of the beginning of 1970. `None` if the
    /// text is not in this format.
    pub(crate) fn read(&self, text: &str) -> Option<UtcDateTime> {
        let (mut found, mut rest) = (Found::default(), text);
        for part in &self.parts {
            rest = part.read(rest, &mut found)?;
        }
        if rest.is_empty() { found.moment() } else { None }
    }
}

/// Java's text between quotes; two quotes are one. Gives the number of bytes that were read.
fn quoted(text: &str, parts: &mut Vec<Part>) -> usize {
    if text.starts_with("''") {
        parts.push(Part::Literal('\''));
        return 2;
    }
    let inner = text[1..].split('\'').next().unwrap_or_default();
    parts.extend(inner.chars().map(Part::Literal));
    (inner.len() + 2).min(text.len())
}

/// Go's fraction of a second: zeros or nines after a point or a comma.
fn fraction(text: &str) -> Option<(usize, Part)> {
    let point = text.chars().next().filter(|first| matches!(first, '.' | ','))?;
    let digit = text[1..]
        .chars()
        .next()
        .filter(|first| matches!(first, '0' | '9'))?;
    let n_digits = text[1..].chars().take_while(|next| *next == digit).count();
    let is_number = text[1 + n_digits..].starts_with(|next: char| next.is_ascii_digit());
    let part = Part::Fraction {
        point: Some(point),
        n_digits: n_digits.min(9),
        is_trimmed: digit == '9',
    };
    (!is_number).then_some((1 + n_digits, part))
}

fn known(text: &str) -> Option<(usize, Part)> {
    let mut texts = TEXTS.iter();
    let (found, part) = texts.find(|(known, _)| text.starts_with(known))?;
    Some((found.len(), *part))
}

impl Part {
    fn write(self, moment: UtcDateTime, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Literal(character) => write!(text, "{character}"),
            Self::Year => write!(text, "{:04}", moment.year()),
            Self::ShortYear => write!(text, "{:02}", moment.year().rem_euclid(100)),
            Self::Month(digits) => digits.write(u8::from(moment.month()), text),
            Self::MonthName => write!(text, "{}", moment.month()),
            Self::ShortMonth => write!(text, "{:.3}", moment.month().to_string()),
            Self::Day(digits) => digits.write(moment.day(), text),
            Self::WeekdayName => write!(text, "{}", moment.weekday()),
            Self::ShortWeekday => write!(text, "{:.3}", moment.weekday().to_string()),
            Self::Hour(digits) => digits.write(moment.hour(), text),
            Self::HalfDayHour(digits) => digits.write((moment.hour() + 11) % 12 + 1, text),
            Self::Minute(digits) => digits.write(moment.minute(), text),
            Self::Second(digits) => digits.write(moment.second(), text),
            Self::Fraction {
                point,
                n_digits,
                is_trimmed,
            } => {
                write_fraction(moment.nanosecond(), point, n_digits, is_trimmed, text);
                Ok(())
            }
            Self::AmPm => write!(text, "{}", if moment.hour() < 12 { "AM" } else { "PM" }),
            Self::SmallAmPm => write!(text, "{}", if moment.hour() < 12 { "am" } else { "pm" }),
            Self::ZoneName => write!(text, "UTC"),
            Self::Offset { is_z: true, .. } => write!(text, "Z"),
            Self::Offset {
                has_colon,
                has_minutes,
                ..
            } => write!(
                text,
                "+00{}{}",
                if has_colon { ":" } else { "" },
                if has_minutes { "00" } else { "" }
            ),
        };
    }

    /// Takes its text from the beginning of another, and gives what is left.
    fn read<'t>(self, text: &'t str, found: &mut Found) -> Option<&'t str> {
        let number = |digits: Digits| digits.read(text);
        match self {
            Self::Literal(character) => text.strip_prefix(character),
            Self::Year => take(&mut found.year, exact(text, 4)?),
            Self::ShortYear => {
                let (year, rest) = exact(text, 2)?;
                // As in Go: from 1969 to 2068.
                found.year = Some(if year < 69 { 2000 + year } else { 1900 + year });
                Some(rest)
            }
            Self::Month(digits) => take(&mut found.month, number(digits)?),
            Self::MonthName => take(&mut found.month, month(text, usize::MAX)?),
            Self::ShortMonth => take(&mut found.month, month(text, 3)?),
            Self::Day(digits) => take(&mut found.day, number(digits)?),
            Self::WeekdayName => weekday(text, usize::MAX),
            Self::ShortWeekday => weekday(text, 3),
            Self::Hour(digits) | Self::HalfDayHour(digits) => take(&mut found.hour, number(digits)?),
            Self::Minute(digits) => take(&mut found.minute, number(digits)?),
            Self::Second(digits) => take(&mut found.second, number(digits)?),
            Self::Fraction {
                point, is_trimmed, ..
            } => read_fraction(text, point, is_trimmed, found),
            Self::AmPm | Self::SmallAmPm => {
                found.is_afternoon = Some(match text.get(..2)? {
                    "AM" | "am" => false,
                    "PM" | "pm" => true,
                    _ => return None,
                });
                Some(&text[2..])
            }
            Self::ZoneName => Some(text.trim_start_matches(|letter: char| letter.is_ascii_uppercase())),
            Self::Offset {
                has_colon,
                has_minutes,
                ..
            } => read_offset(text, has_colon, has_minutes, found),
        }
    }
}

impl Digits {
    fn write(self, number: u8, text: &mut String) -> std::fmt::Result {
        match self {
            Self::Any => write!(text, "{number}"),
            Self::Two => write!(text, "{number:02}"),
            Self::Spaced => write!(text, "{number:2}"),
        }
    }

    fn read(self, text: &str) -> Option<(i32, &str)> {
        match self {
            Self::Two => exact(text, 2),
            Self::Any => exact(text, 2).or_else(|| exact(text, 1)),
            Self::Spaced => {
                let text = text.strip_prefix(' ').unwrap_or(text);
                exact(text, 2).or_else(|| exact(text, 1))
            }
        }
    }
}

/// What a text says of a moment.
#[derive(Default)]
struct Found {
    year: Option<i32>,
    month: Option<i32>,
    day: Option<i32>,
    hour: Option<i32>,
    minute: Option<i32>,
    second: Option<i32>,
    nanosecond: u32,
    is_afternoon: Option<bool>,
    /// East of Greenwich.
    offset_minutes: i32,
}

impl Found {
    fn moment(&self) -> Option<UtcDateTime> {
        let small = |number: Option<i32>, otherwise: u8| {
            number.map_or(Some(otherwise), |number| u8::try_from(number).ok())
        };
        let month = Month::try_from(small(self.month, 1)?).ok()?;
        let date = Date::from_calendar_date(self.year.unwrap_or(1970), month, small(self.day, 1)?).ok()?;
        let hour = match (small(self.hour, 0)?, self.is_afternoon) {
            (hour, None) => hour,
            (hour @ 1..=12, Some(is_afternoon)) => hour % 12 + if is_afternoon { 12 } else { 0 },
            _ => return None,
        };
        let (minute, second) = (small(self.minute, 0)?, small(self.second, 0)?);
        let time = Time::from_hms_nano(hour, minute, second, self.nanosecond).ok()?;
        let offset = UtcOffset::from_whole_seconds(self.offset_minutes.checked_mul(60)?).ok()?;
        let moment = date.with_time(time).assume_offset(offset);
        UtcDateTime::from_unix_timestamp_nanos(moment.unix_timestamp_nanos()).ok()
    }
}

/// Keeps a number, and gives what is left of the text.
fn take<'t>(kept: &mut Option<i32>, (number, rest): (i32, &'t str)) -> Option<&'t str> {
    *kept = Some(number);
    Some(rest)
}

/// A number of exactly this many digits, and what is left of the text.
fn exact(text: &str, n_digits: usize) -> Option<(i32, &str)> {
    let (digits, rest) = text.split_at_checked(n_digits)?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((digits.parse().ok().filter(|_| is_number)?, rest))
}

fn month(text: &str, most_letters: usize) -> Option<(i32, &str)> {
    let mut months = 1..=12_u8;
    months.find_map(|number| {
        let name = Month::try_from(number).ok()?.to_string();
        let rest = without(text, &name[..name.len().min(most_letters)])?;
        Some((number.into(), rest))
    })
}

fn weekday(text: &str, most_letters: usize) -> Option<&str> {
    let mut days = 0..7_u8;
    days.find_map(|number| {
        let name = Weekday::Monday.nth_next(number).to_string();
        without(text, &name[..name.len().min(most_letters)])
    })
}

/// A text without its beginning, in capital or small letters.
fn without<'t>(text: &'t str, begin: &str) -> Option<&'t str> {
    let (found, rest) = text.split_at_checked(begin.len())?;
    found.eq_ignore_ascii_case(begin).then_some(rest)
}

fn write_fraction(
    nanosecond: u32,
    point: Option<char>,
    n_digits: usize,
    is_trimmed: bool,
    text: &mut String,
) {
    let digits = format!("{nanosecond:09}");
    let mut digits = &digits[..n_digits];
    if is_trimmed {
        digits = digits.trim_end_matches('0');
    }
    if !digits.is_empty() {
        text.extend(point);
        text.push_str(digits);
    }
}

fn read_fraction<'t>(
    text: &'t str,
    point: Option<char>,
    is_trimmed: bool,
    found: &mut Found,
) -> Option<&'t str> {
    let digits = match point {
        Some(point) => match text.strip_prefix(point) {
            Some(digits) => digits,
            None => return is_trimmed.then_some(text),
        },
        None => text,
    };
    let rest = digits.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let digits = &digits[..digits.len() - rest.len()];
    found.nanosecond = format!("{digits:0<9.9}").parse().ok()?;
    (!digits.is_empty()).then_some(rest)
}

fn read_offset<'t>(text: &'t str, has_colon: bool, has_minutes: bool, found: &mut Found) -> Option<&'t str> {
    if let Some(rest) = text.strip_prefix('Z') {
        return Some(rest);
    }
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let (hours, mut rest) = exact(&text[1..], 2)?;
    let mut minutes = 0;
    if has_minutes {
        if has_colon {
            rest = rest.strip_prefix(':')?;
        }
        (minutes, rest) = exact(rest, 2)?;
    }
    found.offset_minutes = sign * (hours * 60 + minutes);
    Some(rest)
}

#[cfg(test)]
mod tests;
